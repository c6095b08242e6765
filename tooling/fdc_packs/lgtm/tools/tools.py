"""The tools of the LGTM pack that touch the world: a folder, searches, code, the links of a document, the linter.

The pack's pure functions are in the folder above. Searches read the workspace without `runs/`, so that no run quotes another.
"""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from fdc_toolchain.api.tools import Context, ToolFailure, intent_files, text, word

from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.place import inside
from fdc_packs.research.retrieval import library
from fdc_packs.research.retrieval.file_worth import TESTS

from ..statements import names
from .found_rows import (
    ROWS,
    best_of,
    places_of,
    row_of,
    uses_of,
    words_of,
)

if TYPE_CHECKING:
    from ..shapes.artifacts import Dependency
    from ..shapes.found import Find, Found
    from ..shapes.steps import Tried

CODE_LINES = 200
_KEPT = 2
_lock = threading.Lock()
_searching = threading.Lock()
_trees: OrderedDict[tuple[str, str, str], Tree] = OrderedDict()


def create_directory(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """`create_directory`: it must not exist, unless this very step made it before a crash (LGTM-01)."""
    path = word(args, "path")
    if intent_files.read(context.run_folder, context.key) is None:
        if context.root.kind(path) != "missing":
            raise ToolFailure("exists", f"`{path}` exists already")
        intent_files.write(context.run_folder, context.key, {"path": path})
    parts = [part for part in path.split("/") if part]
    if ".." in parts:
        raise ToolFailure("file", f"`{path}` leads out of the workspace")
    with context.root.folder(parts, True):
        return {"path": path}


def file_search(args: Mapping[str, object], context: Context) -> Found:
    """FileSearch: what definitions, comments and documents say of the queries, best first, each with its place."""
    tree = tree_of(args, context)
    found: dict[str, Find] = {}
    words: list[str] = []
    for nth, query in enumerate(_queries(args)[:6]):
        with _searching:
            rows = list(places_of(tree, query))
            words += words_of(tree, query)
        for row in rows:
            score = row["score"] * 0.9**nth
            if row["source"] not in found or found[row["source"]]["score"] < score:
                found[row["source"]] = {**row, "score": round(score, 4)}
    instead = text(args, "instead", "")
    warn = f"{instead} found nothing or is unavailable; FileSearch instead." if instead else ""
    return {**best_of(found, "FileSearch"), "warn": warn, "words": words}


def codebase_grep(args: Mapping[str, object], context: Context) -> Found:
    """CodebaseGrep: the lines that use a name, those of tests too; a text that is not a name is looked for letter by letter."""
    tree = tree_of(args, context)
    found: dict[str, Find] = {}
    for query in _queries(args):
        wanted = names(query) or [query.strip("`")]
        for name in wanted:
            for path, line, imported in uses_of(tree, name):
                test = TESTS.search(path) is not None
                note = f"{'A test names' if test else 'An import of' if imported else 'A use of'} `{name}`"
                kind = "import" if imported else "use"
                row = row_of(
                    tree,
                    path,
                    line,
                    note,
                    kind,
                    name,
                    "",
                    1.0 if test and not imported else 0.6 if imported else 0.9,
                )
                if row is not None:
                    found.setdefault(row["source"], row)
    return best_of(found, "CodebaseGrep")


def web_search(args: Mapping[str, object], context: Context) -> Found:
    """WebSearch: what the configured search port finds; a failure where none is (the catalogue makes it a value)."""
    import importlib

    from fdc_toolchain.api.tools import TOOLS

    row = TOOLS["google_search"]
    search = getattr(importlib.import_module(row.module), row.function)
    out: list[Find] = []
    for query in _queries(args)[:3]:
        found = search({"query": query}, context)
        value = getattr(found, "value", found)
        rows = value.get("results", []) if isinstance(value, dict) else value
        for one in rows if isinstance(rows, list) else ():
            quote = (
                str(one.get("snippet") or one.get("text") or one.get("title") or "")
                if isinstance(one, dict)
                else ""
            )
            if quote and one.get("url"):
                out.append({"source": str(one["url"]), "path": str(one["url"]), "line": 0, "quote": quote[:600], "score": 0.5,
                            "note": "A page of the web", "title": str(one.get("title") or one["url"])[:120], "kind": "page",
                            "subject": "", "home": "", "snippet": "", "confidence": 0.4})  # fmt: skip
    return {"rows": out[:ROWS], "count": len(out), "tool": "WebSearch"}


def unknown_tool(args: Mapping[str, object], context: Context) -> NoReturn:
    """UseTool with an ident that no tool has: the run stops (LGTM-35)."""
    raise ToolFailure("tool", f"Tool not found: {text(args, 'id')[:80]}")


def readable(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """ReadFile, where an agent recommends it: one of the files that the run looks at, and no other; `path` is empty else."""
    path = text(args, "file").removeprefix("./")
    found = bool(path) and path in tree_of(args, context).documents
    why = "" if found else f"`{path[:80]}` is not among the files that this run looks at"
    return {"path": path if found else "", "why": why, "warn": why, "rows": []}


def read_code(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """The code that a hypothesis is about: its definition as it stands, the lines that use it, the tests that name it."""
    hypothesis = args.get("hypothesis")
    if not isinstance(hypothesis, dict):
        raise ToolFailure("argument", "`hypothesis` is not a hypothesis")
    tree = tree_of(args, context)
    place = home(tree, str(hypothesis.get("statement", "")))
    if place is None:
        return {"name": "", "place": "", "code": "", "language": "", "users": [], "tests": []}
    name, path, first, last = place
    cited = re.search(r"`[^`\s]+:(\d+)`", str(hypothesis.get("statement", "")))
    at = first if name or cited is None else int(cited[1])
    lines = tree.documents[path].lines[first - 1 : min(last, first + CODE_LINES - 1)]
    cut = last - first + 1 - len(lines)
    shown = [*lines, f"... {cut} more lines"] if cut > 0 else list(lines)
    users: list[str] = []
    tests: list[str] = []
    for user, line, _ in uses_of(tree, name.rpartition(".")[2]) if name else ():
        if user == path and first <= line <= last:
            continue
        said = f"`{user}:{line}`: {' '.join(tree.documents[user].lines[line - 1].split())[:120]}"
        (tests if TESTS.search(user) else users).append(said)
    language = {
        ".py": "python",
        ".md": "text",
        ".ts": "typescript",
        ".js": "javascript",
        ".go": "go",
        ".rs": "rust",
    }
    extension = os.path.splitext(path)[1].lower()
    return {"name": name, "place": f"{path}:{at}", "code": "\n".join(shown),
            "language": language.get(extension, extension.lstrip(".")), "users": users[:20], "tests": tests[:20]}  # fmt: skip


def dependencies(args: Mapping[str, object], context: Context) -> dict[str, list[Dependency]]:
    """Which hypothesis's code uses that of which other: `{from, to, why}` rows, from the code itself."""
    rows = args.get("hypotheses")
    tree = tree_of(args, context)
    homes = {}
    for row in rows if isinstance(rows, list) else ():
        place = home(tree, str(row.get("statement", "")))
        if place is not None and place[0]:
            homes[row["microHypothesisID"]] = place
    out: list[Dependency] = []
    for ident, (name, path, first, last) in homes.items():
        for other, (used, _, _, _) in homes.items():
            short = used.rpartition(".")[2]
            if other == ident or short == name.rpartition(".")[2]:
                continue
            at = next(
                (
                    line
                    for user, line, _ in uses_of(tree, short)
                    if user == path and first <= line <= last
                ),
                None,
            )
            if at is not None:
                out.append(
                    {"from": ident, "to": other, "why": f"`{name}` uses `{used}` (`{path}:{at}`)"}
                )
    return {"uses": out}


def check_links(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """Opens every link of a document: each must lead to a file of the run (LGTM-78). What was wrong before stays wrong."""
    checked, run = args.get("checked"), word(args, "run")
    if not isinstance(checked, dict):
        raise ToolFailure("argument", "`checked` is not what `validate.sections` returns")
    found = list(checked["flaws"])
    for link in checked["links"]:
        if (
            link.startswith("/")
            or ":" in link
            or ".." in link.split("/")
            or context.root.kind(f"{run}/{link}") != "file"
        ):
            found.append(f"the link `{link[:120]}` leads to no file of the run")
    return {
        "ok": not found,
        "why": "; ".join(found[:6]),
        "links": len(checked["links"]),
        "flaws": found,
    }


def validate_pipeline(args: Mapping[str, object], context: Context) -> Tried:
    """A pipeline's text, judged by the linter as any plan (LGTM-44, 75): proved, or the findings.

    It must be governed by the pipelines' automaton (which knows neither writing nor closing early), and take the inputs
    that it will be given. A proved one comes with its program's name; that it reads back to itself is checked.
    """
    from .pipelines import prove

    before = args.get("before")
    tries = int(before.get("tries", 0)) if isinstance(before, dict) else 0
    draft = args.get("draft")
    if isinstance(draft, dict) and "failed" in draft:
        return {
            "proved": False,
            "text": "",
            "findings": [str(draft.get("why"))],
            "program": "",
            "cost": {},
            "tries": tries + 1,
        }
    return {**prove(text(args, "draft"), context.root.path), "tries": tries + 1}


def home(tree: Tree, statement: str) -> tuple[str, str, int, int] | None:
    """The definition that a statement names (name, path, first and last line), else the place that it cites."""
    cited = re.search(r"`([^`\s]+):(\d+)`", statement)
    path, line = (cited[1], int(cited[2])) if cited else ("", 0)
    for name in names(statement):
        found = [row for row in tree.defined(name) if row[1].kind not in ("variable", "key")]
        found.sort(key=lambda row: (  # that around the place; else not one in tests, and the whole one of several overloads
            row[0] != path, not row[1].line <= line <= row[1].end, TESTS.search(row[0]) is not None, row[0],
            row[1].line - row[1].end, row[1].line,
        ))  # fmt: skip
        if found:
            where, one = found[0]
            return one.qualified, where, one.line, one.end
    if path in tree.documents and 1 <= line <= len(tree.documents[path].lines):
        return "", path, max(1, line - 3), min(len(tree.documents[path].lines), line + 8)
    return None


def _queries(args: Mapping[str, object]) -> list[str]:
    rows = args.get("queries")
    found = (
        [str(one).strip() for one in rows]
        if isinstance(rows, list)
        else [text(args, "queries").strip()]
    )
    return [one[:400] for one in found if one][:12]


def _mapped(args: Mapping[str, object]) -> Mapping[str, object]:
    mapped = args.get("map")
    if not isinstance(mapped, dict):
        raise ToolFailure("argument", "`map` is not what `map_code` returns")
    return mapped


def shelf_of(args: Mapping[str, object], context: Context) -> library.Shelf:
    """The files as they were mapped; as they are now where this process has not read them."""
    mapped = _mapped(args)
    with library.folder(".", context) as opened:
        return library.get(opened, True, str(mapped.get("digest", "")))


def tree_of(args: Mapping[str, object], context: Context) -> Tree:
    """The files that a run looks at: those that its map names, without what runs wrote."""
    shelf = shelf_of(args, context)
    paths = str(_mapped(args).get("paths", "**")).removeprefix("./") or "**"
    key = (shelf.folder, shelf.scan.digest, paths)
    with _lock:
        if key not in _trees:
            everything = paths in ("**", "**/*", ".")
            chosen = [one for one in shelf.scan.documents if everything or inside(one.path, paths)]
            _trees[key] = Tree(
                shelf.scan, [one for one in chosen if not one.path.startswith("runs/")]
            )
        _trees.move_to_end(key)
        while len(_trees) > _KEPT:
            _trees.popitem(last=False)
        return _trees[key]
