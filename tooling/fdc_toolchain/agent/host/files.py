"""What the master controller keeps of a task, below `.fdc/agents/TASK/`, and how it waits there for people and agents.

`state.json` is the state, written whole. A request to the model, agent or person is `ROLE-N.request.md`, its answer
`ROLE-N.reply.json` beside it: any agent, or a person, can write that.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence

from ... import durable
from ...engine.ports import WorldFailed
from ...exits import reason
from ...tasks.activity import safe_id
from ...workspace import run_folders
from ..model_port import Message

AGENTS = "agents"
STATE = "state.json"


def folder(root: str, task_id: str) -> str:
    """The folder of a task, relative to the workspace: two ids never share one."""
    safe = safe_id(task_id)
    if safe != task_id or len(safe) > 100:
        safe = f"{safe[:60]}-{hashlib.sha256(task_id.encode('utf-8', 'replace')).hexdigest()[:12]}"
    return f"{run_folders.FOLDER}/{AGENTS}/{safe}"


def made(root: str, task_id: str) -> str:
    """The absolute path of the folder of a task, made if need be. Raises WorldFailed."""
    run_folders.folder(root)
    inside = folder(root, task_id)
    try:
        path = durable.inside(root, inside)
        os.makedirs(path, exist_ok=True)
    except OSError as failed:
        raise WorldFailed(f"{os.path.join(root, inside)}: {reason(failed)}") from failed
    return path


def load(root: str, task_id: str) -> dict[str, object] | None:
    """The saved record of a task. Raises ValueError where it is damaged, OSError where it cannot be read."""
    return _record(os.path.join(root, *folder(root, task_id).split("/"), STATE))


def save(root: str, task_id: str, record: Mapping[str, object]) -> None:
    """Writes the record of a task, whole or not at all. Raises OSError or WorldFailed."""
    data = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=True).encode("ascii") + b"\n"
    durable.replace_all(
        {os.path.join(made(root, task_id), STATE): data}
    )  # clears away what a killed controller left


def known(root: str) -> list[dict[str, object]]:
    """The records of all tasks, by id; those that are damaged are passed over."""
    return _all(root)[0]


def damaged(root: str) -> dict[str, str]:
    """What is wrong with the records that are damaged, by the names of their folders."""
    return _all(root)[1]


def _all(root: str) -> tuple[list[dict[str, object]], dict[str, str]]:
    above = os.path.join(root, run_folders.FOLDER, AGENTS)
    try:
        names = sorted(os.listdir(above))
    except FileNotFoundError:
        return [], {}
    found, wrong = [], {}
    for name in names:
        try:
            record = _record(os.path.join(above, name, STATE))
        except (ValueError, OSError) as failed:
            wrong[name] = reason(failed) if isinstance(failed, OSError) else str(failed)
            continue
        if record is not None:
            found.append(record)
    return found, wrong


def unapproved(root: str, sha256: str, but: str) -> str | None:
    """Another task in which this text waits unapproved, because its author was shown text from outside."""
    for record in known(root):
        control = record.get("control")
        rows = control.get("written") if isinstance(control, dict) else None
        for row in rows if isinstance(rows, list) and record.get("task_id") != but else ():
            if (
                not isinstance(row, dict)
                or row.get("sha256") != sha256
                or (row.get("kind") == "plan" and row.get("free"))
            ):
                continue
            if row.get("shown") and not row.get("approved"):
                return str(record.get("task_id"))
    return None


def plan_of_another(root: str, path: str, sha256: str, but: str) -> str | None:
    """Another task whose plan the file `path` still holds: its text is that plan, and was not written again since."""
    try:
        written = os.stat(os.path.join(root, *path.split("/"))).st_mtime_ns
    except OSError:
        return None
    for record in known(root):
        task, control = str(record.get("task_id")), record.get("control")
        rows = control.get("written") if isinstance(control, dict) else None
        if task == but or not isinstance(rows, list):
            continue
        if any(
            isinstance(row, dict) and (row.get("kind"), row.get("sha256")) == ("plan", sha256)
            for row in rows
        ):
            saved = os.path.join(root, *folder(root, task).split("/"), STATE)
            if os.stat(saved).st_mtime_ns >= written:
                return task
    return None


def ask(
    root: str, task_id: str, role: str, messages: Sequence[Message], schema: Mapping[str, object]
) -> tuple[str, dict[str, object] | None, bool]:
    """Writes a request and reads its answer: (path of the answer, the answer or None, whether the file is there but is
    not a JSON object, as while it is being written). Raises OSError.

    The request's name is derived from its content, so that a repeated request is the same one.
    """
    place = made(root, task_id)
    asked = json.dumps([role, list(messages), schema], sort_keys=True).encode("ascii")
    name = f"{role}-{hashlib.sha256(asked).hexdigest()[:8]}"
    reply = f"{folder(root, task_id)}/{name}.reply.json"
    request = os.path.join(place, f"{name}.request.md")
    if not os.path.exists(request):
        parts = [f"## {message['role']}\n\n{message['content'].rstrip()}\n" for message in messages]
        head = f"# A request to the {role}\n\nAnswer by writing `{reply}`: JSON that follows this schema.\n\n"
        text = head + f"```json\n{json.dumps(schema, indent=1)}\n```\n\n" + "\n".join(parts)
        durable.replace(request, text.encode("utf-8", "replace"))
    try:
        return reply, _read(os.path.join(root, *reply.split("/"))), False
    except ValueError:
        return reply, None, True


def _record(path: str) -> dict[str, object] | None:
    """The record of a task. Raises ValueError where it is damaged, OSError where it cannot be read."""
    record = _read(path)
    if record is not None and not all(
        isinstance(record.get(key), str) for key in ("task_id", "state")
    ):
        raise ValueError(f"{path} is damaged: it does not name its task and state")
    return record


def _read(path: str) -> dict[str, object] | None:
    data = durable.read(path)
    if data is None:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as wrong:
        raise ValueError(f"{path} is damaged: {wrong}") from wrong
    if not isinstance(found, dict):
        raise ValueError(f"{path} is damaged: it is not a JSON object")
    return found
