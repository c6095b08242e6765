"""`run_plan`: a plan that is a text, as a run of its own; `approve_plan`: a person reads such a text first.

The run within is recorded, resumed, shown and replayed like any other. The step of the outer run keeps its name.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...program.model import Program
from ...workspace.failure import ToolFailure
from ..context import Context, NestedPlan, word
from ..talk_tools import neither, probe_question, verdict

MOST = 1_000_000
"""Characters of a plan."""

NAME = "nested.plan"
"""What such a plan is called in the messages about it."""


def run_plan(args: Mapping[str, object], context: Context) -> object:
    """`run_plan`: proves the text, drives it as a run of its own, and gives that run's name and what its plan yields."""
    text = word(args, "plan")
    given = args.get("inputs")
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise ToolFailure("argument", "`inputs` is an object: the plan's parameters by name")
    if context.nested is None:
        raise ToolFailure("unavailable", "this tool works only inside a run")
    outcome = context.nested(
        NestedPlan(lambda: program_of(text, given, context), given, NAME, inside=context.bound),
        context,
    )
    run = (outcome.notes or {}).get("run")
    return outcome._replace(value={"run": run, "result": outcome.value})


def program_of(text: str, given: Mapping[str, object], context: Context) -> Program:
    """The program of a text that takes these inputs. Raises ToolFailure where the linter refuses it."""
    if len(text) > MOST:
        raise ToolFailure("plan", f"the plan has {len(text):,} characters; the maximum is {MOST:,}")
    from .plan_text import proved

    proof = proved(context.root.path, NAME, text)
    if proof.program is None:
        found = proof.findings
        more = f", and {len(found) - 5} more" if len(found) > 5 else ""
        raise ToolFailure("plan", f"the plan is refused: {'; '.join(found[:5])}{more}")
    params = {
        param["name"]: param for param in proof.program["plans"][proof.program["root"]]["params"]
    }
    for name in given:
        if name not in params:
            raise ToolFailure("plan", f"the plan has no parameter `{name}`")
    for name, one in params.items():
        if one.get("default") is None and name not in given:
            raise ToolFailure("plan", f"the plan needs a value for its parameter `{name}`")
    return proof.program


def approve_plan(args: Mapping[str, object], context: Context) -> object:
    """`approve_plan`: the very text, once a person has read and approved it; a no fails the step."""
    text = word(args, "plan")
    asked = f"May this plan be run?\n\n{text.rstrip()}\n\n(yes or no)"
    if verdict(context.ask(asked, neither)):
        return text
    raise ToolFailure("refused", "the user does not approve the plan")


__all__ = ["approve_plan", "probe_question", "program_of", "run_plan"]
