"""Reads post-mortems: who they are about, and the lessons in them (FDC-71, FDC-73, C-33). Pure.

Lessons are looked for below headings that speak of lessons or of corrective actions, in three forms: a list of
`**Lesson:**` and `**Action:**` pairs, a table with these two columns, and JSON in a code block. Where there is none of
these, each item of a list is a lesson. What a template left open is not a lesson (T-33); what is half written is said, with
its line, and so is a text in which no lesson is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any, NamedTuple

from .actions import canonical, parse_action_to_command

OUTSIDE = "<!-- fdc: the author of this task's texts was shown text from outside -->"
"""First line of a post-mortem whose words may be those of strangers: nothing that it asks for is done without a person."""

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ABOUT = re.compile(
    r"\b(?:lessons?|learnings?|takeaways?|what (?:we|was) learned|corrective actions?)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(`{3,}|~{3,})([^`]*)")
_LABEL = re.compile(
    r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\*\*|__)?(lesson|insight|action)s?(?:\*\*|__)?[ \t]*:[ \t]*(?:\*\*|__)?(.*)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]{0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_TASK = re.compile(
    r"\*\*Task ID:\*\*[ \t]*`([^`\n]+)`|^[ \t]*\|[ \t*]*Task ID[ \t*:]*\|[ \t`]*([^|`\n]+)",
    re.MULTILINE,
)
_DATE = re.compile(
    r"\*\*Completion Date:\*\*[ \t]*`([^`\n]+)`|^[ \t]*\|[ \t*]*Completion Date[ \t*:]*\|[ \t`]*([^|`\n]+)",
    re.MULTILINE,
)
_COLUMNS = (
    ("lesson", ("lesson", "insight", "lesson learned")),
    ("action", ("action", "corrective action")),
)
_UNSAID = frozenset(("", "-", "tbd", "todo", "n/a", "none"))


class Found(NamedTuple):
    """A lesson as a post-mortem states it, and the line where it begins."""

    line: int
    insight: str
    action: dict[str, Any]


class Postmortem(NamedTuple):
    """What a post-mortem says. `notes` are (line, sentence): what looked like a lesson and is none."""

    task_id: str
    date: str
    lessons: tuple[Found, ...]
    notes: tuple[tuple[int, str], ...] = ()


class _Line(NamedTuple):
    number: int
    text: str
    block: tuple[str, str] | None = (
        None  # a whole code block in place of its lines: its language and its text
    )


class _Draft:
    """A lesson while its lines are being read."""

    def __init__(self, number: int) -> None:
        self.line = number
        self.parts: dict[str, list[str]] = {}
        self.block: str | None = None

    def text(self, part: str) -> str:
        return " ".join(" ".join(self.parts.get(part, ())).split())


def read(text: str, today: date) -> Postmortem:
    """The post-mortem in a text. A missing task is `Unknown`, a missing date is `today` (FDC-71)."""
    lines = list(_lines(text))
    plain = "\n".join(line.text for line in lines if line.block is None)
    notes: list[tuple[int, str]] = []
    found: list[Found] = []
    for section in _sections(lines):
        before = len(found), len(notes)
        found += _listed(section, notes)
        found += _tabled(section, notes)
        for line in section:
            if line.block is not None and line.block[0] in ("json", "jsonc", "json5"):
                found += _encoded(line, notes)
        if before == (len(found), len(notes)):
            found += _itemised(section, notes)
    found.sort(key=lambda item: item.line)
    return Postmortem(
        _of(_TASK, plain) or "Unknown",
        _of(_DATE, plain) or today.isoformat(),
        tuple(found),
        tuple(sorted(notes)),
    )


def is_unsaid(text: str) -> bool:
    """True for what a template leaves for its reader: nothing, dots, or a text that is one pair of brackets."""
    bare = text.strip().strip("*_`.\u2026").strip()
    if bare.lower() in _UNSAID:
        return True
    closing = {"[": "]", "<": ">", "{": "}"}.get(bare[0])
    if closing is None:
        return False
    depth = 0
    for at, char in enumerate(bare):
        depth += (char == bare[0]) - (char == closing)
        if depth == 0:
            return at == len(bare) - 1
    return False


def _of(pattern: re.Pattern[str], text: str) -> str:
    for found in pattern.finditer(text):
        said = (found[1] or found[2]).strip().strip("*").strip()
        if not is_unsaid(said):
            return said[:200]
    return ""


def _lines(text: str) -> Iterator[_Line]:
    """The lines that are Markdown; a code block is one of them, and comments are blank."""
    fence, indent, language, opened = "", 0, "", 0
    inside: list[str] = []
    hidden = False
    number = 0
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.removesuffix("\r")
        if fence:
            bare = line.strip()
            if bare.startswith(fence) and not bare.strip(fence[0]):
                yield _Line(opened, "", (language, "\n".join(inside)))
                fence, inside = "", []
            else:
                inside.append(line[min(indent, len(line) - len(line.lstrip(" "))) :])
            continue
        if hidden or "<!--" in line:
            line, hidden = _uncommented(line, hidden)
        start = _FENCE.fullmatch(line)
        if start is not None:
            fence, indent = start[2], len(start[1])
            language, opened = (start[3].strip().split() or [""])[0].lower(), number
            continue
        yield _Line(number, line)
    if fence:
        yield _Line(opened, "", (language, "\n".join(inside)))


def _uncommented(line: str, hidden: bool) -> tuple[str, bool]:
    out, at = [], 0
    while at < len(line):
        mark = "-->" if hidden else "<!--"
        end = line.find(mark, at)
        if not hidden:
            out.append(line[at:] if end < 0 else line[at:end])
        if end < 0:
            break
        at, hidden = end + len(mark), not hidden
    return "".join(out), hidden


def _sections(lines: list[_Line]) -> Iterator[list[_Line]]:
    """The stretches below each heading that speaks of lessons, to the next heading of its level or above."""
    current: list[_Line] | None = None
    level = 0
    for line in lines:
        heading = _HEADING.fullmatch(line.text) if line.block is None else None
        if heading is not None and (current is None or len(heading[1]) <= level):
            if current is not None:
                yield current
            current = [] if _ABOUT.search(heading[2]) else None
            level = len(heading[1])
        elif current is not None:
            current.append(line)
    if current is not None:
        yield current


def _listed(section: list[_Line], notes: list[tuple[int, str]]) -> Iterator[Found]:
    draft: _Draft | None = None
    part = ""
    for line in section:
        if line.block is not None:
            if draft is not None and "action" in draft.parts and draft.block is None:
                draft.block = line.block[1]
            continue
        label = _LABEL.fullmatch(line.text)
        if label is not None:
            part = "action" if label[1].lower() == "action" else "lesson"
            if draft is None or part in draft.parts or part == "lesson":
                yield from _made(draft, notes)
                draft = _Draft(line.number)
            draft.parts[part] = [label[2]]
        elif draft is not None and part:
            if not line.text.strip():
                part = ""  # a paragraph ends; what follows belongs to neither
            elif _ITEM.match(line.text) or line.text.lstrip().startswith(("|", "#", ">")):
                part = ""
            else:
                draft.parts[part].append(line.text)
    yield from _made(draft, notes)


def _itemised(section: list[_Line], notes: list[tuple[int, str]]) -> Iterator[Found]:
    """The items of a section's lists, where none of them has a label; each says itself what to do."""
    said: list[tuple[int, list[str]]] = []
    inside = False
    plain = [line for line in section if line.block is None and line.text.strip()]
    if any(_LABEL.fullmatch(line.text) or line.text.lstrip().startswith("|") for line in plain):
        return  # the template's own lines
    for line in section:
        if line.block is not None or _HEADING.fullmatch(line.text):
            inside = False
        elif _ITEM.match(line.text):
            said.append((line.number, [_ITEM.sub("", line.text, count=1)]))
            inside = True
        elif inside and line.text.strip():
            said[-1][1].append(line.text)
        else:
            inside = False
    for number, parts in said:
        text = " ".join(" ".join(parts).split())
        if not is_unsaid(text) and not text.lower().startswith("nothing was learned"):
            yield Found(number, text, parse_action_to_command(text))
    if plain and not said and not plain[0].text.lower().lstrip().startswith("nothing was learned"):
        notes.append(
            (plain[0].number, "no lesson is found in this text; a list of lessons is read")
        )


