"""The prose of source files: comments and Python docstrings, as rows for the outline scanner.

What is not a comment separates paragraphs; a definition's line becomes the heading of what follows.
"""

from __future__ import annotations

import re

from fdc_toolchain.api.files import CODE, Document

from .blocks import Outline, Row
from .notation import REST
from .outline import outline, scan_rows

_HASH = frozenset(
    ".py .pyi .sh .bash .zsh .rb .pl .pm .r .jl .ex .exs .cmake .mk .tf .yaml .yml .toml .cfg .ini .plan".split()
)
_DASH = frozenset((".sql", ".lua", ".hs"))
_SEMI = frozenset((".clj", ".el", ".lisp"))
_MARKS = {"#": re.compile(r"\s*#+[!:']?(?:\s|$)"), "-": re.compile(r"\s*--+\|?(?:\s|$)"), ";": re.compile(r"\s*;+(?:\s|$)"),
          "%": re.compile(r"\s*%+(?:\s|$)"), "/": re.compile(r"\s*(?://[/!]*|/\*+!?|\*+(?!/))(?:\s|$)")}  # fmt: skip
_DOCSTRING = re.compile(r"\s*[rRuUbB]?(\"\"\"|''')")
_TOKEN = re.compile(r"#|\"\"\"|'''|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_DEFINITION = re.compile(
    r"\s*(?:export\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|static\s+|async\s+|abstract\s+|final\s+)*"
    r"(?:def|class|function|func|fn|struct|enum|trait|interface|impl|module|type|sub)\s+([A-Za-z_]\w*(?:(?:\.|::)\w+)*)"
)


def outline_of(document: Document) -> Outline:
    """The outline of a document, or of the comments of a source file."""
    extension = "." + document.path.rsplit(".", 1)[-1].lower()
    return (comment_outline if extension in CODE else outline)(document.path, document.lines)


def comment_outline(path: str, lines: tuple[str, ...]) -> Outline:
    """The outline of a source file: only its comments and docstrings are blocks of prose."""
    name = path.rsplit("/", 1)[-1]
    extension = "." + name.rsplit(".", 1)[-1].lower()
    return scan_rows(name, _rows(lines, _mark(extension), extension in (".py", ".pyi")), REST)


def _mark(extension: str) -> re.Pattern[str]:
    if extension in _HASH:
        return _MARKS["#"]
    if extension in _DASH:
        return _MARKS["-"]
    if extension in _SEMI:
        return _MARKS[";"]
    return _MARKS["%"] if extension == ".erl" else _MARKS["/"]


def _rows(lines: tuple[str, ...], mark: re.Pattern[str], python: bool) -> list[Row]:
    out: list[Row] = []
    closing = ""  # the quotes that end the text we are in, and whether it is a docstring
    prose = False
    base = 0
    for number, line in enumerate(lines, 1):
        if closing:
            end = line.find(closing)
            if prose:
                start = min(base, len(line) - len(line.lstrip()))
                out.append(
                    Row(number, start, line[start:] if end < 0 else line[start : max(end, start)])
                )
            closing = _opened(line, end + len(closing)) if end >= 0 else closing
            prose = prose and end < 0
            continue
        if python and ('"' in line or "'" in line):
            quotes = _DOCSTRING.match(line)
            if quotes:
                start = quotes.end()
                end = line.find(quotes.group(1), start)
                base = len(line) - len(line.lstrip())
                out.append(Row(number, start, line[start:] if end < 0 else line[start:end]))
                closing, prose = (quotes.group(1), True) if end < 0 else ("", False)
                continue
            closing, prose = _opened(line, 0), False
        comment = mark.match(line)
        if comment:
            text = line[comment.end() :]
            out.append(Row(number, comment.end(), text.removesuffix("*/")))
            continue
        definition = _DEFINITION.match(line)
        if definition:
            depth = 1 + (len(line) - len(line.lstrip())) // 2
            out.append(Row(number, 0, definition.group(1), heading=1 + depth))
        elif not out or out[-1].text:
            out.append(Row(number, 0, ""))
    return out


def _opened(line: str, start: int) -> str:
    """The triple quotes that a line opens and does not close, or nothing."""
    at = start
    while True:
        found = _TOKEN.search(line, at)
        if found is None or found.group().startswith("#"):
            return ""
        at = found.end()
        if len(found.group()) == 3 and found.group() in ('"""', "'''"):
            end = line.find(found.group(), at)
            if end < 0:
                return found.group()
            at = end + 3
