"""`fdc hook claude-pre-tool`: refuses a tool call that would change what agents obey, or answer in a person's place."""

from __future__ import annotations

import click

from .hook_answer import Answer, Event, answer, object_in, seconds_option, text_in


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@seconds_option(5.0)
def command(seconds: float) -> int:
    """Answer the event on stdin before a tool is used."""
    return answer(decide, refusal, seconds)


def decide(event: Event) -> Answer | None:
    """The answer to an event; None: no opinion."""
    text_in(event, "tool_name")
    object_in(event, "tool_input")
    return None


def refusal(why: str) -> Answer:
    """The answer that refuses a tool call."""
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": f"fdc: {why}",
        }
    }
