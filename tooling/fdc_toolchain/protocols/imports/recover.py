"""Recovers the sources of an AGENTS.md that fdc itself built: its last lines name them."""

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
    """The sources that `text` (which has these parts) was built from, by path; None where they cannot be recovered.

    Injected documentation and the status of rules are the build's and left out. A source comes back byte for
    byte where its digest says how it was written: as the file of its name (`read`), or in a plain form. Where
    the digest fits neither, the plain form is taken.
    """
    digests = {path: mark for path, mark in inputs(text).items() if path.endswith(SOURCES)}
    if not digests:
        return None
    head = next((at for at, part in enumerate(parts) if part.kind == "prose"), 0)
    inner = parts[head + 1 :]
    if any(part.kind == "protocol" for part in parts[:head]):
        return None
    rules = [_variants(part.body) for part in inner if part.kind == "protocol"]
    prose = list(_sections(inner))[:-1]  # the last says what it was built from
    originals = [
        data
        for path, mark in sorted(digests.items())
        if (data := _unchanged(read(path), mark)) is not None
    ]
    for data in originals:
        _add_variant(data, rules)
    sources: dict[str, bytes] = {}
    for kind, texts in ((RULES, rules), (PROSE, prose)):
        paths = [path for path in sorted(digests) if path.endswith(kind)]
        left = []
        for variants in texts:
            path = next(
                (path for path in paths for data in variants if digest(data) == digests[path]), None
            )
            if path is None:
                left.append(variants[0])
            else:
                paths.remove(path)
                sources[path] = next(data for data in variants if digest(data) == digests[path])
        if len(left) != len(paths) or (left and any("priority" in part.body for part in inner)):
            return None  # the names of the sources cannot be assigned
        sources.update(zip(paths, left))
    return sources


def _unchanged(text: str | None, mark: str) -> bytes | None:
    """The file that a source was compiled from, if it has not changed."""
    data = None if text is None else text.encode("utf-8", "replace").replace(b"\r\n", b"\n")
    return data if data is not None and digest(data) == mark else None


def _add_variant(data: bytes, rules: list[list[bytes]]) -> None:
    """Adds `data` to the variants of the protocol that has the same content."""
    try:
        body = json.loads(data)
    except ValueError:
        return
    for variants in rules:
        if body in map(json.loads, variants):
            variants.append(data)


def _variants(body: dict[str, Any]) -> list[bytes]:
    """The texts that a protocol's source may have; the plain form first."""
    rules = [
        {key: unmarked(value) if key == "enforcement" else value for key, value in rule.items()}
        for rule in body["rules"]
    ]
    plain = {
        **body,
        "description": bare(body["description"]) or body["description"],
        "rules": rules,
    }
    with_schema = {"$schema": _SCHEMA, **plain}
    texts = (json.dumps(form, indent=2, ensure_ascii=False) for form in (with_schema, plain))
    return [f"{text}{end}".encode() for text in texts for end in ("\n", "")]


def _sections(parts: list[Part]) -> Iterator[list[bytes]]:
    for part in parts:
        if part.kind == "prose":
            text = part.text.rstrip("\r\n").encode("utf-8")
            yield [text + b"\n", text]
