"""`fdc hook claude-exit-plan`: lints the plans in the plan that Claude Code shows before it leaves plan mode."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

import click

from .guarded_calls import refused
from .hook_answer import Answer, CannotDecide, Event, answer, object_in, seconds_option, text_in
from .plan_fences import fences

if TYPE_CHECKING:
    from ...api import CheckResult

_NAME = "ExitPlanMode.plan"
"""What the plan is called in findings; their lines are those of the document."""
MOST_PLAN = 2_000_000
MOST_FENCES = 20


@click.command(
    epilog="Exit codes: 0 answered, 2 wrong usage, 3 no opinion (stderr says why), 4 a bug of fdc.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--allow",
    is_flag=True,
    help="Approve in the person's place where every plan in it is proved; nobody looks at the rest of its text then.",
)
@seconds_option(20.0)
def command(allow: bool, seconds: float) -> int:
    """Answer the event of ExitPlanMode on stdin: refuse a plan whose ```plan blocks have errors, and say what to repair.

    Where all are proved, the person is asked as ever, and told so. A plan without such a block is left to the person, and so
    is everything that this hook cannot decide, or not in time.
    """
    return answer(lambda event: decided(event, allow), None, seconds)


def decided(event: Event, allow: bool) -> Answer | None:
    """The answer to an event; None: no opinion. Raises CannotDecide."""
    from ... import api

    name = text_in(event, "hook_event_name")
    if name not in ("PreToolUse", "PermissionRequest"):
        raise CannotDecide(f"this hook is for PermissionRequest and PreToolUse, not `{name[:60]}`")
    if text_in(event, "tool_name") != "ExitPlanMode":
        return None
    given = object_in(event, "tool_input")
    found = fences(_document(given))
    if not found:
        return None
    if len(found) > MOST_FENCES:
        raise CannotDecide(f"the plan has more than {MOST_FENCES} plans in it")
    folder = event.get("cwd")
    root = api.find_workspace(folder if isinstance(folder, str) and folder else os.getcwd())
    results = [api.check(_NAME, workspace=root, text=fence.placed) for fence in found]
    if any(result.errors for result in results):
        report = api.brief(_merged(results))
        return refused(
            name,
            f"the plan is not proved. Repair its ```plan blocks, then call ExitPlanMode again.\n{report}",
        )
    said = f"fdc: {_counted(results)}"
    if allow and name == "PermissionRequest" and all(one.verdict == "proved" for one in results):
        # Without `updatedInput`, Claude Code 2.1.199 and newer ignore the decision.
        decision: Answer = {"behavior": "allow", "updatedInput": given}
        return {
            "systemMessage": f"{said}; approved by `fdc hook claude-exit-plan --allow`",
            "hookSpecificOutput": {"hookEventName": name, "decision": decision},
        }
    return {"systemMessage": said}


def _document(given: Event) -> str:
    """The plan's text: as it came, or out of the file that Claude Code names. Raises CannotDecide."""
    text = given.get("plan")
    path = given.get("planFilePath")
    if isinstance(text, str):
        document = text
    elif (
        isinstance(path, str)
        and os.path.isabs(path)
        and path.endswith(".md")
        and os.path.isfile(path)
    ):
        with open(path, encoding="utf-8", errors="replace") as file:
            document = file.read(MOST_PLAN + 1)
    else:
        raise CannotDecide("the event has neither the text of a plan nor its file")
    if len(document) > MOST_PLAN:
        raise CannotDecide(f"the plan has more than {MOST_PLAN} characters")
    return document


def _merged(results: list[CheckResult]) -> CheckResult:
    """The findings of all in one, for one report of bounded length."""
    return dataclasses.replace(
        results[0],
        diagnostics=tuple(item for one in results for item in one.diagnostics),
        assumptions=(),
        fragments=(),
    )


def _counted(results: list[CheckResult]) -> str:
    proved = sum(one.verdict == "proved" for one in results)
    parts = len(results) - proved
    words = [f"{proved} {'plan' if proved == 1 else 'plans'} proved"] if proved else []
    words += [f"{parts} checked as a part of others"] if parts else []
    assumed = sum(len(one.assumptions) for one in results)
    words += [f"{assumed} {'assumption' if assumed == 1 else 'assumptions'}"] if assumed else []
    return ", ".join(words)
