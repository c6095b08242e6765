"""Grammars of `fdc grammar --names-of`: they spell their plan, and nothing that is wrong by syntax, tool, name or automaton."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.check import check
from fdc_toolchain.grammar_export.export import export
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import read_settings
from fdc_toolchain.syntax.parse import parse
from fdc_toolchain.syntax.write import write
from llguidance import LLMatcher

from tests.property.test_grammar_export import BYTES, linker, spells, walked
from tests.support.changed_lines import mutated
from tests.support.profiles import cases, quick_and_whole
from tests.support.repository import PACKAGE, ROOT

PLANS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("plans/library", "tooling/fdc_packs")
    for path in Path(ROOT, folder).rglob("*.plan")
)
LIMITS = {"max_items_in_row": 50_000, "step_max_items": 2_000_000}


def canonical(text: str) -> str:
    """A plan as a grammar spells it: in its canonical form, without comments and blank lines."""
    plan = parse(text.encode(), "p.plan", read_settings(ROOT).limits).plan
    assert plan is not None
    lines = write(plan).splitlines(keepends=True)
    return "".join(
        line
        for line in lines
        if line.strip() and (not line.lstrip().startswith("#") or line.startswith("# FSM"))
    )


def of_plan(here: Linker, key: str, most: int = 60) -> LLMatcher:
    from llguidance import LLParserLimits

    grammar = export(here, "llguidance", most=most, names_of=key).text
    made = LLMatcher(BYTES, LLMatcher.grammar_from_lark(grammar), limits=LLParserLimits(**LIMITS))
    assert not made.is_error(), made.get_error()[:400]
    return made


SMALL = [
    key
    for key in PLANS
    if key.endswith(("_persist.plan", "_reflection.plan", "_decompose.plan", "fix_write.plan"))
]


@pytest.mark.parametrize("key", SMALL)
def test_a_shipped_plan_is_spelled_and_its_faults_are_not(key: str) -> None:
    here = linker(Path(ROOT))
    shipped_plan(here, key)


@pytest.mark.long
@pytest.mark.parametrize("key", PLANS)
def test_every_shipped_plan_is_spelled(key: str) -> None:
    here = linker(Path(ROOT))
    shipped_plan(here, key)


def shipped_plan(here: Linker, key: str) -> None:
    text = canonical(here.link(key).text)
    made = of_plan(here, key)
    assert spells(made, text)
    wrong = list(faults(text))
    assert wrong
    for what, fault in wrong:
        assert not spells(made, fault), what


TOLD = re.compile(r"FDC(10\d|11[01235-9]|30[1-4]|31[12]|321|331|40[1-4])")
"""Errors of syntax, tool, argument's form, name or automaton."""
DERIVED = re.compile(rf"{TOLD.pattern}|FDC45\d")
"""Of what is derived none touches, either, what the plan's `allow` does not name."""


def changed(key: str, seeds: range) -> int:
    """How many changes of a shipped plan have such an error: none of them is spelled."""
    here = linker(Path(ROOT))
    text, made, refused = canonical(here.link(key).text), of_plan(here, key), 0
    for seed in seeds:
        chance = random.Random(f"{key} {seed}")
        wrong = mutated(text, chance)
        if chance.random() < 0.5:
            at = chance.randrange(len(text))
            wrong = text[:at] + chance.choice('{}a1= \n"') + text[at + 1 :]
        for unit in [*here.units]:
            here.units.pop(unit)
        found = check(here, [key], {key: wrong.encode()}).diagnostics
        if any(item.severity == "error" and TOLD.fullmatch(item.code) for item in found):
            refused += 1
            assert not spells(made, wrong), ({item.code for item in found}, wrong)
    return refused


def test_changes_of_a_shipped_plan_that_lint_refuses_are_not_spelled() -> None:
    assert sum(changed(key, cases(15)) for key in SMALL) > 15


@pytest.mark.soak
@pytest.mark.parametrize("key", PLANS)
def test_so_are_changes_of_every_shipped_plan(key: str) -> None:
    assert changed(key, cases(100)) > 20


