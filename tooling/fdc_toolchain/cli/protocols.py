"""`fdc protocols`: compiles protocols/ into AGENTS.md, and checks that it is what they compile to (FDC-97, FDC-102)."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import NamedTuple

import click

from .. import durable
from ..protocols.compile import MAX_BYTES, Build, compile_agents
from ..protocols.drift import drift
from ..protocols.load import PROSE, RULES
from ..resolve.workspace import find_root
from .exits import CLEAN, FINDINGS, UsageError
from .findings import show


class Place(NamedTuple):
    """Where the sources are and where the compiled file goes; `root` is the workspace."""

    root: str
    source: str
    output: str
    max_bytes: int


def _options(function: Callable[..., int]) -> Callable[..., int]:
    for option in (
        click.option("--max-bytes", type=click.IntRange(1), default=MAX_BYTES, show_default=True, help="Size limit."),
        click.option("--output", metavar="FILE", type=click.Path(), help="The compiled file.  [default: AGENTS.md]"),
        click.option("--source", metavar="DIR", type=click.Path(), help="The sources.  [default: protocols/]"),
    ):
        function = option(function)
    return function


ELSEWHERE: dict[str, tuple[str, str]] = {
    # name: (module in this room, one line)
    "import": ("protocols_import", "take a compiled AGENTS.md apart into sources"),
    "diff": ("protocols_diff", "say what changed between two sets of protocols"),
    "graph": ("protocols_graph", "draw protocols, rules and tools, and what nothing refers to"),
}
"""Subcommands with a file of their own, which defines `command`; imported when they are asked for."""


class Group(click.Group):
    """The subcommands of this file and those of `ELSEWHERE`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *ELSEWHERE]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        row = ELSEWHERE.get(name)
        if row is None:
            return self.commands.get(name)
        found: click.Command = importlib.import_module(f"{__package__}.{row[0]}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, made.get_short_help_str(80)) for name, made in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*rows, *((name, line) for name, (_, line) in ELSEWHERE.items())])


@click.group(cls=Group, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--check", "only_check", is_flag=True, help="The same as `fdc protocols check`.")
@click.pass_context
def command(ctx: click.Context, only_check: bool) -> int:
    """Compile the protocols into AGENTS.md; without a subcommand, `build`."""
    if ctx.invoked_subcommand is not None:
        return CLEAN
    place = _place(None, None, MAX_BYTES)
    return _check(place) if only_check else _build(place)


@command.command()
@_options
@click.option("--check", "only_check", is_flag=True, help="Write nothing; the same as `fdc protocols check`.")
def build(source: str | None, output: str | None, max_bytes: int, only_check: bool) -> int:
    """Write AGENTS.md anew, whole or not at all; a source with an error leaves the old one in place."""
    place = _place(source, output, max_bytes)
    return _check(place) if only_check else _build(place)


@command.command()
@_options
def check(source: str | None, output: str | None, max_bytes: int) -> int:
    """Exit 1 when AGENTS.md is absent, was edited by hand, or is older than a source."""
    return _check(_place(source, output, max_bytes))


def _place(source: str | None, output: str | None, max_bytes: int) -> Place:
    root = find_root(os.curdir)
    folder = os.path.abspath(source) if source is not None else os.path.join(root, "protocols")
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder `{_shown(folder, root)}` with protocols; name one with --source")
    return Place(root, folder, os.path.abspath(output) if output else os.path.join(root, "AGENTS.md"), max_bytes)


def _build(place: Place) -> int:
    name = _shown(place.output, place.root)
    made = _compiled(place)
    show(made.findings)
    if made.text is None:
        click.echo(f"error: {name} was left as it is", err=True)
        return FINDINGS
    data = made.text.encode("utf-8")
    real = os.path.realpath(place.output)
    size = f"{len(data)} bytes of at most {place.max_bytes}, from {made.sources} sources"
    if durable.read(real) == data:
        click.echo(f"{name} is up to date: {size}")
    else:
        durable.replace(real, data)
        click.echo(f"{name} written: {size}")
    return CLEAN


def _check(place: Place) -> int:
    made = _compiled(place)
    show(made.findings)
    if made.text is None:
        return FINDINGS
    name = _shown(place.output, place.root)
    found = drift(made.text, durable.read(place.output), name)
    show(found)
    if found:
        return FINDINGS
    click.echo(f"{name} is up to date")
    return CLEAN


def _compiled(place: Place) -> Build:
    files = {}
    for folder, folders, names in os.walk(place.source):
        folders.sort()
        for name in names:
            if name.endswith((RULES, PROSE)):
                path = os.path.join(folder, name)
                files[_shown(path, place.root)] = durable.read(path) or b""
    version = durable.read(os.path.join(place.root, "VERSION"))

    def read(path: str) -> str | None:
        """A tool's source; only files of this workspace are tools."""
        parts = path.split("/")
        if ".." in parts or path.startswith("/") or "\0" in path:
            return None
        data = durable.read(os.path.join(place.root, *parts))
        return None if data is None else data.decode("utf-8", "replace")

    output = _shown(place.output, place.root)
    return compile_agents(files, version, read, max_bytes=place.max_bytes, output=output)


def _shown(path: str, root: str) -> str:
    """The path as messages and the compiled file name it: relative to the workspace where it lies in there."""
    inside = os.path.relpath(path, root)
    return path if inside.startswith("..") else inside.replace(os.sep, "/")