def _tabled(section: list[_Line], notes: list[tuple[int, str]]) -> Iterator[Found]:
    columns: dict[str, int] = {}
    for line in section:
        if line.block is not None or not line.text.lstrip().startswith("|"):
            columns = {}
            continue
        cells = _cells(line.text)
        if not columns:
            names = [re.sub(r"[^a-z ]", "", cell.lower()).strip() for cell in cells]
            columns = {
                part: at
                for part, known in _COLUMNS
                for at, name in enumerate(names)
                if name in known or name.rstrip("s") in known
            }
            if len(columns) < 2:
                columns = {}
        elif all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            continue
        elif max(columns.values()) < len(cells):
            draft = _Draft(line.number)
            draft.parts = {part: [cells[at]] for part, at in columns.items()}
            yield from _made(draft, notes)


def _cells(line: str) -> list[str]:
    """The cells of a table's row; `\\|` is a bar in one, and a bar between backticks is too."""
    cells, cell, code, at = [], "", False, 0
    body = line.strip()[1:]
    last = body.rfind("`")
    while at < len(body):
        char = body[at]
        if char == "\\" and body[at + 1 : at + 2] == "|":
            cell, at = cell + "|", at + 2
            continue
        if char == "|" and not (code and at < last):
            cells.append(cell.strip())
            cell, code = "", False
        else:
            code ^= char == "`"
            cell += char
        at += 1
    if cell.strip():
        cells.append(cell.strip())
    return cells


