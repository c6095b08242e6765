"""Task Master's `tasks.json`: tasks with ids, dependencies, a status and subtasks, by tags or without."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from typing import TypeAlias

from ..diagnostics.span import Span
from ..named_tuples import NamedTuple
from . import checks, kinds
from .model import Found, Item, Named, Unreadable

_DONE = ("done", "completed")


class Part(NamedTuple):
    """A value of a JSON text with where it begins and ends."""

    value: Value
    start: int
    end: int


Value: TypeAlias = "dict[str, Part] | list[Part] | str | int | float | bool | None"


class _Reader:
    """Reads JSON and keeps places. Raises ValueError with a position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.decode = json.JSONDecoder().raw_decode

    def skip(self, at: int) -> int:
        while at < len(self.text) and self.text[at] in " \t\r\n":
            at += 1
        return at

    def read(self, at: int) -> Part:
        at = self.skip(at)
        first = self.text[at : at + 1]
        if first == "{":
            return self._object(at)
        if first == "[":
            return self._list(at)
        value, end = self.decode(self.text, at)
        return Part(value, at, end)

    def _object(self, start: int) -> Part:
        out: dict[str, Part] = {}
        at = self.skip(start + 1)
        while self.text[at : at + 1] != "}":
            if self.text[at : at + 1] != '"':
                raise json.JSONDecodeError("Expecting a name", self.text, at)
            name = self.read(at)
            at = self.skip(name.end)
            if self.text[at : at + 1] != ":":
                raise json.JSONDecodeError("Expecting `:`", self.text, at)
            part = self.read(at + 1)
            out[str(name.value)] = part
            at = self._after(part.end, "}")
        return Part(out, start, at + 1)

    def _list(self, start: int) -> Part:
        out: list[Part] = []
        at = self.skip(start + 1)
        while self.text[at : at + 1] != "]":
            part = self.read(at)
            out.append(part)
            at = self._after(part.end, "]")
        return Part(out, start, at + 1)

    def _after(self, at: int, close: str) -> int:
        at = self.skip(at)
        if self.text[at : at + 1] == ",":
            return self.skip(at + 1)
        if self.text[at : at + 1] != close:
            raise json.JSONDecodeError(f"Expecting `,` or `{close}`", self.text, at)
        return at


def read(path: str, text: str) -> Found:
    """The tasks, and what is wrong with them. Raises Unreadable."""
    try:
        reader = _Reader(text)
        root = reader.read(0)
        if reader.skip(root.end) != len(text):
            raise json.JSONDecodeError("Extra data", text, root.end)
    except json.JSONDecodeError as wrong:
        span = Span(path, wrong.lineno, wrong.colno, wrong.lineno, wrong.colno + 1)
        raise Unreadable(
            span, f"line {wrong.lineno} cannot be read as JSON: {wrong.msg}"
        ) from wrong
    except (RecursionError, ValueError) as wrong:
        raise Unreadable(
            Span(path, 1, 1, 1, 2), "the JSON is nested too deeply, or has too long a number"
        ) from wrong
    starts = [0, *(at + 1 for at, one in enumerate(text) if one == "\n")]
    found, items, facts = [], [], []
    for tag, tasks in _lists(root):
        rows = [*_tasks(path, starts, tasks, "")]
        found += checks.check(rows)
        items += rows
        done = sum(1 for row in rows if row.done)
        facts.append(f"Tasks{f' of {tag}' if tag else ''}: {len(rows)}, {done} done")
    return Found(kinds.TASK_MASTER, found, facts, items)


def _lists(root: Part) -> Iterator[tuple[str, Part]]:
    if not isinstance(root.value, dict):
        return
    tasks = root.value.get("tasks")
    if tasks is not None:
        yield "", tasks
    for tag, part in root.value.items():
        inner = part.value.get("tasks") if isinstance(part.value, dict) else None
        if inner is not None and tag != "tasks":
            yield tag, inner


def _span(path: str, starts: list[int], part: Part) -> Span:
    """The place of a value; `starts` is where each line begins."""
    line = bisect_right(starts, part.start)
    column = part.start - starts[line - 1] + 1
    return Span(path, line, column, line, column + max(1, min(part.end - part.start, 200)))


def _tasks(path: str, starts: list[int], tasks: Part, above: str) -> Iterator[Item]:
    for task in tasks.value if isinstance(tasks.value, list) else ():
        row = task.value
        if not isinstance(row, dict):
            continue
        name: Part = row.get("id") or task
        id_ = f"{above}{_word(name)}"
        status, title = row.get("status"), row.get("title")
        done = (
            status.value in _DONE if status is not None and isinstance(status.value, str) else None
        )
        given = row.get("dependencies")
        depends = [
            Named(_named(_word(one), above), _span(path, starts, one))
            for one in (given.value if given is not None and isinstance(given.value, list) else ())
        ]
        inner = row.get("subtasks")
        yield Item(
            id_,
            _word(title) if title is not None else "",
            _span(path, starts, name),
            done,
            tuple(depends),
        )
        if inner is not None and not above:
            yield from _tasks(path, starts, inner, f"{id_}.")


def _named(word: str, above: str) -> str:
    """A dependency of a subtask is one beside it, where it is one number."""
    return f"{above}{word}" if above and "." not in word else word


def _word(part: Part) -> str:
    return str(part.value) if isinstance(part.value, str | int | float) else "?"
