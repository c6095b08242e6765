"""`fdc tools`: lists the tools that plans of this workspace can use, by origin, or explains one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..console.options import format_option, root_of, text_option, workspace_option
from ..console.terminal import say_json
from ..diagnostics.plural import plural
from ..exits import CLEAN, UsageError
from ..linking.catalogue import CORE, catalogues, document
from ..packs.shipped import pack_of
from .tool_facts import Listed, Origin, described, explained, summary

if TYPE_CHECKING:
    from ..linking.look_up import LookUp


@click.command(
    epilog="Exit codes: 0 done, 2 unknown tool, or the settings are wrong, 3 the environment failed."
)
@click.argument("name", required=False)
@format_option
@text_option("--pack packs", "NAME", "As in a plan that says `use pack NAME`.", many=True)
@workspace_option
def command(name: str | None, form: str, packs: tuple[str, ...], workspace: str | None) -> int:
    """List the tools that plans can use here: those of the core, of the workspace, and of the packs in its settings.

    `fdc tools lock` starts the MCP servers that a catalogue declares and writes what they offer into fdc_tools.lock.json.

    With NAME, explain one tool of any pack: its parameters and what their text chooses, its
    result, needs, failures and cost.
    """
    from ..console.terminal import say
    from ..linking.look_up import LookUp
    from ..linking.project.settings import read_settings
    from ..report.terminal.terminal_text import visible

    root = root_of(workspace)
    names = LookUp(root, read_settings(root))
    if name == "lock" and name not in names.catalogue.tools:
        from ..mcp_client.locking import lock

        for line in lock(names):
            click.echo(visible(line))
        return CLEAN
    for pack in packs:
        if pack not in names.packs:
            raise UsageError("; ".join(names.no_pack(pack)))
    used = {*names.settings.packs, *packs}
    rows = listed(names)
    if name is not None:
        rows = [_one(name, rows, used)]
    else:
        rows = [row for row in rows if row.seen_with(used)]
    if form == "json":
        there = [
            {"name": pack.name, "summary": pack.summary, "used": pack.name in used}
            for pack in names.packs.values()
        ]
        told = {"tools": [described(row) for row in rows], "packs": there}
        say_json(told)
    elif name is not None:
        lines = explained(rows[0])
        if not rows[0].seen_with(used):
            lines.insert(2, f"a plan that uses it must say: use pack {rows[0].origin.name}")
        say("\n".join(visible(line) for line in lines))
    else:
        others = [pack for pack in names.packs.values() if pack.name not in used]
        click.echo(_page(rows, [(pack.name, visible(pack.summary)) for pack in others]), nl=False)
    for item in names.diagnostics:
        place = f"{item.span.path}:{item.span.line}"
        say(visible(f"fdc: warning: {place}: {item.message}"), err=True)
    return CLEAN


def listed(names: LookUp) -> list[Listed]:
    """Every tool and predicate with its origin: core, packs, workspace, each in the order of its file."""
    catalogue, paths, read = names.catalogue, names.settings.catalogues, names.files.read
    sources = [(path, document(path)) for path in catalogues()]
    sources += [(path, _document(read(path))) for path in paths]
    own = [path for pack in names.packs.values() for path in pack.catalogues]
    sources += [(path, _document(read(path))) for path in own if path not in catalogues()]
    out: dict[str, Listed] = {}
    for path, found in sources:
        pack = pack_of(path) if path not in paths else None
        kind = "core" if path == CORE else "pack" if pack else "workspace"
        origin = Origin(kind, pack or str(found.get("name", "")), path)
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
        return {}  # `fdc lint` reports its errors
    return found if isinstance(found, dict) else {}


def _names(document: dict[str, Any], kind: str) -> list[str]:
    found = document.get(kind)
    return list(found) if isinstance(found, dict) else []


def _one(name: str, rows: list[Listed], used: set[str]) -> Listed:
    from ..report.terminal.terminal_text import visible
    from ..text.suggest import near

    for row in rows:
        if row.name == name:
            return row
    found = near(name, [row.name for row in rows if row.seen_with(used)])
    hint = f"the nearest: {', '.join(found)}" if found else "`fdc tools` lists all of them"
    raise UsageError(f"the tool `{visible(name)}` does not exist; {hint}")


_WIDEST = 100
"""The columns of the list where the terminal is wider, or there is none."""


def _page(rows: list[Listed], others: list[tuple[str, str]]) -> str:
    """The list by origin, and the other packs with their summaries."""
    from ..console.terminal import width
    from ..report.terminal.terminal_text import folded

    formatter = click.HelpFormatter(width=min(width() or _WIDEST, _WIDEST))
    for title in dict.fromkeys(row.origin.title for row in rows):
        here = [row for row in rows if row.origin.title == title]
        tools = [(entry.name, summary(entry)) for entry in here if entry.tool is not None]
        predicates = [(entry.name, summary(entry)) for entry in here if entry.tool is None]
        if tools:
            with formatter.section(f"{title}, {plural(len(tools), 'tool')}"):
                formatter.write_dl(tools, col_max=36)
        if predicates:
            with formatter.section(f"{title}, {plural(len(predicates), 'condition')}"):
                formatter.write_dl(predicates, col_max=36)
    if others:
        with formatter.section("packs that a plan can use (`use pack NAME`)"):
            formatter.write_dl(others, col_max=36)
    more = "`fdc tools NAME` explains a tool, `fdc tools --pack NAME` also lists those of a pack."
    return f"{formatter.getvalue().lstrip()}\n{folded(more, width())}\n"
