"""`fdc hook claude-exit-plan`: lints the plans in the plan that Claude Code shows before it leaves plan mode."""

from __future__ import annotations

import click

from .hook_answer import Answer, Event, answer, object_in, seconds_option


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@seconds_option(20.0)
def command(seconds: float) -> int:
    """Answer the event on stdin: refuse a plan whose ```plan fences have errors, and say what to repair."""
    return answer(decide, None, seconds)


def decide(event: Event) -> Answer | None:
    """The answer to an event of ExitPlanMode; None: no opinion."""
    object_in(event, "tool_input")
    return None
