"""Where `fdc diff` says that a plan may do no more, no run of it does more: mutated plans in the worlds of the reference."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from fdc_toolchain.check import program_of
from fdc_toolchain.linking.project.settings import SettingsError
from fdc_toolchain.rules.bounds import Bounds
from fdc_toolchain.runs.plan_diff.compare import MEASURES, Side, compare

from tests.reference.interpret import End, Interpreter, catalogue
from tests.reference.runs import PlanSet, folder
from tests.reference.wide import plan_set
from tests.reference.world import World
from tests.support import second_opinion as product
from tests.support.changed_lines import mutated

SECONDS = 120.0
HARMLESS = ("message_user", "request_user_input", "close_task", "submit", "hello_world")
DATA = ("content", "diff", "message", "text")
"""What is stored or told is not access."""


class Steady(World):
    """The same question, asked for the nth time, gets the same answer, wherever it stands in a plan."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, tame=True)
        self.asked: Counter[tuple[str, str]] = Counter()

    def number(self, kind: str, question: str, options: int) -> int:
        """One of `options`."""
        self.asked[kind, question] += 1
        text = f"{self.seed}/{kind}/{question}/{self.asked[kind, question]}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") % options


def side(plans: PlanSet, root: Path) -> Side | None:
    """What is compared of a plan; None where it does not hold."""
    try:
        checked = product.lint(plans, root)
    except SettingsError:
        return None
    if product.errors(checked) or checked.fragments:
        return None
    cost = Bounds().plan(checked.context.graph.instance(plans.root))
    return Side(program_of(checked), {name: getattr(cost, name) for name in MEASURES})


def ran(plans: PlanSet, seed: int) -> End:
    """The run in a world."""
    with folder(plans.files) as root:
        return Interpreter(plans.files, root, Steady(seed)).run(plans.root, {})


def done(end: End) -> set[tuple[str, str]]:
    """What a run does that changes something, and to what."""
    return {
        (step.tool, json.dumps({key: value for key, value in step.request.items() if key not in DATA}, sort_keys=True))
        for step in end.trace
        if step.outcome == "ok" and step.tool not in HARMLESS and catalogue()[step.tool]["effect"] not in ("pure", "read")
    }  # fmt: skip


def more(seed: int, worlds: int = 6) -> tuple[int, list[str]]:
    """How many changed plans pass as no more than a plan by chance, and those of them that do more."""
    chance, plans = random.Random(seed), plan_set(seed)
    with folder(plans.files) as root:
        old = side(plans, root)
        if old is None:
            return 0, []
        passed, wrong = 0, []
        for _ in range(12):
            text = plans.files[plans.root]
            for _ in range(chance.choice((1, 1, 2))):
                text = mutated(text, chance)
            new = PlanSet(plans.root, {**plans.files, plans.root: text})
            (root / plans.root).write_bytes(text.encode("utf-8", "surrogateescape"))
            other = side(new, root)
            if other is None or any(compare(old, other).grown.values()):
                continue
            passed += 1
            ends = [(ran(plans, world), ran(new, world)) for world in range(worlds)]
            # Where an assumption stopped the old run, the new one may go on (docs/diff.md).
            if any(done(now) - done(end) for end, now in ends if end.cause != "missing"):
                wrong.append(f"seed {seed}\n{plans.files[plans.root]}\n--- became\n{text}")
    return passed, wrong


@pytest.mark.long
def test_plans_by_chance_that_pass_do_no_more() -> None:
    assert [more(seed)[1] for seed in (*range(2268, 2273), 968963481)] == [[]] * 6


def test_the_judge_sees_a_run_that_does_more() -> None:
    body = "run_in_bash_session make test\n"
    head = "# FSM: tooling/looks_fsm.json\n"
    plans = plan_set(2271)
    old = PlanSet(
        "p.plan", {**plans.files, "p.plan": f"{head}for_each_file none/*.md max 1\n  {body}"}
    )
    new = PlanSet("p.plan", {**plans.files, "p.plan": head + body})
    assert {tool for tool, _ in done(ran(new, 0)) - done(ran(old, 0))} == {"run_in_bash_session"}


@pytest.mark.soak
def test_many_plans_by_chance_that_pass_do_no_more() -> None:
    start, seed = time.monotonic(), random.randrange(1 << 30)
    passed = 0
    while time.monotonic() < start + SECONDS:
        seed += 1
        count, wrong = more(seed)
        passed += count
        assert not wrong, wrong[0]
    assert passed
