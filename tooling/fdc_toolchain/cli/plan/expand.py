"""`fdc expand`: the steps of a plan, and the program that it compiles to (FDC-36)."""

from __future__ import annotations

import click

from ...console.options import choice_option, flag_option, root_of, workspace_option
from ...exits import CLEAN, FINDINGS


@click.command("expand")
@click.argument("plan")
@choice_option(
    "--format form", ["text", "json"], "text: the steps; json: the program.", default="text"
)
@flag_option("--digest", "Print the program's hash only.")
@workspace_option
def command(plan: str, form: str, digest: bool, workspace: str | None) -> int:
    """List the steps of PLAN and of every plan that it calls, or print the program that it compiles to.

    The program is finite and every loop in it has a bound, so every run ends.
    """
    import json

    from ...console.compiling import compile_or_refuse
    from ...program.codec import digest as digest_of
    from ...runs.dry_run import steps

    program = compile_or_refuse(plan, root := root_of(workspace))
    if program is None:
        return FINDINGS
    if digest:
        click.echo(digest_of(program))
    elif form == "json":
        click.echo(json.dumps(program, indent=2, ensure_ascii=False))
    else:
        for line in steps(program, root):
            click.echo(line)
    return CLEAN
