"""The benign side: which plans are proved without a person, and which arguments a person must say otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from . import desk, plans
from .labels import TOOLS
from .suites import Task


class Verdict(NamedTuple):
    """`free`: proved without a question. `plan` is the one that is proved, `questions` in it; `why`: what was refused, by sink.

    `acts`: consequential calls, `held` of them wait for a person.
    """

    task: Task
    plan: plans.Plan
    free: bool
    why: tuple[str, ...]
    acts: int
    held: int


def judge(
    folder: Path, tasks: Sequence[Task], contents: bool = False, regime: str = "canary"
) -> list[Verdict]:
    """Lints the plans of a suite, and again with a question for each argument that was refused, until all are proved.

    Raises RuntimeError for a plan that is not proved then.
    """
    people: dict[str, set[tuple[int, str]]] = {desk.name_of(task): set() for task in tasks}
    for _ in range(4):
        made = {
            desk.name_of(task): plans.plan_of(task, people[desk.name_of(task)], contents, regime)
            for task in tasks
        }
        found = desk.lint(folder, {name: plan.text for name, plan in made.items()})
        wrong = {name: findings for name, findings in found.items() if findings}
        if not wrong:
            checked = "message" if contents else ""
            return [
                _verdict(made[name], {one for one in people[name] if one[1] != checked})
                for name in map(desk.name_of, tasks)
            ]
        for name, findings in wrong.items():
            for finding in findings:
                at = made[name].lines.get(finding.line)
                if at is None:
                    raise RuntimeError(f"{name}: {finding}")
                people[name].add((at, desk.sink_of(finding)))
    raise RuntimeError(f"not proved with questions: {wrong}")


def _verdict(plan: plans.Plan, people: set[tuple[int, str]]) -> Verdict:
    calls = plan.task.calls
    acts = [index for index, call in enumerate(calls) if TOOLS[call.tool].acts]
    follows = plan.task.name in plans.FOLLOWS
    held = acts if follows else [index for index in acts if any(at == index for at, _ in people)]
    why = sorted({f"{calls[at].tool.partition('.')[2]}: {sink}" for at, sink in people})
    return Verdict(
        plan.task,
        plan,
        not people and not follows,
        (*why, *(["steps"] if follows else [])),
        len(acts),
        len(held),
    )


def reasons(verdicts: Sequence[Verdict]) -> Counter[str]:
    """How many tasks need a person for what."""
    return Counter(
        why
        for one in verdicts
        for why in {reason.partition(": ")[2] or reason for reason in one.why}
    )
