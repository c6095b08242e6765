"""The lessons file of a workspace: read, added to, changed a lesson at a time (FDC-72, FDC-81, T-36).

Every change is: take the lock, read, decide, write the whole file anew, let go. A kill leaves the file as it was
before or after; lines that are not lessons stay byte for byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime

from ... import durable
from ...named_tuples import NamedTuple
from ...tasks import postmortem
from . import lessons as records
from .lessons import APPLIED, APPLYING, LESSONS, PENDING, Book, Lesson

MAX_POSTMORTEM = 1 << 20
"""Maximum bytes of a post-mortem."""


class Unreadable(ValueError):
    """A post-mortem that is not text; the sentence is for the user."""


class Added(NamedTuple):
    """What compiling a post-mortem gave: all its lessons, those that are new, and what else was seen in it."""

    lessons: tuple[Lesson, ...]
    new: tuple[Lesson, ...]
    notes: tuple[tuple[int, str], ...]


class Settled(NamedTuple):
    """The result of a person's decision on a lesson."""

    done: bool
    message: str


class Notebook:
    """The lessons while the lock is held: `book` is what the file says, `put` makes it say something else."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.book = records.read(durable.read(path))

    def put(self, book: Book) -> None:
        """Writes the book, all of it or nothing."""
        durable.replace(self._path, records.write(book))
        self.book = book

    def enter(self, lesson: Lesson, status: str, at: datetime, **facts: object) -> Lesson:
        """Records a step of a lesson: status, time and facts are one write (FDC-83). Returns the lesson."""
        entered = records.entered(lesson, status, at.isoformat(timespec="seconds"), **facts)
        self.put(records.changed(self.book, entered))
        return entered


def load(root: str) -> Book:
    """The lessons of a workspace; none where no file exists. Raises OSError."""
    return records.read(durable.read(_file(root)))


@contextmanager
def changing(root: str, timeout: float = durable.LOCK_TIMEOUT) -> Iterator[Notebook]:
    """While it lasts no other process changes the lessons. Raises TimeoutError, or OSError where the system refuses."""
    path = _file(root)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with durable.exclusive(path, timeout=timeout):
        durable.sweep(path)
        yield Notebook(path)


def parse(root: str, path: str, today: date) -> tuple[postmortem.Postmortem, list[Lesson]]:
    """A post-mortem and its lessons as records. Raises Unreadable for a file that is none, OSError where it cannot be read."""
    if os.path.isdir(path):
        raise Unreadable(f"the post-mortem `{path}` is a folder")
    data = durable.read(path, limit=MAX_POSTMORTEM)
    if data is None:
        raise Unreadable(f"the post-mortem `{path}` does not exist")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise Unreadable(
            f"the post-mortem `{path}` is not UTF-8 text (byte {wrong.start})"
        ) from None
    inside = os.path.relpath(os.path.realpath(path), os.path.realpath(root)).replace(os.sep, "/")
    found = postmortem.read(text, today)
    made = records.made(found, os.path.basename(path) if inside.startswith("../") else inside)
    return found, [{**one, "outside": True} for one in made] if postmortem.OUTSIDE in text else made


def add(root: str, path: str, today: date, *, dry_run: bool = False) -> Added:
    """Compiles the post-mortem at `path`: its lessons that are not on record yet are added, pending (FDC-72).

    Without a lesson the file is untouched. The same post-mortem again adds nothing. Raises as `parse` and
    `changing` do.
    """
    found, made = parse(root, path, today)
    if not made or dry_run:
        new = records.added(load(root), made)[1]
        return Added(tuple(made), tuple(new), found.notes)
    with changing(root) as notebook:
        book, new = records.added(notebook.book, made)
        if new:
            notebook.put(book)
    return Added(tuple(made), tuple(new), found.notes)


def settle(
    root: str, lesson_id: str, decide: Callable[[Lesson], Mapping[str, object] | str], now: datetime
) -> Settled:
    """A person's decision on a lesson that is not applied: another action (pending again), or why there is none.

    `decide` gives the action, or the reason. What was there before stays in the lesson's history.
    """
    with changing(root) as notebook:
        found = notebook.book.find(lesson_id)
        if len(found) != 1:
            none = f"the lesson `{lesson_id}` does not exist"
            return Settled(
                False, f"{len(found)} lessons begin with `{lesson_id}`" if found else none
            )
        lesson = found[0]
        if lesson["status"] in (APPLIED, APPLYING):
            return Settled(
                False,
                f"the lesson {lesson['lesson_id']} is {lesson['status']} and needs no decision",
            )
        chosen = decide(lesson)
        if isinstance(chosen, str):
            notebook.enter(lesson, records.DISMISSED, now, why=chosen)
            return Settled(True, f"Lesson {lesson['lesson_id']} is dismissed.")
        notebook.enter(
            {**lesson, "action": dict(chosen)},
            PENDING,
            now,
            why="a person gave it an action",
            was=lesson["action"],
        )
        return Settled(True, f"Lesson {lesson['lesson_id']} has another action and is pending.")


def _file(root: str) -> str:
    """The real file: a linked one is changed where it lies, and only inside the workspace."""
    return durable.inside(root, LESSONS)
