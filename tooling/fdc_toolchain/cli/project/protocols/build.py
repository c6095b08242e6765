"""`fdc protocols`: compiles protocols/ into AGENTS.md, and checks that it is up to date (FDC-97, FDC-102)."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import click

from ....console.options import (
    choice_option,
    count_option,
    flag_option,
    root_of,
    text_option,
    workspace_option,
)
from ....console.terminal import say
from ....diagnostics.plural import plural
from ....exits import CLEAN, FINDINGS, UsageError
from ....protocols import build as work
from ....protocols.budget import MAX_BYTES, table
from ....protocols.compile import PROFILES
from ....protocols.options import how_of, uncompiled
from ....protocols.targets import TARGETS
from ...shared.findings import show

ELSEWHERE: dict[str, tuple[str, str]] = {
    # name: (module in this room, one line)
    "import": ("imports", "Split a compiled AGENTS.md into sources."),
    "diff": ("diff", "Compare two sets of protocols."),
    "graph": ("graph", "Draw protocols, rules and tools, and find missing references."),
}
"""Subcommands in separate files, which define `command`; imported when they are used."""


class Group(click.Group):
    """The subcommands of this file and those of `ELSEWHERE`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *ELSEWHERE]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        row = ELSEWHERE.get(name)
        if row is None:
            return self.commands.get(name)
        found: click.Command = importlib.import_module(f".{row[0]}", __package__).command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, made.get_short_help_str(80)) for name, made in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*rows, *((name, line) for name, (_, line) in ELSEWHERE.items())])


@click.group(cls=Group, invoke_without_command=True)
@flag_option("--check only_check", "The same as `fdc protocols check`.")
@workspace_option
@click.pass_context
def command(ctx: click.Context, only_check: bool, workspace: str | None) -> int:
    """Compile the protocols into AGENTS.md; without a subcommand, `build`."""
    if ctx.invoked_subcommand is not None:
        if only_check or workspace is not None:
            name = "--check" if only_check else "--workspace"
            raise UsageError(f"write `{name}` after `{ctx.invoked_subcommand}`")
        return CLEAN
    return _run(only_check, root_of(workspace), {}, False)


def _options(function: Callable[..., int]) -> Callable[..., int]:
    for option in (
        flag_option("--show-bytes", "Print the size of each section, and what agents would truncate."),
        count_option("--max-bytes", 1, None, f"Maximum bytes that agents read.  [default: {MAX_BYTES}]"),
        text_option(
            "--target targets", "NAME",
            f"Write the file of another agent as well: {', '.join(TARGETS)}, all, none. May be repeated.", many=True,
        ),
        click.option("--split/--no-split", default=None, help="Rules with a scope go into an AGENTS.md in their folder."),
        choice_option("--profile", PROFILES, "compact: no documentation of tools. original: the form of the first repository."),
        click.option("--output", metavar="FILE", type=click.Path(), help="The compiled file.  [default: AGENTS.md]"),
        click.option("--source", metavar="DIR", type=click.Path(), help="The sources.  [default: protocols/]"),
        workspace_option,
    ):  # fmt: skip
        function = option(function)
    return function


@command.command()
@_options
@flag_option("--force", "Overwrite files that fdc did not write.")
@flag_option("--check only_check", "Write nothing; the same as `fdc protocols check`.")
def build(only_check: bool, show_bytes: bool, workspace: str | None, **options: object) -> int:
    """Write AGENTS.md. If a source has an error, the old file stays."""
    return _run(only_check, root_of(workspace), options, show_bytes)


@command.command()
@_options
def check(show_bytes: bool, workspace: str | None, **options: object) -> int:
    """Exit 1 if AGENTS.md is missing, was edited by hand, or is out of date."""
    return _run(True, root_of(workspace), options, show_bytes)


def _run(only_check: bool, root: str, options: dict[str, Any], show_bytes: bool) -> int:
    if only_check and options.get("source") is None:
        nothing = uncompiled(root)
        if nothing is not None:  # pre-commit hooks call this too
            say(nothing, err=True)
            return CLEAN
    root, how = how_of(root, **options)
    if only_check:
        made, wrong = work.check(root, how)
        show([*made.findings, *wrong])
    else:
        done = work.build(root, how)
        made, wrong = done.build, []
        show(made.findings)
    over = any(item.code == "FDC505" for item in made.findings)
    if show_bytes or over:
        for chain in made.chains:
            click.echo("\n".join(table(chain)), err=over)
    if not made.outputs:
        if not only_check:
            say(f"error: {how.output} was not changed", err=True)
        return FINDINGS
    if any(item.severity == "error" for item in wrong):
        return FINDINGS
    for output in made.outputs:
        if only_check:
            click.echo(f"{output.path} is up to date")
            continue
        count = len(output.text.encode())
        size = f"{count} bytes"
        if output is made.outputs[0]:
            if how.profile != "original":
                # A file that was imported may stay as long as it was.
                few = count <= how.max_bytes
                size += f" of at most {how.max_bytes}" if few else f" (more than {how.max_bytes})"
            size += f", from {plural(made.sources, 'source')}"
        click.echo(
            f"{output.path} {'written' if output.path in done.written else 'is up to date'}: {size}"
        )
    for path in () if only_check else done.removed:
        click.echo(f"{path} removed: it has no sources any more")
    return CLEAN
