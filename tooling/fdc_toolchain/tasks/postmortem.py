"""Reads post-mortems: the task that they are about, and the lessons in them (FDC-71, FDC-73, C-33). Pure.

Lessons are searched below headings about lessons or corrective actions, in three forms: a list of
`**Lesson:**` and `**Action:**` pairs, a table with these two columns, and JSON in a code block. Where there is none of
these, each item of a list is a lesson. Placeholders of the template are not lessons (T-33). Incomplete lessons are reported
with their line, and so is a text in which no lesson is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from ..named_tuples import NamedTuple
from .actions import canonical, parse_action_to_command

OUTSIDE = "<!-- fdc: the author of this task's texts was shown text from outside -->"
"""First line of a post-mortem that may have text from outside: its actions need a person's approval."""

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
_PLACEHOLDERS = frozenset(("", "-", "tbd", "todo", "n/a", "none"))


class Found(NamedTuple):
    """A lesson as a post-mortem states it, and the line where it begins."""

    line: int
    insight: str
    action: dict[str, Any]


class Postmortem(NamedTuple):
    """The content of a post-mortem. `notes` are (line, sentence) about parts that looked like a lesson and are not."""

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
    lessons: list[Found] = []
    for section in _sections(lines):
        before = len(lessons), len(notes)
        lessons += _listed(section, notes)
        lessons += _tabled(section, notes)
        for line in section:
            if line.block is not None and line.block[0] in ("json", "jsonc", "json5"):
                lessons += _encoded(line, notes)
        if before == (len(lessons), len(notes)):
            lessons += _itemised(section, notes)
    lessons.sort(key=lambda item: item.line)
    return Postmortem(
        _first_value(_TASK, plain) or "Unknown",
        _first_value(_DATE, plain) or today.isoformat(),
        tuple(lessons),
        tuple(sorted(notes)),
    )


def is_placeholder(text: str) -> bool:
    """True for a placeholder of a template: no text, dots, or a text in one pair of brackets."""
    bare = text.strip().strip("*_`.\u2026").strip()
    if bare.lower() in _PLACEHOLDERS:
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


def _first_value(pattern: re.Pattern[str], text: str) -> str:
    for match in pattern.finditer(text):
        value = (match[1] or match[2]).strip().strip("*").strip()
        if not is_placeholder(value):
            return value[:200]
    return ""


def _lines(text: str) -> Iterator[_Line]:
    """The lines of a Markdown text; a code block counts as one line, and comments are blank."""
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
    """The sections below each heading about lessons, up to the next heading of its level or above."""
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
                yield from _finished_lesson(draft, notes)
                draft = _Draft(line.number)
            draft.parts[part] = [label[2]]
        elif draft is not None and part:
            if not line.text.strip():
                part = ""  # a paragraph ends; what follows belongs to neither
            elif _ITEM.match(line.text) or line.text.lstrip().startswith(("|", "#", ">")):
                part = ""
            else:
                draft.parts[part].append(line.text)
    yield from _finished_lesson(draft, notes)


def _itemised(section: list[_Line], notes: list[tuple[int, str]]) -> Iterator[Found]:
    """The items of a section's lists, if none has a label; each item is a lesson and its action."""
    items: list[tuple[int, list[str]]] = []
    inside = False
    plain = [line for line in section if line.block is None and line.text.strip()]
    if any(_LABEL.fullmatch(line.text) or line.text.lstrip().startswith("|") for line in plain):
        return  # the template's own lines
    for line in section:
        if line.block is not None or _HEADING.fullmatch(line.text):
            inside = False
        elif _ITEM.match(line.text):
            items.append((line.number, [_ITEM.sub("", line.text, count=1)]))
            inside = True
        elif inside and line.text.strip():
            items[-1][1].append(line.text)
        else:
            inside = False
    for number, parts in items:
        text = " ".join(" ".join(parts).split())
        if not is_placeholder(text) and not text.lower().startswith("nothing was learned"):
            yield Found(number, text, parse_action_to_command(text))
    if plain and not items and not plain[0].text.lower().lstrip().startswith("nothing was learned"):
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
            yield from _finished_lesson(draft, notes)


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
        if (
            isinstance(insight, str)
            and isinstance(action, (str, dict))
            and not is_placeholder(insight)
        ):
            if isinstance(action, str) and is_placeholder(action):
                notes.append((line.number, "a lesson without an action changes nothing"))
                continue
            parsed_action = (
                parse_action_to_command(action)
                if isinstance(action, str)
                else _clean_action(action)
            )
            yield Found(line.number, " ".join(insight.split()), parsed_action)
        else:
            notes.append((line.number, "a lesson in JSON has an `insight` and an `action`"))


def _clean_action(action: dict[str, Any]) -> dict[str, Any]:
    """An action with its known keys and texts only; all else in the JSON is dropped."""
    known = canonical(action)
    raw = known.get("parameters")
    parameters = (
        {key: value for key, value in raw.items() if isinstance(value, str)}
        if isinstance(raw, dict)
        else {}
    )
    kinds = {key: known[key] for key in ("type", "command") if isinstance(known.get(key), str)}
    return {**kinds, "parameters": parameters}


def _no_number(name: str) -> Any:
    raise ValueError(f"`{name}` is not a JSON number")


def _finished_lesson(draft: _Draft | None, notes: list[tuple[int, str]]) -> Iterator[Found]:
    if draft is None:
        return
    insight, action = draft.text("lesson"), draft.text("action")
    if is_placeholder(insight) and is_placeholder(action):
        return  # the template's own line
    if is_placeholder(insight) or is_placeholder(action):
        missing = (
            "a lesson without an action changes nothing"
            if is_placeholder(action)
            else "an action without its lesson"
        )
        notes.append((draft.line, missing))
        return
    yield Found(draft.line, insight, parse_action_to_command(action, draft.block))
