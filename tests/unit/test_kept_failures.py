"""Branches whose failures are kept (LGTM-38): small plans whose verdict turns on where a branch may stop.

The generated plan sets say that nothing is wrong anywhere (tests/property); these say that every part counts: each
planted mistake changes the verdict of one of them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.property.test_mutants import planted
from tests.support.linting import lint

CATALOGUE = json.dumps(
    {
        "format": 1,
        "name": "own",
        "tools": {
            **{
                tool: {"summary": tool, "action": f"{tool}_op", "effect": "pure", "trust": "trusted", "parameters": []}
                for tool in ("open", "shut")
            },
            "names": {"summary": "names", "action": None, "effect": "pure", "trust": "trusted", "parameters": []},
            **{
                tool: {
                    "summary": tool, "action": None, "effect": "idempotent", "trust": "trusted",
                    "parameters": [{"name": "path", "kind": "path", "access": access}],
                }
                for tool, access in (("make", "create"), ("put", "write"), ("drop", "delete"), ("look", "read"))
            },
        },
    }
)  # fmt: skip
DOOR = json.dumps(
    {
        "states": ["CLOSED", "OPEN"], "alphabet": ["open_op", "shut_op"], "start_state": "CLOSED", "accept_states": ["CLOSED"],
        "transitions": {"CLOSED": {"open_op": "OPEN"}, "OPEN": {"shut_op": "CLOSED"}},
    }
)  # fmt: skip
ANY = json.dumps(
    {
        "states": ["S"], "alphabet": ["open_op", "shut_op"], "start_state": "S", "accept_states": ["S"],
        "transitions": {"S": {"open_op": "S", "shut_op": "S"}},
    }
)  # fmt: skip
GRID = json.dumps(
    {
        "states": ["00", "10", "01", "11"], "alphabet": ["open_op", "shut_op"], "start_state": "00",
        "accept_states": ["00", "10", "01"],
        "transitions": {
            "00": {"open_op": "10", "shut_op": "01"}, "10": {"open_op": "00", "shut_op": "11"},
            "01": {"open_op": "11", "shut_op": "00"}, "11": {"open_op": "01", "shut_op": "10"},
        },
    }
)  # fmt: skip
FORK = "fork x in {all} max 1 keep failures\n"
PLAIN = "fork y in {all} max 1\n"
DONE = {"room.plan": "open\nshut\n", "tidy.plan": "drop a.txt\nmake a.txt\n"}

PLANS: dict[str, tuple[str, set[str]]] = {
    "what is opened may stay open": (f"{FORK}  open\n  shut\n", {"FDC402"}),
    "in a called plan too": (f"{FORK}  call_plan room.plan\n", {"FDC402"}),
    "and in a fork in the branch": (f"{FORK}  {PLAIN}    open\n    shut\n", {"FDC402"}),
    "and in a loop": (f"{FORK}  iterate max 2\n    open\n    shut\n", {"FDC402"}),
    "and on one side of a branch": (f'{FORK}  if cited("x")\n    open\n    shut\n', {"FDC402"}),
    "what follows comes after every beginning": (f"{FORK}  open\n  shut\nopen\nshut\n", {"FDC401"}),
    "a fork in it that keeps its own ends nobody": (
        f"{FORK}  {PLAIN.strip()} keep failures\n    look a.txt\nopen\nshut\n",
        set(),
    ),
    "a fork that keeps nothing has no beginnings": (f"{PLAIN}  open\n  shut\nopen\nshut\n", set()),
    "a plan with an automaton of its own may be left": (
        f"{FORK}  call_plan own.plan\nopen\nshut\n",
        set(),
    ),
}
TWO = 'fork y in {all} max 2\n    if cited("x")\n      open\n      open\n    else\n      shut\n      shut\n'
GRIDS: dict[str, tuple[str, set[str]]] = {
    "two branches of a fork in the branch may stop": (f"{FORK}  {TWO}", {"FDC402"}),
    "and none where nothing is kept": (f"fork x in {{all}} max 1\n  {TWO}", set()),
}
FILES: dict[str, tuple[str, set[str]]] = {
    "what was removed to be made anew may be gone": (
        f"{FORK}  drop a.txt\n  make a.txt\nlook a.txt\n",
        {"FDC411"},
    ),
    "what is made to be removed may be there": (
        f"{FORK}  make b.txt\n  drop b.txt\nmake b.txt\n",
        {"FDC412"},
    ),
    "in a called plan too": (f"{FORK}  call_plan tidy.plan\nlook a.txt\n", {"FDC411"}),
    "in a fork in the branch": (
        f"{FORK}  {PLAIN}    drop a.txt\n    make a.txt\nlook a.txt\n",
        {"FDC411"},
    ),
    "in the second turn of a loop": (
        f'{FORK}  iterate max 2 until cited("x")\n    put b.txt\n    drop a.txt\n    make a.txt\nlook a.txt\n',
        {"FDC411"},
    ),
    "before the last turn of a loop": (
        f'{FORK}  make b.txt\n  iterate max 2 until cited("x")\n    drop b.txt\n    make b.txt\n  drop b.txt\nmake b.txt\n',
        {"FDC412"},
    ),
    "in a loop of one turn what it removed is not sought again": (
        f"{FORK}  for y in {{all}} max 1\n    look a.txt\n    drop a.txt\n",
        set(),
    ),
    "on one side of a branch": (
        f'{FORK}  if cited("x")\n    drop a.txt\n    make a.txt\nlook a.txt\n',
        {"FDC411"},
    ),
    "a fork that keeps nothing is done or not begun": (
        f"{PLAIN}  drop a.txt\n  make a.txt\nlook a.txt\n",
        set(),
    ),
}
RULES: dict[str, tuple[str, set[str]]] = {
    "what is owed in the branch may stay owed": (f"{FORK}  open\n  shut\n", {"FDC461"}),
    "in a called plan too": (f"{FORK}  call_plan room.plan\n", {"FDC461"}),
    "unless what follows gives it": (f"{FORK}  open\n  shut\nshut\n", set()),
    "a gate in the branch stops no run": (f'{FORK}  open\n  require cited("x") else "no"\nshut\n', set()),
}  # fmt: skip


def codes(text: str, fsm: str = "any.json", rule: dict[str, Any] | None = None) -> set[str]:
    files = {"a.plan": f"use fsm {fsm}\nall <- names\n{text}", "fdc_tools.json": CATALOGUE}
    files |= {"door.json": DOOR, "any.json": ANY, "grid.json": GRID}
    files |= DONE | {"own.plan": "use fsm door.json\nopen\nshut\n"}
    if rule is not None:
        row = {"rule_id": "r", "description": "Doors.", "enforcement": "Proved.", "check": rule}
        files["protocols/p.protocol.json"] = json.dumps(
            {"protocol_id": "p", "description": "Doors.", "rules": [row]}
        )
        files["protocols/"] = "p.protocol.json"
    found = lint(files, "a.plan", there=["a.txt"])
    return {item.code for item in found.diagnostics if item.severity == "error"}


def verdicts() -> dict[str, bool]:
    """Each plan, and whether its verdict is the one that is expected."""
    owed = {"template": "response", "a": "open_op", "b": "shut_op", "on_abort": "check"}
    plain = {**owed, "on_abort": "ignore"}
    out = {name: codes(text, "door.json") == wanted for name, (text, wanted) in PLANS.items()}
    out |= {
        f"grid: {name}": codes(text, "grid.json") == wanted
        for name, (text, wanted) in GRIDS.items()
    }
    out |= {f"files: {name}": codes(text) == wanted for name, (text, wanted) in FILES.items()}
    out |= {
        f"rules: {name}": codes(text, rule=plain) == wanted
        for name, (text, wanted) in RULES.items()
    }
    return out


def test_a_branch_that_may_stop_has_every_beginning_for_an_end() -> None:
    """LGTM-38."""
    assert [] == [name for name, right in verdicts().items() if not right]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("solver.words", "return ends | passed", "return ends"),
        (
            "solver.words",
            "            if noting:\n                self.passed |= mask",
            "            if noting:\n                pass",
        ),
        (
            "solver.words",
            "            self.passed |= known[1]",
            "            self.passed |= 0",
        ),
        (
            "solver.words",
            "        self.passed |= found[1]",
            "        self.passed |= 0",
        ),
        (
            "solver.words",
            "            self.passed |= stopped",
            "            self.passed |= 0",
        ),
        (
            "solver.words",
            "        if node.keeps:\n            return",
            "        if False:\n            return",
        ),
        (
            "solver.counterexample",
            "{state: (length, (path, stop)) for state, (length, path) in twin.passed.items()}",
            "{}",
        ),
        (
            "solver.counterexample",
            "((out, summary.exits), (self.passed, summary.passed))",
            "((out, summary.exits),)",
        ),
        (
            "solver.counterexample",
            "merge(self.passed, self._turns(instance, node, here, refusals, branch, stopping=True))",
            "pass",
        ),
        (
            "solver.files.plan_effects",
            "ever[path] = either(either(ever.get(path) or elsewhere(path, so_far()), before), after)",
            "ever[path] = after",
        ),
        (
            "solver.files.plan_effects",
            "return Outcomes(turns(node, stops), None)",
            "return Outcomes(turns(node, ends), None)",
        ),
        (
            "solver.files.plan_effects",
            "either(either(ever.get(path) or elsewhere(path, so_far()), here), after)",
            "ever.get(path) or elsewhere(path, so_far())",
        ),
        (
            "solver.files.plan_effects",
            "turns(node, ends), turns(node, stops))",
            "turns(node, ends), ends)",
        ),
        (
            "protocol_rules.proved",
            "        self.passed |= found[1]",
            "        self.passed |= 0",
        ),
    ],
)
def test_a_planted_mistake_changes_a_verdict(name: str, old: str, new: str) -> None:
    with planted(name, old, new):
        assert not all(verdicts().values())
    assert all(verdicts().values())
