"""`fdc help`: the first page of the help, the page with every command, or the help of one command."""

from __future__ import annotations

import click

from ..console.options import flag_option
from ..exits import CLEAN, UsageError
from .headings import EVERYTHING


@click.command(epilog="Exit codes: 0 done, 2 unknown command.")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@flag_option("--all everything", "Show every command of fdc.")
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...], everything: bool) -> int:
    """Show the help of COMMAND; without COMMAND, the commands of fdc.

    The first page shows the commands that are used most; `--all` shows every command.
    """
    if names and everything:
        raise UsageError("name a COMMAND or use --all, not both")
    if names:
        from .main import run

        return run([*names, "--help"])
    top = ctx.find_root()
    top.meta[EVERYTHING] = everything
    click.echo(top.get_help())
    return CLEAN
