"""Constants: conditions of literals are what every run finds there (A10)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from fdc_toolchain.engine.values import Unusable, holds
from fdc_toolchain.linking.constants import fold
from fdc_toolchain.syntax.values import if_tail

from tests.support.linting import findings, lint

HEAD = "use fsm any.json\n"
TWICE = (
    '{"states": ["A", "B", "C"], "start_state": "A", "accept_states": ["C"], "alphabet": ["read_op"], '
    '"transitions": {"A": {"read_op": "B"}, "B": {"read_op": "C"}}}'
)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("1 == 2", False), ("not true", False), ("not (1 == 2)", True), ('len("abc") > 2', True), ('"a" in "abc"', True),
        ("true and 1 < 2", True), ("false or 2 <= 1", False), ("x and false", False), ("x or true", True), ("x and true", None),
        ("x == x", None), ('"3" == 3', True), ("len(3) > 1", None), ('"a" < 3', None), ("cited(x)", None),
        ("0", False), ('""', False),
    ],
)  # fmt: skip
def test_a_condition_of_literals_is_folded(text: str, known: bool | None) -> None:
    found = if_tail(text)
    assert known is fold(found.tree)  # type: ignore[union-attr]


def tree(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    pick = rng.random()
    if depth < 3 and pick < 0.5:
        word = rng.choice(("not", "and", "or"))
        inner = [tree(rng, depth + 1) for _ in range(rng.randint(2, 3))]
        return {"not": inner[0]} if word == "not" else {word: inner}
    if pick < 0.8:
        return {
            "test": rng.choice(("==", "!=", "<", "<=", ">", ">=", "in")),
            "left": leaf(rng),
            "right": leaf(rng),
        }
    return {"value": leaf(rng)}


def leaf(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {
        "const": rng.choice((True, False, 0, 1, 2.5, "", "a", "abc", "1", "-2"))
    }
    if rng.random() < 0.25:
        made = {"ref": ["x"]}
    return {"len": made} if rng.random() < 0.25 else made


def test_a_folded_condition_is_what_the_engine_finds_whatever_the_names_are() -> None:
    known = 0
    for seed in range(5000):
        rng = random.Random(seed)
        made = tree(rng)
        folded = fold(made)
        if folded is None:
            continue
        for x in (None, True, 3, "a", "", [1], {"a": 1}):
            try:
                assert folded is holds(made, {"x": x}, []), (made, x)
                known += 1
            except Unusable:
                continue
    assert known > 5000


def test_a_loop_without_until_runs_just_so_often() -> None:
    """A10: lint showed a run of one turn."""
    files = {"twice.json": TWICE}
    for until, codes in (
        ("", []),
        (" until 1 == 2", []),
        (" until cited(1)", ["FDC402"]),
        (" until true", ["FDC402"]),
    ):
        plan = f"use fsm twice.json\niterate max 2{until}\n  list_files\n"
        assert codes == [
            item.code for item in findings(lint({**files, "a.plan": plan}), "FDC401", "FDC402")
        ], until


def test_a_very_long_loop_is_judged_for_its_very_last_round() -> None:
    """However many rounds: what one of them does is looked at once for each state, and the counterexample has its length."""
    ring = {f"S{n}": {"read_op": f"S{(n + 1) % 7}"} for n in range(7)}
    for times in (16, 17, 700_000, 999_999_999_999_999):
        machine = {"states": list(ring), "start_state": "S0", "accept_states": [f"S{times % 7}"], "alphabet": ["read_op"],
                   "transitions": ring}  # fmt: skip
        files = {"ring.json": json.dumps(machine)}
        body = f"use fsm ring.json\nbudget seconds 5\niterate max {times}\n  list_files\n"
        assert [] == findings(lint({**files, "a.plan": body}), "FDC401", "FDC402")
        found = findings(lint({**files, "a.plan": body + "list_files\n"}), "FDC402")
        assert 1 == len(found)
        count = sum(not step.message.startswith(("(", "...", " ")) for step in found[0].trace)
        gap = [
            int(step.message.split()[1])
            for step in found[0].trace
            if step.message.startswith("...")
        ]
        assert times + 1 == count + sum(gap)


@pytest.mark.parametrize(
    ("text", "code"),
    [("false", "FDC482"), ("not true", "FDC482"), ("1 == 2", "FDC482"), ("true", "FDC483"), ('len("a") == 1', "FDC483"),
     ("cited(1)", None), ("run == 3", None)],
)  # fmt: skip
def test_a_gate_that_is_a_constant_is_told(text: str, code: str | None) -> None:
    found = findings(lint(f'{HEAD}require {text} else "no"\nlist_files\n'), "FDC482", "FDC483")
    assert ([] if code is None else [code]) == [item.code for item in found]
    assert not [
        item for item in found if "every run stops" in item.message
    ]  # of a gate in an `if` not every run does
