"""What can be held against a statement about code, found in the files: the embedded half of a null challenge (LGTM-65, 67).

Two kinds of find. What speaks against it: a definition that calls itself out of use, code that refuses to do what is named,
a line of exception about the same. And what the statement lets expect and is not there: nothing uses a private definition,
no test names it; or the name is defined more than once, so that the place may be another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.outline.code_definitions import Definition
from fdc_packs.research.retrieval.file_worth import TESTS

from ..statements import NEGATION, OBSOLETE, names

_REFUSES = re.compile(
    r"\braise\s+NotImplementedError|\bNotImplementedException|\bunimplemented!\(|\btodo!\("
)
_RETIRED = re.compile(r"@\w*deprecated|\bDeprecat(?:ed|ion)Warning|@Deprecated|#\[deprecated")
_GONE = re.compile(
    r"^\W*(?:deprecated|obsolete|superseded by)\b|\b(?:function|method|class|module|it|this)\s+(?:is|was)\s+(?:now\s+)?"
    r"(?:deprecated|obsolete|superseded|unmaintained)\b|^\W*\.\. deprecated::",
    re.IGNORECASE,
)
"""A definition that says of itself, in its documentation, that it is out of use; not one that speaks of what is."""
UNITS = 40
"""Definitions and passages in which lines of exception are looked for."""
_INNER = ("variable", "key")


class Objection(NamedTuple):
    """A line that counts against a definition or a statement: of what kind it is, and what it is worth."""

    path: str
    line: int
    kind: str
    """`obsolete`, `unused` (they disprove that a change belongs there), `refuses`, `untested`, `elsewhere`, `exception`."""
    note: str
    subject: str
    home: str
    weight: float


def objections(tree: Tree, query: str) -> Iterator[Objection]:
    """What counts against the names and the words of a query."""
    for name in names(query):
        defined = [row for row in tree.defined(name) if row[1].kind not in _INNER]
        for path, one in defined[:4]:
            yield from _of(tree, path, one)
        ours = [row for row in defined if TESTS.search(row[0]) is None]
        for path, one in ours[1:8]:
            if one.qualified == ours[0][1].qualified and path != ours[0][0]:
                first = f"`{ours[0][0]}:{ours[0][1].line}`"
                yield _about(
                    path,
                    one,
                    "elsewhere",
                    f"`{one.qualified}` is defined here too, not only in {first}",
                    1.0,
                )
    yield from _exceptions(tree, query)


def _of(tree: Tree, path: str, one: Definition) -> Iterator[Objection]:
    lines = tree.documents[path].lines
    outline = tree.outline(path)
    prose = outline.prose if outline is not None else frozenset()
    for number in range(max(1, one.line - 3), min(len(lines), one.end) + 1):
        said = lines[number - 1]
        retired = _RETIRED.search(said) and number <= one.line + 1 and not _closed(said)
        if retired or (one.doc and number >= one.doc and number in prose and _GONE.search(said)):
            yield Objection(path, number, "obsolete", f"`{one.qualified}` says that it is out of use", one.qualified,
                            f"{path}:{one.line}", 3.0)  # fmt: skip
        elif _REFUSES.search(said) and number > one.line:
            yield Objection(
                path,
                number,
                "refuses",
                f"`{one.qualified}` refuses here",
                one.qualified,
                f"{path}:{one.line}",
                1.5,
            )
    short = one.qualified.rpartition(".")[2]
    if TESTS.search(path) or short.startswith("__"):
        return
    users = [row for row in tree.users(short) if not (row[0] == path and row[1] == one.line)]
    spelt = sum(
        len(re.findall(rf"(?<![\w$]){re.escape(short)}(?![\w$])", tree.text(each)[0]))
        for each in tree.documents
    )
    if not users and spelt <= 1 and short.startswith("_"):
        yield _about(
            path,
            one,
            "unused",
            f"Nothing in {len(tree.documents)} files uses `{one.qualified}`",
            2.5,
        )
    tests = [each for each in tree.documents if TESTS.search(each)]
    if tests and not any(short in tree.text(each)[0] for each in tests):
        yield _about(
            path,
            one,
            "untested",
            f"None of {len(tests)} files of tests names `{one.qualified}`",
            0.9,
        )


def _about(path: str, one: Definition, kind: str, note: str, weight: float) -> Objection:
    return Objection(path, one.line, kind, note, one.qualified, f"{path}:{one.line}", weight)


def _closed(line: str) -> bool:
    """Whether a line mentions a warning in passing: in a comment or a text."""
    return line.lstrip().startswith(("#", "//", "*", '"', "'"))


def _exceptions(tree: Tree, query: str) -> Iterator[Objection]:
    """Lines that are about the words of a query and have a word of exception: not, never, deprecated, ..."""
    from fdc_packs.research.retrieval.question import concepts_of

    found = tree.search(concepts_of(query), names(query))
    units = found.units()[:UNITS]
    most = max((weight for unit in units for _, weight in unit.lines), default=0.0) or 1.0
    for unit in units:
        subject = unit.definition.qualified if unit.definition is not None else ""
        lines = tree.documents[unit.path].lines
        for line, weight in unit.lines:
            said = lines[line - 1]
            if (NEGATION.search(said) or OBSOLETE.search(said)) and len(said.split()) > 3:
                weight = 0.8 * weight / most
                yield Objection(
                    unit.path,
                    line,
                    "exception",
                    "A line with a word of exception",
                    subject,
                    "",
                    weight,
                )
