"""The embedded proposer and critic: strategies that differ, attacks that strike what was planted, over small dictionaries
made here and over the real one."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import combinations
from typing import Any

import jsonschema
import pytest
from fdc_packs.alphabet.iteration import critic, expansion, proposer
from fdc_packs.alphabet.lexicon import tools, wordnet
from fdc_packs.alphabet.lexicon.lexicon import Lexicon
from fdc_packs.alphabet.lexicon.strategies import STRATEGIES as SEARCHES
from fdc_packs.alphabet.lexicon.tools import consult
from fdc_packs.alphabet.model import ATTACKS, DOMAINS, STRATEGIES
from fdc_toolchain import resources

from tests.support.alphabets import need_dictionary
from tests.support.dictionary import lexicon

PRIMITIVES = [
    {"id": "PRM_0001", "label": "end"},
    {"id": "PRM_0002", "label": "life"},
    {"id": "PRM_0003", "label": "walk"},
]


def small(**more: dict[str, Any]) -> Lexicon:
    """`death` is end and life; `being` is used everywhere and defined with rarer words; `walk` and `step` define one
    another."""
    return lexicon(
        {
            "end": "last part", "life": "being again", "death": "end of life", "walk": "step by step", "step": "part of a walk",
            "being": "odd quirk of quality", "odd": "quirk", "quirk": "odd being", "quality": "being of being", "last": "end",
            "part": "quality of being", "hammer": "used for a being", "wheel": "being part", "loop": "a loop is a quirk loop",
            "other": "being", "more": "being loop", "again": "being loop", "also": "loop being hammer",
            "too": "loop hammer being", "rare": "quirk of being", "hike": "odd quirk",
        },
        **more,
    )  # fmt: skip


def judged(
    words: Lexicon,
    label: str,
    *,
    strictness: float = 0.5,
    definition: str | None = None,
    **seen: Any,
) -> dict[str, Any]:
    """What the critic says of one candidate beside PRIMITIVES; keywords are what the dictionary's graph shows otherwise."""
    place = words.place(label)
    gloss = definition or ("" if place is None else words.words[place].gloss)
    candidates = [{"id": "CAND_001_001", "label": label, "informal_definition": gloss}]
    rows = consult(words, {"role": "critic", "candidates": candidates, "primitives": PRIMITIVES})
    for row in rows["rows"]:
        row["evidence"] |= seen
    context = {
        "candidates": candidates,
        "primitives": PRIMITIVES,
        "strictness": strictness,
        "rejections": [],
    }
    (one,) = critic.evaluate(context, rows, temperature=0.3)["evaluations"]
    output: dict[str, Any] = one["critic_output"]
    return output


def failed(output: dict[str, Any]) -> tuple[str, str]:
    """The verdict, and the attack that a rejection names (ALPH-15)."""
    summary = output["reasoning_summary"]
    return output["verdict"], summary.split("failed attack: ")[1].split(".")[
        0
    ] if "failed attack: " in summary else ""


def test_what_survives_everything_is_accepted() -> None:
    """ALPH-14: all four conditions hold, and a circle outside of the alphabet speaks for the candidate."""
    output = judged(small(), "being")
    assert ("ACCEPT", "") == failed(output)
    attacks = output["attacks"]
    assert (True, True, False, True) == (
        attacks["decomposition"]["survived"], attacks["circularity"]["survived"],
        attacks["redundancy"]["can_be_expressed"], attacks["parsimony"]["necessary"],
    )  # fmt: skip
    assert ["being", "quirk", "being"] in attacks["circularity"]["circular_paths"] or attacks[
        "circularity"
    ]["circular_paths"]
    assert set(ATTACKS) == set(attacks)


def test_redundancy_strikes_what_comes_to_primitives() -> None:
    """ALPH-12, 18: `death` is `end` and `life`; the primitives are named by id, and exist."""
    output = judged(small(), "death")
    assert ("REJECT", "redundancy") == failed(output)
    assert ["PRM_0001", "PRM_0002"] == sorted(output["attacks"]["redundancy"]["using_primitives"])


