"""The sources of an AGENTS.md that fdc itself built: its last lines name them, so they come back by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ..load import PROSE, RULES, SOURCES
from ..reader import Part
from ..render import bare, unmarked
from ..seal import digest, inputs

_SCHEMA = "./protocol.schema.json"


def sources_of(
    text: str, parts: list[Part], read: Callable[[str], str | None]
) -> dict[str, bytes] | None:
    """The sources that `text` (which has these parts) was built from, by path; None where it does not say enough.

    Injected documentation and the status of rules are the build's and left out. A source comes back byte for
    byte where its digest says how it was written: as the file of its name (`read`), or in a plain form. Where
    the digest fits neither, the plain form is taken.
    """
    named = {path: mark for path, mark in inputs(text).items() if path.endswith(SOURCES)}
    if not named:
        return None
    head = next((at for at, part in enumerate(parts) if part.kind == "prose"), 0)
    inner = parts[head + 1 :]
    if any(part.kind == "protocol" for part in parts[:head]):
        return None
    rules = [_written(part.body) for part in inner if part.kind == "protocol"]
    prose = list(_sections(inner))[:-1]  # the last says what it was built from
    there = [
        data
        for path, mark in sorted(named.items())
        if (data := _unchanged(read(path), mark)) is not None
    ]
    for data in there:
        _add(data, rules)
    found: dict[str, bytes] = {}
    for kind, texts in ((RULES, rules), (PROSE, prose)):
        paths = [path for path in sorted(named) if path.endswith(kind)]
        left = []
        for variants in texts:
            path = next(
                (path for path in paths for data in variants if digest(data) == named[path]), None
            )
            if path is None:
                left.append(variants[0])
            else:
                paths.remove(path)
                found[path] = next(data for data in variants if digest(data) == named[path])
        if len(left) != len(paths) or (left and any("priority" in part.body for part in inner)):
            return None  # which of them is which is not to be known
        found.update(zip(paths, left))
    return found


def _unchanged(text: str | None, mark: str) -> bytes | None:
    """The file that a source was compiled from, if it still is the same."""
    data = None if text is None else text.encode("utf-8", "replace").replace(b"\r\n", b"\n")
    return data if data is not None and digest(data) == mark else None


def _add(data: bytes, rules: list[list[bytes]]) -> None:
    """Adds the way that a protocol is written in `data` to the ways of the one that says the same."""
    try:
        body = json.loads(data)
    except ValueError:
        return
    for variants in rules:
        if body in map(json.loads, variants):
            variants.append(data)


def _written(body: dict[str, Any]) -> list[bytes]:
    """How a protocol may be written in its source; the plain form first."""
    rules = [
        {key: unmarked(value) if key == "enforcement" else value for key, value in rule.items()}
        for rule in body["rules"]
    ]
    plain = {
        **body,
        "description": bare(body["description"]) or body["description"],
        "rules": rules,
    }
    named = {"$schema": _SCHEMA, **plain}
    texts = (json.dumps(form, indent=2, ensure_ascii=False) for form in (named, plain))
    return [f"{text}{end}".encode() for text in texts for end in ("\n", "")]


def _sections(parts: list[Part]) -> Iterator[list[bytes]]:
    for part in parts:
        if part.kind == "prose":
            text = part.text.rstrip("\r\n").encode("utf-8")
            yield [text + b"\n", text]
