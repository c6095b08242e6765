"""`fdc hook claude-pre-tool`: refuses what an agent in Claude Code must leave to the person."""

from __future__ import annotations

from .guarded_calls import protecting

command = protecting(
    "Answer the PreToolUse event on stdin: refuse edits of files that control fdc or agents, commands that only the person may "
    "give, and calls that protocols forbid at every point.\n\n"
    "It refuses what it cannot decide within the time limit. All other calls are left to Claude Code's permissions."
)