def test_redundancy_strikes_synonyms_and_forms_of_one_word() -> None:
    """`finish` has the sense of `end`, `ending` is another form of it."""
    words = small(being={"synonyms": ("end",)}, quality={"family": ("walk",), "label": "walking"})
    assert ["PRM_0001"] == judged(words, "being")["attacks"]["redundancy"]["using_primitives"]
    assert ["PRM_0003"] == judged(words, "walking")["attacks"]["redundancy"]["using_primitives"]


def test_redundancy_strikes_what_is_defined_in_the_words_of_a_primitive() -> None:
    """`less` and `more` are "used to form the comparative"; sending one back for ever would mend nothing."""
    rows = consult(small(), {"role": "critic", "candidates": ["quirk"], "primitives": PRIMITIVES})
    context = {
        "candidates": [{"id": "C", "label": "quirk", "informal_definition": "odd  Being"}],
        "primitives": [{**PRIMITIVES[0], "definition": "odd being"}, *PRIMITIVES[1:]],
    }
    (one,) = critic.evaluate(context, rows)["evaluations"]
    assert ("REJECT", "redundancy") == failed(one["critic_output"])
    assert ["PRM_0001"] == one["critic_output"]["attacks"]["redundancy"]["using_primitives"]


def test_a_circle_with_a_primitive_is_noted_and_speaks_for_the_candidate() -> None:
    """ALPH-19: `walk` is defined with `step` and `step` with `walk`; a grounding set can need both."""
    output = judged(small(), "step", grounding=True, weight=9)
    assert "ACCEPT" == output["verdict"]
    notes = output["attacks"]["circularity"]["notes"]
    assert "walk in the alphabet define each other" in notes and "speaks for" in notes
    outside = notes.split("Not in the alphabet: ")[1]
    assert "part" in outside and "walk" not in outside


def test_a_definition_that_names_its_word_is_refined_and_comes_back_restated() -> None:
    """ALPH-16: REFINE, and the proposer's revision survives."""
    words = small(
        loop={"gloss": "a quirk, not a loop", "examples": ("the loop",)}, quirk={"used": 30}
    )
    first = judged(words, "loop", grounding=True, weight=9)
    assert (
        "REFINE" == first["verdict"]
        and ["loop", "loop"] == first["attacks"]["circularity"]["circular_paths"][0]
    )
    context = {
        "strategy": "DOMAIN_SWEEP",
        "count": 1,
        "primitives": PRIMITIVES,
        "revise": [{"label": "loop"}],
        "taken": [],
    }
    (again,) = proposer.propose(context, consult(words, {"role": "proposer", **context}))[
        "proposer_output"
    ]["candidates"]
    assert ("loop", "a quirk") == (again["label"], again["informal_definition"])
    last = judged(words, "loop", definition=again["informal_definition"], grounding=True, weight=9)
    assert "ACCEPT" == last["verdict"]


@pytest.mark.parametrize(
    ("more", "seen", "kind"),
    [
        ({}, {"grounding": False}, "analytic"),
        ({"parts": ("being", "odd")}, {}, "synthetic"),
        ({"gloss": "used for rolling", "lexname": "noun.artifact"}, {}, "functional"),
    ],
)
def test_decomposition_strikes_in_three_ways(
    more: dict[str, Any], seen: dict[str, Any], kind: str
) -> None:
    """ALPH-12: by a definition that the grounding set can say, by parts that are more basic, by a use; each attempt is in the
    record, with what it comes to."""
    words = small(quirk={"used": 60, **more}, being={"used": 500}, odd={"used": 70})
    output = judged(words, "quirk", **{"grounding": True, "weight": 9, **seen})
    assert ("REJECT", "decomposition") == failed(output)
    attempts = output["attacks"]["decomposition"]["attempts"]
    assert ["analytic", "synthetic", "functional"] == [one["kind"] for one in attempts]
    assert [kind] == [one["kind"] for one in attempts if one["succeeded"]]


