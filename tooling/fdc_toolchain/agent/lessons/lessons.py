"""The lessons file: one JSON object a line, read whatever is wrong with some lines, rewritten without touching them.

`knowledge_core/lessons.jsonl` (FDC-72, FDC-81 to FDC-83). Pure: bytes in, values out, bytes again. A line that is
damaged, or that somebody else wrote in another form, is kept byte for byte; so are the fields that we do not know.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, NotRequired, TypedDict, cast

from ... import resources
from ...named_tuples import NamedTuple
from ...tasks.actions import canonical, parse_action_to_command
from ...tasks.postmortem import Found, Postmortem

LESSONS = "knowledge_core/lessons.jsonl"
"""The path of the lessons file."""

SCHEMA = "grammar/lessons.schema.json"
STATUSES = ("pending", "applying", "applied", "failed", "dismissed", "obsolete")
PENDING, APPLYING, APPLIED, FAILED, DISMISSED, _ = STATUSES
_SPACE = uuid.UUID("5b0e5f3c-6c0d-5c5e-9a51-0d0a4d6f7c11")


class Changed(TypedDict):
    """A file before and after: SHA-256 of its bytes, null where there is none."""

    path: str
    before: str | None
    after: str | None


class Step(TypedDict):
    """A step of a lesson's history."""

    at: str
    status: str
    run: NotRequired[str]
    plan: NotRequired[str]
    why: NotRequired[str]
    changes: NotRequired[list[Changed]]


class Lesson(TypedDict):
    """A lesson, as `grammar/lessons.schema.json` defines it; what else another tool wrote into it stays.

    `outside`: its post-mortem says that text from outside was met.
    """

    lesson_id: str
    insight: str
    action: dict[str, object]
    status: str
    task_id: NotRequired[str]
    date: NotRequired[str]
    source: NotRequired[str]
    history: NotRequired[list[Step]]
    outside: NotRequired[bool]


class Line(NamedTuple):
    """One line of the file: its bytes without the line end, and the lesson in it or why there is none."""

    number: int
    raw: bytes
    lesson: Lesson | None = None
    fault: str | None = None


class Book(NamedTuple):
    """The whole file. Blank lines are lines too."""

    lines: tuple[Line, ...] = ()
    ended: bool = True

    @property
    def lessons(self) -> list[Lesson]:
        """The lessons, in order."""
        return [line.lesson for line in self.lines if line.lesson is not None]

    @property
    def damaged(self) -> list[Line]:
        """The lines that are not lessons."""
        return [line for line in self.lines if line.fault is not None]

    def find(self, prefix: str) -> list[Lesson]:
        """The lessons whose id is, or begins with, `prefix`."""
        exact = [lesson for lesson in self.lessons if lesson["lesson_id"] == prefix]
        return exact or [
            lesson for lesson in self.lessons if prefix and lesson["lesson_id"].startswith(prefix)
        ]


def read(data: bytes | None) -> Book:
    """The lessons in these bytes; no file is an empty book. Never raises."""
    if not data:
        return Book()
    lines: list[Line] = []
    owners: dict[str, int] = {}
    rows = data.split(b"\n")
    ended = rows[-1] == b""
    for number, raw in enumerate(rows[:-1] if ended else rows, 1):
        if not raw.strip():
            lines.append(Line(number, raw))
            continue
        lesson, fault = _lesson(raw)
        if lesson is not None:
            earlier = owners.setdefault(lesson["lesson_id"], number)
            if earlier != number:
                lesson, fault = None, f"the lesson of line {earlier} again"
        lines.append(Line(number, raw, lesson, fault))
    return Book(tuple(lines), ended)


def write(book: Book) -> bytes:
    """The bytes of a book: what was read and not changed comes back as it was."""
    data = b"\n".join(line.raw for line in book.lines)
    return data + b"\n" if book.lines and book.ended else data


