"""Which files a computed path may name: every path is a language, and two of them meet or do not.

A path is a sequence of literal stretches and holes (`paths.Path`). What a hole may hold follows from its part: a
part with a field that starts with `GLOB` holds a match of that glob, `{run}` the folder of a run, any other part
any text. A part that starts with `NOBODY` is the value of a name that cannot be named here, or perhaps not.
Paths are compared as the runner reads them: without `.` and doubled slashes. A path with `..` names no file,
because the runner refuses it. A literal path that ends with a slash is a folder with all that is in it.
"""

from __future__ import annotations

from functools import lru_cache
from os.path import commonprefix

from ....syntax.values import Ref, Value
from ....text import glob_match
from .paths import Path

SETTLED = "\0"
"""Starts the key of a path that no one outside can name, kept for its failures."""
NOBODY, GLOB, ALLOW = "\1", "\2", "\3"
"""Starts of names and fields: a value no one can name, a glob as `for_each_file` reads it, one as `allow` reads it."""

APART, KNOWN, CHANCE = 0, 1, 2
"""How two paths may meet: never; by what the plan and its files say; only if a value that is unknown is so."""

VALUE = "\0"
"""Ends the text of a glob with a value in it: from here on its files may have any name."""

Token = tuple[str, bool]
"""A class of characters, and whether any number of them stands here. A class is one character or one of the next."""
_ALL, _NAME, _VISIBLE = "all", "name", "visible"

_ANY: Token = (_ALL, True)
_SLASH: Token = ("/", False)
_MOST_VARIANTS = 32


def language_of(part: tuple[str, ...]) -> str | None:
    """The glob that the value of a hole matches, with its kind before it; None: any text."""
    for field in part:
        if field[:1] in (GLOB, ALLOW):
            return field
    return GLOB + "runs/*" if part[-1] == "run" and set(part[:-1]) <= {"^"} else None


@lru_cache(maxsize=1 << 14)
def opaque(path: Path) -> bool:
    """True where a hole of the path holds a text that is unknown, or a match of a glob with such a text in it."""
    return any(
        type(part) is tuple and (language_of(part) or VALUE).endswith(VALUE) for part in path
    )


@lru_cache(maxsize=1 << 16)
def hits(path: Path, other: Path) -> int:
    """How the two paths may name one file: `APART`, `KNOWN` or `CHANCE`."""
    if path and type(path[0]) is tuple and path[0][:1] == (ALLOW,):
        return KNOWN if _each(path, other) else APART
    one, two = _shape(path), _shape(other)
    if one.ends_apart(two) or _same_hole_apart(path, other) or not _shapes_meet(one, two):
        return APART
    return CHANCE if opaque(path) or opaque(other) else KNOWN


@lru_cache(maxsize=1 << 16)
def contains(path: Path, other: Path) -> bool:
    """True where the second path may name a file in a folder that the first one names."""
    inside = tuple((*row, _SLASH, (_NAME, False), _ANY) for row in _variants(path))
    return _meet(inside, _variants(other))


@lru_cache(maxsize=1 << 14)
def head_of(path: Path) -> str:
    """What every text that the path may name begins with."""
    return commonprefix([_letters(row) for row in _variants(path)])  # noqa: RUF071 - of letters, not of components


@lru_cache(maxsize=1 << 14)
def _tail_of(path: Path) -> str:
    """What every text that the path may name ends with, the last letter first."""
    return commonprefix([_letters(row[::-1]) for row in _variants(path)])  # noqa: RUF071


def _letters(row: tuple[Token, ...]) -> str:
    """The single letters that a sequence begins with."""
    stop = next((at for at, (kind, many) in enumerate(row) if many or len(kind) > 1), len(row))
    return "".join([letter for letter, _ in row[:stop]])


class _Shape:
    """What a path may name. Paths with other values in the same places share one: a long plan has many such pairs."""

    __slots__ = ("rows", "head", "tail")

    def __init__(self, rows: tuple[tuple[Token, ...], ...], head: str, tail: str) -> None:
        self.rows = rows
        self.head = head
        self.tail = tail

    def ends_apart(self, other: _Shape) -> bool:
        """True where what the two name begins or ends differently: most pairs are told apart so."""
        for one, two in ((self.head, other.head), (self.tail, other.tail)):
            if not (one.startswith(two) or two.startswith(one)):
                return True
        return False


