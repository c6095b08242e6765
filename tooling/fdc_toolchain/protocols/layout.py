"""The layout of an AGENTS.md that was imported, which the canonical build would lose: `layout.json`.

A layout is the file's parts in order: literal text, and sources by name. The build with a layout is
their concatenation, a source as it is written, so that an imported file comes out byte for byte, and an
edit of a source changes that part and nothing else. What an earlier compiler put below a protocol's
description stays as long as the tools that it describes stay as they were.

The layout of a file that fdc itself built stores the whole text, and is valid for exactly the sources that
were made from it; when one changes, they compile in the canonical way, as they do without `layout.json`.
"""

from __future__ import annotations

import functools
import json
import posixpath
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..diagnostics.diagnostic import Diagnostic, ordered
from ..diagnostics.span import Span
from ..named_tuples import NamedTuple
from ..text.json_text import Places, parse
from .load import PROSE, RULE_FILES, RULES, SOURCES, Protocol, load
from .reader import read_protocols
from .render import HEADING
from .seal import digest
from .tool_docs.injected import insert, written
from .tool_docs.tooldoc import document

NAME = "layout.json"
ABOUT = "Written by `fdc protocols import`. Without this file, `fdc protocols build` writes the canonical form."
_RULE = "---"


class Memory(NamedTuple):
    """Injected documentation as it is written in the file, and the digest of each tool's documentation then (None: no file)."""

    text: str
    tools: dict[str, str | None]


class Placed(NamedTuple):
    """Where a source stands, between its fences if it is a protocol."""

    source: str
    opening: str = ""
    closing: str = ""
    documentation: Memory | None = None


Entry = str | Placed


class Layout(NamedTuple):
    """The entries in order, how many bytes the file had that was imported, and digests of what fdc knows of each
    output: the file that was imported, then what the last build found and what it wrote.
    """

    entries: tuple[Entry, ...]
    size: int
    built: Mapping[str, list[str]] = MappingProxyType({})


class Whole(NamedTuple):
    """The text that fdc built from exactly these sources (name to digest)."""

    text: str
    sources: dict[str, str]

    @property
    def size(self) -> int:
        """The bytes of the text."""
        return len(self.text.encode("utf-8"))


def write(layout: Layout | Whole) -> bytes:
    """The layout as a file."""
    body: dict[str, Any] = {"about": ABOUT}
    if isinstance(layout, Whole):
        body.update(text=layout.text, sources=layout.sources)
    else:
        body.update(size=layout.size, built=dict(layout.built))
        body["parts"] = [part if isinstance(part, str) else _plain(part) for part in layout.entries]
    return _written(body)


def _written(body: dict[str, Any]) -> bytes:
    return (json.dumps(body, indent=1) + "\n").encode("ascii")


def whole(text: str, files: Mapping[str, bytes]) -> Whole:
    """The stored text, with the sources (by name) that fdc built it from."""
    return Whole(text, {name: digest(data, 32) for name, data in sorted(files.items())})


def read(path: str, data: bytes, findings: list[Diagnostic]) -> Layout | Whole | None:
    """The layout in a file; None and FDC522 where it is not one."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        findings.append(_fault(Span(path, 1, 1, 1, 2), "it is not UTF-8"))
        return None
    root, problems = parse(text)
    if problems:
        span = Places(path, text).span(problems[0].start, problems[0].end)
        findings.append(_fault(span, problems[0].message))
        return None
    assert root is not None  # a text without a tree has a problem
    body = json.loads(text)
    wrong = next(
        iter(sorted(_validator().iter_errors(body), key=lambda error: error.json_path)), None
    )
    if wrong is not None:
        findings.append(_fault(Span(path, 1, 1, 1, 2), f"{wrong.json_path}: {wrong.message[:200]}"))
        return None
    if "text" in body:
        return Whole(body["text"], body["sources"])
    entries = tuple(part if isinstance(part, str) else _placed(part) for part in body["parts"])
    names = Counter(entry.source for entry in entries if isinstance(entry, Placed))
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        findings.append(_fault(Span(path, 1, 1, 1, 2), f"it places `{twice[0]}` twice"))
        return None
    return Layout(entries, body["size"], body.get("built", {}))


def knows(layout: Layout, output: str, present: bytes | None) -> bool:
    """Whether the file at `output` is the one that was imported or that a build wrote: then nothing of it can be lost."""
    return present is None or digest(present, 16) in layout.built.get(output, ())


def remembering(
    data: bytes, layout: Layout | Whole, output: str, present: bytes | None, text: str
) -> bytes:
    """The layout's file `data` when `text` takes the place of `present`; both count as known, so that a killed
    build can be done again.
    """
    if isinstance(layout, Whole):
        return data
    digests = [digest(item, 16) for item in (present, text.encode("utf-8")) if item is not None]
    body = json.loads(data.decode("utf-8-sig"))
    if body.get("built", {}).get(output, [])[-1:] == digests[-1:]:
        return data
    body.setdefault("built", {})[output] = [*dict.fromkeys(digests)]
    return _written(body)


def remember(
    protocol: Mapping[str, object], text: str, tool: Callable[[str], str | None]
) -> Memory:
    """The injected documentation `text` of a protocol, with the digests of its tools now. `tool` reads a tool's file."""
    return Memory(text, {path: _doc_digest(path, tool) for path in _scripts(protocol)})