def added(book: Book, lessons: Iterable[Lesson]) -> tuple[Book, list[Lesson]]:
    """The book with those lessons at its end that it does not have yet, and which these are."""
    known = {lesson["lesson_id"] for lesson in book.lessons}
    lines = list(book.lines)
    new: list[Lesson] = []
    for lesson in lessons:
        if lesson["lesson_id"] not in known:
            known.add(lesson["lesson_id"])
            new.append(lesson)
            lines.append(Line(len(lines) + 1, encoded(lesson), lesson))
    return (Book(tuple(lines)), new) if new else (book, [])


def changed(book: Book, lesson: Lesson) -> Book:
    """The book with this lesson in place of the one with its id; all other lines are as they were."""
    return book._replace(
        lines=tuple(
            line._replace(raw=encoded(lesson), lesson=lesson)
            if line.lesson is not None and line.lesson["lesson_id"] == lesson["lesson_id"]
            else line
            for line in book.lines
        )
    )


def entered(lesson: Lesson, status: str, at: str, **facts: object) -> Lesson:
    """The lesson with another status, and that step at the end of its history (FDC-83). No field is lost."""
    known = {key: value for key, value in facts.items() if value is not None}
    step = cast("Step", {"at": at, "status": status, **known})
    return {**lesson, "status": status, "history": [*history(lesson), step]}


def history(lesson: Lesson) -> list[Step]:
    """The steps that a lesson has gone through, the oldest first."""
    return list(lesson.get("history", ()))


def made(postmortem: Postmortem, source: str) -> list[Lesson]:
    """The lessons of a post-mortem as records, all pending (FDC-72). The same text gives the same ids."""
    return [_record(postmortem, found, source) for found in postmortem.lessons]


def encoded(lesson: object) -> bytes:
    """A lesson as a line, without its end. ASCII, because other line separators would split it for some readers."""
    return json.dumps(lesson, separators=(", ", ": "), allow_nan=False).encode("ascii")


def faults(lesson: object) -> list[str]:
    """Why a value is not a lesson, each with its JSON path."""
    found = sorted(_validator().iter_errors(lesson), key=lambda wrong: wrong.json_path)
    return [f"{wrong.json_path}: {wrong.message[:120]}" for wrong in found]


def _record(postmortem: Postmortem, found: Found, source: str) -> Lesson:
    said = json.dumps([postmortem.task_id, found.insight, canonical(found.action)], sort_keys=True)
    return {
        "lesson_id": str(uuid.uuid5(_SPACE, said)),
        "task_id": postmortem.task_id,
        "date": postmortem.date,
        "insight": found.insight,
        "action": found.action,
        "status": PENDING,
        "source": f"{source}:{found.line}",
    }


def _lesson(raw: bytes) -> tuple[Lesson | None, str | None]:
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
        value = understood(value)
        wrong = faults(value)
        encoded(value)
    except UnicodeDecodeError as found:
        return None, f"not UTF-8 text (byte {found.start})"
    except ValueError as found:
        return None, f"not JSON: {found}"
    except RecursionError:
        return None, "not JSON: nested too deeply"
    if wrong:
        return None, "not a lesson: " + "; ".join(wrong[:3])
    return cast("Lesson", value), None  # the schema says so


def understood(value: object) -> object:
    """A lesson of another tool with the keys that fdc reads; its own keys stay.

    `lesson` is the insight; so is what a `failure` says. What names no action waits for a person.
    """
    if not isinstance(value, dict):
        return value
    out = dict(value)
    failure = out.get("failure")
    if "insight" not in out and isinstance(out.get("lesson"), str):
        out["insight"] = out["lesson"]
    elif "insight" not in out and isinstance(failure, dict):
        said = [failure.get(key) for key in ("test_file", "error_message")]
        out["insight"] = ": ".join(one for one in said if isinstance(one, str))
    if "action" not in out and isinstance(out.get("insight"), str):
        out["action"] = parse_action_to_command(out["insight"])
    return out


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("duplicate key in an object")
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"`{name}` is not a JSON number")


@functools.cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(resources.read(SCHEMA)))
