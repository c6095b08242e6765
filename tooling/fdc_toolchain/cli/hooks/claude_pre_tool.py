"""`fdc hook claude-pre-tool`: refuses what an agent in Claude Code must leave to the person."""

from __future__ import annotations

import click

from .guarded_calls import decided, refused
from .hook_answer import answer, seconds_option


@click.command(
    epilog="Exit codes: 0 answered, 2 wrong usage, 4 a bug of fdc.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@seconds_option(5.0)
def command(seconds: float) -> int:
    """Answer the PreToolUse event on stdin: refuse edits of what fdc and agents obey, and commands that act for the person.

    What it cannot decide, or not in time, it refuses. Everything else is left to Claude Code's own permissions.
    """
    return answer(
        decided, lambda why: refused("PreToolUse", f"the hook cannot decide: {why}"), seconds
    )
