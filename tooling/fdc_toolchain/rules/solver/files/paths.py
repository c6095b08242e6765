"""Paths as plans write them: literal stretches with references between them (FDC-19 to FDC-22)."""

from __future__ import annotations

import posixpath
import re

from ....syntax.values import Ref, Value

Part = str | tuple[str, ...]
Path = tuple[Part, ...]
"""A path as a template: literal stretches and references."""

_OUTER = "^"
"""Starts a reference to a name of the caller."""

AS = "\0"
"""Starts the field of a reference that holds the plan's own name for it, where the first field is another."""

_LITERALS: dict[str, Path] = {}


def path_of(value: Value) -> Path:
    """The path that an argument names; a literal one in its plain form."""
    if "{" not in value.text:
        known = _LITERALS.get(value.text)
        if known is None:
            known = _LITERALS[value.text] = (posixpath.normpath(value.text),)
        return known
    parts: list[Part] = [part.path if isinstance(part, Ref) else part for part in value.parts]
    return plain_path(parts)


def plain_path(parts: list[Part]) -> Path:
    """A path of parts, in its plain form."""
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part:
            joined.append(part)
    if len(joined) == 1 and isinstance(joined[0], str):
        return (posixpath.normpath(joined[0]),)
    if any(isinstance(part, str) and ("//" in part or "./" in part) for part in joined):
        joined = [
            _collapsed(part, first=number == 0) if isinstance(part, str) else part
            for number, part in enumerate(joined)
        ]
    return tuple(part for part in joined if part)


def _collapsed(text: str, *, first: bool) -> str:
    """A stretch of a path without doubled slashes and components that are `.`, but for those at its ends."""
    while "//" in text or "/./" in text:
        text = text.replace("/./", "/").replace("//", "/")
    return text.removeprefix("./") if first else text


def shown(path: Path) -> str:
    """The path with one text for each reference, without the marks of `path_language`."""
    return "".join(
        part if isinstance(part, str) else "{" + ".".join(map(str, _plain_part(part))) + "}"
        for part in path
    )


def written(path: Path) -> str:
    """The path as the plan writes it: two references may look alike."""
    return "".join(part if isinstance(part, str) else _reference(part) for part in path)


def _reference(part: tuple[str, ...]) -> str:
    own = [name for name in part if name[:1] > "\3" and name != _OUTER]
    if part[-1][:1] == AS:
        own = [part[-1][1:]]
    return "{" + ".".join(own) + "}"


def _plain_part(part: tuple[str, ...]) -> list[str]:
    return [name for name in part if name[:1] > "\3" and name != _OUTER]


def filled(path: Path, given: dict[str, Path]) -> tuple[Path, bool]:
    """The path with names replaced by what they stand for; False where one cannot be, or nothing is left."""
    parts: list[Part] = []
    whole = True
    for part in path:
        if isinstance(part, str) or part[0] not in given:
            parts.append(part)
            whole = whole and (isinstance(part, str) or part[0] in ("run", "\1"))
            continue
        stands = given[part[0]]
        if len(part) == 1:
            parts += stands
        elif len(stands) == 1 and isinstance(stands[0], tuple):
            parts.append(stands[0] + part[1:])
        else:
            parts.append(part)
            whole = False
    path = plain_path(parts)
    return path, whole and bool(path)


def outer_name(path: Path) -> Path:
    """The path with every reference marked as one to a name of the caller."""
    return tuple(part if isinstance(part, str) else (_OUTER, *part) for part in path)


def inner_name(path: Path) -> Path:
    """The same without the marks."""
    return tuple(
        part[1:] if isinstance(part, tuple) and part[0] == _OUTER else part for part in path
    )


_MARKED = re.compile(r"[*?\[{]").search


def looked_through(value: Value) -> str | None:
    """The folder or file that an argument of such a tool names literally; None for a glob, and for the whole workspace."""
    if _MARKED(value.text) or value.text.startswith("/"):
        return None
    name = str(path_of(value)[0]).strip("/")
    return None if name in ("", ".") or name.startswith("..") else name