def _encoded(line: _Line, notes: list[tuple[int, str]]) -> Iterator[Found]:
    assert line.block is not None
    try:
        value = json.loads(line.block[1], parse_constant=_no_number)
    except (ValueError, RecursionError) as wrong:
        notes.append((line.number, f"the JSON here cannot be read: {str(wrong)[:80]}"))
        return
    if isinstance(value, dict) and isinstance(value.get("lessons"), list):
        value = value["lessons"]
    for item in value if isinstance(value, list) else [value]:
        insight = next(
            (item[key] for key in ("insight", "lesson") if isinstance(item, dict) and key in item),
            None,
        )
        action = item.get("action") if isinstance(item, dict) else None
        if isinstance(insight, str) and isinstance(action, (str, dict)) and not is_unsaid(insight):
            if isinstance(action, str) and is_unsaid(action):
                notes.append((line.number, "a lesson without an action changes nothing"))
                continue
            made = parse_action_to_command(action) if isinstance(action, str) else _kept(action)
            yield Found(line.number, " ".join(insight.split()), made)
        else:
            notes.append((line.number, "a lesson in JSON has an `insight` and an `action`"))


def _kept(action: dict[str, Any]) -> dict[str, Any]:
    """What an action is made of, and nothing else that the text may bring along."""
    known = canonical(action)
    given = known.get("parameters")
    parameters = (
        {key: value for key, value in given.items() if isinstance(value, str)}
        if isinstance(given, dict)
        else {}
    )
    named = {key: known[key] for key in ("type", "command") if isinstance(known.get(key), str)}
    return {**named, "parameters": parameters}


def _no_number(name: str) -> Any:
    raise ValueError(f"`{name}` is not a JSON")


def _made(draft: _Draft | None, notes: list[tuple[int, str]]) -> Iterator[Found]:
    if draft is None:
        return
    insight, action = draft.text("lesson"), draft.text("action")
    if is_unsaid(insight) and is_unsaid(action):
        return  # the template's own line
    if is_unsaid(insight) or is_unsaid(action):
        missing = (
            "a lesson without an action changes nothing"
            if is_unsaid(action)
            else "an action without its lesson"
        )
        notes.append((draft.line, missing))
        return
    yield Found(draft.line, insight, parse_action_to_command(action, draft.block))