@lru_cache(maxsize=1 << 14)
def _shape(path: Path) -> _Shape:
    return _shape_of(_variants(path), head_of(path), _tail_of(path))


_shape_of = lru_cache(maxsize=1 << 14)(_Shape)


@lru_cache(maxsize=1 << 16)
def _shapes_meet(one: _Shape, other: _Shape) -> bool:
    """True where some text is named by both."""
    return _meet(one.rows, other.rows)


@lru_cache(maxsize=1 << 14)
def never_literal(path: Path) -> bool:
    """True where no literal path can name the same file: what the path names begins with a mark of ours."""
    return path[0] == SETTLED and all(row[:1] == ((SETTLED, False),) for row in _variants(path))


def _each(command: Path, path: Path) -> bool:
    """True where every list of globs that a command is held to may name the path."""
    found = _variants(path)
    return all(
        any(_meet(_variants(((NOBODY, glob),)), found) for glob in globs[1:]) for globs in command
    )


def _same_hole_apart(one: Path, other: Path) -> bool:
    """True for two paths around the same value with more characters around it in one of them."""
    holes = [part for part in one if type(part) is tuple]
    if (
        len(holes) != 1
        or holes[0][0] == NOBODY
        or [part for part in other if type(part) is tuple] != holes
    ):
        return False
    around = ["".join(part for part in path if type(part) is str) for path in (one, other)]
    left, right = (len(text.replace("/", "").replace(".", "")) for text in around)
    return left != right


# ---- languages --------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def _variants(path: Path) -> tuple[tuple[Token, ...], ...]:
    """The paths that a template may name, as sequences of which one fits."""
    if (
        len(path) == 1 and type(path[0]) is str and path[0].endswith("/")
    ):  # a folder, with all that is in it
        name = tuple((letter, False) for letter in path[0])
        return name[:-1], (*name, _ANY)
    out: list[tuple[Token, ...]] = [()]
    for number, part in enumerate(path):
        if type(part) is str:
            if _odd(part, first=number == 0, last=number + 1 == len(path)):
                return ((_ANY,),) if len(path) > 1 else ()
            out = [(*row, *((letter, False) for letter in part)) for row in out]
            continue
        assert type(part) is tuple
        glob = language_of(part)
        inner = [(_ANY,)] if glob is None else _of_glob(glob)
        out = [row + more for row in out for more in inner]
        if len(out) > _MOST_VARIANTS:
            return ((_ANY,),)
    return tuple(_without_empty(out, path))


def _odd(text: str, *, first: bool, last: bool) -> bool:
    """True for a stretch whose last or first component may become `.` or `..`, or which has `..` in it."""
    names = text.split("/")
    inside = names[0 if first else 1 : None if last else -1]
    edges = ([] if first else names[:1]) + ([] if last else names[-1:])
    return ".." in inside or any(name and not name.strip(".") for name in edges)


def _without_empty(rows: list[tuple[Token, ...]], path: Path) -> list[tuple[Token, ...]]:
    """With the forms where values that are any text are empty, or `.`: then a slash beside each is not there."""
    if not opaque(path):
        return rows
    out = dict.fromkeys(rows)
    work = list(out)
    for row in work:  # grows while it is gone through
        for at, token in enumerate(row):
            if token != _ANY:
                continue
            end = at + 1
            while row[end : end + 1] == (_ANY,):
                end += 1
            before, after = row[:at], row[end:]
            if after[:1] == (_SLASH,) and (not before or before[-1] == _SLASH):
                less = before + after[1:]
            elif not after and before[-1:] == (_SLASH,):
                less = before[:-1]
            else:
                continue
            if less not in out:
                out[less] = None
                work.append(less)
        if len(out) > _MOST_VARIANTS:
            return [(_ANY,)]
    return list(out)


