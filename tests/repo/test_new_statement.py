"""The recipe of docs/design.md for a statement, followed in a copy: five files, and none can be forgotten.

The statement is `demand CONDITION`: a `require` that says itself what does not hold.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.house import copied, fdc, follow

TOOLCHAIN = "tooling/fdc_toolchain"
ROW = 'Construct("demand", "demand", "the form is `demand CONDITION`"),'
CLASS = 'class Demand(Require):\n    word = "demand"\n    type = "DEMAND"'
BUILD = """    def demand_tail(self, children: list[Any]) -> Condition:
        return condition(children[0])"""
MEANING = """    def _demand(self, node: Any) -> Node | None:
        tail = values.READERS["demand"](node.tail)
        if isinstance(tail, Malformed):
            self.malformed(node, tail)
            return Gate(node, None, "")
        return Gate(node, tail, f"`demand {node.tail}` does not hold", fold(tail.tree))"""
RECIPE: dict[str, list[tuple[str, str]]] = {
    "grammar/plan.lark": [
        ("          | yield\n", "          | yield\n          | demand\n"),
        ("yield:     YIELD\n", "yield:     YIELD\ndemand:    DEMAND\n"),
        ('YIELD:     "yield"\n', 'YIELD:     "yield"\nDEMAND:    "demand"\n'),
        ("yield_tail:    value\n", "yield_tail:    value\ndemand_tail:   condition\n"),
    ],
    f"{TOOLCHAIN}/syntax/language.py": [
        ("\n)\n\nWORDS", f"\n    {ROW}\n)\n\nWORDS"),
    ],
    f"{TOOLCHAIN}/syntax/tree.py": [
        ("class Header(Record):", f"{CLASS}\n\n\nclass Header(Record):"),
        ('    "yield": Yield,\n}', '    "yield": Yield,\n    "demand": Demand,\n}'),
    ],
    f"{TOOLCHAIN}/syntax/tail_values.py": [
        ("    def if_tail(", f"{BUILD}\n\n    def if_tail("),
    ],
    f"{TOOLCHAIN}/linking/link.py": [
        ("    def _yield(", f"{MEANING}\n\n    def _yield("),
        ('    "yield": _Reader._yield,\n', '    "yield": _Reader._yield,\n    "demand": _Reader._demand,\n'),
    ],
}  # fmt: skip
"""By file, what is put in place of what."""

FORGOTTEN = {
    "grammar/plan.lark": 'grammar/plan.lark has no `DEMAND: "demand"`',
    f"{TOOLCHAIN}/syntax/language.py": "syntax/language.py has no row for `demand`",
    f"{TOOLCHAIN}/syntax/tree.py": "`demand` of syntax/language.py has no class in syntax/tree.py",
    f"{TOOLCHAIN}/syntax/tail_values.py": "`demand` of syntax/language.py has no method for its tail in syntax/tail_values.py",
    f"{TOOLCHAIN}/linking/link.py": "`demand` of syntax/language.py has no meaning in linking/link.py",
}
"""By file, what is said where it was left out."""

HEAD = "param left = no\n"
PLAN = 'set_plan one\ndemand {left}   == "no"\nplan_step_complete done\nclose_task\nsubmit\n'


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of fdc with a plan that uses the statement."""
    home = copied(tmp_path_factory.mktemp("house"))
    (home / "workspace" / "plan.txt").write_text(HEAD + PLAN)
    return home


@pytest.mark.long
def test_the_recipe_is_enough(house: Path) -> None:
    follow(house, RECIPE, RECIPE)
    assert len(RECIPE) <= 5
    plan, wrong = house / "workspace" / "plan.txt", house / "workspace" / "wrong.txt"
    done = fdc(house, "fmt", "plan.txt")
    assert 0 == done.returncode, done.stderr
    assert 'demand {left} == "no"\n' in plan.read_text()
    done = fdc(house, "lint", "plan.txt")
    assert 0 == done.returncode, done.stdout + done.stderr
    wrong.write_text("set_plan one\ndemand {left} =\n")
    done = fdc(house, "lint", "wrong.txt")
    assert 1 == done.returncode and "the form is `demand CONDITION`" in done.stdout, done.stdout
    done = fdc(house, "run", "plan.txt", "left=yes")
    assert 1 == done.returncode, done.stdout + done.stderr
    assert '`demand {left} == "no"` does not hold' in done.stdout + done.stderr


@pytest.mark.parametrize("left_out", RECIPE)
def test_a_file_that_was_forgotten_is_named(house: Path, left_out: str) -> None:
    follow(house, {name: edits for name, edits in RECIPE.items() if name != left_out}, RECIPE)
    done = fdc(house, "lint", "plan.txt")
    assert 0 != done.returncode
    assert FORGOTTEN[left_out] in done.stdout + done.stderr
    assert "KeyError" not in done.stdout + done.stderr
