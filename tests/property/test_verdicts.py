"""The prover against brute force, on generated plan sets (FDC-16, FDC-30, FDC-31, FDC-34)."""

from __future__ import annotations

import pytest
from fdc_toolchain.check import check
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.rules.solver.counterexample import Search
from fdc_toolchain.rules.solver.words import Machine

from tests.support.plansets import CATALOGUE, PlanSet, TooMany, judged, plan_set, verdict
from tests.support.profiles import quick_and_whole, share

SETS = share(2600)
"""At least three of four are small enough to enumerate; the test counts."""
KEPT_SETS = share(900)


def checked(made: PlanSet):
    files = Files("/nonexistent")
    files.seen |= made.files | {"fdc_tools.json": CATALOGUE}
    return check(Linker("/nonexistent", Settings(), files), ["p0.plan"])


@pytest.mark.parametrize("sets", quick_and_whole(SETS // 4, SETS))
def test_verdicts_and_shortest_runs_agree_with_brute_force(sets: int):
    compared, rejected = compare([plan_set(seed) for seed in range(sets)])
    assert compared >= sets * 3 // 4
    assert compared // 10 < rejected < compared - compared // 10, (
        "the generator must make both good and bad plans"
    )


def test_verdicts_and_shortest_runs_agree_where_failures_of_branches_are_kept():
    """LGTM-38: a branch ends after any prefix, and the run goes on."""
    sets = [plan_set(seed, kept=True) for seed in range(KEPT_SETS)]
    sets = [made for made in sets if any(b"keep failures" in data for data in made.files.values())]
    compared, rejected = compare(sets)
    assert compared >= KEPT_SETS // 4
    assert compared // 20 < rejected < compared - compared // 20, (
        "the generator must make both good and bad plans"
    )


def compare(sets: list[PlanSet]) -> tuple[int, int]:
    """How many plans were compared with brute force, and how many of them are wrong."""
    compared = rejected = 0
    for seed, made in enumerate(sets):
        result = checked(made)
        context = result.context
        for number in judged(made):
            try:
                expected = verdict(made, number)
            except TooMany:
                continue
            compared += 1
            key = f"p{number}.plan"
            instance = context.graph.instance(key)
            finding = Search(context.summaries(Machine.of(instance.unit.automaton))).root(instance)
            actual = (
                min((item.length for item in finding.refusals), default=None),
                finding.unfinished and finding.unfinished[1],
            )
            assert actual == expected, f"seed {seed}, {key}:\n{made.files[key].decode()}"
            wrong = {
                item.code
                for item in result.diagnostics
                if item.code in ("FDC401", "FDC402") and item.span.path == key
            }
            assert wrong == {
                code
                for code, found in (("FDC401", expected[0]), ("FDC402", expected[1]))
                if found is not None
            }
            rejected += bool(wrong)
    return compared, rejected


@pytest.mark.parametrize("sets", quick_and_whole(100, 400))
def test_verdicts_agree_with_a_public_automata_library_on_plans_without_calls(sets: int):
    """Language inclusion decided by automata-lib on a regular expression of the runs, no loop unrolled."""
    dfa_module = pytest.importorskip("automata.fa.dfa")
    nfa_module = pytest.importorskip("automata.fa.nfa")
    from tests.support.plansets import SYMBOLS, TOOLS

    letters = dict(zip(SYMBOLS, "abc", strict=True))

    def regex(items: list) -> str:
        out = ""
        for item in items:
            if item[0] == "step":
                symbol = TOOLS[item[1]]
                out += letters[symbol] if symbol else "()"
            elif item[0] == "each":
                out += f"({regex(item[1])})*"
            elif item[0] == "for":
                out += f"(({regex(item[2])})|())" * item[1]
            elif item[0] == "iterate":
                inner = regex(item[2])
                out += f"({inner})" + f"(({inner})|())" * (item[1] - 1)
            elif item[0] == "exact":
                out += f"({regex(item[2])})" * item[1]
            else:
                out += f"(({regex(item[1])})|({regex(item[2]) or '()'}))"
        return out or "()"

    compared = 0
    for seed in range(sets):
        made = plan_set(seed)
        if any(
            "call_plan" in data.decode() for name, data in made.files.items() if name == "p0.plan"
        ):
            continue
        m = made.machines[0]
        assert m is not None
        states = {str(number) for number in range(m.size)} | {"sink"}
        transitions = {
            state: {
                letters[symbol]: str(m.moves.get((int(state), symbol), "sink"))
                if state != "sink"
                else "sink"
                for symbol in SYMBOLS
            }
            for state in states
        }
        automaton = dfa_module.DFA(
            states=states,
            input_symbols=set("abc"),
            transitions=transitions,
            initial_state=str(m.start),
            final_states={str(number) for number in m.accept},
        )
        language = dfa_module.DFA.from_nfa(
            nfa_module.NFA.from_regex(regex(made.bodies[0]), input_symbols=set("abc"))
        )
        expected = language.issubset(automaton)
        actual = not any(item.code in ("FDC401", "FDC402") for item in checked(made).diagnostics)
        assert actual == expected, f"seed {seed}:\n{made.files['p0.plan'].decode()}"
        compared += 1
    assert compared >= sets // 4
