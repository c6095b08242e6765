"""What a name says of the value that it is given: `length = len(x)`, `numerator = part.numerator`."""

from __future__ import annotations

import functools
import re

_SAYING = re.compile(r"(?<=\.)\w+|[^\W\d]\w*(?=\()")
"""Members, and what is called."""
_SHORT = {
    "length": "len", "size": "len", "maximum": "max", "minimum": "min", "total": "sum", "string": "str", "integer": "int",
}  # fmt: skip


def names_it(given: str, old: str, new: str) -> int:
    """1 where an edit says what the name says that the value is given to, as `length = len(x)` does; -1 where it no longer
    says that; 0 otherwise."""
    given = given.strip("_").lower()
    was, now = _words(old), _words(new)
    if not given or was == now:
        return 0
    return _says(now - was, given) - _says(was - now, given)


@functools.lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    """Its members, and what it calls."""
    return frozenset(_SAYING.findall(f"{text}("))


def _says(words: frozenset[str], given: str) -> bool:
    """True where one of the words is a part of a name."""
    parts = _parts(given)
    return any(one.strip("_").lower() in parts for one in words if len(one) > 1)


@functools.lru_cache(maxsize=1024)
def _parts(given: str) -> frozenset[str]:
    """The words of a name, and what they are short for."""
    parts = {given, *given.split("_")}
    return frozenset(parts | {_SHORT.get(part, part.removesuffix("s")) for part in parts})
