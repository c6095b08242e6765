"""ALPHABETUM's pure rules: consistency, phases, triggers, stopping conditions, verdicts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fdc_packs.alphabet.calculus.consistency import (
    score,
    violations,
    violations_between,
    violations_near,
)
from fdc_packs.alphabet.config import DEFAULTS, ConfigError, config_of
from fdc_packs.alphabet.iteration import phases
from fdc_packs.alphabet.iteration.phases import Facts
from fdc_packs.alphabet.iteration.verdicts import candidates, judged
from fdc_packs.alphabet.model import STRATEGIES, Primitive, alphabet_of, named, slug
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.alphabets import alphabet, candidate, criticism, primitive
from tests.support.repository import ROOT

CONFIG: dict[str, Any] = config_of(None)


def broken(*primitives: Primitive) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.rule, one.ids) for one in violations(alphabet_of(primitives))]


def test_a_sound_alphabet_breaks_no_rule() -> None:
    """ALPH-49 to 54."""
    sound = alphabet("being", "time", "change", time={"contrasts": ("PRM_0001",)}, being={"contrasts": ("PRM_0002",)},
                     change={"presupposes": ("PRM_0001", "PRM_0002")})  # fmt: skip
    assert [] == violations(sound) and 1.0 == score(sound, [])
    assert [] == violations_between(4, 5)


def test_no_prime_and_no_label_is_given_twice() -> None:
    """ALPH-49."""
    assert [("ids", ("PRM_0001", "PRM_0002"))] == broken(
        primitive(1, "a"), primitive(2, "b", definition="x")._replace(prime=2)
    )
    assert [("ids", ("PRM_0001", "PRM_0002"))] == broken(
        primitive(1, "a"), primitive(2, "A ", definition="x")
    )
    with pytest.raises(ValueError, match="PRM_0001"):
        alphabet_of([primitive(1, "a"), primitive(1, "b")])


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_a_circle_of_presuppositions_of_any_length_is_found(length: int) -> None:
    """ALPH-50."""
    ring = [
        primitive(n + 1, f"p{n}", presupposes=(f"PRM_{(n + 1) % length + 1:04d}",))
        for n in range(length)
    ]
    assert [("circularity", tuple(one.id for one in ring))] == broken(*ring)


def test_what_is_recorded_to_be_expressed_by_others_is_redundant() -> None:
    """ALPH-51, C-26; T-53: not by how many primitives a domain has."""
    assert [("redundancy", ("PRM_0003", "PRM_0001", "PRM_0002"))] == broken(
        primitive(1, "a"), primitive(2, "b"), primitive(3, "c", derivation=("PRM_0001", "PRM_0002"))
    )
    other = primitive(2, "b", definition="What A is", domain="time")
    assert [("redundancy", ("PRM_0001", "PRM_0002"))] == broken(primitive(1, "a"), other)
    assert [] == broken(*(primitive(n, f"p{n}") for n in range(1, 13)))


def test_every_reference_leads_to_a_primitive_in_use() -> None:
    """ALPH-52."""
    assert [("references", ("PRM_0001", "PRM_0009"))] == broken(
        primitive(1, "a", presupposes=("PRM_0009",))
    )
    gone = primitive(2, "b", status="deprecated")
    assert [("references", ("PRM_0001", "PRM_0002"))] == broken(
        primitive(1, "a", composes=("PRM_0002",)), gone
    )


def test_iterations_follow_each_other() -> None:
    """ALPH-53."""
    assert ["iterations", "iterations"] == [
        one.rule for after in (4, 6) for one in violations_between(4, after)
    ]


def test_a_contrast_goes_both_ways_and_is_no_presupposition() -> None:
    """ALPH-54."""
    assert [("contrasts", ("PRM_0001", "PRM_0002"))] == broken(
        primitive(1, "a", contrasts=("PRM_0002",)), primitive(2, "b")
    )
    both = (
        primitive(1, "a", contrasts=("PRM_0002",), presupposes=("PRM_0002",)),
        primitive(2, "b", contrasts=("PRM_0001",)),
    )
    assert {
        ("contrasts", ("PRM_0001", "PRM_0002")),
        ("contrasts", ("PRM_0002", "PRM_0001")),
    } == set(broken(*both))


IDS = [f"PRM_{number:04d}" for number in range(1, 8)]


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[Primitive], list[Primitive]]:
    """A sound alphabet, and a change of some of it."""

    def some(number: int, wild: bool) -> Primitive:
        pick = st.sampled_from(IDS if wild else IDS[: number - 1] or [IDS[0]])
        links = st.lists(pick, max_size=2, unique=True).map(tuple)
        more: dict[str, Any] = {"presupposes": draw(links) if wild or number > 1 else ()}
        if wild:
            more |= {"contrasts": draw(links), "composes": draw(links), "derivation": draw(links)}
            more |= {"definition": draw(st.sampled_from(["", "same", "other"]))}
            more |= {"status": draw(st.sampled_from(["recent", "deprecated"]))}
        more["domain"] = draw(st.sampled_from(["being", "time"]))
        return primitive(
            number, f"p{number}" if not wild else draw(st.sampled_from(["p1", "p2", "new"])), **more
        )

    sound = [some(number, False) for number in range(1, 8)]
    changed = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3, unique=True))
    return sound, [some(number, True) for number in changed]


@given(changes())
@settings(max_examples=80, deadline=None)
def test_what_is_near_a_change_is_all_that_the_change_can_break(
    drawn: tuple[list[Primitive], list[Primitive]],
) -> None:
    """ALPH-63: the incremental check agrees with the whole one on whether a changed alphabet is sound, rule by rule."""
    sound, change = drawn
    before = alphabet_of(sound)
    assert [] == violations(before)
    after = before.replaced(*change)
    whole, near = violations(after), violations_near(after, {one.id for one in change})
    assert {one.rule for one in whole} == {one.rule for one in near}


def test_the_phases_are_a_sweep() -> None:
    """ALPH-45, C-23: cycles 4, 2, 3 by default."""
    counts = {"EXPANSION": 4, "CONSOLIDATION": 2, "COMPOSITION": 3}
    assert [
        (phase, cycle) for phase, count in counts.items() for cycle in range(1, count + 1)
    ] == phases.phases(CONFIG)
    none = config_of({"iteration": {"expansion_cycles": 0, "consolidation_cycles": 0}})
    assert ("COMPOSITION", 1) == phases.phases(none)[0]


PROPOSE, CRITICISE = ["read_op", "propose_op", "stage_op"], ["read_op", "criticise_op", "stage_op"]
REFINE = ["refine_op", "stage_op"]
REVIEW, COMPOSE, REFLECT = (
    ["review_op", "stage_op"],
    ["compose_op", "stage_op"],
    ["reflect_op", "stage_op"],
)
END = ["tool_exec", "write_op", "tool_exec", "close_op"]


@pytest.mark.parametrize(
    ("middle", "accepted"),
    [
        ([*PROPOSE, *CRITICISE, *REFINE] * 4 + REVIEW * 2 + COMPOSE * 3, True),
        ([*PROPOSE, *PROPOSE, *CRITICISE, *REVIEW, "refine_op", *COMPOSE, *REFLECT], True),
        ([], True),
        (COMPOSE + REFLECT + REFLECT, True),
        (CRITICISE, False),  # nothing was proposed
        (PROPOSE + REFINE, False),  # nothing was judged
        (REVIEW + PROPOSE, False),  # a phase does not come back
        (COMPOSE + REVIEW, False),
        (REFLECT + COMPOSE, False),
        (["write_op", *PROPOSE], False),  # nothing is written in the middle
    ],
)
def test_the_automaton_lets_the_phases_pass_in_order(middle: list[str], accepted: bool) -> None:
    """ALPH-44: read, phases, triggers, write; state by state."""
    automaton = json.loads(
        (ROOT / "tooling/fdc_packs/alphabet/alphabet_fsm.json").read_text("utf-8")
    )
    at: str | None = automaton["start_state"]
    for symbol in ["plan_op", "read_op", *middle, *END]:
        at = automaton["transitions"].get(at, {}).get(symbol)
    assert accepted == (at in automaton["accept_states"])


def test_strategies_take_turns_and_gaps_are_only_filled_where_there_are_any() -> None:
    """ALPH-09."""
    mode, seen = STRATEGIES[0], [STRATEGIES[0]]
    for _ in range(6):
        mode = phases.next_strategy(mode, ["a gap"])
        seen.append(mode)
    assert [*STRATEGIES, STRATEGIES[0]] == seen
    assert "DOMAIN_SWEEP" == phases.next_strategy("THOUGHT_EXPERIMENT", [])
    with pytest.raises(ValueError, match="GUESS"):
        phases.next_strategy("GUESS", [])


QUIET = Facts(
    iteration=3, since_meta=3, rate=0.5, decided=20, coverage=0.5, tested=40, added=(1,) * 12, changed=(0,) * 12,
    pivots=(False,) * 12,
)  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (QUIET._replace(since_meta=5), "5 iterations"),
        (QUIET._replace(rate=0.19), "19%"),
        (QUIET._replace(circles=1), "1 circular"),
        (QUIET._replace(gap=0.2), "20%"),
        (QUIET._replace(requested=True), "asked for it"),
    ],
)
def test_each_trigger_alone_makes_a_reflection_due(facts: Facts, says: str) -> None:
    """ALPH-28."""
    [why] = phases.triggers(facts, CONFIG)
    assert says in why
    assert [] == phases.triggers(QUIET, CONFIG)


@pytest.mark.parametrize(
    "facts",
    [
        QUIET._replace(since_meta=4), QUIET._replace(rate=0.2), QUIET._replace(rate=0.0, decided=4),
        QUIET._replace(rate=0.0, since_meta=1), QUIET._replace(gap=0.9, since_meta=1), QUIET._replace(gap=0.9, tested=4),
    ],
)  # fmt: skip
def test_what_is_just_short_of_a_trigger_is_none(facts: Facts) -> None:
    """ALPH-28; T-55: not every sweep."""
    assert [] == phases.triggers(facts, CONFIG)


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (QUIET._replace(decision="CONCLUDE", reason="enough"), "CONCLUDED"),
        (QUIET._replace(coverage=0.9), "COVERAGE_ACHIEVED"),
        (QUIET._replace(iteration=500), "MAX_ITERATIONS_REACHED"),
        (QUIET._replace(added=(3,) + (0,) * 10), "STABILITY_ACHIEVED"),
        (QUIET._replace(added=(3,) + (0,) * 9 + (1,)), "DIMINISHING_RETURNS_NO_PIVOT"),
    ],
)
def test_each_stopping_condition_alone_ends_the_work_with_its_own_code(
    facts: Facts, code: str
) -> None:
    """ALPH-65."""
    stop = phases.stopping(facts, CONFIG)
    assert stop is not None and code == stop.code and stop.why
    assert phases.stopping(QUIET, CONFIG) is None


@pytest.mark.parametrize(
    "facts",
    [
        QUIET._replace(coverage=0.899), QUIET._replace(coverage=1.0, tested=0), QUIET._replace(iteration=499),
        QUIET._replace(added=(0,) * 9, changed=(0,) * 9),
        QUIET._replace(added=(0,) * 11, changed=(0,) * 10 + (1,), pivots=(True,)),
        QUIET._replace(added=(0,) * 9 + (1,), pivots=(False,) * 9 + (True,)), QUIET._replace(decision="PIVOT"),
    ],
)  # fmt: skip
def test_what_is_just_short_of_a_stopping_condition_goes_on(facts: Facts) -> None:
    """ALPH-65."""
    assert phases.stopping(facts, CONFIG) is None


def test_an_iteration_that_is_given_up_says_why() -> None:
    """ALPH-66."""
    assert "RESOURCE_EXHAUSTION" == phases.failing("budget", "no tokens left").code
    assert (
        "FUNDAMENTAL_LIMIT" == phases.failing("tool", "`x` raised TooLarge: the task has ...").code
    )
    assert "STEP_FAILED" == phases.failing("tool", "`x` raised KeyError").code


SOME = alphabet("being", "time")


def verdict(said: str, **attacks: dict[str, Any]) -> Any:
    return judged(criticism("CAND_001_001", said, **attacks)["critic_output"], SOME)


@pytest.mark.parametrize(
    "attacks",
    [
        {"decomposition": {"survived": False}},
        {"circularity": {"survived": False}},
        {"redundancy": {"can_be_expressed": True, "using_primitives": ["PRM_0001"]}},
        {"parsimony": {"necessary": False}},
    ],
)
def test_nothing_is_accepted_that_failed_a_critical_attack(attacks: dict[str, Any]) -> None:
    """ALPH-14."""
    found = verdict("ACCEPT", **attacks)
    assert ("REFINE", "ACCEPT", next(iter(attacks))) == (
        found.word,
        found.said,
        found.attack,
    ) and found.why
    assert "ACCEPT" == verdict("ACCEPT").word
    assert ("ACCEPT", "") == verdict("ACCEPT", edge_cases={"severity": "high"})[
        0:3:2
    ]  # it failed none that rejects it


def test_a_rejection_names_the_attack_that_failed() -> None:
    """ALPH-15: one that names none is none."""
    assert ("REJECT", "circularity") == verdict("REJECT", circularity={"survived": False})[0:3:2]
    assert "REFINE" == verdict("REJECT").word
    assert "DEFER" == verdict("DEFER").word  # ALPH-17


def test_an_evaluation_without_an_attack_is_invalid_never_survived() -> None:
    """ALPH-12, T-54."""
    output = criticism("CAND_001_001")["critic_output"]
    for name in list(output["attacks"]):
        less = {
            **output,
            "attacks": {key: value for key, value in output["attacks"].items() if key != name},
        }
        assert name in str(judged(less, SOME))


@pytest.mark.parametrize(
    "attempts", [[], ["analytic: none", "functional: none"], [{"kind": "synthetic"}]]
)
def test_nobody_survives_a_decomposition_that_was_not_attempted(attempts: list[Any]) -> None:
    """ALPH-12, T-54: analytic, synthetic and functional; one that took it apart is enough to fail."""
    made = {"attempts": attempts, "survived": True}
    for word in ("ACCEPT", "REFINE"):
        found = verdict(word, decomposition=made)
        assert isinstance(found, str) and ("synthetic" in found or "analytic" in found), found
    assert "REJECT" == verdict("REJECT", decomposition={**made, "survived": False}).word


def test_redundancy_names_primitives_that_exist() -> None:
    """ALPH-18."""
    assert "PRM_0009" in str(
        verdict("REJECT", redundancy={"can_be_expressed": True, "using_primitives": ["PRM_0009"]})
    )
    assert (
        "REJECT"
        == verdict(
            "REJECT", redundancy={"can_be_expressed": True, "using_primitives": ["Time"]}
        ).word
    )
    assert "not by which" in str(
        verdict("REJECT", redundancy={"can_be_expressed": True, "using_primitives": None})
    )


def test_what_is_known_is_not_proposed_again_and_ids_count_on() -> None:
    """ALPH-08, 11; a label is one line, and a path is not a label's business."""
    rows = [
        candidate(label) for label in ("Time", "new one", "NEW  one", "../../etc\npasswd", "***")
    ]
    kept, dropped = candidates(rows, 7, 4, {"time"})
    assert [("CAND_007_004", "new one"), ("CAND_007_005", "../../etc passwd")] == [
        (row["id"], row["label"]) for row in kept
    ]
    assert ["Time", "NEW one", "***"] == [row["label"] for row in dropped]
    assert "etc_passwd" == slug(kept[1]["label"])


