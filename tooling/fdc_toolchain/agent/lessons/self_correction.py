"""Applies lessons: protocol updates and code changes, each followed by a new AGENTS.md (FDC-76, FDC-81 to FDC-84).

One lesson after the other, and each in the same five steps, of which every one is a single durable write:

1. the change is worked out, and so is the AGENTS.md that it leads to; when either cannot be, the lesson has failed
   and nothing was touched
2. `applying` goes into the lesson's history, with the digests before and after of what is about to change
3. the change is made: a protocol's file is replaced; a code change is linted and executed as a durable run
4. the files of AGENTS.md are replaced
5. `applied` goes into the history, with what did change

A crash after any step leaves valid files and a lesson that says how far it got. Whoever applies next finishes it
first: the steps are repeated, and repeating one that happened changes nothing (an update that is made already is
no update; a run is gone on with, never begun twice). The audit trail is the lesson's own history and no second
file, because then a status and its record cannot differ after a crash: they are one write.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from ... import durable
from ...diagnostics.diagnostic import Diagnostic
from ...named_tuples import NamedTuple
from ...protocols.build import source_files
from ...protocols.update import Edit, Refusal, edit
from ...tasks.actions import Fault, Wish, shown, wish_of
from . import lessons_file as store
from . import protocol_updater
from .code_change import code_change_plan, sections
from .code_suggester import PLANS, write_plan
from .lessons import APPLIED, APPLYING, FAILED, PENDING, Changed, Lesson, history


class Built(NamedTuple):
    """What the protocols compile to: the files (path in the workspace to bytes) and those that go; None if nothing."""

    files: Mapping[str, bytes] | None
    remove: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


class Ran(NamedTuple):
    """How executing a plan ended. `unfinished` can be gone on with: a person is asked, or the environment failed."""

    status: Literal["finished", "failed", "unfinished"]
    run: str | None = None
    why: str = ""


class CannotPatch(Exception):
    """A diff that does not fit its file; the sentence is for the user."""


class Ports(NamedTuple):
    """What applying needs of the world; wired in `agent.lessons.host`.

    `sources`: the folder of the protocols. `build`: what AGENTS.md would be if these files had these bytes; touches
    nothing. `patched`: the bytes of a file, and those after a diff (on top of the bytes given, if any); raises
    CannotPatch. `run_plan`: lints the plan at a path and executes it durably, or goes on with the run of it that
    there is.
    """

    sources: str
    now: Callable[[], datetime]
    build: Callable[[Mapping[str, bytes]], Built]
    patched: Callable[[str, str, bytes | None], tuple[bytes, bytes]]
    run_plan: Callable[[str], Ran]


class Result(NamedTuple):
    """The result of one lesson; `would apply` is for a dry run. `findings`: the findings that it caused."""

    lesson: Lesson
    outcome: Literal["applied", "failed", "skipped", "unfinished", "would apply"]
    message: str
    findings: tuple[Diagnostic, ...] = ()


class Report(NamedTuple):
    """All results, the lines of the file that are not lessons, and why nothing was done, where that is so."""

    results: tuple[Result, ...] = ()
    damaged: tuple[tuple[int, str], ...] = ()
    refused: str | None = None
    findings: tuple[Diagnostic, ...] = ()


class _Change(NamedTuple):
    """A change that has been worked out: the file's bytes before and after, and what to say of it."""

    path: str
    before: bytes | None
    after: bytes
    message: str


_STRANGERS = (
    "its author was shown text from outside; check it, then apply it with `fdc lessons apply {}`"
)


