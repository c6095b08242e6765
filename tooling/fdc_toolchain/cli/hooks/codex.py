"""`fdc hook codex`: refuses what an agent in Codex must leave to the person."""

from __future__ import annotations

from .guarded_calls import protecting

command = protecting(
    "Answer the PreToolUse event on stdin, as `fdc hook claude-pre-tool` does; the files are those that `apply_patch` names.\n\n"
    "It refuses what it cannot decide within the time limit. All other calls are left to Codex's approvals."
)
