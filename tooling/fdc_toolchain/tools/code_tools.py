"""`generate_code`: have code written and tested. The master controller does it; without one, a person is asked.

The step is answered: `done`, or `failed: why`. The run waits meanwhile, and nothing is made up.
"""

from __future__ import annotations

from typing import Any

from ..workspace.failure import ToolFailure
from .context import Context, text, word

ASKED = "generate_code: "
"""How the question begins; a controller that writes code does not put it to a person."""

_FAILED = "failed"


def generate_code(args: dict[str, Any], context: Context) -> Any:
    """`generate_code`: what was said of the code that was written."""
    what = " ".join(text(args, "what").split())
    answer = context.ask(
        f"{ASKED}change `{word(args, 'files')}` so that the tests pass: {what} (answer done, or failed: why)"
    )
    said = answer.strip()
    head, _, why = said.partition(":")
    if head.strip().lower() == _FAILED:
        raise ToolFailure("tests", why.strip() or "the code could not be written")
    if not said:
        raise ToolFailure("answer", "neither `done` nor `failed: why`")
    return said


def probe(args: dict[str, Any], context: Context) -> Any:
    """A request without a recorded answer is made again: asking changes nothing."""
    return "not-done"
