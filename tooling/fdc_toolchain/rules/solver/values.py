"""Which values an argument may have, as far as the globs and texts of a plan can tell one from another.

A rule that holds for each path on its own is proved for one path that stands for any: only whether it is this
or that literal path, and which globs it matches, makes a difference. `kinds` lists what there is to tell apart,
with one witness of each kind. Where globs overlap, every combination that some text really has is found by
walking all of them at once; none is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...named_tuples import NamedTuple
from ...text import glob_match
from ...text.glob_match import Tokens

MOST = 4000
"""Combinations of positions looked at; beyond, no one has an overview of these globs (`kinds` gives None)."""


_OTHERS = [
    *"xyzabcdefghijklmnopqrstuvwABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    *map(chr, range(0x4E00, 0x9000)),
]
"""Letters of which one stands for all that no glob names."""


class Glob(NamedTuple):
    """A set of texts. Of `files`, as `for_each_file` lists them: hidden names only where the glob writes the dot."""

    tokens: Tokens
    files: bool = False


class Value(NamedTuple):
    """One value, standing for all of its kind. `literal`: it is one that the plan names, and stands for itself."""

    text: str
    literal: bool


def files_of(glob: str) -> Glob | None:
    """The files that a `for_each_file` goes through; None where its glob says more than can be followed here."""
    names = [name for name in glob.split("/") if name not in ("", ".")]
    if "[" in glob or ".." in names or not names or glob.startswith("/"):
        return None
    tokens: list[str] = []
    for number, name in enumerate(names):
        last = number + 1 == len(names)
        if name == "**":
            tokens += glob_match.compiled([(False, "**/")])
            tokens += glob_match.compiled([(False, "?*")]) if last else ()
        else:
            for letter in name:  # by itself each, so that two stars of one name stay inside of it
                tokens += glob_match.compiled([(False, letter)])
            tokens += () if last else ("/",)
    return Glob(tuple(tokens), True)


def member(text: str, glob: Glob) -> bool:
    """True where a text is in a set."""
    here = glob_match.closed({0}, glob.tokens)
    fresh = True
    for letter in text:
        here = _after(here, glob, letter, fresh)
        fresh = letter == "/"
    return 2 * len(glob.tokens) in here and not (glob.files and fresh)


def kinds(literals: Iterable[str], globs: Iterable[Glob], *, paths: bool) -> list[Value] | None:
    """Each literal, and one value of each kind that no literal names; None where that is more than can be looked at.

    `paths`: no value begins with a slash or has two in a row.
    """
    sets = tuple(dict.fromkeys(globs))
    named = {token for glob in sets for token in glob.tokens if len(token) == 1}
    letters = (
        next(letter for letter in _OTHERS if letter not in named),
        *sorted(named | {"/", "."}),
    )
    start = (True, tuple(frozenset(glob_match.closed({0}, glob.tokens)) for glob in sets))
    texts = {start: ""}
    found: dict[frozenset[Glob], str] = {}
    work = [start]
    for state in work:  # grows while it is gone through: shortest texts first
        fresh, here = state
        text = texts[state]
        inside = frozenset(
            glob
            for glob, at in zip(sets, here, strict=True)
            if 2 * len(glob.tokens) in at and not (glob.files and fresh)
        )
        if text and (inside not in found or found[inside].endswith("/") and not text.endswith("/")):
            found[inside] = text
        for letter in letters:
            if paths and fresh and letter == "/":
                continue
            after = tuple(
                frozenset(_after(at, glob, letter, fresh))
                for glob, at in zip(sets, here, strict=True)
            )
            following = (letter == "/", after)
            if following not in texts:
                if len(texts) >= MOST:
                    return None
                texts[following] = text + letter
                work.append(following)
    return [Value(text, True) for text in sorted(set(literals))] + [
        Value(text, False) for text in found.values()
    ]


def _after(here: Iterable[int], glob: Glob, letter: str, fresh: bool) -> set[int]:
    if glob.files and fresh and letter == ".":
        tokens = glob.tokens
        here = [at for at in here if at >> 1 < len(tokens) and tokens[at >> 1] == "."]
    return glob_match.after(here, glob.tokens, letter)
