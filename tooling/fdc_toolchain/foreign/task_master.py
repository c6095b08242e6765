"""Task Master's `tasks.json`: tasks with ids, dependencies, a status and subtasks, by tags or without."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any, NamedTuple, TypeAlias

from ..diagnostics.span import Span
from . import checks, kinds
from .model import Found, Item, Named, Unreadable

_DONE = ("done", "completed")


class Part(NamedTuple):
    """A value of a JSON text with where it begins and ends."""

    value: Value
    start: int
    end: int


Value: TypeAlias = "dict[str, Part] | list[Part] | str | int | float | bool | None"


class _Decoder(json.JSONDecoder):
    """Reads JSON and keeps places: each value is a Part."""

    def __init__(self) -> None:
        super().__init__()
        self.parse_object: Any = lambda at, strict, _, *more: JSONObject(
            at, strict, self._part, *more
        )
        self.parse_array: Any = lambda at, _: JSONArray(at, self._part)
        self._plain = py_make_scanner(self)
        self.scan_once: Any = self._part

    def _part(self, text: str, at: int) -> tuple[Part, int]:
        value, end = self._plain(text, at)
        return Part(value, at, end), end


def read(path: str, text: str) -> Found:
    """The tasks, and what is wrong with them. Raises Unreadable."""
    try:
        root: Part = _Decoder().decode(text)
    except json.JSONDecodeError as wrong:
        span = Span(path, wrong.lineno, wrong.colno, wrong.lineno, wrong.colno + 1)
        reason = f"line {wrong.lineno} cannot be read as JSON: {wrong.msg}"
        raise Unreadable(span, reason) from wrong
    except (RecursionError, ValueError) as wrong:
        reason = "the JSON is nested too deeply, or has too long a number"
        raise Unreadable(Span(path, 1, 1, 1, 2), reason) from wrong
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
        title = row.get("title", Part("", 0, 0))
        status, given = (row.get(key, Part(None, 0, 0)).value for key in ("status", "dependencies"))
        done = status in _DONE if isinstance(status, str) else None
        depends = tuple(
            Named(_named(_word(one), above), _span(path, starts, one))
            for one in (given if isinstance(given, list) else ())
        )
        inner = row.get("subtasks")
        yield Item(id_, _word(title), _span(path, starts, name), done, depends)
        if inner is not None and not above:
            yield from _tasks(path, starts, inner, f"{id_}.")


def _named(word: str, above: str) -> str:
    """A dependency of a subtask is one beside it, where it is one number."""
    return f"{above}{word}" if above and "." not in word else word


def _word(part: Part) -> str:
    return str(part.value) if isinstance(part.value, str | int | float) else "?"
