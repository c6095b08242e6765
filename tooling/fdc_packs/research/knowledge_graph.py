"""What the workspace's knowledge graph says of a name or a file, enriched with the documents that speak of it (FDC-56).

The graph is what `fdc knowledge build` wrote: `symbols.json` (what is defined where) and `dependency_graph.json` (which file
imports which). Nothing is written here; a place that the sources do not bear out any more says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fdc_toolchain.api.files import Document
from fdc_toolchain.api.tasks import GRAPH, SYMBOLS, Symbol, read_edges, read_symbols
from fdc_toolchain.api.tools import Context, ToolFailure

from .outline.code_outline import is_code
from .retrieval import library

MOST = 20
"""Definitions, files and mentions that are told, each."""


def enrich(query: str, context: Context) -> str:
    """The definitions that a query names, or those of the file that it names: where each stands, what imports its file and
    what that imports, and the lines of documents that name it.

    Raises ToolFailure where no graph was built, where it cannot be read, and where it has nothing of that name.
    """
    try:
        symbols, edges = read_symbols(_file(SYMBOLS, context)), read_edges(_file(GRAPH, context))
    except ValueError as wrong:
        raise ToolFailure("input", str(wrong)) from None
    wanted = query.strip().strip("`").removesuffix("()").removeprefix("./")
    found = [one for one in symbols if wanted in (one.path, one.name, one.name.rpartition(".")[2])]
    if not found and wanted not in {path for edge in edges for path in edge}:
        asked = " ".join(wanted.split())[:80]
        raise ToolFailure(
            "missing",
            f"the knowledge graph has nothing named `{asked}`; `fdc knowledge build` renews it",
        )
    with library.folder(".", context) as opened:
        documents = {one.path: one for one in library.get(opened, True, "").scan.documents}
    rows = []
    for one in found[:MOST]:
        rows.append(
            f"`{one.name}`: {one.kind}, {one.path}:{one.line}{_moved(one, documents.get(one.path))}"
        )
    for path in list(
        dict.fromkeys([*(one.path for one in found), *([wanted] if not found else [])])
    )[:MOST]:
        imports, users = (
            sorted({edge[1 - side] for edge in edges if edge[side] == path}) for side in (0, 1)
        )
        rows += [f"{path} imports {_some(imports)}"] if imports else []
        rows += [f"{path} is imported by {_some(users)}"] if users else []
    names = (
        [wanted]
        if not any(one.path == wanted for one in found)
        else [wanted, *(one.name for one in found)]
    )
    rows += [
        f"{path}:{number}: {said}"
        for path, number, said in _mentions(names, list(documents.values()))
    ]
    rows += [f"and {len(found) - MOST} more definitions"] if len(found) > MOST else []
    return "\n".join(rows)


def _file(path: str, context: Context) -> bytes:
    if context.root.kind(path) != "file":
        raise ToolFailure("missing", f"`{path}` does not exist; `fdc knowledge build` makes it")
    return context.root.read(path)


def _moved(symbol: Symbol, document: Document | None) -> str:
    lines = document.lines if document is not None else ()
    here = lines[symbol.line - 1] if 0 < symbol.line <= len(lines) else ""
    return (
        ""
        if symbol.name.rpartition(".")[2] in here
        else " (it is not there any more: `fdc knowledge build`)"
    )


def _some(rows: list[str]) -> str:
    return ", ".join(rows[:MOST]) + (f" and {len(rows) - MOST} more" if len(rows) > MOST else "")


def _mentions(names: Sequence[str], documents: Sequence[Document]) -> list[tuple[str, int, str]]:
    """The lines of documents (not of code) that have one of the names as a word of its own, the first ones."""
    known = dict.fromkeys(
        part
        for name in names
        for part in (name, name.rpartition(".")[2] if "/" not in name else name)
    )
    whole = re.compile(
        "|".join(rf"(?<![\w.]){re.escape(name)}(?!\w)" for name in known if len(name) > 2)
        or r"(?!)"
    )
    out: list[tuple[str, int, str]] = []
    for document in documents:
        for number, line in enumerate(() if is_code(document.path) else document.lines, 1):
            if len(out) < MOST and whole.search(line):
                out.append((document.path, number, " ".join(line.split())[:200]))
    return out
