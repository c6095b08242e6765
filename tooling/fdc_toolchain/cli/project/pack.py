"""`fdc pack`: lists, shows, creates, checks and installs packs."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click

from ...console.options import flag_option, format_option
from ...console.terminal import say, say_json
from ...exits import CLEAN, FINDINGS, UsageError
from ...text.suggest import did_you_mean

if TYPE_CHECKING:
    from ...packs.model import Pack

_FORMAT = format_option


@click.group(
    epilog="Exit codes: 0 done, 1 findings or refused, 2 wrong usage, 3 the environment failed.",
)
def command() -> None:
    """List, show, create, check and install packs. `docs/packs.md` explains packs."""


@command.command("list")
@_FORMAT
def listed(form: str) -> int:
    """List the packs that fdc found: installed packs, and packs of the workspace.

    Packs that it cannot use are listed on stderr (exit code 1).
    """
    from ...packs.index import index
    from ...report.terminal.terminal_text import visible
    from ..pack_command import of_workspace

    own = of_workspace(os.getcwd())
    packs = [*index().packs.values(), *own.packs.values()]
    problems = [*index().problems, *map(str, own.problems)]
    if form == "json":
        rows = [
            {"name": pack.name, "summary": pack.summary, "folder": pack.folder} for pack in packs
        ]
        say_json({"packs": rows, "problems": problems})
    else:
        wide = max((len(pack.name) for pack in packs), default=0)
        for pack in packs:
            click.echo(f"{pack.name:<{wide}}  {visible(pack.summary)}")
        for problem in problems:
            say(f"fdc: {visible(problem)}", err=True)
    return FINDINGS if problems else CLEAN


@command.command()
@click.argument("name")
@_FORMAT
def show(name: str, form: str) -> int:
    """Show what the pack NAME contains: commands, tools, predicates, automata, plans, pages."""
    from ...packs.index import index
    from ...report.terminal.terminal_text import visible
    from ..pack_command import of_workspace

    packs = {**index().packs, **of_workspace(os.getcwd()).packs}
    if name not in packs:
        hint = did_you_mean(name, packs)
        raise UsageError(f"the pack `{name}` does not exist" + (f"; {hint}" if hint else ""))
    pack = packs[name]
    brings = _brings(pack)
    if form == "json":
        say_json({"name": name, "summary": pack.summary, "folder": pack.folder, **brings})
        return CLEAN
    click.echo(f"{name}: {visible(pack.summary)}\n{visible(pack.folder)}")
    for kind, names in brings.items():
        if names:
            click.echo(f"{kind}: {visible(', '.join(names))}")
    return CLEAN


@command.command()
@click.argument("folder", type=click.Path())
@_FORMAT
def check(folder: str, form: str) -> int:
    """Check the pack in FOLDER without importing it: its `pack.toml`, the files, modules and functions that it names.

    In a folder with a `pyproject.toml`, check the packs that it names.
    """
    from ...packs.model import PackError
    from ...packs.offered import folders_of
    from ...report.terminal.terminal_text import visible

    if not os.path.isdir(folder):
        raise UsageError(f"`{folder}` is not a folder")
    try:
        checked = [_checked(inside) for inside in folders_of(folder)]
    except PackError as wrong:
        checked = [(None, [str(wrong)])]
    found = [sentence for _, sentences in checked for sentence in sentences]
    if form == "json":
        say_json({"ok": not found, "findings": found})
        return FINDINGS if found else CLEAN
    for pack, sentences in checked:
        for sentence in sentences:
            click.echo(visible(sentence))
        if pack is not None and not sentences:
            click.echo(f"{visible(pack.folder)}: the pack `{pack.name}` is valid")
    return FINDINGS if found else CLEAN


def _checked(folder: str) -> tuple[Pack | None, list[str]]:
    """The pack in a folder, if it can be read, and what is wrong with it."""
    from ...doctor.packs import faults
    from ...packs.model import PREFIX, PackError, pack_of
    from ...packs.read import read
    from ..main import COMMANDS
    from ..pack_command import of_workspace

    own, place = of_workspace(folder), f"{PREFIX}{os.path.basename(os.path.abspath(folder))}"
    if os.path.realpath(folder).endswith(f"/{place}"):
        problems = [str(one) for one in own.problems if one.path.startswith(f"{place}/")]
        if problems:
            return None, problems
    try:
        pack = pack_of(read(folder), folder, os.path.basename(os.path.abspath(folder)), False)
        beside = [
            one
            for one in own.packs.values()
            if os.path.realpath(one.folder) != os.path.realpath(folder)
        ]
        return pack, faults(pack, COMMANDS, beside if len(beside) < len(own.packs) else ())
    except PackError as wrong:
        return None, [str(wrong)]


@command.command()
@click.argument("name")
@click.argument("folder", type=click.Path(), required=False)
def new(name: str, folder: str | None) -> int:
    """Write a small working pack NAME, with a test, into FOLDER. [default: fdc-NAME]"""
    from ...packs.new import write
    from ..main import COMMANDS

    target = folder or f"fdc-{name}"
    for path in write(name, target, {*COMMANDS}):
        click.echo(os.path.join(target, path))
    say(
        f"next: `pip install -e {shlex.quote(target)}` into the environment of fdc, then `fdc {name} FILE`",
        err=True,
    )
    return CLEAN


@command.command()
@click.argument("path", type=click.Path())
@flag_option("--yes", "Install it without asking.")
def install(path: str, yes: bool) -> int:
    """Show what the pack in PATH (a folder or a wheel) contains and may access, ask, and install it into fdc's environment."""
    from ..main import COMMANDS
    from .pack_install import install as run

    return run(path, {*COMMANDS}, yes=yes)


def _brings(pack: Pack) -> dict[str, list[str]]:
    return {
        "commands": [*pack.commands],
        "tools": [*pack.tools],
        "predicates": [*pack.predicates],
        "catalogues": [*pack.catalogues],
        "automata": [*pack.automata],
        "plans": [*pack.plans],
        "pages": [*pack.pages],
    }
