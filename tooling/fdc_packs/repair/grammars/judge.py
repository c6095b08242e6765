"""Whether a file can be read: JSON by the standard parser, other languages by tree-sitter, where its grammar is installed."""

from __future__ import annotations

import importlib
import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 200_000
"""Characters of a file that is still judged: a repair reads it some hundred times."""
_JAVASCRIPT = ("JavaScript", "tree_sitter_javascript", "language")
_C, _CPP = ("C", "tree_sitter_c", "language"), ("C++", "tree_sitter_cpp", "language")
LANGUAGES = {
    ".js": _JAVASCRIPT, ".mjs": _JAVASCRIPT, ".cjs": _JAVASCRIPT, ".jsx": _JAVASCRIPT,
    ".ts": ("TypeScript", "tree_sitter_typescript", "language_typescript"),
    ".tsx": ("TypeScript", "tree_sitter_typescript", "language_tsx"),
    ".go": ("Go", "tree_sitter_go", "language"), ".rs": ("Rust", "tree_sitter_rust", "language"),
    ".java": ("Java", "tree_sitter_java", "language"), ".c": _C, ".h": _CPP, ".cc": _CPP, ".cpp": _CPP, ".hpp": _CPP,
    ".cs": ("C#", "tree_sitter_c_sharp", "language"), ".php": ("PHP", "tree_sitter_php", "language_php"),
    ".rb": ("Ruby", "tree_sitter_ruby", "language"),
}  # fmt: skip


class Trouble(NamedTuple):
    """The first place (line and column from 1) that a parser does not read, and how much of the text it does not read.

    `missing`: the sign that the parser misses there, if it says so; `others`: further lines where the cause may be.
    """

    message: str
    line: int
    column: int
    much: float
    missing: str = ""
    others: tuple[int, ...] = ()


class Judge(NamedTuple):
    """The parser of a language: its name, and what it says of a text (None: it reads all of it)."""

    language: str
    trouble: Callable[[str], Trouble | None]


def judge_of(path: str) -> Judge | None:
    """The parser for a file, by its name; None where there is none here. Python has its own (`mutate.syntax`)."""
    extension = os.path.splitext(path)[1].lower()
    if extension == ".json":
        return Judge("JSON", _json)
    row = LANGUAGES.get(extension)
    parser = None if row is None else _parser(*row[1:])
    if row is None or parser is None:
        return None
    return Judge(row[0], lambda text: _parsed(parser, text))


def trouble(path: str, text: str) -> Trouble | None:
    """What the parser of a file's language does not read in it; None where it reads all, or where there is no parser."""
    judge = judge_of(path) if len(text) <= LONGEST else None
    return None if judge is None else judge.trouble(text)


def _json(text: str) -> Trouble | None:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as said:
        return Trouble(said.msg, said.lineno, said.colno, len(text) - said.pos)
    except (ValueError, RecursionError):
        return None
    return None


@cache
def _parser(module: str, language: str) -> Any:
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = getattr(importlib.import_module(module), language)()
        return tree_sitter.Parser(tree_sitter.Language(grammar))
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def _parsed(parser: Any, text: str) -> Trouble | None:
    data = text.encode("utf-8", "replace")
    root = parser.parse(data).root_node
    if not root.has_error:
        return None
    wrong: list[Any] = []
    inner: list[Any] = []
    work: list[tuple[Any, bool]] = [(root, False)]
    while work:
        node, within = work.pop()
        if node.is_missing or node.is_error:
            (inner if within else wrong).append(node)
        if node.has_error:
            work += [(child, within or node.is_error) for child in node.children]
    if not wrong:
        return None
    first = min(wrong, key=lambda node: node.start_byte)
    missing = first.type if first.is_missing else ""
    said = f"{missing} is missing" if missing else "no rule of the grammar fits"
    line = first.start_point[0] + 1
    before = data[first.start_byte - first.start_point[1] : first.start_byte]
    others = [first.end_point[0] + 1, *(node.start_point[0] + 1 for node in inner)]
    return Trouble(
        said,
        line,
        len(before.decode("utf-8", "replace")) + 1,
        sum(1 + node.end_byte - node.start_byte for node in wrong),
        missing,
        tuple(one for one in dict.fromkeys(others) if one != line)[:3],
    )
