"""The tools that speak to people, and those that only mark a place in the plan.

Nothing is made up: a tool that needs a person waits for one, and a tool that would need a
service that fdc does not have says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .. import durable
from ..engine.events import Outcome
from ..program.codec import canonical
from ..workspace.failure import ToolFailure, from_os
from .context import Context, text

MESSAGES = "messages.jsonl"
_YES = frozenset(("y", "yes", "approve", "approved", "ok"))
_NO = frozenset(("n", "no", "reject", "rejected", "decline", "declined"))


def mark(args: Mapping[str, object], context: Context) -> str:
    """Steps that state something and touch nothing: their text is their result."""
    return "\n".join(
        text(args, name).strip() for name in ("text", "topic", "body") if args.get(name) is not None
    )


def hello(args: Mapping[str, object], context: Context) -> object:
    """`hello_world`."""
    name = text(args, "text", "").strip()
    return f"hello, {name}" if name else "hello, world"


def message_user(args: Mapping[str, object], context: Context) -> object:
    """`message_user`: into the run's own list of messages first, then before the user's eyes, once."""
    shown = mark(args, context)
    _keep(context, {"key": context.key, "text": shown})
    context.say(shown)
    return shown


def probe_message(args: Mapping[str, object], context: Context) -> object:
    """A message that is in the list is not said again."""
    shown = mark(args, context)
    return Outcome(shown) if context.key in _kept(context) else "not-done"


def ask_user(args: Mapping[str, object], context: Context) -> object:
    """`request_user_input`: the answer."""
    return context.ask(text(args, "text"))


def ask_approval(args: Mapping[str, object], context: Context) -> object:
    """`record_user_approval_for_plan`: only a person's yes is recorded; a no fails the step."""
    what = text(args, "text", "").strip() or "the plan"
    if verdict(context.ask(f"Do you approve {what}? (yes or no)", neither)):
        return f"approved: {what}"
    raise ToolFailure("refused", f"the user does not approve {what}")


def neither(answer: str) -> str:
    """Why a text approves nothing and refuses nothing; empty where it does."""
    return "an approval is answered with yes or no" if verdict(answer) is None else ""


def verdict(answer: str) -> bool | None:
    """Whether an answer is a yes or a no; None where it is neither."""
    said = answer.strip().lower()
    return True if said in _YES else False if said in _NO else None


def ask_review(args: Mapping[str, object], context: Context) -> object:
    """`request_code_review`: what the reviewer, a person, says."""
    about = text(args, "text", "").strip()
    return context.ask(
        "Please review the work so far" + (f": {about}" if about else "") + ". What do you say?"
    )


def probe_question(args: Mapping[str, object], context: Context) -> object:
    """A question without a recorded answer is asked again: asking changes nothing."""
    return "not-done"


def submit(args: Mapping[str, object], context: Context) -> object:
    """`submit`: the work is marked as submitted in this run; nothing leaves the machine."""
    note = text(args, "text", "").strip()
    return "submitted in this run; nothing was sent anywhere" + (f": {note}" if note else "")


def probe_submit(args: Mapping[str, object], context: Context) -> object:
    """Marking leaves no trace but its outcome, so it can be repeated."""
    return "not-done"


def pre_commit(args: Mapping[str, object], context: Context) -> object:
    """`pre_commit_instructions`: the workspace's own hooks."""
    found = context.root.find(".pre-commit-config.yaml")
    if found is None:
        return "this workspace has no pre-commit hooks"
    return found.decode("utf-8", "replace")


def memory(args: Mapping[str, object], context: Context) -> object:
    """`initiate_memory_recording`: a note in the run's own list of messages."""
    note = text(args, "text", "").strip()
    if context.key not in _kept(context):
        _keep(context, {"key": context.key, "memory": note})
    return note


def forbidden(args: Mapping[str, object], context: Context) -> object:
    """A tool that no plan may use; the linter refuses it, and so does this."""
    raise ToolFailure(
        "forbidden", str(context.tool.get("forbidden", "plans must not use this tool"))
    )


def unavailable(args: Mapping[str, object], context: Context) -> object:
    """A tool that needs something which is not there."""
    raise ToolFailure(
        "unavailable", "this tool has no implementation on any machine, so it always fails"
    )


def close_task(args: Mapping[str, object], context: Context) -> object:
    """`close_task` without a log of tasks: the end of the run's own cycle, kept in its list, once."""
    task = text(args, "task", "").strip()
    end_cycle(context, task)
    return f"closed {task}" if task else "the cycle of this run is closed; no task was closed"


def end_cycle(context: Context, task: str) -> None:
    """Keeps in the run's own list that its cycle ended; once, however often the step is repeated."""
    if context.key not in _kept(context):
        _keep(context, {"key": context.key, "event": "TASK_END", "task": task})


def _keep(context: Context, row: dict[str, Any]) -> None:
    path = os.path.join(context.run_folder, MESSAGES)
    try:
        handle = os.open(
            path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644
        )
        with open(handle, "ab") as file:
            size = os.fstat(handle).st_size
            whole = (
                size == 0 or os.pread(handle, 1, size - 1) == b"\n"
            )  # else a crash cut the last line off
            file.write((b"" if whole else b"\n") + canonical(row).encode("ascii") + b"\n")
            file.flush()
            os.fsync(handle)
    except OSError as failed:
        raise from_os(failed, path) from failed


def _kept(context: Context) -> set[str]:
    path = os.path.join(context.run_folder, MESSAGES)
    try:
        data = durable.read(path, limit=1 << 30) or b""
    except OSError as failed:
        raise from_os(failed, path) from failed
    keys = set()
    for line in data.split(b"\n"):
        try:
            keys.add(json.loads(line)["key"])
        except (ValueError, KeyError, TypeError):
            continue  # a line that a crash cut off was never said
    return keys
