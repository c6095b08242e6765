"""The files that a task names: its words, a name between quotes as one, and the words of English that stand for a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..named_tuples import NamedTuple

SHORT = frozenset("authors changelog changes contributing license readme security".split())
"""Files that a task names without their ending, as English words."""
TEXTS = (".md", ".rst", ".txt", ".adoc")
_PIECE = re.compile(r"[\"“]([^\"“”\n]+)[\"”]|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)|\S+")
_PLAIN = re.compile(r"\S+")
_MADE = frozenset("as called file in into named to".split())
"""Words behind which a quotation can be the name of a file that does not exist."""
_ENDS = re.compile(r"[^\s/\\]\.[a-z]\w*$")
_OUTSIDE = re.compile(r"(?:/|~/|(?:[^\s/]+/)*\.\./).*\w")


class Word(NamedTuple):
    """A word of a task without the signs around it, and where it stands. `whole`: it is a quotation, which is a name;
    `said`: it is one of the words of a quotation, which is a text."""

    text: str
    start: int
    end: int
    whole: bool = False
    said: bool = False


def words(root: str, text: str) -> Iterator[Word]:
    """The words of a text. A quotation with white space is one word where it names a file: one that exists, or, behind `to`
    and the like, one with an ending."""
    at, until, before = 0, 0, ""
    while (found := _PIECE.search(text, at)) is not None:
        inner = (found[1] or found[2] or found[3] or "").strip().removeprefix("./")
        if " " in inner and (
            os.path.isfile(os.path.join(root, inner))
            or (before in _MADE and _ENDS.search(inner) is not None)
        ):
            yield Word(inner, found.start(), found.end(), whole=True)
            at, before = found.end(), ""
            continue
        if " " in inner and not found[2]:
            until = found.end()
        plain = _PLAIN.match(text, found.start())
        assert plain is not None
        word = plain[0].strip("\"'`“”,;:()?!").rstrip(".")
        yield Word(word, plain.start(), plain.end(), said=plain.start() < until)
        at, before = plain.end(), word.lower()


def outside(word: str) -> bool:
    """Whether a word is a path that leaves the workspace."""
    return "//" not in word and _OUTSIDE.fullmatch(word) is not None


def named(root: str, word: str) -> str:
    """The file that a word names: its path, or `README` and the like without the ending; empty where it names none."""
    if os.path.isfile(os.path.join(root, word)):
        return word
    if not (word.isupper() and len(word) > 3 or word in SHORT):
        return ""
    files = (f"{word.upper()}{end}" for end in ("", *TEXTS))
    return next((one for one in files if os.path.isfile(os.path.join(root, one))), "")
