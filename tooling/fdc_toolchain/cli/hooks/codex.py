"""`fdc hook codex`: refuses what an agent in Codex must leave to the person."""

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
    """Answer the PreToolUse event on stdin, as `fdc hook claude-pre-tool` does; the files are those that `apply_patch` names.

    What it cannot decide, or not in time, it refuses. Everything else is left to Codex's own approvals.
    """
    return answer(
        decided, lambda why: refused("PreToolUse", f"the hook cannot decide: {why}"), seconds
    )
