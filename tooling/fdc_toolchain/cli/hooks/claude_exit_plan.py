"""`fdc hook claude-exit-plan`: lints the plans in the plan that Claude Code shows before it leaves plan mode."""

from __future__ import annotations

import dataclasses
import os

import click

from ...console.options import flag_option
from ...diagnostics.verdict_line import verdict_line
from ...text.plan_fences import fences
from . import hook_answer
from .guarded_calls import refused
from .hook_answer import Answer, CannotDecide, Event, before_a_tool, folder_of, object_in, text_in

_NAME = "ExitPlanMode.plan"  # the name in findings; line numbers are those of the document
MOST_PLAN = 2_000_000
MOST_FENCES = 20


@click.command(
    epilog="Exit codes: 0 answered, 2 wrong usage, 3 no opinion (stderr says why), 4 a bug of fdc."
)
@flag_option(
    "--allow",
    "Approve without the person if every plan in it is proved. The rest of its text is then not reviewed.",
)
@hook_answer.seconds_option(20.0)
def command(allow: bool, seconds: float) -> int:
    """Answer the event of ExitPlanMode on stdin: refuse a plan whose ```plan blocks have errors, and list the errors.

    If all are proved, Claude Code asks the person and shows that. A plan without such a block is left to the person, and so
    is every event that this hook cannot decide within the time limit.
    """
    return hook_answer.answer(lambda event: decided(event, allow), None, seconds)


def decided(event: Event, allow: bool) -> Answer | None:
    """The answer to an event; None: the hook leaves the decision to others. Raises CannotDecide."""
    from ... import api

    name = before_a_tool(event)
    if text_in(event, "tool_name") != "ExitPlanMode":
        return None
    given = object_in(event, "tool_input")
    found = fences(_document(given))
    if not found:
        return None
    if len(found) > MOST_FENCES:
        raise CannotDecide(f"the plan has more than {MOST_FENCES} plans in it")
    root = api.find_workspace(folder_of(event))
    results = [api.check(_NAME, workspace=root, text=fence.placed) for fence in found]
    if any(result.errors for result in results):
        every = tuple(item for result in results for item in result.diagnostics)
        merged = dataclasses.replace(results[0], diagnostics=every, assumptions=(), fragments=())
        why = "the plan is not proved. Repair its ```plan blocks, then call ExitPlanMode again."
        return refused(name, f"{why}\n{api.brief(merged)}")
    proved = sum(result.verdict == "proved" for result in results)
    assumed = sum(len(result.assumptions) for result in results)
    counted = verdict_line(len(results), assumed, len(results) - proved)
    said = f"fdc: {counted.removesuffix(', no findings')}"
    if allow and name == "PermissionRequest" and proved == len(results):
        # Without `updatedInput`, Claude Code 2.1.199 and newer ignore the decision.
        decision: Answer = {"behavior": "allow", "updatedInput": given}
        return {
            "systemMessage": f"{said}; approved by `fdc hook claude-exit-plan --allow`",
            "hookSpecificOutput": {"hookEventName": name, "decision": decision},
        }
    return {"systemMessage": said}


def _document(given: Event) -> str:
    """The plan's text, from the event or from the file that it names. Raises CannotDecide."""
    text, path = given.get("plan"), given.get("planFilePath")
    if not isinstance(text, str) and isinstance(path, str) and os.path.isabs(path):
        if path.endswith(".md") and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read(MOST_PLAN + 1)
    if not isinstance(text, str):
        raise CannotDecide("the event has no `plan` text and no `planFilePath`")
    if len(text) > MOST_PLAN:
        raise CannotDecide(f"the plan has more than {MOST_PLAN} characters")
    return text
