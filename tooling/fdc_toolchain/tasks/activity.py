"""Entries of the activity log: built, checked, written as lines and read back (FDC-106 to FDC-108).

Pure: `tasks.activity_log` puts the lines on the disk. The schema `grammar/activity_log.schema.json`
is the only definition of what an entry is.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from .. import resources
from ..named_tuples import NamedTuple

LOG = "logs/activity.log.jsonl"
"""The path of the log in a workspace."""

Entry = Mapping[str, object]
Status = Literal["SUCCESS", "FAILURE", "IN_PROGRESS"]


class ValidationError(ValueError):
    """An entry that does not follow the schema; nothing was written (FDC-68, FDC-107)."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("the log entry does not follow its schema: " + "; ".join(faults))
        self.faults = tuple(faults)


class History(NamedTuple):
    """The content of a log: its entries in order, and the numbers of the lines that are not entries."""

    entries: tuple[Entry, ...] = ()
    damaged: tuple[int, ...] = ()

    def of(self, task_id: str, action: str | None = None) -> list[Entry]:
        """The entries of one task, or those of one type of action."""
        return [
            item
            for item in self.entries
            if inner(item, "task", "id") == task_id
            and action in (None, inner(item, "action", "type"))
        ]


class Transact(Protocol):
    """Reads a log, passes it to `choose`, appends the entries that this returns; no other process writes in between."""

    def __call__(self, choose: Callable[[History], Sequence[Entry]]) -> Sequence[Entry]: ...


def entry(
    action: str,
    details: Mapping[str, object],
    *,
    task_id: str,
    phase: int,
    session_id: str,
    log_id: str,
    now: datetime,
    status: Status = "SUCCESS",
    plan_step: int | str | None = None,
    message: str | None = None,
    error: str | Mapping[str, object] | None = None,
    evidence_citation: str | None = None,
    context: Mapping[str, object] | None = None,
) -> Entry:
    """An entry with the keys of FDC-106; optional ones are absent where they are None. `now` has a time zone."""
    outcome = {"status": status, "message": message, "error": error}
    built: dict[str, Any] = {
        "log_id": log_id,
        "session_id": session_id,
        "timestamp": now.isoformat(timespec="milliseconds"),
        "phase": f"Phase {phase}",
        "task": {"id": task_id, "plan_step": plan_step},
        "action": {"type": action, "details": dict(details)},
        "outcome": {key: value for key, value in outcome.items() if value is not None},
        "evidence_citation": evidence_citation,
        "context": context,
    }
    return {key: value for key, value in built.items() if value is not None}


def faults(item: Entry) -> list[str]:
    """Why this is not an entry, each with its JSON path; empty for one that follows the schema."""
    errors = sorted(_validator().iter_errors(item), key=lambda wrong: wrong.json_path)
    return [f"{wrong.json_path}: {wrong.message}" for wrong in errors]


def line(item: Entry) -> bytes:
    """The entry as one line of ASCII with its line end. Raises ValidationError (FDC-68).

    ASCII, because other line separators than LF inside a string would split the line for some readers.
    """
    wrong = faults(item)
    if wrong:
        raise ValidationError(wrong)
    try:
        text = json.dumps(item, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as refused:
        raise ValidationError([f"$: {refused}"]) from refused
    return text.encode("ascii") + b"\n"


def read(data: bytes) -> History:
    """The entries of a log. Lines that are not a JSON object are skipped, and their numbers kept."""
    entries: list[Entry] = []
    damaged: list[int] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            item = json.loads(raw)
        except (ValueError, RecursionError):
            item = None
        if isinstance(item, dict):
            entries.append(item)
        else:
            damaged.append(number)
    return History(tuple(entries), tuple(damaged))


class Task(NamedTuple):
    """A task that was started and not closed, with the session that its entries belong to.

    `chosen_of`: how many were open, where a run belongs to it because it is the newest and not because somebody named it.
    """

    id: str
    session: str
    chosen_of: int = 1


def open_tasks(data: bytes) -> list[Task]:
    """The tasks of a log that were started and not closed, the one that was started last at the end."""
    open_by_id: dict[str, Task] = {}
    marked = (raw for raw in data.split(b"\n") if b"TASK_START" in raw or b"TASK_END" in raw)
    for item in read(b"\n".join(marked)).entries:
        task, session = inner(item, "task", "id"), item.get("session_id")
        action = inner(item, "action", "type")
        if not isinstance(task, str) or not task or action not in ("TASK_START", "TASK_END"):
            continue
        open_by_id.pop(task, None)
        if action == "TASK_START" and isinstance(session, str) and session:
            open_by_id[task] = Task(task, session)
    return list(open_by_id.values())


def log_ids(data: bytes) -> set[str]:
    """Every `log_id` in the text of a log, also in damaged lines."""
    return {match.decode("ascii") for match in re.findall(rb'"log_id": ?"([0-9a-f-]{36})"', data)}


def failed(item: Entry) -> bool:
    """True for an entry about a failure."""
    return inner(item, "outcome", "status") == "FAILURE"


def task_fault(task_id: str) -> str | None:
    """Why this cannot be a task's id, or None. An id is one printable line with a letter or digit in it."""
    if not task_id.strip():
        return "the task id is empty"
    if not task_id.isprintable() or "`" in task_id or task_id != task_id.strip():
        return "the task id must be one line of printable characters, without backticks or spaces around it"
    if len(task_id) > 200:
        return f"the task id has {len(task_id)} characters; 200 may be"
    if not safe_id(task_id):
        return "the task id must contain a letter or a digit"
    return None


def task_id_of(task: str) -> str:
    """The id of a task by what was asked: a word is its own id, a sentence becomes its first words and a digest."""
    word = task.strip()
    if word == task and len(word) <= 80 and not re.search(r"\s", word) and task_fault(word) is None:
        return word
    words = "-".join(re.findall(r"[a-z0-9]+", task.lower()))[:40].strip("-") or "task"
    return f"{words}-{hashlib.blake2b(task.encode('utf-8', 'replace'), digest_size=3).hexdigest()}"


def safe_id(task_id: str) -> str:
    """The id as a part of a file's name: its letters, digits, `-` and `_` (FDC-17). Empty without a letter or digit."""
    safe = "".join(c for c in task_id if c.isalnum() or c in "-_")
    safe = safe.encode("utf-8")[:150].decode("utf-8", "ignore")
    return safe if any(c.isalnum() for c in safe) else ""


def inner(item: Entry, outer: str, key: str) -> object:
    """A field of a part of an entry, such as `type` of `action`; None where it is not there."""
    value = item.get(outer)
    return value.get(key) if isinstance(value, dict) else None


@functools.cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(resources.read("grammar/activity_log.schema.json")))