def assemble(
    layout: Layout | Whole,
    folder: str,
    files: Mapping[str, bytes],
    tool: Callable[[str], str | None],
) -> tuple[str | None, list[Diagnostic]]:
    """The text that the layout and the sources in `files` (path to bytes, the layout's own below `folder`) make.

    None without a finding where the layout remembers other sources: then the canonical build is due. A
    source that is gone leaves with the separator above it. A new one stands behind the one before it in
    the order of names, with the separator that its neighbours have. The findings are FDC501 and FDC502
    for a source, FDC506 for a tool without a file, FDC523 for a text that hides a protocol.
    """
    folder = "" if folder == "." else folder
    if isinstance(layout, Whole):
        digests = {
            posixpath.relpath(path, folder or "."): digest(data, 32)
            for path, data in _sources(files).items()
        }
        return (layout.text if digests == layout.sources else None), []
    rules = {path: data for path, data in files.items() if path.endswith(RULE_FILES)}
    sources, findings = load(rules)
    texts = {path: _decoded(path, data, findings) for path, data in _sources(files).items()}
    if findings:
        return None, ordered(findings)
    protocols = {item.path: item for item in sources.protocols}
    for path, item in protocols.items():
        if not path.endswith(RULES):  # what stands between the fences is JSON
            texts[path] = json.dumps(item.body, indent=2, ensure_ascii=False)
    entries = _completed(
        [*_present(layout.entries, folder, texts)], [*sorted(texts)], folder, _line_end(layout)
    )
    out: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            out.append(entry)
            continue
        path = posixpath.join(folder, entry.source)
        text = texts[path]
        if path in protocols:
            tail = _documentation(protocols[path], entry.documentation, tool, findings)
            text = insert(text, tail) if tail is not None else text
        out += [entry.opening, text, entry.closing]
    text = _concatenated(out, _line_end(layout))
    _check_readable(text, protocols, findings)
    return text, ordered(findings)


def _sources(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if path.endswith(SOURCES)}


def _present(entries: tuple[Entry, ...], folder: str, texts: Mapping[str, str]) -> list[Entry]:
    """The entries whose sources exist; a missing one is removed with the separator above it."""
    out: list[Entry] = []
    for entry in entries:
        if isinstance(entry, str) or posixpath.join(folder, entry.source) in texts:
            out.append(entry)
        elif len(out) > 1 and isinstance(out[-1], str):
            out.pop()
    return out


def _completed(entries: list[Entry], paths: list[str], folder: str, end: str) -> list[Entry]:
    """The entries, with each source that has no place after its neighbour in the order of names."""
    for path in paths:
        name = posixpath.relpath(path, folder or ".")
        placed = {entry.source: at for at, entry in enumerate(entries) if isinstance(entry, Placed)}
        if name in placed:
            continue
        fences = (f"```json{end}", f"```{end}") if name.endswith(RULE_FILES) else ("", "")
        new = Placed(name, *fences, Memory("", {}) if fences[0] else None)
        kind = RULES if fences[0] else PROSE
        separator = _separator(entries, kind) or f"{end}{_RULE}{end}{end}"
        before = [at for other, at in placed.items() if other < name]
        if before:
            entries[max(before) + 1 : max(before) + 1] = [separator, new]
        elif placed:
            entries[min(placed.values()) : min(placed.values())] = [new, separator]
        else:
            entries.append(new)
    return entries


