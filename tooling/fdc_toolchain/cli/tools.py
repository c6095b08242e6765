"""`fdc tools`: the tools that plans of this workspace may use, by where they come from, and what each one does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

import click

from ..console.options import workspace_option
from ..exits import CLEAN, UsageError
from ..linking.catalogue import CORE, Catalogue, catalogues, document, read_catalogue
from .tool_facts import Listed, Origin, described, explained, summary


@click.command(
    epilog="Exit codes: 0 done, 2 there is no such tool, or the settings are wrong, 3 the world failed.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("name", required=False)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@workspace_option
def command(name: str | None, form: str, workspace: str | None) -> int:
    """List the tools that plans may use here: those of the core, of packs and of the workspace.

    With NAME, explain one tool: its parameters and what the text given there chooses, its result, what it needs, how it
    fails, what it costs.
    """
    from ..linking.project.files import Files
    from ..linking.project.root import find_root
    from ..linking.project.settings import read_settings
    from ..report.terminal.terminal_text import visible

    root = os.path.abspath(workspace) if workspace else find_root(os.getcwd())
    files = Files(root)
    settings = read_settings(root)
    catalogue, wrong = read_catalogue(settings.catalogues, files.read)
    rows = listed(catalogue, settings.catalogues, files.read)
    if name is not None:
        rows = [_one(name, rows)]
    if form == "json":
        click.echo(json.dumps({"format": 1, "tools": [described(one) for one in rows]}, indent=2))
    elif name is not None:
        click.echo("\n".join(visible(line) for line in explained(rows[0])))
    else:
        click.echo(_page(rows), nl=False)
    for item in wrong:
        place = f"{item.span.path}:{item.span.line}"
        click.echo(visible(f"fdc: warning: {place}: {item.message}"), err=True)
    return CLEAN


def listed(
    catalogue: Catalogue, paths: Iterable[str], read: Callable[[str], bytes | None]
) -> list[Listed]:
    """Every tool and predicate of a catalogue with its origin: core, packs, workspace, each in the order of its file."""
    shipped = catalogues()
    sources = [(path, document(path)) for path in shipped]
    sources += [(path, _document(read(path))) for path in paths]
    out: dict[str, Listed] = {}
    for path, found in sources:
        kind = "core" if path == CORE else "pack" if path in shipped else "workspace"
        origin = Origin(kind, str(found.get("name", "")), path)
        for name in _names(found, "tools"):
            if name in catalogue.tools:
                tool = catalogue.tools[name]
                out.setdefault(name, Listed(name, origin, tool.row, tool))
        for name in _names(found, "predicates"):
            if name in catalogue.rows:
                out.setdefault(name, Listed(name, origin, catalogue.rows[name], None))
    return list(out.values())


def _document(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads((data or b"{}").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}  # `fdc lint` says what is wrong with it
    return found if isinstance(found, dict) else {}


def _names(document: dict[str, Any], kind: str) -> list[str]:
    found = document.get(kind)
    return list(found) if isinstance(found, dict) else []


def _one(name: str, rows: list[Listed]) -> Listed:
    from ..report.terminal.terminal_text import visible
    from ..text.suggest import near

    for one in rows:
        if one.name == name:
            return one
    found = near(name, [one.name for one in rows])
    hint = f"the nearest: {', '.join(found)}" if found else "`fdc tools` lists all of them"
    raise UsageError(f"there is no tool `{visible(name)}`; {hint}")


def _page(rows: list[Listed]) -> str:
    """The list, by origin."""
    formatter = click.HelpFormatter(
        width=min(click.get_current_context().terminal_width or 100, 100)
    )
    for origin in dict.fromkeys(one.origin for one in rows):
        here = [one for one in rows if one.origin == origin]
        tools = [(one.name, summary(one)) for one in here if one.tool is not None]
        predicates = [(one.name, summary(one)) for one in here if one.tool is None]
        if tools:
            with formatter.section(f"{origin.title}, {_count(len(tools), 'tool')}"):
                formatter.write_dl(tools, col_max=36)
        if predicates:
            with formatter.section(f"{origin.title}, {_count(len(predicates), 'condition')}"):
                formatter.write_dl(predicates, col_max=36)
    formatter.write("\n`fdc tools NAME` explains one.\n")
    return formatter.getvalue().lstrip("\n")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
