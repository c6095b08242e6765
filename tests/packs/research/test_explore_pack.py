"""The pure functions of the explore pack: tracks, findings, synthesis; its schemas, prompts and plans."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from fdc_packs.research.explore import findings, synthesis, tracks
from hypothesis import given
from hypothesis import strategies as st

from tests.support.repository import ROOT

PACK = ROOT / "tooling/fdc_packs/research/explore"
FOLDER = "packs/research/explore/plans"
CATALOGUE = json.loads((PACK / "explore_tools.json").read_text("utf-8"))["tools"]
SCOPE = {"concepts": [{"word": "order"}, {"word": "stock"}], "folders": ["a", "b"], "wide": False}


def schema(name: str) -> dict[str, Any]:
    return json.loads((PACK / f"prompts/{name}.schema.json").read_text("utf-8"))


def track(name: str, places: list[str], **more: Any) -> dict[str, Any]:
    row = {
        "name": name,
        "focus": f"of {name}",
        "approach": "PatternSearch",
        "deliverable": "places",
    }
    return {**row, "terms": [name], "paths": "", "places": places, **more}


def kept(*rows: dict[str, Any]) -> dict[str, Any]:
    return tracks.independent("Why?", {"tracks": list(rows), "rationale": "so"}, {})


def test_the_templates_are_the_seeds() -> None:
    """EXP-34, 35."""
    assert [
        ("services", "ServiceInterfaces", "PatternSearch"), ("layers", "LayerComposition", "DependencyTrace"),
        ("errors", "ErrorHandling", "ImplementationScan"), ("config", "Configuration", "BoundaryExplore"),
    ] == [row[:3] for row in tracks.TEMPLATES["ArchitectureUnderstanding"]]  # fmt: skip
    assert [
        ("models", "DataModels", "ImplementationScan"), ("ui-state", "UIComponents", "PatternSearch"),
        ("api", "APIEndpoints", "DependencyTrace"), ("errors", "ErrorCases", "ImplementationScan"),
    ] == [row[:3] for row in tracks.TEMPLATES["FeatureInvestigation"]]  # fmt: skip
    proposed = tracks.propose(
        "How is it layered?", {**SCOPE, "template": "ArchitectureUnderstanding"}
    )["tracks"]
    assert ["services", "layers", "errors", "config"] == [row["name"] for row in proposed[:4]]
    assert all({"name", "focus", "approach", "deliverable"} <= row.keys() for row in proposed)


def test_a_second_proposal_divides_the_files() -> None:
    """C-31."""
    first = {row["name"] for row in tracks.propose("Why?", SCOPE)["tracks"]}
    second = {
        row["name"] for row in tracks.propose("Why?", SCOPE, [{"name": "x", "why": "y"}])["tracks"]
    }
    assert first < second and {"a-code", "b-words"} <= second


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (track("a", ["x:9"], focus=" "), "no focus"),
        (track("", ["x:9"]), "no name"),
        (track("b", ["x:9"], approach=None), "no approach"),
        (track("b", ["x:9"], deliverable=""), "no deliverable"),
        (track("b", ["x:9"], approach="Guess"), "the strategy `Guess` does not exist"),
        (track("a", ["x:9"]), "its name is taken"),
        (track("b", []), "finds nothing"),
        (track("b", ["x:1", "x:2", "y:9"]), "67% of what it would look at"),
        (track("b", ["x:9"], terms=["A"]), "the same words as `a`"),
        (track("b", ["x:9"], focus="Of  A"), "its focus is that of `a`"),
    ],
)
def test_a_track_that_is_not_whole_or_not_independent_is_dropped(
    row: dict[str, Any], why: str
) -> None:
    """EXP-08, 09, 10."""
    done = kept(
        track("a", ["x:1", "x:2", "x:3", "x:4"]), row, track("c", ["y:1"]), track("d", ["y:2"])
    )
    assert 3 == done["count"] and "" == done["halt"] and why in done["dropped"][0]["why"], done[
        "dropped"
    ]


@pytest.mark.parametrize(("number", "count"), [(0, 0), (2, 2), (3, 3), (6, 6), (9, 6)])
def test_three_to_six_tracks(number: int, count: int) -> None:
    """EXP-02, 06, 07, 12."""
    halt = "" if count else "confusion"
    done = kept(*(track(f"t{nth}", [f"x:{nth}"]) for nth in range(number)))
    assert (
        done["again"] == (count < 3)
        and (count, halt) == (done["count"], done["halt"])
        and bool(done["ask"]) == bool(halt)
    )
    assert all(f"t{nth} (PatternSearch)" in done["text"] for nth in range(count))


def test_a_kept_track_says_what_its_findings_must_pass() -> None:
    """EXP-11: and what is verified in the end is what was said, in that order."""
    done = kept(track("a", ["x:1"]), track("b", ["x:2"]), track("c", ["x:3"]))
    for row in done["tracks"]:
        assert {"name", "focus", "approach", "deliverable", "gates"} <= row.keys()
        assert all(
            gate.keys() == {"checkpoint", "verification"} and all(gate.values())
            for gate in row["gates"]
        )
        assert list(gated({"conclusions": "Yes."}, [])["gates"]) == [
            gate["checkpoint"] for gate in row["gates"]
        ]


@pytest.mark.parametrize("pointed", [False, True])
def test_below_three_tracks_a_question_is_taken_apart_again_unless_it_is_about_one_name(
    pointed: bool,
) -> None:
    """EXP-06, 36: what is left is enough, as little code has few sides; where nothing is left a person is asked."""
    two = {"tracks": [track("a", ["x:1"]), track("b", ["x:2"])], "rationale": "so"}
    done = tracks.independent("Who calls `f`?", two, {"pointed": pointed})
    assert ("", 2, not pointed, "") == tuple(done[key] for key in ("halt", "count", "again", "ask"))
    none = tracks.independent("Who calls `f`?", {"tracks": []}, {"pointed": pointed})
    assert ("confusion", True) == (none["halt"], none["again"]) and "No side" in str(none["ask"])
    asked = tracks.independent("Why?", {**two, "ask": "Which one?"}, {"pointed": pointed})
    assert ("" if pointed else "confusion", False) == (asked["halt"], asked["again"])


@given(st.lists(st.lists(st.integers(0, 12), max_size=8), max_size=9))
def test_kept_tracks_are_pairwise_independent(groups: list[list[int]]) -> None:
    """EXP-08, whatever is proposed."""
    rows = [track(f"t{nth}", [f"x:{line}" for line in group]) for nth, group in enumerate(groups)]
    names = {row["name"] for row in kept(*rows)["tracks"]}
    left = [row["places"] for row in rows if row["name"] in names]
    for nth, one in enumerate(left):
        for other in left[nth + 1 :]:
            assert len(set(one) & set(other)) <= tracks.OVERLAP * min(
                len(set(one)), len(set(other))
            )


def finding(subject: str, line: int = 1) -> dict[str, Any]:
    cited = [{"path": f"{subject}.py", "line": line, "quote": subject}]
    return {
        "claim": f"{subject} is there",
        "subject": subject,
        "home": f"{subject}.py:1",
        "citations": cited,
    }


def result(name: str, *subjects: str, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "track": name,
        "findings": [finding(one) for one in subjects],
        "gaps": [],
        "blocked": False,
        "why": "",
    }
    return {**row, "checked": len(subjects), "rejected": [], **more}


PLACE = {
    "path": "a.py", "line": 1, "name": "a", "kind": "function", "code": [{"line": 1, "text": "def a():"}],
}  # fmt: skip
QUOTED = {"verdicts": [], "asked": False}


def judged(
    *rows: dict[str, Any],
    rejected: Any = (),
    scope: Any = None,
    sure: str = "High",
    verdicts: Any = QUOTED,
) -> dict[str, Any]:
    proposal = synthesis.aggregate("Why?", list(rows))
    checked = {**proposal, "proposal": proposal, "rejected": list(rejected), "checked": 3}
    places = {"places": [PLACE] if rows[0]["findings"] else [], "total": 1, "sure": sure, "why": "as measured"}  # fmt: skip
    return synthesis.judge("Why?", {}, list(rows), checked, scope or {}, places, verdicts)


def test_unified_is_what_tracks_share_and_nuances_are_the_rest() -> None:
    """EXP-22, 23: a, shared by all, before b, shared by two."""
    made = synthesis.aggregate(
        "Why?", [result("t1", "b", "a", "c"), result("t2", "b", "a", "d"), result("t3", "a", "e")]
    )
    assert ["a is there", "b is there"] == [row["claim"] for row in made["unified"]]
    assert ["all tracks: t1, t2, t3", "2 of 3 tracks: t1, t2"] == [
        row["support"] for row in made["unified"]
    ]
    assert {"c is there", "d is there", "e is there"} == {row["claim"] for row in made["nuances"]}
    assert all(row["explanation"] for row in made["nuances"])
    plain = [{key: row[key] for key in ("claim", "citations")} for row in made["unified"]]
    jsonschema.validate({**made, "unified": plain}, schema("synthesis"))


AGREED = [result("t1", "a"), result("t2", "a"), result("t3", "a")]
LOST = [result("t1", "a"), result("t2", "a"), result("t3", blocked=True, why="lost")]


@pytest.mark.parametrize(
    ("rows", "rejected", "sure", "confidence"),
    [
        (AGREED, [], "High", "High"),
        (AGREED, [], "Low", "Low"),
        (LOST, [], "High", "Low"),
        (AGREED, [{"claim": "x", "why": "y"}], "Moderate", "Low"),
    ],
)
def test_the_confidence_is_that_of_the_places_and_says_why(
    rows: list[Any], rejected: list[Any], sure: str, confidence: str
) -> None:
    """EXP-24, 26: that tracks agree and citations exist makes it no higher."""
    out = judged(*rows, rejected=rejected, sure=sure)
    assert (confidence, "success") == (out["confidence"], out["ended"])
    assert "as measured" in out["justification"] and "Why?" == out["question"]
    assert f"Confidence: {confidence}" in out["markdown"] and "no model was asked" in out["text"]


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_a_divergence_without_an_explanation_is_no_synthesis(text: str) -> None:
    """EXP-26: nor is a claim or an open question that says nothing."""
    cited = {"claim": "c", "citations": [{"path": "a.py", "line": 1, "quote": "q"}]}
    good = {
        "unified": [cited],
        "nuances": [{**cited, "explanation": "why"}],
        "open_questions": ["o"],
    }
    jsonschema.validate(good, schema("synthesis"))
    bad: dict[str, Any] = {
        "unified": {**cited, "claim": text},
        "nuances": {**cited, "explanation": text},
        "open_questions": text,
    }
    for part, row in bad.items():
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**good, part: [row]}, schema("synthesis"))


@pytest.mark.parametrize(("count", "ask"), [(3, None), (9, None), (2, None), (0, "Which?"), (0, ""), (0, None)])  # fmt: skip
def test_what_a_planner_proposes_ends_in_tracks_or_in_a_sentence(
    count: int, ask: str | None
) -> None:
    """EXP-02, 06, 07, E11: nine tracks or an empty `ask` are not errors of a schema."""
    rows = [track(f"t{nth}", []) for nth in range(count)]
    rows = [{key: value for key, value in row.items() if key != "places"} for row in rows]
    said = {"tracks": rows, "rationale": "", **({} if ask is None else {"ask": ask})}
    jsonschema.Draft202012Validator(schema("track_plan")).validate(said)
    surveyed = [{**row, "places": [f"x:{nth}"]} for nth, row in enumerate(rows)]
    done = tracks.independent("Why?", {**said, "tracks": surveyed}, {})
    assert min(count, 6) == done["count"] and (count or done["ask"].endswith("?"))


def test_the_better_of_two_tries_counts() -> None:
    """EXP-16: what was said before the agent was told, where nothing of the second try holds."""
    lost = [{"claim": "x", "why": "y"}]
    earlier = {
        "documented": {"conclusions": "First."},
        "held": [finding("f")],
        "rejected": lost,
        "checked": 2,
    }
    row = {"name": "t", "focus": "f", "approach": "PatternSearch"}
    for second, kept_of_it in (
        (
            {
                "documented": {"failed": "timeout", "why": "slow"},
                "held": [],
                "rejected": [],
                "checked": 0,
            },
            "First.",
        ),
        (
            {
                "documented": {"conclusions": "Second."},
                "held": [finding("f")],
                "rejected": [],
                "checked": 1,
            },
            "Second.",
        ),
    ):
        out = findings.gate("Why?", row, EVIDENCE, second, earlier)
        assert kept_of_it == out["conclusions"] and not out["blocked"]


def test_open_questions_are_the_union_of_gaps_once_each() -> None:
    """EXP-23, 26."""
    rows = [result("t1", "a", gaps=["g", "h"]), result("t2", "a", gaps=["g"]), result("t3", "a")]
    assert ["g", "h", "no file has `tea`"] == judged(*rows, scope={"missing": ["tea"]})[
        "open_questions"
    ]


def test_nothing_but_blocked_tracks_is_blocked_with_a_way_on() -> None:
    """EXP-05."""
    out = judged(*(result(f"t{nth}", blocked=True, why="lost") for nth in range(3)))
    assert "blocked" == out["ended"] and 3 == len(out["blockers"]) and out["alternatives"]


EVIDENCE = {"evidence": [{"path": "a.py", "line": 2, "kind": "definition", "subject": "f", "home": "a.py:2",
                          "description": "function `f`", "quote": "def f():"}], "of": 3}  # fmt: skip


def gated(documented: Any, held: list[Any], rejected: list[Any] = []) -> dict[str, Any]:  # noqa: B006
    checked = {"documented": documented, "held": held, "rejected": rejected, "checked": 1}
    return findings.gate(
        "Why?",
        {"name": "t", "focus": "f", "approach": "PatternSearch"},
        EVIDENCE,
        checked,
    )


def test_the_gates_of_a_track() -> None:
    """EXP-16, 18, 19, 20, 37."""
    documented = findings.document("Why?", {"name": "t", "focus": "f"}, EVIDENCE)
    jsonschema.validate(documented, schema("track_findings"))
    assert documented["gaps"] and all(row["citations"] for row in documented["findings"])
    through = gated(documented, documented["findings"])
    assert {
        "track",
        "findings",
        "evidence",
        "conclusions",
        "gaps",
    } <= through.keys() and not through["blocked"]
    assert {"evidence": True, "summary": True, "understood": True} == through["gates"]
    lost = gated(documented, [], [{"claim": "x", "why": "it cites nothing"}])
    assert (
        lost["blocked"]
        and not lost["gates"]["evidence"]
        and "it cites nothing" in "".join(lost["gaps"])
    )
    assert (
        gated({**documented, "conclusions": " "}, documented["findings"])["why"]
        == "no conclusions exist"
    )
    assert gated({"failed": "timeout", "why": "too slow"}, [])["why"] == "timeout: too slow"


@pytest.mark.parametrize(
    ("said", "kept_of_it"),
    [
        ("It does.", "It does."),
        (
            "It does, e.g. here. And there, in 3.5 files!",
            "It does, e.g. here. And there, in 3.5 files!",
        ),
        ("One. Two. Three. Four.", "One. Two."),
    ],
)
def test_conclusions_are_one_or_two_sentences(said: str, kept_of_it: str) -> None:
    """EXP-21: what is more is cut, and that is told."""
    out = gated({"conclusions": said}, [finding("f")])
    assert kept_of_it == out["conclusions"] and not out["blocked"]
    assert (said != kept_of_it) == any("longer than 2 sentences" in gap for gap in out["gaps"])
    assert (
        len(
            findings._SENTENCE.findall(
                findings.document("Why?", {"name": "t", "focus": "f"}, EVIDENCE)["conclusions"]
            )
        )
        <= 2
    )


def test_what_a_finding_is_worth_is_taken_from_its_evidence_and_not_from_its_words() -> None:
    claimed = {
        **finding("f"),
        "worth": 99.0,
        "citations": [{"path": "a.py", "line": 2, "quote": "def f():"}],
    }
    rows = {"evidence": [{**EVIDENCE["evidence"][0], "score": 1.5}], "of": 1}  # type: ignore[index]
    checked = {
        "documented": {"conclusions": "Yes."},
        "held": [claimed, finding("g")],
        "rejected": [],
        "checked": 2,
    }
    out = findings.gate("Why?", {"name": "t"}, rows, checked)
    assert [1.5, 0.0] == [row["worth"] for row in out["findings"]]


def test_what_is_worth_most_leads_though_one_track_alone_reached_it() -> None:
    """EXP-23: what is shared stays in the answer, what is worth little and not shared is not part of it."""

    def weighed(name: str, **worth: float) -> dict[str, Any]:
        return {
            **result(name, *worth),
            "findings": [{**finding(one), "worth": value} for one, value in worth.items()],
        }

    weak = {"e": 0.1, "f": 0.05, "g": 0.04}
    made = synthesis.aggregate(
        "Why?",
        [weighed("t1", a=5.0, b=9.0, d=3.0, **weak), weighed("t2", a=5.0), weighed("t3", c=1.0)],
    )
    assert ["b is there", "a is there"] == [row["claim"] for row in made["unified"]]
    assert "1 of 3 tracks: t1" == made["unified"][0]["support"]
    assert {"c is there", "d is there", "e is there"} == {row["claim"] for row in made["nuances"]}


def test_a_claim_that_another_says_more_of_is_said_once() -> None:
    def row(name: str, claim: str) -> dict[str, Any]:
        return {
            **result(name),
            "findings": [
                {**finding("a"), "claim": claim, "subject": "a", "home": "a.py:1", "worth": 2.0}
            ],
        }

    made = synthesis.aggregate(
        "Why?", [row("t1", "`a` is there"), row("t2", "`a` is there and says: tea")]
    )
    assert ["`a` is there and says: tea"] == [one["claim"] for one in made["unified"]]


def test_who_uses_something_is_a_nuance_unless_that_is_asked() -> None:
    def row(name: str, claim: str, uses: bool, worth: float) -> dict[str, Any]:
        return {
            **result(name),
            "findings": [{**finding("f"), "claim": claim, "uses": uses, "worth": worth}],
        }

    for worth, first, other in (
        (1.0, "f is defined", "f is used"),
        (9.0, "f is used; f is defined", None),
    ):
        made = synthesis.aggregate(
            "Why?", [row("t1", "f is defined", False, 3.0), row("t2", "f is used", True, worth)]
        )
        assert [first] == [one["claim"] for one in made["unified"]]
        assert ([] if other is None else [other]) == [one["claim"] for one in made["nuances"]]