@pytest.mark.parametrize("more", [
    {"parts": ("rare", "wheel")},  # rarer than the whole: they explain nothing
    {"parts": ("being",)},  # one part is not a decomposition
    {"gloss": "odd being; widely used as a solvent", "lexname": "noun.substance"},  # what it is for is an aside
    {"gloss": "used of a single unit", "lexname": "adj.all"},  # how a word is used is not what a thing is for
])  # fmt: skip
def test_what_explains_nothing_takes_nothing_apart(more: dict[str, Any]) -> None:
    """ALPH-12: a whole is not taken apart by its rarer parts, nor by what is said of it beside its definition."""
    words = small(
        quirk={"used": 60, "uses": (6, 9), **more}, quality={"used": 700}, being={"used": 500}
    )
    output = judged(words, "quirk", strictness=0.0, grounding=True, weight=9)
    assert ("ACCEPT", "") == failed(output), output["reasoning_summary"]


def test_a_word_of_the_grounding_set_is_shown_with_the_circle_that_needs_it() -> None:
    """Nothing else of the set breaks that circle, so that no other words define it."""
    words = small()
    for place in words.grounding:
        label = words.words[place].label
        (row,) = consult(words, {"role": "critic", "candidates": [label]})["rows"]
        knot = row["evidence"]["knot"]
        if words.uses[place]:
            assert label == knot[0] == knot[-1] and len(knot) > 2
            others = {words.words[one].label for one in words.grounding_set - {place}}
            assert others.isdisjoint(knot)
            assert all(b in row["words"] or a != label for a, b in zip(knot, knot[1:]))


def test_a_word_that_alone_defines_a_primitive_is_redundant() -> None:
    """ALPH-12: `person` is a human being, so that whoever has `person` has `human`."""
    words = small(life={"gloss": "a being", "uses": (5,)})
    assert ["PRM_0002"] == judged(words, "being")["attacks"]["redundancy"]["using_primitives"]


def test_a_field_that_cultures_make_binds_a_word_to_them() -> None:
    """ALPH-12: however often a corpus of one language has it; unless the words that languages borrow least have it."""
    made = {"lexname": "noun.artifact", "met": 900, "senses": 9}
    assert (
        "culturally_bound"
        == judged(small(being=made), "being")["attacks"]["cultural_variance"]["assessment"]
    )
    listed = small(being={**made, "label": "rope"})
    assert "universal" == judged(listed, "rope")["attacks"]["cultural_variance"]["assessment"]


@pytest.mark.parametrize(("gloss", "more", "said"), [
    ("have a loop, be a quirk", {}, "be a quirk"),
    ("have a loop, in an odd, quirky, or other sense", {"hypernyms": ("being",)}, "a kind of “being”; the dictionary does not"),
    ("a loop", {"antonyms": ("end",)}, "the opposite of “end”; the dictionary does not"),
    ("a loop", {"hyponyms": ("quirk", "hike")}, "with “quirk”, “hike” below it; the dictionary does not"),
    ("a loop", {}, "a sense of its own; the dictionary does not"),
])  # fmt: skip
def test_a_revision_never_names_its_word_and_is_never_a_leftover(
    gloss: str, more: dict[str, Any], said: str
) -> None:
    """ALPH-16: of a definition that cannot do without the word, what stands around it in the dictionary is said."""
    row = consult(
        small(loop={"gloss": gloss, **more}),
        {"role": "critic", "candidates": ["loop"], "primitives": []},
    )["rows"][0]
    text = proposer.restated(row)
    assert text.startswith(said) and "loop" not in text


