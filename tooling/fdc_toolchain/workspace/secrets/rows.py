"""The rows `NAME = VALUE` of a file of secrets, whatever its format: `.env`, YAML, JSON, TOML, INI.

A value is given in each way in which a program that reads the file may understand it. One too many hides a harmless word;
one too few shows a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_START = re.compile(r"""([\w.\-/:]{2,80})["']?[ \t]*[=:][ \t]*""")
_DOUBLE = re.compile(r'"((?:[^"\\\r\n]|\\.)*)"')
_LONG = re.compile(r'"((?:[^"\\]|\\.){1,8192})"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^'\r\n]|''|'\\'')*)'")
_LIST = re.compile(r"\[[^\]]{1,2048}\]")
_WORD = re.compile(r"""[^\s"',;]+""")
_LINE = re.compile(r"[^\r\n]{0,4096}")
_COMMENT = re.compile(r"\s#.*")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}
_BLOCK = re.compile(r"""[|>][+\-0-9]*|\"""|'''|""")
"""What stands behind a name whose value is on the next lines."""
_NAMED = re.compile(r"""["']?[\w.\-/]+["']?\s*[=:](?:\s|$)""")
_OPENS = ("[", "{", "(", "&", "*", "!", "|", ">", "$(")
"""Beginnings of a line that is no value as it stands."""


def rows(text: str) -> Iterator[tuple[str, str, bool]]:
    """Name, value, and whether the row is read so only by a program that takes all of the line, escapes or further lines."""
    for match in _START.finditer(text):
        for value, loose in _values(text, match.start(), match.end()):
            yield match[1], value.strip(), loose


def _values(text: str, start: int, at: int) -> Iterator[tuple[str, bool]]:
    if text.startswith(('"""', "'''"), at):
        yield from ((line, True) for line in _below(text, start, at))
    elif quoted := _DOUBLE.match(text, at):
        yield quoted[1], False
        if "\\" in quoted[1]:
            yield _ESCAPE.sub(_meaning, quoted[1]), True
    elif quoted := _LONG.match(text, at):
        yield quoted[1], True
        yield from ((line, True) for line in quoted[1].split("\n"))
    elif quoted := _SINGLE.match(text, at):
        yield quoted[1], False
        for written in ("'\\''", "''"):
            if written in quoted[1]:
                yield quoted[1].replace(written, "'"), True
    elif found := _LIST.match(text, at):
        for item in re.finditer(r"""[\w.\-/+=]+|"(?:[^"\\]|\\.)*"|'[^']*'""", found[0]):
            yield from ((value, True) for value, _ in _values(item[0], 0, 0))
    else:
        rest = _LINE.match(text, at)
        line = _COMMENT.sub("", rest[0]).strip() if rest else ""
        if _BLOCK.fullmatch(line):
            yield from ((one, True) for one in _below(text, start, at))
        if word := _WORD.match(text, at):
            yield word[0], False
        if not line.startswith(_OPENS):
            yield line.rstrip(",;"), True


def _meaning(escape: re.Match[str]) -> str:
    one = escape[1]
    return chr(int(one[1:], 16)) if len(one) == 5 else _MEANT.get(one, one)


def _below(text: str, start: int, at: int) -> Iterator[str]:
    """The lines of a value that stands below its name: up to the closing quotes, or as far as they are indented more."""
    closing = text[at : at + 3] if text.startswith(('"""', "'''"), at) else ""
    if closing:
        for line in _lines(text, at + 3):
            yield line.partition(closing)[0].strip()
            if closing in line:
                return
        return
    indent = _indent(next(_lines(text, text.rfind("\n", 0, start) + 1)))
    end = text.find("\n", at)
    for line in _lines(text, end + 1) if end >= 0 else ():
        if line.strip() and _indent(line) <= indent:
            return
        if not _NAMED.match(line.strip()):
            yield line.strip().removeprefix("- ").strip(" \"',")


def _lines(text: str, at: int) -> Iterator[str]:
    """The lines from a place on."""
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