def test_names_have_their_patterns() -> None:
    """ALPH-72, 91."""
    for kind, name in (("primitive", "PRM_0001"), ("candidate", "CAND_001_002"), ("decision", "DEC_0001_time_is_primitive.md"),
                       ("paradox", "PAR_0001_circularity_of_being.md"), ("reflection", "MR_0001_iteration_005.yaml"),
                       ("iteration", "iteration_005"), ("time", "2026-01-31T12:00:00Z"), ("primitive", "PRM_10000")):  # fmt: skip
        assert (
            named(kind, name)
            and not named(kind, f"{name} ")
            and not named(kind, name.lower() + "x")
        )
    assert not named("time", "2026-01-31 12:00:00") and not named("primitive_file", "P001.yaml")


def test_the_configuration_has_the_seeds_keys_and_defaults() -> None:
    """ALPH-55, 64."""
    assert {"proposer": 0.7, "critic": 0.3, "refiner": 0.5, "meta_reasoner": 0.5} == DEFAULTS[
        "temperatures"
    ]
    assert (0.90, 10, 2, 500, 10) == tuple(DEFAULTS["stopping"].values())
    assert (
        DEFAULTS == config_of(None)
        and 1.0 == config_of({"temperatures": {"critic": 1}})["temperatures"]["critic"]
    )


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"iterations": {}}, "`iterations`"),
        ({"stopping": {"max_iteration": 3}}, "did you mean `max_iterations`"),
        ({"temperatures": {"critic": 2.5}}, "`temperatures.critic` is between 0 and 2"),
        ({"temperatures": {"critic": "warm"}}, "`temperatures.critic` takes a number"),
        (
            {"iteration": {"expansion_cycles": True}},
            "`iteration.expansion_cycles` takes a whole number",
        ),
        ({"logging": {"level": "LOUD"}}, "`logging.level`"),
        ({"llm": {"provider": "ollama"}}, "`llm.provider`"),
        (
            {"llm": {"provider": "openai"}},
            "`llm.provider` is openai, and `llm.model` names no model",
        ),
        ({"llm": {"provider": "anthropic"}}, "`llm.model`"),
        ({"paths": {"alphabet": "../elsewhere"}}, "`paths.alphabet`"),
        ([], "expected a table"),
        ({"llm": []}, "takes a table"),
    ],
)
def test_a_wrong_configuration_is_named_by_its_path(value: Any, says: str) -> None:
    """ALPH-55, 56, 60, 64."""
    with pytest.raises(ConfigError) as wrong:
        config_of(value)
    assert says in str(wrong.value) and "config.yaml" in str(wrong.value)
