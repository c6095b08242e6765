"""`fdc grammar --format lark` by Lark's own parser, which shares nothing with llguidance: what it takes, and what it refuses."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fdc_toolchain.grammar_export.export import export
from lark import Lark
from lark.exceptions import LarkError

from tests.property.test_grammar_export import FEW, FILE_RULES, errors, linker, matcher, spells
from tests.support.changed_lines import mutated
from tests.support.profiles import cases, quick_and_whole

PLAN = """\
# FSM: tooling/fdc_fsm.json
set_plan Look
plan_step_complete ready
text1 <- read_file docs/tea.md
message_user {text1}
close_task
submit
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name in ("docs/tea.md", "docs/green tea.md"):
        (tmp_path / name).write_text("one line\n", "utf-8")
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    return tmp_path


def takes(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


@pytest.mark.parametrize("count", quick_and_whole(15, 120))
def test_lark_takes_plans_and_refuses_what_the_linter_refuses(place: Path, count: int) -> None:
    grammar = export(linker(place), "lark", tools=FEW, most=6, brief=True).text
    parser, other, here = Lark(grammar, parser="earley", lexer="dynamic"), matcher(grammar), linker(place)  # fmt: skip
    for text in (PLAN, PLAN.replace("docs/tea.md", '"docs/green tea.md"')):
        assert errors(here, text) == [] and takes(parser, text)
    refused = 0
    for seed in cases(count):
        chance = random.Random(seed)
        text = mutated(PLAN, chance)
        if seed % 2:
            at = chance.randrange(len(PLAN))
            text = PLAN[:at] + chance.choice('{}a1= \n"') + PLAN[at + 1 :]
        taken = takes(parser, text)
        wrong = [code for code in errors(here, text) if not FILE_RULES.fullmatch(code)]
        assert not (taken and wrong) and taken == spells(other, text), (wrong, text)
        refused += bool(wrong)
    assert refused > count // 3
