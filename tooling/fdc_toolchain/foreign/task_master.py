"""Task Master's `tasks.json`: tasks with ids, dependencies, a status and subtasks, by tags or without."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.span import Span
from ..text.json_text import Node, Places, parse
from . import checks, kinds
from .model import Found, Item, Named, Unreadable

_DONE, _NEVER = ("done", "completed"), ("cancelled", "canceled")


def read(path: str, text: str) -> Found:
    """The tasks, and what is wrong with them. Raises Unreadable."""
    root, problems = parse(text)
    places = Places(path, text)
    if root is None:
        span = places.span(problems[-1].start, problems[-1].end)
        reason = f"line {span.line} cannot be read as JSON: {problems[-1].message}"
        raise Unreadable(span, reason, problems[-1].help)
    found, items, facts = [], [], []
    lists = [*_lists(root)]
    for tag, tasks in lists:
        rows = [*_tasks(places, tasks, "")]
        found += checks.check(rows)
        items += rows if len(lists) == 1 else [_of(tag, row) for row in rows]
        done = sum(1 for row in rows if row.done)
        facts.append(f"Tasks{f' of {tag}' if tag else ''}: {len(rows)}, {done} done")
    return Found(kinds.TASK_MASTER, found, facts, items)


def _of(tag: str, item: Item) -> Item:
    """A task of one tag of several: each tag counts its tasks from 1."""
    depends = tuple(one._replace(text=f"{tag}:{one.text}") for one in item.depends)
    return item._replace(id=f"{tag}:{item.id}", depends=depends)


def _members(node: Node | None) -> dict[str, Node]:
    is_object = node is not None and node.kind == "object"
    return {part.key.value: part.value for part in node.value} if node and is_object else {}


def _lists(root: Node) -> Iterator[tuple[str, Node]]:
    parts = _members(root)
    if "tasks" in parts:
        yield "", parts.pop("tasks")
    for tag, part in parts.items():
        if "tasks" in (inner := _members(part)):
            yield tag, inner["tasks"]


def _span(places: Places, node: Node) -> Span:
    return places.span(node.start, min(node.end, node.start + 200))


def _tasks(places: Places, tasks: Node, above: str) -> Iterator[Item]:
    given = [task for task in tasks.value if task.kind == "object"] if tasks.kind == "array" else []
    rows = [_members(task) for task in given]
    names = [row.get("id", task) for row, task in zip(rows, given, strict=True)]
    ids = [_below(above, _word(name)) for name in names]
    for row, name, id_ in zip(rows, names, ids, strict=True):
        state, waits = row.get("status"), row.get("dependencies")
        status = state.value if state is not None and state.kind == "string" else None
        done = None if status is None or status in _NEVER else status in _DONE
        depends = tuple(
            Named(_named(one, above, ids, id_), _span(places, one))
            for one in (waits.value if waits is not None and waits.kind == "array" else ())
        )
        title = _word(row["title"]) if "title" in row else ""
        cancelled = status in _NEVER
        yield Item(id_, title, _span(places, name), done, depends, cancelled=cancelled)
        if "subtasks" in row and not above:
            yield from _tasks(places, row["subtasks"], f"{id_}.")


def _below(above: str, word: str) -> str:
    """The id of a subtask with the id of its task, which some files have in it already."""
    return word if word.startswith(above) else above + word


def _named(part: Node, above: str, beside: list[str], own: str) -> str:
    """A dependency of a subtask is one beside it where it is a number; a text is another one beside it, or a task."""
    word = _word(part)
    name = f"{above}{word}"
    is_beside = name in beside and name != own if part.kind == "string" else above
    return name if is_beside else word


def _word(node: Node) -> str:
    return str(node.value) if node.kind in ("string", "number", "boolean") else "?"
