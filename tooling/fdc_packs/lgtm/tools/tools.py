"""The tools of the LGTM pack that touch the world: a folder, searches, code, the links of a document, the linter.

`packs/lgtm/` has the pack's pure functions. Searches read the workspace without `runs/`, so that no run quotes another.
"""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from fdc_toolchain.tools import intent_files
from fdc_toolchain.tools.context import Context, text, word
from fdc_toolchain.workspace.failure import ToolFailure

from fdc_packs.research.explore.code_search import TESTS, Tree
from fdc_packs.research.explore.strategies import inside, places
from fdc_packs.research.retrieval import library

from ..statements import content, names, stem

ROWS = 12
PER_FILE = 4
CODE_LINES = 60
NAMED = 0.5
"""What a telling word of a query in the name of a definition adds to the worth of its places; two add four times that."""
IN_TESTS = 0.5
"""What a place in tests is worth beside one in the code that they test."""
PER_SUBJECT = 3
"""Places of one definition among what is found."""
_KEPT = 2
_lock = threading.Lock()
_searching = threading.Lock()
_trees: OrderedDict[tuple[str, str, str], Tree] = OrderedDict()
_STRATEGIES = {"ImplementationScan": 1.0, "PatternSearch": 0.8, "BoundaryExplore": 0.5}
_CONFIDENCE = {
    "documentation": 0.9,
    "definition": 0.9,
    "sentence": 0.8,
    "use": 0.7,
    "import": 0.7,
    "code": 0.7,
}
_PROSE = ("documentation", "prose", "passage", "sentence", "exception", "obsolete")
_EDGE = re.compile(r"^[\s\"'#/*!;%<>-]+|[\"']{3}\s*$|\*/\s*$")


def create_directory(args: dict[str, Any], context: Context) -> Any:
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


def file_search(args: dict[str, Any], context: Context) -> Any:
    """FileSearch: what definitions, comments and documents say of the queries, best first, each with its place.

    With `contradicting`, what counts is what speaks against the names and statements in the queries, and what they let
    expect and is not there (`lgtm_against`). `tells` has the words of the queries that a find's definition has.
    """
    tree = tree_of(args, context)
    shelf = _shelf(args, context)
    found: dict[str, dict[str, Any]] = {}
    contradicting = args.get("contradicting") in (True, "true")
    queries = _queries(args)[: 6 if contradicting else 4]
    for nth, query in enumerate(queries):
        with _searching:
            index = None if contradicting else shelf.index(_all_concepts(queries))
            rows = list(_against(tree, query) if index is None else _places(tree, index, query))
        for row in rows:
            score = row["score"] * 0.9**nth
            if row["source"] not in found or found[row["source"]]["score"] < score:
                found[row["source"]] = {**row, "score": round(score, 4)}
    best = _best(found, "FileSearch")
    asked = content(" ".join(queries))
    instead = text(args, "instead", "")
    best |= {
        "warn": f"{instead} found nothing or is unavailable; FileSearch instead." if instead else ""
    }
    return {
        **best,
        "rows": [{**row, "tells": sorted(asked & _said(tree, row))} for row in best["rows"]],
    }


