"""`fdc hook claude-pre-tool`: refuses what an agent in Claude Code must leave to the person."""

from __future__ import annotations

from .guarded_calls import protecting

command = protecting(
    "Answer the PreToolUse event on stdin: refuse edits of what fdc and agents obey, commands that act for the person, and what "
    "protocols forbid at every point.\n\n"
    "What it cannot decide, or not in time, it refuses. Everything else is left to Claude Code's own permissions."
)
