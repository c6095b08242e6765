"""Splits an AGENTS.md into protocol sources without losing any of it (FDC-97, FDC-98, FDC-100).

A code block of the document itself that is a protocol becomes `NN_id.protocol.json`; what stands between them
becomes `NN_title.protocol.md`, a file a section. `layout.json` stores all else, and the build uses it
(`layout.py`). Text in, files and findings out.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Mapping

from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.span import Span
from ...named_tuples import NamedTuple
from .. import layout
from ..load import PROSE, RULES
from ..reader import Part, apart
from ..seal import digest, is_ours
from ..tool_docs.injected import strip
from .recover import sources_of

LONGEST_NAME = 40
"""Maximum letters of a source's name after its number."""


class Import(NamedTuple):
    """The files to write by name (none where an error stops the import), and every finding."""

    files: dict[str, bytes]
    findings: list[Diagnostic]


def take_apart(
    data: bytes,
    path: str,
    read: Callable[[str], str | None],
    canonical: Callable[[dict[str, bytes]], str | None] = lambda files: None,
    original: bytes | None = None,
) -> Import:
    """The sources of the AGENTS.md `data`, with the layout that gives it back byte for byte.

    `path` names the file in findings: FDC520 for one that is not UTF-8, FDC521 for a protocol that has to
    stay prose. `read` gives the text of a tool's file: what the tool says now is remembered beside what
    the file says about it, so that a later change of the tool is noticed. `canonical` is the build of
    sources (by name) without a layout: where that gives the file, no layout is needed. `original` is what
    lies at `path`, where that is not `data`: the build may write over it.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return Import({}, [_undecodable(data, path, wrong)])
    parts, findings = apart(text, path)
    sources = sources_of(text, parts, read) if is_ours(text) else None
    files = _below(sources) if sources else None
    if files is None:
        known = {path: [digest(data if original is None else original, 16)]}
        return Import(_files(parts, len(data), known, read), findings)
    if canonical(files) != text:
        files[layout.NAME] = layout.write(layout.whole(text, files))
    return Import(files, findings)


def _below(sources: dict[str, bytes]) -> dict[str, bytes] | None:
    """The sources by their paths from their common folder; None where these are not valid file names."""
    if len({path.startswith("/") for path in sources}) > 1 or any("\0" in path for path in sources):
        return None
    folder = posixpath.commonpath([posixpath.dirname(path) for path in sources])
    files = {posixpath.relpath(path, folder or "."): data for path, data in sources.items()}
    return (
        None
        if len(files) < len(sources) or any(name.startswith(("/", "../")) for name in files)
        else files
    )


def _files(
    parts: list[Part], size: int, known: Mapping[str, list[str]], read: Callable[[str], str | None]
) -> dict[str, bytes]:
    """Each part as a source, numbered in the order of the file, and the layout."""
    width = max(2, len(str(sum(part.kind != "literal" for part in parts))))
    files: dict[str, bytes] = {}
    entries: list[layout.Entry] = []
    for part in parts:
        if part.kind == "literal":
            entries.append(part.text)
            continue
        stem = f"{len(files):0{width}d}_{_name(part)}"
        if part.kind == "prose":
            files[stem + PROSE] = part.text.encode("utf-8")
            entries.append(layout.Placed(stem + PROSE))
        else:
            source, tail = strip(part.text)
            memory = layout.remember(part.body, tail, read) if tail else None
            files[stem + RULES] = source.encode("utf-8")
            entries.append(layout.Placed(stem + RULES, part.opening, part.closing, memory))
    files[layout.NAME] = layout.write(layout.Layout(tuple(entries), size, known))
    return files


def _name(part: Part) -> str:
    """The name of a source after its number: a protocol's id, or the first heading or words of a section."""
    if part.kind == "protocol":
        title = part.body["protocol_id"]
    else:
        rows = [row.strip() for row in part.text.splitlines()]
        title = next(
            (row for row in rows if row.startswith("#") and row.strip("# ")),
            next(filter(None, rows), ""),
        )
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii").lower()
    words = re.findall(r"[a-z0-9]+", plain)
    short = [
        word for at, word in enumerate(words) if len("_".join(words[: at + 1])) <= LONGEST_NAME
    ]
    return ("-" if part.kind == "protocol" else "_").join(short or words[:1])[
        :LONGEST_NAME
    ] or "section"


def _undecodable(data: bytes, path: str, wrong: UnicodeDecodeError) -> Diagnostic:
    line = data.count(b"\n", 0, wrong.start) + 1
    kind = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"
    message = f"the file is {kind}: byte 0x{data[wrong.start]:02x} at offset {wrong.start}"
    help_ = "convert it first, for example with `iconv -t UTF-8`; agents read AGENTS.md as UTF-8"
    return Diagnostic(Span(path, line, 1, line, 2), "FDC520", message, help=help_)
