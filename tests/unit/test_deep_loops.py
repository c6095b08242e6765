"""Loops in loops multiply the rounds of the shortest run that is wrong: each body is gone through a few times, not each round."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.rules.solver.counterexample import Search

from tests.support.linting import findings, lint

HEADS = {
    "exact": "iterate max 2",
    "until": 'iterate max 3 until a == "{}"',
    "fork": "fork x{} in {{l}} max 2",
    "kept": "fork x{} in {{l}} max 2 keep failures",
}
# Reads may be made any number of times, and no command after the first one.
ONCE = json.dumps(
    {
        "states": ["A", "B"],
        "alphabet": ["plan_op", "read_op", "tool_exec"],
        "start_state": "A",
        "accept_states": ["A", "B"],
        "transitions": {
            "A": {"plan_op": "A", "read_op": "A", "tool_exec": "B"},
            "B": {"plan_op": "B", "read_op": "B"},
        },
    }
)


def deep(head: str, depth: int) -> dict[str, str]:
    lines = ["param a = x", "l <- list_files"]
    for level in range(depth):
        lines.append("  " * level + head.format(level))
        lines.append("  " * (level + 1) + "read_file once.json")
    lines.append("  " * depth + "run_in_bash_session ls")
    return {"a.plan": "use fsm once.json\n" + "\n".join(lines) + "\n", "once.json": ONCE}


@pytest.mark.parametrize("kind", HEADS)
def test_the_bodies_of_deep_loops_are_gone_through_a_few_times(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = 0
    real = Search._body

    def body(self: Search, *rest: object) -> object:
        nonlocal bodies
        bodies += 1
        return real(self, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Search, "_body", body)
    assert findings(lint(deep(HEADS[kind], 5)), "FDC401")
    few = bodies
    found = findings(lint(deep(HEADS[kind], 25)), "FDC401")
    assert found
    assert bodies - few < 10 * few + 2_000


def test_the_trace_through_deep_loops_has_each_step() -> None:
    (found,) = findings(lint(deep("iterate max 2", 5)), "FDC401")
    text = [label.message for label in found.trace]
    # 5 reads on the way in, the command, and then the innermost round again, which reads before it.
    assert sum("A -> A" in line for line in text) >= 5
    assert sum("A -> B" in line for line in text) == 1
    assert "(turn 2)" in "".join(text)
