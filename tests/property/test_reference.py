"""The product against an interpreter that knows nothing but docs/language.md (tests/reference), on plan sets by chance.

A proved plan stops for no other cause than those of the closed list, or for an assumption that lint named; what lint refuses
is shown by a run; what runs is what the language says. Each commit starts from a seed of its own, which the test prints:

    FDC_TEST_SEED=123 FDC_REFERENCE_SETS=50 pytest tests/property/test_reference.py

No difference is known, and none is let through.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from fdc_toolchain.check import Checked
from fdc_toolchain.linking.project.settings import SettingsError

from tests.reference.conditions import Condition, holds
from tests.reference.generate import PATHS
from tests.reference.interpret import End, Interpreter
from tests.reference.runs import PlanSet, all_runs, folder
from tests.reference.stops import ALLOWED
from tests.reference.wide import plan_set
from tests.reference.world import FollowingWorld, World
from tests.support import profiles
from tests.support import second_opinion as product

"""How long the default run takes."""
WORLDS = 3
SHOWN = {
    "FDC401": "automaton",
    "FDC404": "automaton",
    "FDC402": "unfinished",
    "FDC411": "missing",
    "FDC412": "exists",
}
"""The cause of a run that shows an error of that code."""


class Case(NamedTuple):
    """A proved plan set that ended in a way in which it must not. `deeds` is what commands did to files."""

    plans: PlanSet
    checked: Checked
    end: End
    deeds: list[tuple[str, str, str]]
    ran: product.Ran | None = None
    """How the engine ended, where that is another end."""


STANDING = ("alone", "form", "obeyed", "granted", "usage")
"""Assumptions of every proof. No generated world makes one of them false."""


def blocked(why: str, deeds: list[tuple[str, str, str]]) -> bool:
    """True where a command has made a file on the way to the one that `why` names, or in a folder of that name."""
    path = why.split("`")[1] if "`" in why else ""
    return any(
        what == "made" and (path.startswith(f"{made}/") or made.startswith(f"{path}/"))
        for _, made, what in deeds
    )


class Tally:
    """What was seen, and the differences."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.differences: list[str] = []

    def differs(self, seed: int, what: str, plans: PlanSet, *more: Any) -> None:
        self.counts[what.split(":")[0]] += 1
        texts = "".join(
            f"-- {path}\n{text}"
            for path, text in sorted(plans.files.items())
            if not path.startswith("tooling/")
        )
        self.differences.append("\n".join([f"seed {seed}: {what}", *map(str, more), texts]))

    def look(self, seed: int, plans: PlanSet | None = None) -> None:
        """One plan set, that of the seed where none is given: lint, then worlds."""
        plans = plans or plan_set(seed)
        self.counts["sets"] += 1
        with folder(plans.files) as root:
            try:
                checked = product.lint(plans, root)
            except SettingsError:  # settings that silence an error are refused
                self.counts["settings refused"] += 1
                return
        if checked.fragments:  # not proved, and `fdc run` refuses them
            self.counts["fragments"] += 1
            return
        errors = product.errors(checked)
        if errors:
            self.refused(
                plans,
                {one.code for one in errors},
                {plans.root, *(one.span.path for one in errors)},
            )
            return
        self.counts["proved"] += 1
        before = len(self.differences)
        if self.counts["proved"] % 10 == 0:
            self.agreement(seed, plans)
        for number in range(WORLDS):
            if len(self.differences) == before:
                self.proved(seed, plans, checked, number)

    def refused(self, plans: PlanSet, codes: set[str], roots: set[str]) -> None:
        """Law (b): a run shows the error. Counted, not asserted, and asked only where one code alone refuses."""
        if len(codes) > 1 or not codes <= SHOWN.keys():
            return
        [code] = codes
        runs = (
            end
            for root in sorted(roots & plans.files.keys())
            for _, end in all_runs(plans._replace(root=root), 150)
        )
        shown = any(end.cause == SHOWN[code] for end in runs)
        self.counts[f"{code} {'shown by a run' if shown else 'without a run'}"] += 1

    def proved(self, seed: int, plans: PlanSet, checked: Checked, number: int) -> None:
        """Laws (a) and (c) in one world. Branches of forks act in the order in which the engine let them."""
        tame = number == 0
        asked = number == 2 and "param page" in plans.files[plans.root]
        given = {"page": ("docs/a.md", "none.md", "", "out", "y.md/z")[seed % 5]} if asked else {}
        with folder(plans.files) as root:
            most, guessed = product.most_steps(checked, root, given)
            ran = product.run(checked, root, World(seed + number, PATHS, tame), given)
        world = FollowingWorld(seed + number, PATHS, tame, ran.turns)
        with folder(plans.files) as root:
            end = Interpreter(plans.files, root, world).run(plans.root, given)
        self.counts["runs"] += 1
        if most is not None and not (guessed and world.deeds):
            self.counts["cost compared"] += 1
            if len(end.trace) > most:
                self.differs(
                    seed, f"more steps than the printed number: {len(end.trace)} of {most}", plans
                )
        self.counts[f"ended: {end.cause or 'finished'}"] += 1
        said = ran.cause_said
        if end.cause is not None and end.cause not in ALLOWED:
            in_the_way = (
                end.cause == "path" and said.get("rule") == "form" and blocked(end.why, world.deeds)
            )
            if said.get("kind") == "assumption" and (said["rule"] not in STANDING or in_the_way):
                self.counts["stopped for an assumption"] += 1
            else:
                self.differs(
                    seed,
                    f"a proved plan stops: {end.cause}",
                    plans,
                    end.why,
                    end.address,
                    world.deeds,
                    said,
                )
        elif said.get("kind") != end.cause:
            self.differs(
                seed,
                f"another cause: {end.cause}, the product {said}",
                plans,
                end.why,
                end.address,
                world.deeds,
            )
        self.compare(seed, Case(plans, checked, end, world.deeds, ran), ran)

    def agreement(self, seed: int, plans: PlanSet) -> None:
        """What was judged is what is compiled: its digest knows each text that the plan reaches, and no other."""
        found = product.program_digest(plans)
        self.counts["digests compared"] += 1
        text, registry = (
            plans.files[plans.root],
            json.loads(plans.files["knowledge_core/plan_registry.json"]),
        )
        more = {"plans/unrelated.plan": "message_user hm\n", "notes.txt": "n"}
        more["knowledge_core/plan_registry.json"] = json.dumps(
            {**registry, "unrelated": "plans/unrelated.plan"}
        )
        if found != product.program_digest(plans._replace(files={**plans.files, **more})):
            self.differs(seed, "another digest for files that the plan does not reach", plans)
        other = {plans.root: text.rstrip("\n") + "\nmessage_user one more step\n"}
        if found == product.program_digest(plans._replace(files={**plans.files, **other})):
            self.differs(seed, "the same digest for another text", plans)

    def compare(self, seed: int, case: Case, ran: product.Ran) -> None:
        """Law (c): the same steps with the same requests, the same end."""
        plans, end = case.plans, case.end
        mine = [
            (done.address, done.tool, product.plain(done.tool, done.request)) for done in end.trace
        ]
        theirs = [
            (address, tool, product.plain(tool, request)) for address, tool, request, _ in ran.steps
        ]
        if product.cause(end.cause) != ran.cause:
            self.differs(
                seed,
                f"another end: {end.cause}, the engine {ran.cause}",
                plans,
                end.why,
                end.address,
                ran.why,
            )
        elif mine != theirs:
            parted = next(
                ((one, other) for one, other in zip(mine, theirs) if one != other),
                (len(mine), len(theirs)),
            )
            self.differs(seed, "another trace", plans, *parted)
        elif [*map(product.without_why, end.messages)] != [*map(product.without_why, ran.messages)]:
            self.differs(seed, "other words for the user", plans, end.messages, ran.messages)

    def told(self) -> str:
        return ", ".join(f"{what}: {count}" for what, count in sorted(self.counts.items()))


