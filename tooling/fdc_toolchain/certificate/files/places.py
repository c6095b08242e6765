"""The part of the checker that finds which paths a text of a plan may name. Like `control.py` it imports nothing of fdc.

A path is a `Key`: stretches of text, and values that are not known before the run, each with the glob that found it, or none.
Two uses with one key, and no new value between them, name one file.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from typing import TYPE_CHECKING, TypeGuard

from ..file_sets import HOLE, RUN, files_of
from ..file_sets import apart as differ
from ..readers import pattern

if TYPE_CHECKING:
    from ..forms import KeyForm, Template

Atom = tuple[str, str, str]
"""A value: the place that makes it, the field of it that is meant, the glob that found it (empty: any text)."""

Key = tuple[str | Atom, ...]
"""A path: texts and atoms. A text alone is a literal path; with a slash at its end it is a file or folder that is searched."""

NOBODY: Atom = ("", "", "")
"""A value about which nothing is known: it equals no other value."""


# ---- paths ---------------------------------------------------------------------------------------------


def key_of(value: KeyForm) -> Key:
    """Reads a key from a certificate. Raises TypeError, ValueError for what is no key."""
    parts: list[str | Atom] = []
    for part in value:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, int):
            raise TypeError("a number in a path")
        else:
            name, field, glob = part
            parts.append((name, field, glob))
    return tuple(parts)


def resolved(template: Template, names: dict[str, Key]) -> Key:
    """The path that an argument names. Raises ValueError where its own text has the marks \\0, \\1 or \\2."""
    parts: list[str | Atom] = [""]
    for part in template:
        value: Key
        if not isinstance(part, str):
            name, *fields = part["ref"]
            value = names.get(name, (NOBODY,))
            if fields:  # a text has no fields
                atom = value[0] if len(value) == 1 and isinstance(value[0], tuple) else NOBODY
                value = ((atom[0], ".".join([atom[1], *fields]), ""),)
        elif any(mark in part for mark in "\0\1\2"):
            raise ValueError("a text with control characters")
        else:
            value = (part,)
        for piece in value:
            last = parts[-1]
            if isinstance(piece, str) and isinstance(last, str):
                parts[-1] = last + piece
            else:
                parts.append(piece)
    if len(parts) == 1 and isinstance(parts[0], str):
        return (posixpath.normpath(parts[0]),)
    return tuple(part for part in parts if part != "")


def literal(key: Key) -> TypeGuard[tuple[str]]:
    return len(key) == 1 and isinstance(key[0], str)


@cache
def plain(key: Key) -> bool:
    """Whether the key is one exact path: two such keys are equal or name different files."""
    return literal(key) and not key[0].startswith("runs/") and not key[0].endswith("/")


def atoms(key: Key) -> list[Atom]:
    return [part for part in key if isinstance(part, tuple)]


def opaque(key: Key) -> bool:
    """Whether it holds a value that may be any text, or a file that was found by such a value."""
    return any(not glob or HOLE in glob for _, _, glob in atoms(key))


def tracked(key: Key) -> bool:
    return NOBODY not in atoms(key) and all(name for name, _, _ in atoms(key))


def text_of(key: Key) -> str:
    """The path as a pattern: globs stand for what they found, marks for other values."""
    return "".join(part if isinstance(part, str) else part[2] or HOLE for part in key)


def renamed(key: Key, prefix: str) -> Key:
    """The same path in another round, or branch: values that are made below a place are others there."""
    return tuple(
        (part[0] + "'", part[1], part[2])
        if isinstance(part, tuple) and below(part, prefix)
        else part
        for part in key
    )


def quoted(key: Key) -> str:
    """The path for a message: values stand in it by the names that they have where they are made."""
    text = ""
    for part in key:
        name = part if isinstance(part, str) else re.split("[|$]", part[0])[-1]
        text += (
            name
            if isinstance(part, str)
            else "{" + ".".join([name, *filter(None, part[1].split("."))]) + "}"
        )
    return f"`{text.replace(RUN[:-1], '{run}').rstrip('/')}`"


def written(template: Template) -> str:
    """A path as a plan writes it."""
    return (
        "`"
        + "".join(
            part if isinstance(part, str) else "{" + ".".join(part["ref"]) + "}"
            for part in template
        )
        + "`"
    )


def below(atom: Atom, prefix: str) -> bool:
    """Whether a value is made in the loop at a place."""
    return atom[0].startswith((prefix + "/", prefix + "|", prefix + "$"))


@cache
def apart(left: Key, right: Key) -> bool:
    """Whether two paths never name the same file, for a reason that needs no search."""
    for folder, path in ((left, right), (right, left)):
        if literal(folder) and folder[0].endswith("/"):
            return apart((folder[0][:-1],), path) and differ(
                (folder[0], ""), files_of(text_of(path))
            )
    if left == right or plain(left) and plain(right):
        return left != right
    if atoms(left) == atoms(right) != [] and tracked(left) and size(left) != size(right):
        return True  # the same values, with more text around them in one of the two
    if (finds := found_by(left, right)) is not None:
        return not finds
    return differ(files_of(text_of(left)), files_of(text_of(right)))


def size(key: Key) -> int:
    return sum(len(part.replace("/", "").replace(".", "")) for part in key if isinstance(part, str))


def found_by(left: Key, right: Key) -> bool | None:
    """Whether one is a literal path that the globs of the other find; None where neither is, or it cannot be decided here."""
    name, globs = (left, right) if plain(left) else (right, left)
    text = text_of(globs)
    if (
        not literal(name)
        or not plain(name)
        or opaque(globs)
        or RUN[:-1] in text
        or re.search(r"\[|\./|//|\.\.", text)
    ):
        return None
    parts = (
        re.escape(part) if isinstance(part, str) else pattern(part[2]).pattern for part in globs
    )
    return re.fullmatch("".join(parts), name[0], re.S) is not None


def certainly(left: Key, right: Key) -> bool:
    """Whether one is a literal path that the globs of the other find. A glob may leave out names that begin with a dot."""
    hidden = any(
        part.startswith(".")
        for key in (left, right)
        if literal(key) and plain(key)
        for part in key[0].split("/")
    )
    return found_by(left, right) is True and not hidden


def granted(glob: str, key: Key) -> bool:
    """Whether a glob of `allow write` may name a path."""
    glob = re.sub(r"\{[^}]*\}", "**", glob)
    if literal(key) and plain(key):
        return pattern(glob).fullmatch(key[0]) is not None
    if literal(key) and key[0].endswith("/"):
        return granted(glob, (key[0][:-1],)) or not differ(files_of(glob), (key[0], ""))
    return not differ(files_of(glob), files_of(text_of(key)))
