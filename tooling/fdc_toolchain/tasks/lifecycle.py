"""Begins and ends a task: the orientation cascade, the log's TASK_START and TASK_END, the post-mortem.

Rows FDC-07, 08, 17, 60 to 62, 70. The log, the probe and the time are parameters. The log alone decides
whether a task was started.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from .. import durable
from ..named_tuples import NamedTuple
from .activity import LOG, Entry, History, Transact, entry, failed, safe_id, task_fault
from .capabilities import Check, render
from .unfilled import unfilled

META = "knowledge_core/agent_meta.json"
_SHOWN, _KEPT = 5, 50
TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates", "postmortem.md.j2")


class Report(NamedTuple):
    """The lines to show and, where it was refused, why."""

    lines: tuple[str, ...]
    refused: str | None = None


class NotPossible(Exception):
    """Refused; nothing was logged. The message is for the user."""


def start(
    root: str,
    task_id: str,
    *,
    transact: Transact,
    probe: Callable[[], Sequence[Check]],
    now: datetime,
    new_id: Callable[[], str],
    documents: Callable[[], tuple[int, Sequence[tuple[str, str]]]] | None = None,
) -> Report:
    """Runs the orientation cascade (L1 identity, L2 repository, L3 environment), then logs one TASK_START.

    `documents` returns how many documents of the workspace can be read, and which cannot and why (FDC-53).
    Refused, with nothing logged: an invalid id, a failing L1 or L2, a task that was closed. A
    task that is open already stays as it is. A probe that fails is recorded, and is not a reason to refuse.
    """
    fault = task_fault(task_id)
    if fault:
        return Report((), fault)
    identity, fault = _identity(root)
    if fault:
        return Report((), f"L1 self-awareness failed: {fault}")
    lines = [
        f"L1 self-awareness: {identity['model_name']}, knowledge until {identity['knowledge_cutoff']}"
    ]
    artifacts, fault = _artifacts(root)
    if fault:
        return Report(tuple(lines), f"L2 repository sync failed: {fault}")
    lines.append(f"L2 repository sync: {len(artifacts)} artifacts in knowledge_core/")
    lines += [f"  {line}" for line in artifacts]
    scanned: dict[str, Any] = {}
    if documents is not None:
        scanned = _documents(*documents(), lines)
    capabilities = render(probe())
    lines += ["L3 environmental probing:", *(f"  {line}" for line in capabilities.splitlines())]
    oriented = {
        "identity": identity,
        "artifacts": artifacts,
        **scanned,
        "vm_capability_report": capabilities,
    }
    details = {"orientation": oriented}
    new_entries: list[Entry] = []

    def choose(history: History) -> Sequence[Entry]:
        lines.extend(_damage(history))
        ends = history.of(task_id, "TASK_END")
        if ends:
            closed_at = ends[-1].get("timestamp")
            raise NotPossible(
                f"the task `{task_id}` was closed at {closed_at}; begin a new one under another id"
            )
        if not history.of(task_id, "TASK_START"):
            session = new_id()
            new_entries.append(
                entry(
                    "TASK_START",
                    details,
                    task_id=task_id,
                    phase=0,
                    session_id=session,
                    log_id=new_id(),
                    now=now,
                )
            )
        return new_entries

    try:
        transact(choose)
    except NotPossible as refused:
        return Report(tuple(lines), str(refused))
    done = f"TASK_START logged for task `{task_id}` in {LOG}"
    return Report(
        (
            *lines,
            done if new_entries else f"task `{task_id}` was started before; nothing was logged",
        )
    )


def close(
    root: str,
    task_id: str,
    *,
    transact: Transact,
    now: datetime,
    new_id: Callable[[], str],
    template: str = TEMPLATE,
) -> Report:
    """Writes the post-mortem of a task from the template, then logs TASK_END (FDC-17, C-07).

    Refused, with nothing logged: a task that was never started, an absent template. A post-mortem
    that exists is kept as it is, and a second close changes nothing.
    """
    fault = task_fault(task_id)
    if fault:
        return Report((), fault)
    lines: list[str] = []

    def choose(history: History) -> Sequence[Entry]:
        lines.extend(_damage(history))
        starts, ends = history.of(task_id, "TASK_START"), history.of(task_id, "TASK_END")
        if not starts:
            raise NotPossible(
                f"the task `{task_id}` was never started; `fdc start --task-id` begins one"
            )
        if ends:
            lines.append(
                f"task `{task_id}` was closed at {ends[-1].get('timestamp')}; nothing was logged"
            )
            return []
        path, is_new = draft(root, task_id, history, now=now, template=template)
        lines.append(
            f"post-mortem to fill in: {path}" if is_new else f"post-mortem kept as it is: {path}"
        )
        lines.append(f"TASK_END logged for task `{task_id}` in {LOG}")
        session = starts[-1].get("session_id")
        return [
            entry(
                "TASK_END", {"postmortem": path}, task_id=task_id, phase=4, now=now, log_id=new_id(),
                session_id=session if isinstance(session, str) and session else new_id(),
            )
        ]  # fmt: skip

    try:
        transact(choose)
    except NotPossible as refused:
        return Report(tuple(lines), str(refused))
    return Report(tuple(lines))


def finalize(
    root: str, task_id: str, *, transact: Transact, now: datetime, new_id: Callable[[], str]
) -> Report:
    """Logs POST_MORTEM for a task that is closed and whose post-mortem is written, all of it (FDC-69).

    Refused, with nothing logged: a task that is not closed, a post-mortem that is missing or has text of the
    template that is not filled in; the report names each gap with its line. A second call changes nothing.
    """
    fault = task_fault(task_id)
    if fault:
        return Report((), fault)
    lines: list[str] = []

    def choose(history: History) -> Sequence[Entry]:
        lines.extend(_damage(history))
        ends = history.of(task_id, "TASK_END")
        if not ends:
            raise NotPossible(
                f"the task `{task_id}` is not closed; `fdc close --task-id` does that"
            )
        if history.of(task_id, "POST_MORTEM"):
            lines.append(f"the post-mortem of task `{task_id}` is on record; nothing was logged")
            return []
        path = _existing(root, task_id)
        data = None if path is None else durable.read(os.path.join(root, *path.split("/")))
        if path is None or data is None:
            raise NotPossible(f"the task `{task_id}` has no post-mortem in postmortems/")
        gaps = unfilled(data.decode("utf-8", "replace"))
        if gaps:
            lines.extend(f"{path}:{gap.line}: {gap.section}: {gap.what}" for gap in gaps)
            raise NotPossible(
                f"{path} is not filled in: {len(gaps)} place{'s' * (len(gaps) != 1)} left"
            )
        lines.append(f"POST_MORTEM logged for task `{task_id}` in {LOG}: {path}")
        session = ends[-1].get("session_id")
        return [
            entry(
                "POST_MORTEM", {"path": path}, task_id=task_id, phase=4, now=now, log_id=new_id(), evidence_citation=path,
                session_id=session if isinstance(session, str) and session else new_id(),
            )
        ]  # fmt: skip

    try:
        transact(choose)
    except NotPossible as refused:
        return Report(tuple(lines), str(refused))
    return Report(tuple(lines))


def draft(
    root: str, task_id: str, history: History, *, now: datetime, template: str = TEMPLATE
) -> tuple[str, bool]:
    """The path of a task's post-mortem, and whether it was made from the template just now.

    Raises NotPossible where the task was never started, or where no template exists.
    """
    if not history.of(task_id, "TASK_START"):
        raise NotPossible(
            f"the task `{task_id}` was never started; `fdc start --task-id` begins one"
        )
    path = _existing(root, task_id)
    if path is not None:
        return path, False
    path = _free(root, task_id, now)
    _write(root, path, _postmortem(template, task_id, history, now))
    return path, True


def _identity(root: str) -> tuple[dict[str, Any], str | None]:
    """L1 (FDC-60): the agent's model and its knowledge cutoff."""
    import json

    data = durable.read(os.path.join(root, *META.split("/")))
    if data is None:
        return {}, f"{META} does not exist; `fdc init` writes it"
    try:
        meta = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as wrong:
        return {}, f"{META} is not valid JSON: {wrong}"
    if not isinstance(meta, dict):
        return {}, f"{META} is not a JSON object"
    for key in ("model_name", "knowledge_cutoff"):
        value = meta.get(key)
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            return {}, f"{META} has no text for `{key}`"
    return {key: meta[key] for key in ("model_name", "knowledge_cutoff")}, None


