"""Compiles protocol sources into AGENTS.md: text in, text out (FDC-94 to FDC-98)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..resolve.registry import shown
from ..text.diagnostic import Diagnostic, ordered
from ..text.span import Span
from .load import PROSE, RULES, load
from .render import render
from .tooldoc import document

MAX_BYTES = 32_768
"""What agents read of all AGENTS.md files on the way to their folder; the rest is cut off silently."""

_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


class Build(NamedTuple):
    """The compiled text (None where an error stops the build), and every finding."""

    text: str | None
    findings: list[Diagnostic]
    sources: int


def compile_agents(
    files: Mapping[str, bytes],
    version: bytes | None,
    read: Callable[[str], str | None],
    *,
    max_bytes: int = MAX_BYTES,
    output: str = "AGENTS.md",
) -> Build:
    """Compiles the sources in `files` (path to bytes); `read` gives the text of a tool's file, `version` is VERSION.

    The same inputs give the same bytes. Any finding that is an error leaves `text` None: FDC501 and
    FDC502 for a source, FDC503 for VERSION, FDC505 for a text beyond `max_bytes`. A tool's file that
    is absent is a warning, in the findings (FDC506) and in the text.
    """
    sources, found = load(files)
    number = _version(version, found)
    docs: dict[str, str] = {}
    for protocol in sources.protocols:
        for path, span in protocol.scripts:
            text = document(path, read)
            if text is None:
                found.append(Diagnostic(span, "FDC506", f"the tool `{path}` does not exist"))
                text = f"Warning: there is no documentation, because `{path}` does not exist."
            docs[path] = text
    used = {path: data for path, data in files.items() if path.endswith((RULES, PROSE))}
    if any(item.severity == "error" for item in found):
        return Build(None, ordered(found), len(used))
    inputs = {path: digest(data.replace(b"\r\n", b"\n")) for path, data in used.items()}
    inputs.update((path, digest(text.encode("utf-8", "replace"))) for path, text in docs.items())
    inputs["VERSION"] = digest(number.encode())
    body = render(sources, docs, number, inputs)
    text = f"{body}{seal(body)}\n"
    size = len(text.encode("utf-8"))
    if size > max_bytes:
        message = f"{size} bytes, more than the {max_bytes} that agents read; they would cut off the rest"
        help_ = "shorten the longest sources, or state another limit with --max-bytes"
        found.append(Diagnostic(Span(output, 1, 1, 1, 2), "FDC505", message, help=help_))
        return Build(None, ordered(found), len(used))
    return Build(text, ordered(found), len(used))


def seal(body: str) -> str:
    """The last line: the digest of all above it, so that an edit is told from a source that has changed."""
    return f"<!-- sealed {digest(body.encode('utf-8'), 32)} -->"


def digest(data: bytes, length: int = 12) -> str:
    """The first hexadecimal digits of the content's SHA-256."""
    return hashlib.sha256(data).hexdigest()[:length]


def _version(data: bytes | None, found: list[Diagnostic]) -> str:
    """FDC-95: VERSION holds one semantic version."""
    text = "" if data is None else data.decode("utf-8", "replace").strip()
    if _SEMVER.fullmatch(text) is None:
        what = "does not exist" if data is None else f"holds `{shown(text, 40)}`" if text else "is empty"
        message = f"VERSION {what}; expected a semantic version such as `1.0.0`"
        found.append(Diagnostic(Span("VERSION", 1, 1, 1, 2), "FDC503", message))
    return text