def test_parsimony_strikes_what_little_stands_on_and_strictness_raises_the_bar() -> None:
    assert ("REJECT", "parsimony") == failed(judged(small(), "rare", grounding=True))
    verdicts = [
        judged(small(), "being", strictness=one, grounding=True, weight=7)["verdict"]
        for one in (0.5, 1.0)
    ]
    assert ["ACCEPT", "REJECT"] == verdicts


def test_a_weight_is_of_the_common_words_that_a_word_defines() -> None:
    words = lexicon({"a": "b", "b": "a", "c": "a", "d": "a"}, c={"met": 10**9}, d={"met": 0})
    a, b = words.place("a"), words.place("b")
    assert a is not None and b is not None
    common = 1 - words.prices[b]
    assert common + 1 > words.weight(a) > common + 0.95 and words.prices[3] == 1


def test_a_gap_of_the_validation_is_needed_however_rare() -> None:
    """ALPH-10, 12: parsimony asks what is lost without it, and validation has said."""
    rows = consult(small(), {"role": "critic", "candidates": ["being"], "primitives": PRIMITIVES})
    rows["rows"][0]["evidence"] |= {"grounding": True, "weight": 1}
    context = {
        "candidates": [{"id": "C", "label": "being", "informal_definition": "odd quirk"}],
        "primitives": PRIMITIVES,
    }
    assert ("REJECT", "parsimony") == failed(
        critic.evaluate(context, rows)["evaluations"][0]["critic_output"]
    )
    needed = critic.evaluate({**context, "gaps": ["Being"]}, rows)["evaluations"][0][
        "critic_output"
    ]
    assert (
        "ACCEPT" == needed["verdict"]
        and "Validation lacks it" in needed["attacks"]["parsimony"]["notes"]
    )


def test_cultural_variance_and_edge_cases_strike_what_is_bound_or_has_no_home() -> None:
    assert ("REJECT", "cultural_variance") == failed(
        judged(small(being={"regions": ("Scotland",)}), "being")
    )
    spread = {
        "senses": 9,
        "contexts": tuple((f"noun.{name}", 10) for name in ("state", "act", "time", "food")),
    }
    assert "high" == judged(small(being=spread), "being")["attacks"]["edge_cases"]["severity"]
    assert ("REJECT", "edge_cases") == failed(judged(small(being=spread), "being", strictness=0.9))
    allowed = judged(small(being=spread), "being", strictness=0.5)
    assert (
        "ACCEPT" == allowed["verdict"] and "survived five attacks" in allowed["reasoning_summary"]
    )
    assert (
        "universal"
        == judged(small(being={"label": "water"}), "water")["attacks"]["cultural_variance"][
            "assessment"
        ]
    )


def test_a_word_of_no_dictionary_is_deferred() -> None:
    """ALPH-17: nothing was attacked, and nothing is said to have survived (T-54)."""
    output = judged(small(), "quiddity")
    attacks = output["attacks"]
    assert ("DEFER", False, False) == (
        output["verdict"],
        attacks["decomposition"]["survived"],
        attacks["parsimony"]["necessary"],
    )


def test_a_rejection_remembers_those_before_it() -> None:
    """ALPH-20: earlier rejections by the same attack are in the reasons."""
    words = small()
    rows = consult(words, {"role": "critic", "candidates": ["rare"], "primitives": PRIMITIVES})
    context = {
        "candidates": [{"id": "C", "label": "rare", "informal_definition": "x"}], "primitives": PRIMITIVES,
        "rejections": [{"label": "seldom", "failed_attack": "parsimony"}, {"label": "wheel", "failed_attack": "decomposition"}],
    }  # fmt: skip
    summary = critic.evaluate(context, rows)["evaluations"][0]["critic_output"]["reasoning_summary"]
    assert "seldom failed it too" in summary and "wheel" not in summary