class _Failed(Exception):
    """Ends the work on a lesson; the message goes into its history."""

    def __init__(self, message: str, findings: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


def apply(
    root: str, ports: Ports, chosen: Sequence[str] | None = None, *, dry_run: bool = False
) -> Report:
    """Applies the pending lessons, or those with the ids in `chosen`; a chosen one that has failed is tried again.

    A lesson of a post-mortem whose writer was shown text from outside is passed over unless it is named: a person does that.
    Lessons that an earlier, interrupted attempt left `applying` are finished first. Nothing is written where there
    is nothing to apply (FDC-81), where `dry_run` says so, or where AGENTS.md cannot be built even before a lesson
    changes anything. Raises TimeoutError for a lock that stays taken, OSError where the system refuses; the lesson
    at hand is `applying` then, and can be gone on with.
    """
    book = store.load(root)
    damaged = tuple((line.number, line.fault or "") for line in book.damaged)
    if not _due(book.lessons, chosen):
        return Report(damaged=damaged)
    base = ports.build({})
    if base.files is None:
        why = "AGENTS.md cannot be built from the current protocols, so no lesson was applied"
        return Report(damaged=damaged, refused=why, findings=base.findings)
    known = {(item.code, item.message) for item in base.findings}
    if dry_run:
        results = list(_foreseen(root, ports, _due(book.lessons, chosen), chosen is not None))
    else:
        with store.changing(root) as notebook:
            results = [
                _one(root, ports, notebook, lesson, chosen is not None)
                for lesson in _due(notebook.book.lessons, chosen)
            ]
    for at, result in enumerate(results):
        new = tuple(item for item in result.findings if (item.code, item.message) not in known)
        results[at] = result._replace(findings=new)
        known.update((item.code, item.message) for item in new)
    return Report(tuple(results), damaged)


def _due(lessons: Sequence[Lesson], chosen: Sequence[str] | None) -> list[Lesson]:
    begun = [lesson for lesson in lessons if lesson["status"] == APPLYING]
    statuses = (PENDING,) if chosen is None else (PENDING, FAILED)
    due = [lesson for lesson in lessons if lesson["status"] in statuses]
    return begun + [lesson for lesson in due if chosen is None or lesson["lesson_id"] in chosen]


def _passed_over(lesson: Lesson, wish: Wish | Fault, named: bool) -> str:
    """Why a lesson is not applied; empty if it is."""
    if isinstance(wish, Fault):
        return wish.message if wish.skipped else ""
    return _STRANGERS.format(lesson["lesson_id"][:8]) if lesson.get("outside") and not named else ""


def _one(root: str, ports: Ports, notebook: store.Notebook, lesson: Lesson, named: bool) -> Result:
    wish = wish_of(lesson["action"])
    why = _passed_over(lesson, wish, named)
    if why and lesson["status"] != APPLYING:
        return Result(lesson, "skipped", why)
    try:
        if isinstance(wish, Fault):
            raise _Failed(wish.message)
        if wish.command == "change-file":
            return _change_code(root, ports, notebook, lesson, wish)
        return _change_protocol(root, ports, notebook, lesson, wish)
    except _Failed as failed:
        entered = notebook.enter(lesson, FAILED, ports.now(), why=_why(failed))
        return Result(entered, "failed", str(failed), failed.findings)


def _change_protocol(
    root: str, ports: Ports, notebook: store.Notebook, lesson: Lesson, wish: Wish
) -> Result:
    with protocol_updater.changing(root, ports.sources) as files:
        change = _edit(files, wish)
        built = _built(ports, {change.path: change.after})
        lesson = _announced(root, ports, notebook, lesson, change.path, change.after, built)
        protocol_updater.save(root, change)
        _write(root, built)
    return _applied(root, ports, notebook, lesson, built, change.message)


def _change_code(
    root: str, ports: Ports, notebook: store.Notebook, lesson: Lesson, wish: Wish
) -> Result:
    path, diff = wish.parameters["filepath"], wish.parameters["diff"]
    try:
        text = code_change_plan(path, diff)
    except ValueError as wrong:
        raise _Failed(str(wrong)) from wrong
    begun = _intent(lesson) is not None
    attempt = sum(step.get("status") == APPLYING for step in history(lesson)) + (not begun)
    plan = f"{PLANS}/{hashlib.sha256(lesson['lesson_id'].encode('utf-8', 'replace')).hexdigest()[:16]}-{attempt}.plan.txt"
    if not begun:
        change = _patch(ports, path, diff, None)
        built = _built(ports, {path: change.after})
        lesson = _announced(root, ports, notebook, lesson, path, change.after, built, plan)
    write_plan(root, plan, text)
    ran = ports.run_plan(plan)
    if ran.status == "unfinished":
        return Result(lesson, "unfinished", ran.why)
    if ran.status == "failed":
        entered = notebook.enter(lesson, FAILED, ports.now(), run=ran.run, why=ran.why)
        return Result(entered, "failed", ran.why)
    built = ports.build({})
    if built.files is None:
        # The build with this change succeeded before, so another process has changed a source since.
        return Result(
            lesson,
            "unfinished",
            "the change was made, but AGENTS.md cannot be built any more",
            built.findings,
        )
    _write(root, built)
    return _applied(root, ports, notebook, lesson, built, f"Successfully changed {path}.", ran.run)


def _foreseen(root: str, ports: Ports, due: Sequence[Lesson], named: bool) -> Iterator[Result]:
    """What applying would do, for each lesson after the ones before it."""
    overlay: dict[str, bytes] = {}
    files = source_files(ports.sources, root)
    for lesson in due:
        wish = wish_of(lesson["action"])
        why = _passed_over(lesson, wish, named)
        if why:
            yield Result(lesson, "skipped", why)
            continue
        if isinstance(wish, Fault):
            yield Result(lesson, "failed", wish.message)
            continue
        try:
            if wish.command == "change-file":
                path, diff = wish.parameters["filepath"], wish.parameters["diff"]
                try:
                    code_change_plan(path, diff)
                except ValueError as wrong:
                    raise _Failed(str(wrong)) from wrong
                change = _patch(ports, path, diff, overlay.get(path))
            else:
                found = _edit({**files, **overlay}, wish)
                change = _Change(found.path, found.before, found.after, found.message)
            built = _built(ports, {**overlay, change.path: change.after})
            overlay[change.path] = change.after
            yield Result(lesson, "would apply", shown(lesson["action"]), built.findings)
        except _Failed as failed:
            yield Result(lesson, "failed", str(failed), failed.findings)


def _edit(files: Mapping[str, bytes], wish: Wish) -> Edit:
    found = edit(files, wish.command, wish.parameters)
    if isinstance(found, Refusal):
        raise _Failed(found.message, found.findings)
    return found


def _patch(ports: Ports, path: str, diff: str, base: bytes | None) -> _Change:
    try:
        before, after = ports.patched(path, sections(diff), base)
    except CannotPatch as wrong:
        raise _Failed(str(wrong)) from wrong
    return _Change(path, before, after, f"Successfully changed {path}.")


def _built(ports: Ports, overlay: Mapping[str, bytes]) -> Built:
    built = ports.build(overlay)
    if built.files is None:
        raise _Failed(
            "AGENTS.md cannot be built with this change, so it was not made", built.findings
        )
    return built


def _announced(
    root: str, ports: Ports, notebook: store.Notebook, lesson: Lesson, path: str, after: bytes, built: Built,
    plan: str | None = None,
) -> Lesson:  # fmt: skip
    """Records the intent, unless an earlier attempt has."""
    if _intent(lesson) is not None:
        return lesson
    planned: dict[str, bytes | None] = {
        path: after,
        **(built.files or {}),
        **dict.fromkeys(built.remove),
    }
    changes = [
        {"path": name, "before": before, "after": _digest(data)}
        for name, data in planned.items()
        if (before := _digest(_now(root, name))) != _digest(data)
    ]
    return notebook.enter(lesson, APPLYING, ports.now(), changes=changes, plan=plan)


def _write(root: str, built: Built) -> None:
    files = {
        os.path.realpath(os.path.join(root, name)): data
        for name, data in (built.files or {}).items()
        if _now(root, name) != data
    }
    gone = [path for name in built.remove if os.path.lexists(path := os.path.join(root, name))]
    if files or gone:
        durable.replace_all(files, gone)


def _applied(
    root: str,
    ports: Ports,
    notebook: store.Notebook,
    lesson: Lesson,
    built: Built,
    message: str,
    run: str | None = None,
) -> Result:
    before = {change["path"]: change["before"] for change in _intent(lesson) or ()}
    changes = [
        {"path": name, "before": old, "after": new}
        for name, old in before.items()
        if (new := _digest(_now(root, name))) != old
    ]
    entered = notebook.enter(
        lesson, APPLIED, ports.now(), run=run, changes=changes, why=None if changes else message
    )
    return Result(entered, "applied", message, built.findings)


def _intent(lesson: Lesson) -> list[Changed] | None:
    """The changes that an attempt at this lesson has announced; None where none is under way."""
    steps = history(lesson)
    if lesson["status"] != APPLYING or not steps or steps[-1].get("status") != APPLYING:
        return None
    return [
        change
        for change in steps[-1].get("changes") or ()
        if not {"", ".."} & set(change["path"].split("/"))
    ]


def _why(failed: _Failed) -> str:
    first = next((item for item in failed.findings if item.severity == "error"), None)
    return str(failed) if first is None else f"{failed}: {first.span}: {first.code} {first.message}"


def _now(root: str, name: str) -> bytes | None:
    return durable.read(os.path.join(root, name))


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
