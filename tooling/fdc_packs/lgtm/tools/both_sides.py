"""For and against: everything that the files show at this moment of the names and the words of a hypothesis.

The code that it names, as it stands, who uses it, which tests name it, what speaks against it, the sentences with its words;
and of a name that stands nowhere, that it does not. The judge is shown this beside what was known before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fdc_toolchain.api.tools import Context, ToolFailure, word

from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.outline.code_definitions import Definition
from fdc_packs.research.retrieval.file_worth import TESTS

from ..knowledge import lines_of, parsed
from ..search import numbered
from ..shown import block, blocks, entry_of, kept, of_find
from ..statements import content, identifiers
from .found_rows import objections_of, places_of, row_of, uses_of
from .tools import tree_of

if TYPE_CHECKING:
    from ..shapes.found import Find, Found, Shown

NAMES = 8
"""Names that are looked up."""
BODY = 60
"""Lines of a definition that are shown; of a longer class its beginning and the heads of what is in it."""
HOMES, VALUES, USES, WORDS, AGAINST, ROWS = 3, 2, 3, 6, 5, 26
"""The most definitions of one name, values beside one, uses; sentences, objections; rows of all kinds together."""


def both_sides(args: Mapping[str, object], context: Context) -> Found:
    """`use_tool.both_sides`: rows for and against the texts, the definitions that they name first."""
    texts = args.get("texts")
    said = [str(one) for one in texts] if isinstance(texts, list) else []
    if isinstance(texts, dict):
        said = [row["targetDescription"].partition(": ")[2] for row in texts["targets"]]
    tree = tree_of(args, context)
    names = list(dict.fromkeys(name for one in said for name in identifiers(one)))[:NAMES]
    found = [row for name in names for row in _of_name(tree, name)]
    against = [row for name in names for row in objections_of(tree, f"`{name}`")]
    words = list(places_of(tree, said[0])) if said else []
    words.sort(key=lambda row: (-row["score"], row["source"]))
    told = list(_whole(tree, words, {row["source"] for row in found}))
    against.sort(key=lambda row: (-row["score"], row["source"]))
    rows: dict[tuple[str, str], Find] = {}
    for row in (*found, *against[:AGAINST], *told):
        rows.setdefault((row["source"], row["kind"]), row)
    return {"rows": list(rows.values())[:ROWS], "count": len(rows), "tool": "FileSearch"}


def _of_name(tree: Tree, name: str) -> Iterator[Find]:
    """The definitions of a name, best first, and its uses; of one that is nowhere, that."""
    plain = name.rpartition(".")[2]
    homes: dict[tuple[str, str], Definition] = {}
    for path, one in tree.defined(name) or tree.defined(plain):
        before = homes.get((path, one.qualified))  # of several overloads the whole one
        if before is None or before.end - before.line < one.end - one.line:
            homes[path, one.qualified] = one
    defined = [(path, one) for (path, _), one in homes.items()]
    defined.sort(
        key=lambda row: (
            TESTS.search(row[0]) is not None,
            row[1].kind in ("variable", "key"),
            row[0],
        )
    )
    looked = [] if plain.startswith("__") else uses_of(tree, plain)
    used = [row for row in looked if row[:2] not in {(path, one.line) for path, one in defined}]
    tests = sum(TESTS.search(path) is not None for path, _, _ in used)
    count = f" (other lines that use it: {len(used)}, of tests: {tests})" if looked else ""
    for path, one in defined[:HOMES]:
        note = f"`{one.qualified}` is defined here{count}"
        row = row_of(
            tree, path, one.line, note, "definition", one.qualified, f"{path}:{one.line}", 1.0
        )
        if row is not None:
            yield {**row, "kind": "body", "snippet": _body(tree, path, one)}
            yield from _values(tree, path, one)
    if not defined and not used:
        source = f"all {len(tree.documents)} files, searched for `{plain}`"
        yield {"source": source, "path": "", "line": 0, "quote": f"No file has `{plain}`.", "note": "It is not there",
               "title": f"`{plain}`, absent", "kind": "absent", "subject": plain, "home": "", "score": 1.0, "confidence": 0.9,
               "snippet": ""}  # fmt: skip
    for path, line, imported in [row for row in used if not row[2]][:USES]:
        note = f"{'A test names' if TESTS.search(path) else 'A use of'} `{plain}`"
        row = row_of(tree, path, line, note, "import" if imported else "use", plain, "", 0.9)
        if row is not None:
            yield row


def _whole(tree: Tree, words: list[Find], seen: set[str]) -> Iterator[Find]:
    """The best places with the words of a text: of each definition once, as it stands, and not those that are seen."""
    count = 0
    for row in words:
        one = tree.around(row["path"], row["line"])
        home = f"{row['path']}:{one.line}" if one is not None else row["source"]
        if home in seen or count == WORDS:
            continue
        seen.add(home)
        count += 1
        if one is not None:
            row = {**row, "kind": "body", "snippet": _body(tree, row["path"], one, row["line"])}
        yield row


def _values(tree: Tree, path: str, one: Definition) -> Iterator[Find]:
    """The values beside a definition that its lines name: what it does may stand there (a table, a default, a pattern)."""
    outline = tree.outline(path)
    inner = " ".join(tree.documents[path].lines[one.line : one.end])
    beside = (
        [row for row in outline.definitions if row.kind in ("variable", "key")] if outline else []
    )
    named = {row.name: row for row in beside if not one.line <= row.line <= one.end}
    used = [
        row
        for name, row in named.items()
        if re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", inner)
    ]
    for value in used[:VALUES]:
        note = f"`{value.qualified}`, which `{one.qualified}` uses"
        row = row_of(tree, path, value.line, note, "definition", value.qualified, "", 0.8)
        if row is not None:
            last = max(value.end, value.line + 8)
            yield {
                **row,
                "kind": "body",
                "snippet": numbered(tree.documents[path].lines, value.line, last),
            }


def _body(tree: Tree, path: str, one: Definition, line: int = 0) -> str:
    """A definition as it stands; where it is long, its beginning, the first lines of the definitions inside of it, and what
    is around a `line` of it."""
    lines, outline = tree.documents[path].lines, tree.outline(path)
    if one.end - one.line < BODY or outline is None:
        return numbered(lines, one.line, min(one.end, one.line + BODY))
    inside = [row.line for row in outline.definitions
              if one.line < row.line and row.end <= one.end and row.kind not in ("variable", "key")]  # fmt: skip
    first = min(one.line + (BODY // 3 if inside else BODY), one.end)
    heads = [numbered(lines, at, at) for at in inside if at > first]
    cut = f"      ... to line {one.end}"
    if line > first:
        heads = [
            "      ...",
            numbered(lines, max(first + 1, line - BODY // 4), min(one.end, line + BODY // 4)),
        ]
    return "\n".join([numbered(lines, one.line, first), *heads[:BODY], cut])


def known(args: Mapping[str, object], context: Context) -> Shown:
    """`use_tool.known`: the evidence that a judge is shown, as text: what this challenge found, and what a search of the run's
    knowledge folder finds for the hypothesis' own names and words at this moment, then the rest of the folder."""
    hypothesis, entries, run = args.get("hypothesis"), args.get("entries"), word(args, "run")
    if not isinstance(hypothesis, dict) or not isinstance(entries, list):
        raise ToolFailure(
            "argument", "`hypothesis` and `entries` are not what the plan made of them"
        )
    stated = [hypothesis["statement"], *(row["statement"] for row in hypothesis["keyAssumptions"])]
    names, words = set(identifiers(" ".join(stated))), content(stated[0])
    own = kept(args.get("results"))
    ranked = []
    for entry in entries:
        found = parsed(context.root.read(f"{run}/{entry['filePath']}").decode("utf-8").rstrip("\n"))
        note, _, quote = found.summary.partition(f" ({entry['source']}): ")
        lines = lines_of(found)
        all_of_it = f"{quote} {lines}"
        worth = 3 * sum(one.rpartition(".")[2] in all_of_it for one in names) + len(
            words & content(all_of_it)
        )
        ident = entry_of(entry["filePath"])
        shown = [block(ident, entry["source"], note, quote, each) for each in (lines, "")]
        ranked.append((-worth, ident, (shown[0], shown[1])))
    ranked.sort()
    rows = [(of_find(row), of_find(row, False)) for row in own] + [row[2] for row in ranked]
    ids = [row["stub"]["entryID"] for row in own] + [row[1] for row in ranked]
    text, short = blocks(rows)
    return {"text": text or "(nothing was found)", "ids": ids, "count": len(ids), "left": short}
