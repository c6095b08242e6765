"""The sources of an AGENTS.md that fdc itself built: its last lines name them, so they come back by name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .load import PROSE, RULES
from .reader import Part
from .render import bare, unmarked
from .seal import digest, inputs

_SCHEMA = "./protocol.schema.json"


def sources_of(text: str, parts: list[Part]) -> dict[str, bytes] | None:
    """The sources that `text` (which has these parts) was built from, by path; None where it does not say enough.

    Injected documentation and the status of rules are the build's and left out. A source comes back byte for
    byte where its digest says how it was written, else in a plain form.
    """
    named = {path: mark for path, mark in inputs(text).items() if path.endswith((RULES, PROSE))}
    if not named:
        return None
    inner = parts[next((at for at, part in enumerate(parts) if part.kind == "prose"), 0) + 1 :]  # below the head
    rules = [_written(part.body) for part in inner if part.kind == "protocol"]
    prose = list(_sections(inner))[:-1]  # the last says what it was built from
    found: dict[str, bytes] = {}
    for kind, texts in ((RULES, rules), (PROSE, prose)):
        paths = [path for path in sorted(named) if path.endswith(kind)]
        left = []
        for variants in texts:
            path = next((path for path in paths for data in variants if digest(data) == named[path]), None)
            if path is None:
                left.append(variants[0])
            else:
                paths.remove(path)
                found[path] = next(data for data in variants if digest(data) == named[path])
        if len(left) != len(paths) or (left and any("priority" in part.body for part in inner)):
            return None  # which of them is which is not to be known
        found.update(zip(paths, left))
    return found


def _written(body: dict[str, Any]) -> list[bytes]:
    """How a protocol may be written in its source; the plain form first."""
    rules = [
        {key: unmarked(value) if key == "enforcement" else value for key, value in rule.items()} for rule in body["rules"]
    ]
    plain = {**body, "description": bare(body["description"]) or body["description"], "rules": rules}
    named = {"$schema": _SCHEMA, **plain}
    texts = (json.dumps(form, indent=2, ensure_ascii=False) for form in (named, plain))
    return [f"{text}{end}".encode() for text in texts for end in ("\n", "")]


def _sections(parts: list[Part]) -> Iterator[list[bytes]]:
    for part in parts:
        if part.kind == "prose":
            text = part.text.rstrip("\r\n").encode("utf-8")
            yield [text + b"\n", text]