def test_relationships_come_from_antonyms_hypernyms_and_company() -> None:
    """ALPH-23: each with a justification, and of one target one relationship only."""
    words = small(being={"antonyms": ("end",), "hypernyms": ("life", "end")})
    row = consult(words, {"role": "critic", "candidates": ["being"], "primitives": PRIMITIVES})[
        "rows"
    ][0]
    found = [(one["type"], one["target"]) for one in critic.relationships(row, PRIMITIVES)]
    assert [("contrasts_with", "PRM_0001"), ("presupposes", "PRM_0002")] == found
    assert all(one["justification"] for one in critic.relationships(row, PRIMITIVES))


def test_what_a_new_primitive_makes_expressible_is_a_conflict_that_the_refiner_names() -> None:
    """ALPH-24: with `end` beside `life`, the primitive `death` says nothing that they do not."""
    words = small()
    primitives = [
        {"id": "PRM_0001", "label": "death"},
        {"id": "PRM_0002", "label": "life"},
        {"id": "PRM_0003", "label": "odd"},
    ]
    candidates = [{"id": "CAND_001_001", "label": "end"}]
    rows = consult(words, {"role": "refiner", "candidates": candidates, "primitives": primitives})
    said = expansion.refine(
        {"kind": "integrate", "candidates": candidates, "primitives": primitives}, rows
    )["refiner_output"]
    [found] = said["conflicts_detected"]
    assert ("redundancy", ["PRM_0001"]) == (found["rule"], found["ids"]) and "`death`" in found[
        "why"
    ]
    fewer = consult(
        words, {"role": "refiner", "candidates": candidates, "primitives": primitives[::2]}
    )
    assert [] == fewer["rows"][0]["evidence"]["reveals"]


def test_without_a_dictionary_there_is_one_sentence_with_the_command() -> None:
    """Issue 6: a missing dictionary is said, and no candidate is made up."""
    nothing = {"source": "", "rows": [], "missing": wordnet.MISSING}
    for call in (lambda: proposer.propose({}, nothing), lambda: critic.evaluate({}, nothing)):
        with pytest.raises(ValueError, match="apt-get install wordnet-base"):
            call()


def test_an_unknown_strategy_is_an_error_and_the_known_ones_are_the_six() -> None:
    """ALPH-09: a mode that is none is refused by name."""
    assert STRATEGIES == tuple(SEARCHES)
    with pytest.raises(ValueError, match="the strategy `DAYDREAM` does not exist"):
        consult(small(), {"role": "proposer", "strategy": "DAYDREAM"})


@cache
def real() -> Lexicon:
    need_dictionary()
    return tools._lexicon(wordnet.find("/") or "")


