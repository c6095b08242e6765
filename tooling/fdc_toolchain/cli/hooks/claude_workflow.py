"""`fdc hook claude-workflow`: refuses to launch a workflow that may start more agents than are allowed."""

from __future__ import annotations

import os

import click

from ...console.options import count_option
from ...linking.project import regular_file
from ...linking.project.secret_files import secret
from .hook_answer import (
    Answer,
    CannotDecide,
    Event,
    answer,
    folder_of,
    object_in,
    seconds_option,
    usable,
)

_PLACES = (".claude/workflows", ".claude/workflow")
MOST_BYTES = 1 << 20


@click.command()
@count_option(
    "--most-agents",
    0,
    1_000_000,
    "Refuse a workflow that may start more agents than this.",
    default=15,
)
@seconds_option(10.0)
def command(most_agents: int, seconds: float) -> int:
    """Answer the event on stdin before a workflow is launched.

    It also refuses a workflow whose number of agents is unknown before the launch. The answer names the line.
    """
    return answer(lambda event: decide(event, most_agents), denied, seconds)


def decide(event: Event, most: int) -> Answer | None:
    """The answer to an event; None: the hook leaves the decision to others. Raises CannotDecide."""
    if not isinstance(event.get("tool_name"), str):
        raise CannotDecide("the event has no text `tool_name`")
    if event.get("tool_name") not in ("Workflow", "workflow"):
        return None
    from ...foreign.launch import refusal
    from ...foreign.model import Unreadable
    from ...foreign.read import text_of

    path, data = script_of(object_in(event, "tool_input"), folder_of(event))
    try:
        text = text_of(path, data)
    except Unreadable as wrong:
        raise CannotDecide(f"{path}: {wrong}") from wrong
    why = refusal(path, text, object_in(event, "tool_input").get("args"), most)
    return None if why is None else denied(why)


def script_of(given: Event, here: str) -> tuple[str, bytes]:
    """The name and content of the script to launch from the folder `here`. Raises CannotDecide."""
    path, text, name = given.get("scriptPath"), given.get("script"), given.get("name")
    if isinstance(path, str):
        return path, _content(os.path.join(here, usable(path, "`scriptPath`")))
    if isinstance(text, str):
        return "script", text.encode("utf-8", "replace")
    if not isinstance(name, str) or not name or "/" in name or name.startswith("."):
        raise CannotDecide("the event names no workflow: `scriptPath`, `script` or `name`")
    usable(name, "`name`")
    for place in (
        *(os.path.join(here, place) for place in _PLACES),
        os.path.expanduser("~/.claude/workflows"),
    ):
        for ending in (".js", ".mjs"):
            found = os.path.join(place, name + ending)
            if os.path.isfile(found):
                return os.path.relpath(found, here), _content(found)
    raise CannotDecide(
        f"the workflow `{name}` has no file, so the number of its agents is not known"
    )


def _content(path: str) -> bytes:
    found = secret(os.path.realpath(path))
    if found is not None:  # the answer names words of the script
        raise CannotDecide(f"`{found.entry}` {found.what}; no workflow is read from it")
    try:
        return regular_file.read(path, MOST_BYTES)
    except OSError as failed:
        raise CannotDecide(f"`{path}` cannot be read: {failed.strerror or failed}") from failed


def denied(why: str) -> Answer:
    """An answer that refuses the launch."""
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": f"fdc: {why}",
        }
    }
