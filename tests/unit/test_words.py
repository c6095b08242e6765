"""The prover where generated plans seldom look: entries of a summary kept apart, the shortest of several ways."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.rules.solver.counterexample import Search
from fdc_toolchain.rules.solver.words import Machine, Summaries

from tests.support.linting import findings, lint
from tests.support.plansets import CATALOGUE


def machine(accept: str, **moves: str) -> str:
    """`S0_a="1"` is the move from S0 by `a_op` to S1; every state is named by its number."""
    rows: dict[str, dict[str, str]] = {f"S{number}": {} for number in range(5)}
    for name, target in moves.items():
        state, _, letter = name.partition("_")
        rows[state][f"{letter}_op"] = f"S{target}"
    return json.dumps(
        {"states": list(rows), "alphabet": ["a_op", "b_op", "c_op"], "transitions": rows, "start_state": "S0",
         "accept_states": [f"S{number}" for number in accept]}
    )  # fmt: skip


def summaries(text: str, automaton: str, **fragments: str) -> tuple[Summaries, object]:
    files = {"fdc_tools.json": CATALOGUE, "m.json": automaton, "a.plan": "use fsm m.json\n" + text}
    checked = lint(
        {**files, **{f"{name}.plan": body for name, body in fragments.items()}}, "a.plan"
    )
    instance = checked.context.graph.instance("a.plan")
    assert instance.unit.automaton is not None
    return Summaries(Machine.of(instance.unit.automaton)), instance


FORKED = 'if cited("x")\n  ta\nelse\n  tb\n'


def test_a_summary_belongs_to_one_entry_state_whoever_else_came_in_with_it():
    """Entered from S1 and S2 at once, then from S1 alone: what S2 leads to is not held against the second call."""
    automaton = machine("34", S0_a="1", S0_b="2", S1_c="3", S2_c="4", S3_a="1", S4_a="1")
    found, instance = summaries(
        FORKED + "call_plan f.plan\nta\ncall_plan f.plan\n", automaton, f="tc\n"
    )
    assert found.root(instance) == 1 << 3


def test_of_several_ways_into_a_state_the_shortest_is_told():
    """The longer way was found first."""
    automaton = machine("012", S0_a="1", S0_b="2", S1_c="3", S2_c="3")
    found, instance = summaries('if cited("x")\n  ta\n  tn\n  tn\nelse\n  tb\ntc\n', automaton)
    unfinished = Search(found).root(instance).unfinished
    assert unfinished is not None
    assert unfinished[:2] == (3, 2)


def test_a_run_of_astronomic_length_has_its_length_and_prints_its_ends():
    """10^9 calls: counted exactly, gone through once, told in two dozen lines."""
    files = {f"p{n}.plan": f"call_plan p{n + 1}.plan\n" * 10 for n in range(1, 9)} | {
        "p9.plan": "ta\n"
    }
    files |= {
        "fdc_tools.json": CATALOGUE,
        "m.json": machine("0", S0_a="0"),
        "p0.plan": "use fsm m.json\n",
    }
    files["p0.plan"] += "call_plan p1.plan\n" * 10 + "tb\n"
    [found] = findings(lint(files, "p0.plan"), "FDC401")
    assert len(found.trace) < 40
    [gap] = [label for label in found.trace if "more steps" in label.message]
    shown = (
        sum("(" not in label.message for label in found.trace) - 2
    )  # without the gap and the refused step
    total = 10**9 + sum(10**n for n in range(1, 10))
    assert gap.message.strip() == f"... {total - shown} more steps ..."


def test_the_turns_of_a_loop_are_told_as_remarks_between_the_steps() -> None:
    files = {"fdc_tools.json": CATALOGUE, "m.json": machine("01", S0_a="1", S1_b="0", S1_c="1")}
    text = 'use fsm m.json\niterate max 3 until cited("x")\n  ta\n'
    [found] = findings(lint({**files, "a.plan": text}, "a.plan"), "FDC401")
    assert [label.message.strip() for label in found.trace if "turn" in label.message] == [
        "(turn 2)"
    ]


def test_the_run_that_is_shown_of_a_loop_of_many_turns_begins_at_the_first_step() -> None:
    machine = json.dumps(
        {
            "states": ["S", "T"], "start_state": "S", "accept_states": ["S", "T"], "alphabet": ["plan_op", "read_op"],
            "transitions": {"S": {"plan_op": "S", "read_op": "T"}, "T": {"plan_op": "T"}},
        }
    )  # fmt: skip
    for turns in (3, 20):
        plan = f"# FSM: m.json\nset_plan x\niterate max {turns}\n  set_plan y\n  read_file a.txt\n"
        checked = lint({"a.plan": plan, "m.json": machine}, "a.plan", there=["a.txt"])
        refused = findings(checked, "FDC401")
        assert [item.span.line for item in refused] == [5]
        assert [label.span.line for label in refused[0].trace] == [2, 4, 5, 3, 4, 5]


@pytest.mark.parametrize(("count", "named"), [(3, "`t0`, `t1`, `t2`"), (4, "`t0`, ...")])
def test_the_help_names_three_tools_of_an_action_or_one_of_more(count: int, named: str) -> None:
    row = {"summary": "x", "effect": "pure", "trust": "trusted", "parameters": []}
    tools = {f"t{number}": {**row, "action": "b_op"} for number in range(count)}
    tools["ta"] = {**row, "action": "a_op"}
    files = {
        "own.json": json.dumps({"format": 1, "name": "own", "tools": tools}),
        "m.json": machine("0", S0_b="0"),
        "a.plan": "use fsm m.json\nta\n",
    }
    [found] = findings(lint(files, settings=Settings(catalogues=("own.json",))), "FDC401")
    assert found.help == f"in `S0` it allows b_op ({named})"
