"""The lines that an approval shows to a person: what will change, with control characters escaped.

The rows are those of `workspace.preview`. The terminal and the web page show the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from ..named_tuples import NamedTuple
from ..narrow import narrow
from .terminal.terminal_text import visible

Role = Literal["head", "add", "del", "same", "note"]

OPENED = "opened"
"""The kind of rows about protected paths that a plan opens by name, and the key of such an approval."""

LONGEST = 2_000
"""Characters of a line that are shown."""


class Line(NamedTuple):
    """A line and its role: a heading, an added, deleted or unchanged line, or a note."""

    role: Role
    text: str


def lines(shows: dict[str, object] | None) -> list[Line]:
    """The lines of what an approval shows; none where it shows nothing."""
    if not shows:
        return []
    rows = narrow(shows.get("rows", []), list)
    found_lines = [line for row in rows for line in _row(row)]
    return found_lines or [
        Line(
            "note", "nothing that follows changes a file or runs a command, as far as is known now"
        )
    ]


def _row(row: dict[str, Any]) -> Iterable[Line]:
    kind = row.get("what")
    if kind == "more":
        yield Line("note", f"and {row['count']} more changes that are not shown")
        return
    place = (
        f"{row.get('plan', '')}:{row['line']}: " if "line" in row else f"{row.get('plan', '')}: "
    )
    perhaps = "perhaps: " if row.get("perhaps") else ""
    describe = _DESCRIPTIONS.get(str(kind), _change)
    yield Line("head", _text(place + perhaps + describe(row)))
    if kind == "files":
        yield from (Line("same", _text(path)) for path in row["files"])
        if row["count"] > len(row["files"]):
            yield Line("note", f"and {row['count'] - len(row['files'])} more files")
    for line in row.get("diff", ()):
        role: Role = "add" if line.startswith("+") else "del" if line.startswith("-") else "same"
        yield from (
            Line(role if number == 0 else "note", _text(part))
            for number, part in enumerate(line.split("\n"))
        )
    if row.get("left_out"):
        yield Line("note", f"{row['left_out']} bytes of the difference are left out")
    if row.get("note"):
        yield Line("note", _text(row["note"]))
    if row.get("partly"):
        yield Line("note", "what stands as `{name}` is not known yet")


def _change(row: dict[str, Any]) -> str:
    return f"{row.get('what')} {row.get('file', '')}"


_DESCRIPTIONS: dict[str, Callable[[dict[str, Any]], str]] = {
    "files": lambda row: f"{row['count']} files match {row['glob']}, and no others are used",
    "command": lambda row: f"runs {row['text']}",
    "step": lambda row: f"does {row['text']}",
    "unknown": lambda row: f"not known yet: {row['text']}",
    OPENED: lambda row: f"may change {row['file']}: {row['text']}",
    "rename": lambda row: f"rename {row['file']} to {row['to']}",
}


def _text(text: str) -> str:
    return visible(
        text
        if len(text) <= LONGEST
        else f"{text[:LONGEST]}… ({len(text) - LONGEST} characters left out)"
    )