FIRST = profiles.seed()
MOST = int(os.environ.get("FDC_REFERENCE_SETS") or 0)
"""Read when the module is: a test sees no variable of fdc's."""


def looked(first: int, enough: Callable[[int], bool], capsys: pytest.CaptureFixture[str]) -> Tally:
    """Looks at plan sets from a seed on until it is enough, and prints what was seen."""
    tally, number = Tally(), 0
    while not enough(number) and len(tally.differences) < 5:
        tally.look(first + number)
        number += 1
    with capsys.disabled():
        print(f"\nFDC_TEST_SEED={first} FDC_REFERENCE_SETS={number}: {tally.told()}")
    return tally


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [4, pytest.param(20, marks=pytest.mark.long)])
def test_a_proved_plan_ends_as_the_language_says(
    seconds: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """FDC-30, FDC-31: from a new seed each time, as many sets as the time allows."""
    until = time.monotonic() + seconds
    tally = looked(FIRST, lambda number: 0 < MOST <= number or time.monotonic() > until, capsys)
    assert [] == tally.differences, "\n\n".join(tally.differences)
    assert tally.counts["sets"] < 1000 or tally.counts["proved"] >= 0.3 * tally.counts["sets"]


@pytest.mark.soak
def test_many_proved_plans_end_as_the_language_says(capsys: pytest.CaptureFixture[str]) -> None:
    """FDC-30, FDC-31: `FDC_REFERENCE_SETS` of them, 5,000 where it does not say."""
    tally = looked(FIRST, lambda number: number >= (MOST or 5_000), capsys)
    assert [] == tally.differences, "\n\n".join(tally.differences)


def in_reference(world: World | None = None, **texts: str) -> End:
    """A run of `main.plan` in the reference; in names `__` stands for a slash, `_plan` and `_md` for endings."""
    files = {
        name.replace("__", "/").replace("_plan", ".plan").replace("_md", ".md"): text
        for name, text in texts.items()
    }
    with folder(files) as root:
        return Interpreter(files, root, world or World(0, tame=True)).run("main.plan", {})


HEAD = "# FSM: tooling/free_fsm.json\n"
FREE = {"tooling/free_fsm.json": plan_set(0).files["tooling/free_fsm.json"]}


def test_the_reference_names_steps_and_keeps_failures_as_the_pages_say() -> None:
    """docs/steps.md and docs/branches.md."""
    end = in_reference(
        main_plan=HEAD + "l <- list_files docs\nk <- fork x in {l} max 9 keep failures\n  t <- read_file {x}\n"
        '  require "b" in t else "no"\n  yield {t}\nif len(k) == 2\n  call_plan down.plan\nmessage_user {k}\n',
        down_plan="iterate max 2 until false\n  list_files\nx <- call_plan down.plan depth 1\n",
        docs__a_md="a", docs__b_md="b", **FREE,
    )  # fmt: skip
    assert None is end.cause
    inner = "main/3.then/1>down.plan"
    assert [
        "main/1", "main/2#1/1", "main/2#2/1", f"{inner}/1[1]/1", f"{inner}/1[2]/1",
        f"{inner}/2>down.plan/1[1]/1", f"{inner}/2>down.plan/1[2]/1", "main/4",
    ] == [done.address for done in end.trace]  # fmt: skip
    failed = '{"failed":"require","why":"no","item":"docs/a.md","at":"main/2#1/2","path":"main.plan","line":5}'
    assert [f'[{failed},"b"]'] == end.messages


@pytest.mark.parametrize(("lines", "cause"), [
    ("read_file docs/b.md", "missing"), ("create_file_with_block docs/a.md\n  b", "exists"), ("read_file ../a", "path"),
    ("overwrite_file_with_block .git/x\n  b", "protected"), ("read_file {l}", "type"), ('grep "["', "argument"),
    ("for x in {l} max 1\n  read_file {x}\nfor x in {l.a} max 1\n  read_file {x}", "value"),
    ("for_each_file *.plan max 1\n  message_user {file1} {nobody}", "unbound"), ('require l == 3 else "no"', "gate"),
    ("call_plan main.plan", "stack"), ("set_plan x\nresearch x\n", "automaton"), ("read_file docs/a.md\nwhile x", "syntax"),
])  # fmt: skip
def test_the_reference_stops_with_the_cause_of_the_closed_list(lines: str, cause: str) -> None:
    """Each kind of stop is planted once."""
    end = in_reference(main_plan=f"{HEAD}l <- list_files docs\n{lines}\n", docs__a_md="a", **FREE)
    assert cause == end.cause


def test_the_reference_holds_each_call_to_the_budget_of_its_plan() -> None:
    """docs/headers.md."""
    texts = {
        "main_plan": HEAD + "call_plan down.plan\ncall_plan down.plan\ncall_plan more.plan\n",
        "down_plan": "budget steps 2\nfor_each_file docs/*\n  read_file {file1}\n",
        "more_plan": "budget steps 3\ncall_plan down.plan\ncall_plan down.plan\n", "docs__a_md": "a", **FREE,
    }  # fmt: skip
    end = in_reference(**texts)
    assert (None, 4) == (end.cause, end.steps)
    end = in_reference(**texts, docs__b_md="b")
    assert ("budget", "main/3>more.plan/2>down.plan/1[2]/1", 7) == (
        end.cause,
        end.address,
        end.steps,
    )
    end = in_reference(**texts, docs__b_md="b", docs__c_md="c")
    assert ("budget", "main/1>down.plan/1[3]/1", 2) == (end.cause, end.address, end.steps)


def budgets(chance: random.Random) -> PlanSet:
    """Plans that call each other, most with a budget, in loops over files of which fdc does not know the number."""
    files = {**FREE, "knowledge_core/plan_registry.json": "{}"}
    for number in range(chance.randint(1, 9)):
        files[f"docs/{number}.md"] = "x"
    for name, below in (("low", ()), ("mid", ("low",)), ("main", ("low", "mid"))):
        lines = (
            [f"budget steps {chance.choice((4, 6, 9, 14, 30) if below else (2, 3, 5, 9))}"]
            if chance.random() < 0.7
            else []
        )
        for _ in range(chance.randint(1, 3)):
            inner = (
                f"call_plan {chance.choice(below)}.plan"
                if below and chance.random() < 0.7
                else "list_files docs"
            )
            around = chance.choice(
                ("", "", "for_each_file docs/*", "iterate max 2", "fork x in {l} max 9")
            )
            lines += [around, f"  {inner}"] if around else [inner]
        head = [line for line in lines if line.startswith("budget")]
        body = ["l <- list_files docs", *(line for line in lines if line not in head)]
        files[f"{name}.plan"] = (HEAD if name == "main" else "") + "\n".join([*head, *body, ""])
    return PlanSet("main.plan", files)


@pytest.mark.long
def test_called_plans_with_a_budget_end_runs_where_the_page_says() -> None:
    """docs/headers.md, on plan sets that are made for it: those by chance seldom come to the end of a budget."""
    tally = Tally()
    for seed in range(FIRST, FIRST + 60):
        tally.look(seed, budgets(random.Random(seed)))
    assert [] == tally.differences, "\n\n".join(tally.differences)
    assert tally.counts["ended: budget"] > 5 and tally.counts["ended: finished"] > 5, tally.told()


@pytest.mark.parametrize(("text", "value"), [
    ("not a == 2", True), ("not a and false", False), ("true or false and false", True), ("true or b > 1", True),
    ('a == "1"', True), ('b == "1"', False), ("b in b", True), ('"x" in l and not 2 in l', True), ("len(l) == 1", True),
    ("{a} >= 1", True), ('"b" > "a"', True), ("t == true and t != 1", True), ("n.f == n", True), ('"10" < "9"', True),
])  # fmt: skip
def test_conditions_mean_what_the_page_says(text: str, value: bool) -> None:
    """docs/language.md, "Conditions"."""
    assert value == holds(
        Condition(text).value({"a": 1, "b": "b", "l": ["x"], "t": True, "n": None})
    )


def test_a_wrong_verdict_is_noticed() -> None:
    """A plan that lint refuses, taken for a proved one, is a difference; so is an engine that ends otherwise."""
    plans = PlanSet("main.plan", {"main.plan": HEAD + "read_file docs/a.md\n", **FREE})
    tally = Tally()
    with folder(plans.files) as root:
        checked = product.lint(plans, root)
    assert ["FDC411"] == [one.code for one in product.errors(checked)]
    tally.proved(0, plans, checked, 0)
    assert ["seed 0: a proved plan stops: missing"] == [
        one.split("\n")[0] for one in tally.differences
    ]
    other = product.Ran(None, None, "", [], [], [], {})
    tally.compare(0, Case(plans, checked, in_reference(**plans.files), [], other), other)
    assert "seed 0: another end: missing, the engine None" == tally.differences[1].split("\n")[0]


@pytest.mark.parametrize("text", [
    "for_each_file d/*.md\n  delete_file {file1}\nread_file d/a.md\n",  # A4
    "t <- read_file a.md\nfor x in {t} max 2\n  message_user {x}\n",  # A8
])  # fmt: skip
def test_what_a_run_shows_is_refused_or_assumed(text: str) -> None:
    """Two differences of 0.1.0, each by its shortest plan."""
    plans = PlanSet("main.plan", {**FREE, "main.plan": HEAD + text, "d/a.md": "a", "a.md": "a"})
    with folder(plans.files) as root:
        checked = product.lint(plans, root)
    tally = Tally()
    if not product.errors(checked):
        tally.proved(0, plans, checked, 0)
        assert 1 == tally.counts["stopped for an assumption"]
    assert [] == tally.differences
