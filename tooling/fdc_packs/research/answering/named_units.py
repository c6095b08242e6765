"""The units that a question names: definitions and tests of its names come before what its words rank."""

from __future__ import annotations

import re

from ..explore.code_search import Tree
from ..explore.unit_spans import Unit
from ..outline.code_definitions import Definition
from ..retrieval.file_worth import TESTS
from ..retrieval.name_words import whole
from ..retrieval.question import is_written_large
from ..retrieval.stop_words import STOP

_SUBJECT = re.compile(
    r"(?:^\W*(?:(?:what|how|when|where|why)\s+)?(?:does|is|was)\s+(?!(?:the|an?)\b)|\bbetween\s+|\b(?:function|method|class)\s+|"
    r"\b(?:parameters?|arguments?|options?|attributes?|methods?|fields?|tests?)\s+(?:of|for)\s+)([A-Za-z]\w*)\b"
    r"(?:\s+and\s+([A-Za-z]\w*)\b)?|\bthe\s+([A-Za-z]\w*)\s+(?:function|method|class|decorator|exception)\b",
    re.IGNORECASE,
)
"""A word without an article where a question says what it is about: `what does merge do`, `between merge and join`, `the merge
function`, `the arguments of merge`."""

OF_CODE = frozenset(
    "argument arguments attribute class declared defined function functions implemented located method methods option options "
    "parameter parameters test tested tests type".split()
)
"""Words by which a question says what a name stands for: the code need not have them."""

AFTER_TESTS = re.compile(r"\btests?\s+(?:for|of)\b|\btested\W*$", re.IGNORECASE)
"""What a question after the tests of a name has."""


def subjects(tree: Tree, question: str) -> list[str]:
    """The words that a question is about which are, as they stand, functions or types here."""
    words = [word for found in _SUBJECT.findall(question) for word in found]
    return [
        word
        for word in dict.fromkeys(words)
        if word
        and (
            any(not TESTS.search(path) for path, _ in tree.defined(word))
            if is_written_large(word, question)
            else word.lower() not in STOP and any(_is_code_of(row) for row in tree.defined(word))
        )
    ]


def _is_code_of(row: tuple[str, Definition]) -> bool:
    path, one = row
    return one.kind not in ("variable", "key", "constant", "export") and not TESTS.search(path)


def subjects_first(units: list[Unit], names: list[str]) -> list[Unit]:
    """Units with the definitions of these names first; of several in a file under one name, the longest."""
    longest: dict[tuple[str, str], Unit] = {}
    for unit in units:
        one = unit.definition
        if one is not None and one.name in names and not TESTS.search(unit.path):
            before = longest.setdefault((unit.path, one.qualified), unit)
            if unit.end - unit.line > before.end - before.line:
                longest[unit.path, one.qualified] = unit
    chosen = {id(unit) for unit in longest.values()}
    return sorted(units, key=lambda unit: id(unit) not in chosen)


def tests_first(tree: Tree, units: list[Unit], names: list[str]) -> list[Unit]:
    """Units of tests with a name in a line first."""
    alone = [whole(one) for one in names]

    def tests_it(unit: Unit) -> bool:
        lines = tree.documents[unit.path].lines
        return TESTS.search(unit.path) is not None and any(
            one.search(lines[line - 1]) for line, _ in unit.lines for one in alone
        )

    return sorted(units, key=lambda unit: not tests_it(unit))


def named_first(tree: Tree, units: list[Unit], names: list[str]) -> list[Unit]:
    """Units with the names as they stand first: what defines one, then what has one in a line."""
    if not names:
        return units
    alone = [whole(one) for one in names]

    def rank(unit: Unit) -> int:
        one = unit.definition
        if one is not None and {one.name, one.qualified} & set(names):
            return 0 if one.kind != "export" else 1
        lines = tree.documents[unit.path].lines
        if one is not None and set(one.qualified.split(".")) & set(names):
            return 1  # inside of what the question names
        has = any(one.search(lines[line - 1]) for line, _ in unit.lines for one in alone)
        return 1 if has else 2

    return sorted(units, key=rank)