@lru_cache(maxsize=1 << 10)
def _of_glob(glob: str) -> list[tuple[Token, ...]]:
    kind, text = glob[0], glob[1:]
    out: list[tuple[Token, ...]] = [()]
    if kind == ALLOW:
        for token in glob_match.compiled([(False, text)]):
            if token == "folders":
                out = [*out, *((*row, _ANY, _SLASH) for row in out)]
            else:
                out = [(*row, _ALLOW_TOKENS.get(token, (token, False))) for row in out]
            if len(out) > _MOST_VARIANTS:
                return [(_ANY,)]
        return out
    segments = [segment for segment in text.split("/") if segment not in ("", ".")]
    if ".." in segments:
        return []
    if segments and segments[-1] == "**":
        segments.append("*")
    for number, segment in enumerate(segments):
        last = number + 1 == len(segments)
        if segment == "**":
            out = [*out, *((*row, (_VISIBLE, False), _ANY, _SLASH) for row in out)]
        elif segment == VALUE:
            out = [(*row, _ANY) for row in out]
        else:
            tail = () if last else (_SLASH,)
            out = [row + inner + tail for row in out for inner in _of_segment(segment)]
        if len(out) > _MOST_VARIANTS:
            return [(_ANY,)]
    return out


_ALLOW_TOKENS: dict[str, Token] = {"one of": (_NAME, False), "name of": (_NAME, True), "any": _ANY}


def _of_segment(segment: str) -> list[tuple[Token, ...]]:
    """The names that one segment matches; what stands in brackets is taken for anything."""
    if "[" in segment:
        segment = segment[: segment.index("[")] + "*"
    tokens = [(_NAME, letter == "*") if letter in "*?" else (letter, False) for letter in segment]
    if not tokens or tokens[0][0] != _NAME:
        return [tuple(tokens)]
    # A name that begins with a dot is matched by a pattern that writes the dot only.
    rest = tuple(tokens[1:])
    if not tokens[0][1]:
        return [((_VISIBLE, False), *rest)]
    empty = [] if not rest or rest[0][0] == "." else [rest]
    if empty and rest[0][0] == _NAME:
        empty = _of_segment(segment.lstrip("*")) if segment.lstrip("*") else []
    return [((_VISIBLE, False), (_NAME, True), *rest), *empty]


# ---- meeting ----------------------------------------------------------------------------------


def _meet(ours: tuple[tuple[Token, ...], ...], theirs: tuple[tuple[Token, ...], ...]) -> bool:
    return any(_share(one, other) for one in ours for other in theirs)


def _share(one: tuple[Token, ...], other: tuple[Token, ...]) -> bool:
    """True where some text fits both: one is walked, with the places in the other that it may have come to as bits."""
    many, fits, classes = _places(other)
    here = 1
    for kind, repeats in one:
        fitting = fits.get(kind, classes)
        here = _along(here, many | fitting if repeats else many)
        if not repeats:
            here &= fitting
            here = here & many | (here & ~many) << 1
        if not here:
            return False
    return bool(_along(here, many) >> len(other))


def _along(here: int, passed: int) -> int:
    """The places, with those to which rows of `passed` places lead (a carry runs along each row)."""
    return here | ((here & passed) + passed) ^ passed


@lru_cache(maxsize=1 << 14)
def _places(row: tuple[Token, ...]) -> tuple[int, dict[str, int], int]:
    """As bits: the places of a sequence that take any number; by class, those that share a character with it; and
    those that do with every letter that the sequence does not have."""
    many, by_class = 0, dict.fromkeys((*"/.", _ALL, _NAME, _VISIBLE), 0)
    for at, (kind, repeats) in enumerate(row):
        many |= repeats << at
        by_class[kind] = by_class.get(kind, 0) | 1 << at
    rows = by_class.items()
    fits = {kind: sum(bits for other, bits in rows if _common(kind, other)) for kind in by_class}
    return many, fits, by_class[_ALL] | by_class[_NAME] | by_class[_VISIBLE]


def _common(one: str, other: str) -> bool:
    """True where the two classes of characters share one."""
    if len(one) == 1 and len(other) == 1:
        return one == other
    if len(one) > 1 and len(other) > 1:
        return True
    letter, kind = (one, other) if len(one) == 1 else (other, one)
    return kind == _ALL or letter != "/" and (kind == _NAME or letter != ".")


def glob_text(kind: str, value: Value) -> str:
    """A glob of a plan, with what is computed in it taken for anything."""
    if "{" not in value.text:
        return kind + value.text
    parts = [VALUE if isinstance(part, Ref) else part for part in value.parts]
    text = "".join(parts)
    if kind == ALLOW:
        return kind + text.replace(VALUE, "**")
    folder, slash, _ = text.partition(VALUE)[0].rpartition("/")
    return kind + folder + slash + VALUE