def _artifacts(root: str) -> tuple[list[str], str | None]:
    """L2 (FDC-61): the files of knowledge_core/, one line for each; unreadable ones are listed too, and are not an error."""
    import json

    folder = os.path.join(root, "knowledge_core")
    try:
        names = sorted(
            name for name in os.listdir(folder) if not name.startswith(".") and name.isprintable()
        )
    except OSError as refused:
        return [], f"knowledge_core/ cannot be listed: {refused.strerror}"
    lines = []
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            continue
        try:
            data = durable.read(path)
            if data is not None and name.endswith(".json"):
                json.loads(data.decode("utf-8-sig"))
            size = len(data or b"")
            lines.append(f"{name}: {size} byte{'s' * (size != 1)}")
        except OSError as refused:
            lines.append(f"{name}: cannot be read ({refused.strerror})")
        except (ValueError, RecursionError):
            lines.append(f"{name}: not valid JSON")
    return lines, None


def _documents(read: int, skipped: Sequence[tuple[str, str]], lines: list[str]) -> dict[str, Any]:
    """The result of the scan to show and to record: the numbers, and the documents that cannot be read."""
    lines.append(f"  documents: {read} can be read, {len(skipped)} cannot")
    lines += [f"    skipped {path}: {reason}" for path, reason in skipped[:_SHOWN]]
    if len(skipped) > _SHOWN:
        lines.append(f"    and {len(skipped) - _SHOWN} more")
    recorded = [{"path": path, "reason": reason} for path, reason in skipped[:_KEPT]]
    return {"documents": {"read": read, "skipped_count": len(skipped), "skipped": recorded}}