def _separator(entries: list[Entry], kind: str) -> str | None:
    """The most frequent text between two sources of the kind, else between any two."""
    between = [
        (a.source.endswith(kind) and b.source.endswith(kind), text)
        for a, text, b in zip(entries, entries[1:], entries[2:])
        if isinstance(text, str)
        and isinstance(a, Placed)
        and isinstance(b, Placed)
        and text[:1] in "\r\n"
    ]
    chosen = Counter(text for alike, text in between if alike) or Counter(
        text for _, text in between
    )
    return chosen.most_common(1)[0][0] if chosen else None


def _documentation(
    protocol: Protocol,
    memory: Memory | None,
    tool: Callable[[str], str | None],
    findings: list[Diagnostic],
) -> str | None:
    """The documentation to put below the description; None where the imported file had none there."""
    if memory is None:
        return None
    if memory.tools == {path: _doc_digest(path, tool) for path in _scripts(protocol.body)}:
        return memory.text
    parts = []
    for path, span in protocol.scripts:
        text = document(path, tool)
        if text is None:
            findings.append(Diagnostic(span, "FDC506", f"the tool `{path}` does not exist"))
            text = f"Warning: no documentation exists, because `{path}` does not exist."
        parts.append(f"\n\n{HEADING.format(path=path)}\n\n{text}")
    return written("".join(parts))


def _concatenated(parts: list[str], end: str) -> str:
    """The parts one after the other; a part that ends within a line gets the line's end before the next one."""
    out: list[str] = []
    for part in filter(None, parts):
        if out and not out[-1].endswith(("\n", "\r", "\ufeff")):
            out.append(end)
        out.append(part)
    return "".join(out)


def _check_readable(
    text: str, protocols: Mapping[str, Protocol], findings: list[Diagnostic]
) -> None:
    """FDC523 for each protocol that a reader of the text does not find."""
    seen = {body["protocol_id"] for body in read_protocols(text)}
    for path, protocol in protocols.items():
        if protocol.body["protocol_id"] not in seen:
            message = f"no reader would find `{protocol.body['protocol_id']}` in the result"
            help_ = "the prose above it opens a code fence or an HTML comment that does not end"
            findings.append(Diagnostic(Span(path, 1, 1, 1, 2), "FDC523", message, help=help_))


def _line_end(layout: Layout) -> str:
    """CR LF where the imported file had them."""
    texts = (entry if isinstance(entry, str) else entry.opening for entry in layout.entries)
    return "\r\n" if any("\r\n" in text for text in texts) else "\n"


def _decoded(path: str, data: bytes, findings: list[Diagnostic]) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        if path.endswith(PROSE):  # for the others `load` has reported it
            line = data.count(b"\n", 0, wrong.start) + 1
            message = f"byte 0x{data[wrong.start]:02x} at offset {wrong.start} is not UTF-8"
            findings.append(Diagnostic(Span(path, line, 1, line, 2), "FDC501", message))
        return ""


def _scripts(protocol: Mapping[str, Any]) -> list[str]:
    return [name for name in protocol.get("associated_tools", []) if name.endswith(".py")]


def _doc_digest(path: str, tool: Callable[[str], str | None]) -> str | None:
    text = document(path, tool)
    return None if text is None else digest(text.encode("utf-8", "replace"), 16)


def _plain(entry: Placed) -> dict[str, Any]:
    out: dict[str, Any] = {"source": entry.source}
    if entry.opening:
        out.update(opening=entry.opening, closing=entry.closing)
    if entry.documentation:
        out["documentation"] = entry.documentation._asdict()
    return out


def _placed(part: dict[str, Any]) -> Placed:
    memory = part.get("documentation")
    return Placed(
        part["source"], part.get("opening", ""), part.get("closing", ""),
        None if memory is None else Memory(memory["text"], memory["tools"]),
    )  # fmt: skip


def _fault(span: Span, message: str) -> Diagnostic:
    return Diagnostic(
        span, "FDC522", message, help="delete it for the canonical form, or import the file again"
    )


@functools.cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    text = {"type": "string"}
    memory = {
        "type": "object",
        "required": ["text", "tools"],
        "properties": {
            "text": text,
            "tools": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        },
    }
    placed = {
        "type": "object",
        "required": ["source"],
        "properties": {"source": text, "opening": text, "closing": text, "documentation": memory},
    }
    schema = {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "minimum": 0},
            "built": {"type": "object", "additionalProperties": {"type": "array", "items": text}},
            "parts": {"type": "array", "items": {"anyOf": [text, placed]}},
            "text": text,
            "sources": {"type": "object", "additionalProperties": text},
        },
        "oneOf": [{"required": ["parts", "size"]}, {"required": ["text", "sources"]}],
    }
    return Draft202012Validator(schema)