def codebase_grep(args: dict[str, Any], context: Context) -> Any:
    """CodebaseGrep: the lines that use a name, those of tests too; a text that is no name is looked for letter by letter."""
    tree = tree_of(args, context)
    found: dict[str, dict[str, Any]] = {}
    for query in _queries(args):
        wanted = names(query) or [query.strip("`")]
        for name in wanted:
            for path, line, imported in _uses(tree, name):
                test = TESTS.search(path) is not None
                note = f"{'A test names' if test else 'An import of' if imported else 'A use of'} `{name}`"
                kind = "import" if imported else "use"
                row = _row(
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
    return _best(found, "CodebaseGrep")


def web_search(args: dict[str, Any], context: Context) -> Any:
    """WebSearch: what the configured search port finds; a failure where none is (the catalogue makes it a value)."""
    import importlib

    from fdc_toolchain.tools.tool_rows import TOOLS

    row = TOOLS["google_search"]
    search = getattr(importlib.import_module(row.module), row.function)
    out: list[dict[str, Any]] = []
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


def unknown_tool(args: dict[str, Any], context: Context) -> Any:
    """UseTool with an ident that no tool has: the run stops (LGTM-35)."""
    raise ToolFailure("tool", f"Tool not found: {text(args, 'id')[:80]}")


def readable(args: dict[str, Any], context: Context) -> Any:
    """ReadFile, where an agent recommends it: one of the files that the run looks at, and no other; `path` is empty else."""
    path = text(args, "file").removeprefix("./")
    found = bool(path) and path in tree_of(args, context).documents
    why = "" if found else f"`{path[:80]}` is not among the files that this run looks at"
    return {"path": path if found else "", "why": why, "warn": why, "rows": []}


def read_code(args: dict[str, Any], context: Context) -> Any:
    """The code that a hypothesis is about: its definition as it stands, the lines that use it, the tests that name it."""
    hypothesis = args.get("hypothesis")
    if not isinstance(hypothesis, dict):
        raise ToolFailure("argument", "`hypothesis` is no hypothesis")
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
    for user, line, _ in _uses(tree, name.rpartition(".")[2]) if name else ():
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


def dependencies(args: dict[str, Any], context: Context) -> Any:
    """Which hypothesis's code uses that of which other: `{from, to, why}` rows, from the code itself."""
    rows = args.get("hypotheses")
    tree = tree_of(args, context)
    homes = {}
    for row in rows if isinstance(rows, list) else ():
        place = home(tree, str(row.get("statement", "")))
        if place is not None and place[0]:
            homes[row["microHypothesisID"]] = place
    out = []
    for ident, (name, path, first, last) in homes.items():
        for other, (used, _, _, _) in homes.items():
            short = used.rpartition(".")[2]
            if other == ident or short == name.rpartition(".")[2]:
                continue
            at = next(
                (
                    line
                    for user, line, _ in _uses(tree, short)
                    if user == path and first <= line <= last
                ),
                None,
            )
            if at is not None:
                out.append(
                    {"from": ident, "to": other, "why": f"`{name}` uses `{used}` (`{path}:{at}`)"}
                )
    return {"uses": out}


def check_links(args: dict[str, Any], context: Context) -> Any:
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


def validate_pipeline(args: dict[str, Any], context: Context) -> Any:
    """A pipeline's text, judged by the linter as any plan (LGTM-44, 75): proved, or the findings.

    It must be governed by the pipelines' automaton (which knows neither writing nor closing early), and take the inputs
    that it will be given. A proved one comes with its program's name; that it reads back to itself is checked.
    """
    from fdc_toolchain.runs.nested_plan import prove

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


def _all_concepts(queries: list[str]) -> list[Any]:
    """The concepts of several queries, each once: one index serves them all."""
    from fdc_packs.research.retrieval.question import concepts_of

    return list(
        {concept.word: concept for query in queries for concept in concepts_of(query)}.values()
    )


def _places(tree: Tree, index: Any, query: str) -> Iterator[dict[str, Any]]:
    """Places in code by three strategies, and sentences of documents and comments."""
    from fdc_packs.research.retrieval.extract import extract
    from fdc_packs.research.retrieval.question import concepts_of
    from fdc_packs.research.retrieval.retrieve import refine, search

    concepts = concepts_of(query)
    found = tree.search(concepts, names(query))
    most = max(found.weights, default=0.0) or 1.0
    telling = {
        stem(concept.word): 0.5 + 0.5 * weight / most
        for concept, weight in zip(concepts, found.weights)
    }
    top = 0.0
    for strategy, worth in _STRATEGIES.items():
        for one in places(tree, found, strategy, "")[:80]:
            note = one.description[:1].upper() + one.description[1:]
            told = sum(telling.get(part, 0.0) for part in content(one.subject))
            score = (
                one.score
                * worth
                * (1 + NAMED * told**2)
                * (IN_TESTS if TESTS.search(one.path) else 1.0)
            )
            top = max(top, score)
            row = _row(tree, one.path, one.line, note, one.kind, one.subject, one.home, score)
            if row is not None:
                said = one.said if one.kind in _PROSE and 3 < len(one.said) <= 600 else row["quote"]
                yield {**row, "quote": said}
    spans = []
    for hit in refine(index, concepts, search(index, concepts, 60), query)[:12]:
        passage = index.passages[hit.passage]
        path = index.documents[passage.document].path
        if path in tree.documents:
            spans.append((path, passage.line, passage.end_line, hit.score))
    named = {span[0] for span in spans}
    documents = [document for path, document in tree.documents.items() if path in named]
    weights = [index.rarity(concept) for concept in concepts]
    best = 0.0
    for nth, cited in enumerate(extract(documents, spans, concepts, weights, query, 8)):
        best = best or cited.score or 1.0
        worth = (top or 1.0) * 0.7 * 0.93**nth
        said = " ".join(cited.text.split())[:600]
        around = tree.around(
            cited.path, cited.line
        )  # a comment tells of the definition that it stands in
        subject, home = (
            (around.qualified, f"{cited.path}:{around.line}") if around is not None else ("", "")
        )
        row = _row(
            tree, cited.path, cited.line, f"`{cited.path}` says", "sentence", subject, home, worth
        )
        if row is not None and _tells(said, query):
            yield {**row, "quote": said}


def _tells(said: str, query: str) -> bool:
    """Whether a sentence has enough of a query's words: two of five, and not one alone of several."""
    wanted = content(query)
    return len(wanted & content(said)) >= min(len(wanted), max(2, round(0.4 * len(wanted))))


def _against(tree: Tree, query: str) -> Iterator[dict[str, Any]]:
    """What speaks against a query's names and words, as rows."""
    from .against import objections

    for one in objections(tree, query):
        row = _row(tree, one.path, one.line, one.note, one.kind, one.subject, one.home, one.weight)
        if row is not None:
            yield {**row, "quote": one.said if 3 < len(one.said) <= 600 else row["quote"]}


def _said(tree: Tree, row: dict[str, Any]) -> frozenset[str]:
    """The words of the definition around a find, without those of the definitions inside of it; of a few lines elsewhere."""
    path, line = row["path"], row["line"]
    lines, around, outline = tree.documents[path].lines, tree.around(path, line), tree.outline(path)
    first, last = (around.line, around.end) if around is not None else (line - 3, line + 3)
    kept = set(range(max(1, first), min(len(lines), last) + 1))
    for one in outline.definitions if outline is not None and around is not None else ():
        if first < one.line and one.end <= last and one.kind not in ("variable", "key"):
            kept -= set(range(one.line, one.end + 1))
    return content(" ".join([row["quote"], *(lines[number - 1] for number in sorted(kept)[:400])]))


def _row(
    tree: Tree, path: str, line: int, note: str, kind: str, subject: str, home: str, score: float
) -> dict[str, Any] | None:
    lines = tree.documents[path].lines
    if not 1 <= line <= len(lines):
        return None
    raw = lines[line - 1]
    for more in (
        lines[line : line + 8] if kind == "definition" else ()
    ):  # a head may take several lines
        if raw.count("(") <= raw.count(")"):
            break
        raw = f"{raw.rstrip()}{'' if raw.endswith('(') else ' '}{more.strip()}"
    quote = _EDGE.sub("", _EDGE.sub("", raw)).strip() if kind in _PROSE else raw.strip()
    if len(quote) < 4 or len(quote) > 600:
        return None
    around = "\n".join(lines[max(0, line - 2) : line + 3])
    title = f"`{subject}`, {kind}" if subject else f"{path}, {kind}"
    return {"source": f"{path}:{line}", "path": path, "line": line, "quote": quote, "note": note, "title": title, "kind": kind,
            "subject": subject, "home": home, "score": round(score, 4), "confidence": _CONFIDENCE.get(kind, 0.6),
            "snippet": around, "test": TESTS.search(path) is not None}  # fmt: skip


def _best(found: dict[str, dict[str, Any]], tool: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    told: dict[tuple[str, str], int] = {}
    said: set[tuple[str, str]] = set()
    for row in sorted(found.values(), key=lambda one: (-one["score"], one["source"])):
        if (row["path"], row["quote"]) in said:
            continue  # another line of the same sentence
        said.add((row["path"], row["quote"]))
        about = (row["home"].rpartition(":")[0] or row["path"], row["subject"] or row["source"])
        told[about] = told.get(about, 0) + 1
        if tool == "FileSearch" and told[about] > PER_SUBJECT:
            continue
        seen[row["path"]] = seen.get(row["path"], 0) + 1
        if seen[row["path"]] <= PER_FILE and len(rows) < ROWS:
            rows.append(row)
    return {"rows": rows, "count": len(rows), "of": len(found), "tool": tool}


def _uses(tree: Tree, name: str) -> list[tuple[str, int, bool]]:
    """The lines that use a name, and those of tests that spell it, each once."""
    plain = name.rpartition(".")[2]
    found = {(path, line): imported for path, line, imported in tree.users(plain)}
    if not found and len(plain) > 3:
        for path in tree.documents:
            for line in (
                number for number, one in enumerate(tree.documents[path].lines, 1) if plain in one
            ):
                found[path, line] = False
                if len(found) >= 60:
                    break
    return [(path, line, imported) for (path, line), imported in sorted(found.items())]


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


def _queries(args: dict[str, Any]) -> list[str]:
    rows = args.get("queries")
    found = (
        [str(one).strip() for one in rows]
        if isinstance(rows, list)
        else [text(args, "queries").strip()]
    )
    return [one[:400] for one in found if one][:12]


def _shelf(args: dict[str, Any], context: Context) -> library.Shelf:
    """The files as they were mapped; as they are now where this process has not read them."""
    mapped = args.get("map")
    if not isinstance(mapped, dict):
        raise ToolFailure("argument", "`map` is not what `map_code` returns")
    with library.folder(".", context) as opened:
        return library.get(opened, True, str(mapped.get("digest", "")))


def tree_of(args: dict[str, Any], context: Context) -> Tree:
    """The files that a run looks at: those that its map names, without what runs wrote."""
    shelf = _shelf(args, context)
    paths = str(args["map"].get("paths", "**")).removeprefix("./") or "**"
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