def _damage(history: History) -> list[str]:
    return [
        f"warning: {LOG}:{number} is not a log entry and is passed over"
        for number in history.damaged
    ]


def _existing(root: str, task_id: str) -> str | None:
    """The post-mortem that exists for this task, written by a person or by a `close` that was killed; else None."""
    try:
        names = sorted(os.listdir(os.path.join(root, "postmortems")))
    except FileNotFoundError:
        return None
    for name in names:
        if (
            name.endswith(".md")
            and safe_id(task_id) in name
            and _is_of(root, f"postmortems/{name}", task_id)
        ):
            return f"postmortems/{name}"
    return None


def _is_of(root: str, path: str, task_id: str) -> bool:
    data = durable.read(os.path.join(root, *path.split("/"))) or b""
    return f"**Task ID:** `{task_id}`".encode() in data


def _free(root: str, task_id: str, now: datetime) -> str:
    """A free path for a post-mortem: two ids can have the same safe form."""
    import hashlib

    stem = f"postmortems/{now:%Y-%m-%d}-{safe_id(task_id)}"
    if not os.path.lexists(os.path.join(root, *f"{stem}.md".split("/"))):
        return f"{stem}.md"
    return f"{stem}-{hashlib.sha256(task_id.encode()).hexdigest()[:8]}.md"


def _postmortem(template: str, task_id: str, history: History, now: datetime) -> str:
    from jinja2 import Environment, StrictUndefined

    source = durable.read(template)
    if source is None:
        raise NotPossible(f"the post-mortem template {template} does not exist")
    entries = history.of(task_id)
    page = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    return page.from_string(source.decode("utf-8")).render(
        task_id=task_id,
        date=f"{now:%Y-%m-%d}",
        started=history.of(task_id, "TASK_START")[-1].get("timestamp"),
        entries=len(entries),
        failures=sum(map(failed, entries)),
    )


def _write(root: str, path: str, text: str) -> None:
    target = durable.inside(root, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    durable.replace(target, text.encode("utf-8"))
