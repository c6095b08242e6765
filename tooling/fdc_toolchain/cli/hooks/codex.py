"""`fdc hook codex`: refuses what an agent in Codex must leave to the person."""

from __future__ import annotations

from .guarded_calls import protecting

command = protecting(
    "Answer the PreToolUse event on stdin, as `fdc hook claude-pre-tool` does; the files are those that `apply_patch` names.\n\n"
    "What it cannot decide, or not in time, it refuses. Everything else is left to Codex's own approvals."
)