def told(key: str, count: int) -> Counter[str]:
    """Of random derivations with a plan's own names none is abandoned, and none has such an error. How many hold."""
    here, found = linker(Path(ROOT)), Counter[str]()
    for text in walked(of_plan(here, key, 20), count):
        for unit in [*here.units]:
            here.units.pop(unit)
        wrong = [
            item
            for item in check(here, [key], {key: text.encode()}).diagnostics
            if item.severity == "error"
        ]
        assert not [item for item in wrong if DERIVED.fullmatch(item.code)], text
        found["wrong" if wrong else "holds"] += 1
    return found


@pytest.mark.parametrize("count", quick_and_whole(1, 4))
def test_derivations_with_the_names_of_a_plan_have_no_error_of_these(count: int) -> None:
    found = sum((told(key, count) for key in SMALL), Counter[str]())
    assert found["holds"] >= (0.7 if count > 1 else 0.5) * found.total(), found


@pytest.mark.soak
@pytest.mark.parametrize("key", PLANS)
def test_so_are_derivations_with_the_names_of_every_shipped_plan(key: str) -> None:
    assert told(key, 30).total() == 30


def test_the_plans_of_init_and_of_the_readme_are_spelled(tmp_path: Path) -> None:
    """Under the grammar for their own names; so are none of their faults."""
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    (tmp_path / "Makefile").write_text("test:\n\t@echo 3 passed\n", "utf-8")
    first = Path(PACKAGE, "cli/project/init/templates/first.plan").read_text("utf-8")
    readme = Path(ROOT, "README.md").read_text("utf-8")
    shown = re.search(r"cat > plan.txt <<'END'\n(.*?)^END$", readme, re.M | re.S)
    assert shown is not None and "s/^close_task/run_in_bash_session make test" in readme
    mended = shown[1].replace("close_task", "run_in_bash_session make test\nclose_task")
    for number, text in enumerate((first, shown[1], mended)):
        (tmp_path / f"{number}.plan").write_text(text, "utf-8")
        here = linker(tmp_path)
        assert [item.code for item in check(here, [f"{number}.plan"]).diagnostics if item.severity == "error"] == []  # fmt: skip
        shipped_plan(here, f"{number}.plan")


def test_branches_call_no_plan_that_shares_the_index_of_git(tmp_path: Path) -> None:
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    (tmp_path / "keep.plan").write_text("git_add fdc.toml\n", "utf-8")
    head = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete r\nnames <- list_files *\n"
    body = "for name in {names} max 3\n  message_user {name}\n  call_plan keep.plan\n"
    fork, end = "fork name in {names} max 3\n  message_user {name}\n", "close_task\nsubmit\n"
    (tmp_path / "own.plan").write_text(head + body + fork + end, "utf-8")
    here = linker(tmp_path)
    assert not [item for item in check(here, ["own.plan"]).diagnostics if item.severity == "error"]
    made = of_plan(here, "own.plan", 20)
    for both, spelled in (
        (body + fork, True),
        (fork, True),
        (body, True),
        (body.replace("for ", "fork "), False),
    ):
        text = head + both + end
        assert spells(made, text) == spelled, text
        made.reset()
        found = check(linker(tmp_path), ["own.plan"], {"own.plan": text.encode()}).diagnostics
        assert ("FDC413" in {item.code for item in found}) != spelled


def faults(text: str) -> Iterator[tuple[str, str]]:
    """The plan with a tool, a name or a statement that is none."""
    step = re.search(r"^( *\w+ <- )(\w[\w.]*)(.*)$", text, re.M)
    if step is not None and step[2] not in ("for", "fork", "call_plan"):
        yield "tool", text[: step.start()] + f"{step[1]}{step[2]}x{step[3]}" + text[step.end() :]
    used = re.search(r"\{(\w+)", text.partition("\n\n")[0])
    if used is not None:
        yield "name", text[: used.start()] + "{nowhere" + text[used.end() :]
    yield "statement", text + "while nothing\n"
    yield "indentation", text.replace("\n", "\n ", 1)
