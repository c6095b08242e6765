"""Reads an AGENTS.md: which of its blocks are protocols, and where its sections of prose begin (FDC-100)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..diagnostics.diagnostic import Diagnostic, ordered
from ..diagnostics.span import Span
from ..named_tuples import NamedTuple
from .load import RULES, load
from .markdown.outline import Block, blocks, lines

MOST_SECTIONS = 99
"""Maximum sections of prose; where cutting would give more, higher headings are used."""

_FRONT_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\n)[^\s-].*?(?:\r\n|\n)(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\Z)", re.DOTALL
)
_DISCLAIMER = re.compile(r"do not edit", re.IGNORECASE)
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})[\r\n]*")
_NAMED = re.compile(r'"protocol_id"\s*:')
_CLOSED = re.compile(r" {0,3}(?:`{3,}|~{3,})[ \t]*[\r\n]*")


class Part(NamedTuple):
    """A stretch of the file. `kind` is literal, prose or protocol; `body` is a protocol's JSON.

    All parts in order, each with its `opening` and `closing` (a protocol's fences), are the file.
    """

    kind: str
    text: str
    line: int
    opening: str = ""
    closing: str = ""
    body: dict[str, Any] = {}  # noqa: RUF012 - never written to


def apart(text: str, path: str) -> tuple[list[Part], list[Diagnostic]]:
    """The file as parts in order, and FDC521 for each block that names a `protocol_id` and is not a protocol."""
    findings: list[Diagnostic] = []
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    rows = lines(text[len(mark) :])
    front = _FRONT_MATTER.match(text, len(mark))
    hidden = len(lines(front[0])) if front else 0
    outline = blocks("\n" * hidden + "".join(rows[hidden:]))
    protocols = _protocols(rows, outline, path, findings)
    at = _disclaimer(rows)
    parts = [Part("literal", mark + "".join(rows[:at]), 1)] if mark or at else []
    for start in [*sorted({*_cuts(outline), *protocols}), len(rows)]:
        if at < start:
            parts += _prose(rows, at, start)
            at = start
        if start in protocols:
            parts.append(protocols[start])
            at += len(lines(protocols[start].text)) + 2
    return _joined(parts), ordered(findings)


def read_protocols(text: str) -> list[dict[str, object]]:
    """The JSON of every protocol in an AGENTS.md, in order (FDC-100)."""
    return [part.body for part in apart(text, "")[0] if part.kind == "protocol"]


def _protocols(
    rows: list[str], outline: list[Block], path: str, findings: list[Diagnostic]
) -> dict[int, Part]:
    """The code blocks that are protocols, by their first line. Of two with the same id the second stays prose."""
    parts: dict[int, Part] = {}
    ids: set[str] = set()
    for block in outline:
        if block.kind != "fence" or block.info.split()[:1] != ["json"]:
            continue
        raw = "".join(rows[block.start + 1 : block.end - 1])
        if not _NAMED.search(raw) or not _CLOSED.fullmatch(rows[block.end - 1]):
            continue
        sources, wrong = load({RULES: raw.encode("utf-8")})
        fault = wrong[0].message if wrong else ""
        if sources.protocols and not fault:
            body = sources.protocols[0].body
            if body["protocol_id"] not in ids:
                ids.add(body["protocol_id"])
                closing = "".join(rows[block.end - 1 : block.end])
                parts[block.start] = Part(
                    "protocol", raw, block.start + 1, rows[block.start], closing, body
                )
                continue
            fault = f"another protocol has the id `{body['protocol_id']}`"
        line = block.start + 1 + (wrong[0].span.line if wrong else 0)
        message = f"this block cannot be a source and stays prose: {fault}"
        findings.append(Diagnostic(Span(path, line, 1, line, 2), "FDC521", message))
    return parts


def _cuts(outline: list[Block]) -> list[int]:
    """The lines where a section of prose begins: at rules where there are some, else at the upper headings."""
    rules = [block.start for block in outline if block.kind == "rule"]
    upper = [block.start for block in outline if block.kind == "heading" and block.info in "12"]
    top = [block.start for block in outline if block.kind == "heading" and block.info == "1"]
    return next((cuts for cuts in (rules, upper, top) if 0 < len(cuts) <= MOST_SECTIONS), [])


def _disclaimer(rows: list[str]) -> int:
    """The number of lines at the top that say that the file is generated; they are not part of a source."""
    end = 0
    while end < len(rows) and rows[end].startswith(("#", "<!--")):
        end += 1
    return end if _DISCLAIMER.search("".join(rows[:end])) else 0


def _prose(rows: list[str], start: int, end: int) -> Iterator[Part]:
    """The section in these lines: the rule above its text and the empty lines around it are literal."""
    first, last = start, end
    if _RULE.fullmatch(rows[first]) and (
        first > 0 or last < 2 or not rows[1].strip()
    ):  # else it is front matter
        first += 1
    while first < last and not rows[first].strip():
        first += 1
    while first < last and not rows[last - 1].strip():
        last -= 1
    for kind, a, b in (("literal", start, first), ("prose", first, last), ("literal", last, end)):
        if a < b:
            yield Part(kind, "".join(rows[a:b]), a + 1)


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbouring literals as one."""
    out: list[Part] = []
    for part in parts:
        if out and part.kind == "literal" == out[-1].kind:
            out[-1] = out[-1]._replace(text=out[-1].text + part.text)
        else:
            out.append(part)
    return out
