"""Bytes to text: which characters a plan may have, and how large it may be.

`decode` never raises. It folds CRLF to LF, so that line n is line n of every editor, and
reports what is left that would make two readers see two texts: bytes that are not UTF-8,
control characters, other line separators, characters that hide or reorder text
(Trojan Source, CVE-2021-42574).
"""

from __future__ import annotations

import re
import sys

from ..named_tuples import NamedTuple
from .diagnostic import Diagnostic, Edit, Fix
from .span import Span


def other_names() -> str:
    """What a person does where Python reads names of files in another encoding than plans have; empty where it does not."""
    encoding = sys.getfilesystemencoding()
    if encoding == "utf-8":
        return ""
    return (
        f"names of files are read as {encoding} here, and plans are UTF-8, so fdc finds no file whose name has letters "
        "beyond ASCII; set LC_ALL=C.UTF-8, and do not set PYTHONUTF8=0"
    )


class Limits(NamedTuple):
    """How large a text may be. A text over a limit is refused, never half checked."""

    file_bytes: int = 1 << 20
    line_characters: int = 1 << 16
    statements: int = 50_000
    nesting: int = 64
    findings: int = 1_000


DEFAULT = Limits()
"""The limits of a workspace that sets none."""

_SEPARATORS = {
    "\r": "a carriage return alone",
    "\x0b": "a vertical tab",
    "\x0c": "a form feed",
    "\x1c": "a file separator",
    "\x1d": "a group separator",
    "\x1e": "a record separator",
    "\x85": "a next-line character",
    "\u2028": "a line separator",
    "\u2029": "a paragraph separator",
}

_PLAIN = bytes(range(0x20, 0x7F)) + b"\t\n"
"""Bytes of most texts, none of which is suspect."""

_SUSPECT = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u2069\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]|\r(?!\n)"
)

_MOST_PER_FILE = 100
"""Maximum findings about characters in one file: a binary file would have very many."""


def refused(path: str, message: str, help_: str | None = None, line: int = 1) -> Diagnostic:
    """The finding that a text is over a limit."""
    return Diagnostic(Span(path, line, 1, line, 2), "FDC106", message, help=help_)


def decode(data: bytes, path: str, limits: Limits) -> tuple[str | None, list[Diagnostic]]:
    """The text with LF line ends, and what is wrong with it.

    The text is None where it is over a limit; where bytes are not UTF-8 they are replaced by
    U+FFFD, so that the rest can still be read and reported.
    """
    if len(data) > limits.file_bytes:
        return None, [
            refused(
                path,
                f"the file has {len(data)} bytes, more than the {limits.file_bytes} that may be",
                "split the plan, or raise `limits.file-bytes`",
            )
        ]
    findings: list[Diagnostic] = []
    if not path.isascii() and any("\ud800" <= character <= "\udfff" for character in path):
        message = "the name of the file, or of a folder above it, is not UTF-8"
        help_ = other_names() or "rename the file"
        findings.append(Diagnostic(Span(path, 1, 1, 1, 1), "FDC101", message, help=help_))
    offset: int | None = (
        0  # of the text's first byte; None where characters and bytes do not correspond
    )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        offset = None
        before = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        findings.append(
            Diagnostic(
                Span(path, line, column, line, column + 1),
                "FDC101",
                f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8",
                help="save the file as UTF-8",
            )
        )
    if text.startswith("\ufeff"):
        text = text[1:]
        offset = offset if offset is None else 3
        findings.append(
            Diagnostic(Span(path, 1, 1, 1, 1), "FDC121", "the text starts with a byte order mark")
        )
    if data.translate(None, _PLAIN) and re.search(_SUSPECT, text):
        findings += _suspects(text, path, offset)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    longest = limits.line_characters
    if len(text) > longest:
        for number, row in enumerate(text.split("\n"), 1):
            if len(row) > longest:
                message = f"the line has {len(row)} characters, more than the {longest} that may be"
                return None, [refused(path, message, "raise `limits.line-characters`", number)]
    return text, findings


def _suspects(text: str, path: str, offset: int | None) -> list[Diagnostic]:
    findings: list[Diagnostic] = []
    line, start = 1, 0
    for match in re.finditer(_SUSPECT, text):
        at = match.start()
        line += text.count("\n", start, at)
        start = at
        column = at - text.rfind("\n", 0, at)
        span = Span(path, line, column, line, column + 1)
        character = match.group()
        name = f"U+{ord(character):04X}"
        remove = Fix(f"remove {name}", (Edit(span, ""),), safe=False)
        if character in _SEPARATORS:
            message = f"{_SEPARATORS[character]} ({name}) inside a line; lines end with LF or CRLF"
            findings.append(Diagnostic(span, "FDC104", message, fix=remove))
        elif character == "\ufeff":
            findings.append(
                Diagnostic(span, "FDC102", "a byte order mark inside the text", fix=remove)
            )
        elif character < "\xa0" and character != "\xad":
            place = "" if offset is None else f" at offset {offset + len(text[:at].encode())}"
            findings.append(
                Diagnostic(span, "FDC101", f"control character {name}{place}", fix=remove)
            )
        else:
            message = f"{name} cannot be seen, and can change how the line is read"
            findings.append(Diagnostic(span, "FDC103", message, fix=remove))
        if len(findings) >= _MOST_PER_FILE:
            break
    return findings