def found(strategy: str, **task: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = consult(
        real(), {"role": "proposer", "strategy": strategy, "count": 3, **task}
    )["rows"]
    return rows


def test_the_six_strategies_are_really_different() -> None:
    """ALPH-09: they judge one grounding set in different orders, and each says what it saw in its own words."""
    gaps = {"gaps": ["many", "murder", "promise"]}
    lists = {
        name: [row["label"] for row in found(name, **(gaps if name == "GAP_FILLING" else {}))]
        for name in STRATEGIES
    }
    assert all(len(labels) >= 3 for labels in lists.values())
    for one, two in combinations(STRATEGIES, 2):
        assert len(set(lists[one]) & set(lists[two])) <= len(lists[one]) * 3 / 4, (one, two)
    said = {
        name: found(name, **(gaps if name == "GAP_FILLING" else {}))[0]["why"]
        for name in STRATEGIES
    }
    for name, words in {
        "DOMAIN_SWEEP": "of the free words of", "DECOMPOSITION_MINING": "apart ends here",
        "CROSS_REFERENCE": "occurs in the decompositions of", "LINGUISTIC_ANALYSIS": "no synonym has its sense",
        "THOUGHT_EXPERIMENT": "break every circle", "GAP_FILLING": "validation names `many` as a gap",
    }.items():  # fmt: skip
        assert words in said[name]


def test_the_context_steers_the_proposer() -> None:
    """ALPH-06, 10, 11: wanted domains first, gaps are proposed, and nothing that was accepted or rejected before."""
    assert ["time"] * 1 == [row["domain"] for row in found("DOMAIN_SWEEP", priorities=["time"])[:1]]
    sweep = [row["label"] for row in found("DOMAIN_SWEEP")]
    again = [row["label"] for row in found("DOMAIN_SWEEP", taken=sweep[:2], primitives=sweep[2:4])]
    assert not set(sweep[:4]) & set(again)
    rows = found("GAP_FILLING", gaps=["murder", "many", "feel"])
    assert ["many", "feel"] == [row["label"] for row in rows][:2]
    assert "the gap `murder` is defined with it" in {row["why"] for row in rows[2:]}


def test_rows_are_few_and_plain() -> None:
    """They are journaled: at most 80, and JSON says them all."""
    rows = found("DOMAIN_SWEEP", count=500)
    assert len(rows) <= 80 and rows == json.loads(json.dumps(rows))
    assert {row["domain"] for row in rows} <= set(DOMAINS)


def test_an_alphabet_grows_with_no_model_and_every_answer_keeps_its_schema() -> None:
    """Issue 6: 30 cycles over the real dictionary; the outputs are those of ALPH-07 and ALPH-13, and several attacks strike."""
    schemas = {
        name: jsonschema.Draft202012Validator(
            json.loads(resources.read(f"tooling/fdc_packs/alphabet/data/{name}.schema.json"))
        )
        for name in ("proposer", "critic")
    }
    primitives: list[dict[str, Any]] = []
    taken: list[str] = []
    revise: list[dict[str, Any]] = []
    verdicts: Counter[str] = Counter()
    for cycle in range(30):
        strategy = STRATEGIES[cycle % 5]
        task = {
            "strategy": strategy,
            "count": 3,
            "primitives": primitives,
            "taken": taken,
            "revise": revise,
        }
        made = proposer.propose(task, consult(real(), {"role": "proposer", **task}))
        schemas["proposer"].validate(made)
        candidates = made["proposer_output"]["candidates"]
        for number, candidate in enumerate(candidates, 1):
            candidate["id"] = f"CAND_{cycle:03d}_{number:03d}"
        rows = consult(
            real(), {"role": "critic", "candidates": candidates, "primitives": primitives}
        )
        answer = critic.evaluate(
            {"candidates": candidates, "primitives": primitives, "strictness": 0.5}, rows
        )
        for one in answer["evaluations"]:
            schemas["critic"].validate(one)
        revise = []
        for candidate, one in zip(candidates, answer["evaluations"], strict=True):
            output = one["critic_output"]
            attacks = output["attacks"]
            verdict, attack = failed(output)
            verdicts[attack or verdict] += 1
            sound = attacks["decomposition"]["survived"] and attacks["circularity"]["survived"]
            sound = (
                sound
                and not attacks["redundancy"]["can_be_expressed"]
                and attacks["parsimony"]["necessary"]
            )
            assert (verdict != "ACCEPT" or sound) and (verdict != "REJECT" or attack in ATTACKS)
            assert (
                0 <= output["confidence"] <= 1
                and "no model was used" in attacks["cultural_variance"]["notes"]
            )
            if verdict == "ACCEPT":
                primitives.append(
                    {"id": f"PRM_{len(primitives) + 1:04d}", "label": candidate["label"]}
                )
            if verdict == "REFINE":
                revise.append(candidate)
            else:
                taken.append(candidate["label"])
    assert len(primitives) == len({one["label"] for one in primitives}) >= 30
    assert {"parsimony", "redundancy", "REFINE"} <= set(verdicts)
    labels = {one["label"] for one in primitives}
    assert not {"act", "action"} <= labels
    assert labels <= set(real().labels(real().grounding))
