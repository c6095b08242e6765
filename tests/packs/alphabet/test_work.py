"""ALPHABETUM's pure work: files read and written, replies, contexts, integration, the fold of an iteration, what it leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from fdc_packs.alphabet import layout, markers
from fdc_packs.alphabet.calculus.consistency import Violation, violations
from fdc_packs.alphabet.iteration import closing, expansion, steps
from fdc_packs.alphabet.iteration.context import BUDGETS, TooLarge, composed, tokens
from fdc_packs.alphabet.iteration.integrate import Change, resolve
from fdc_packs.alphabet.iteration.replies import evaluations, read_reply, unfit
from fdc_packs.alphabet.iteration.work import next_id, next_prime, work_of
from fdc_packs.alphabet.model import Alphabet, Primitive, alphabet_of
from fdc_packs.alphabet.state import StateError, graph_of, read, state_of, status_of
from fdc_packs.alphabet.state_files import files_of
from fdc_packs.alphabet.yamltext import NotYaml, dump, parse, parse_foreign
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.alphabets import (
    AT,
    alphabet,
    candidate,
    criticism,
    meta,
    primitive,
    proposal,
    refinement,
    tree_of,
)

WORD = st.text(min_size=1, max_size=12).filter(lambda text: text.strip())

ROW = st.dictionaries(
    st.sampled_from(["id", "label", "x"]),
    st.one_of(WORD, st.integers(), st.booleans(), st.none()),
    min_size=1,
)


@given(st.lists(ROW))
@settings(deadline=None)
def test_rows_are_yaml_and_are_read_as_any_yaml_reader_reads_them(
    rows: list[dict[str, Any]],
) -> None:
    """ALPH-38: one row a line; the fast way and PyYAML's agree, whatever a label is."""
    value = {
        "alphabet_state": {"version": "0.1.0", "last_updated": AT, "primitives": rows, "none": []}
    }
    for text in (dump(value, rows=True), dump(value)):
        assert value == parse(text)
    plain = yaml.safe_load(dump(value, rows=True).replace(f"'{AT}'", "at"))
    assert rows == plain["alphabet_state"]["primitives"]


@pytest.mark.parametrize(
    "label",
    [
        "no",
        "on",
        "yes",
        "null",
        "1e3",
        "2026-01-31",
        "=",
        "- a",
        "a: b",
        "\x85\u2028",
        "\U0001f600",
    ],
)
def test_words_stay_words(label: str) -> None:
    """A primitive may be called `no`."""
    assert (
        label
        == parse(dump({"a": {"rows": [{"label": label}]}}, rows=True))["a"]["rows"][0]["label"]
    )
    if label in ("no", "on", "yes", "2026-01-31"):
        assert label == parse(f"label: {label}")["label"]


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x",
        "[" * 60 + "]" * 60,
        "a: [",
        "a: 1\na: b: c",
        "x" * (1 << 20) + "x",
        "!!python/name:os.system",
    ],
)
def test_foreign_yaml_is_read_with_care(text: str) -> None:
    """No aliases, no depth, no size, no tags of a language."""
    with pytest.raises(NotYaml):
        parse_foreign(text)


def test_an_alphabet_is_written_and_read_back() -> None:
    """ALPH-38, 42, 43."""
    some = alphabet("being", "time", "change", being={"contrasts": ("PRM_0002",)}, time={"contrasts": ("PRM_0001",)},
                    change={"presupposes": ("PRM_0001", "PRM_0002"), "level": "derived", "used": 3, "version": 2})  # fmt: skip
    for pretty in (False, True):
        base = read(tree_of(some)["files"] | files_of(some, "0.3.1", 0, AT, {}, pretty=pretty))
        assert (some, "0.3.1") == (base.alphabet, base.version)
    graph = parse(tree_of(some)["files"][layout.GRAPH])["relationship_graph"]
    assert [["PRM_0001", "PRM_0002"]] == graph["contrasts"]
    assert [{"source": "PRM_0003", "requires": ["PRM_0001", "PRM_0002"]}] == graph["presupposes"]


def test_older_shapes_of_recorded_data_are_read() -> None:
    """C-20, C-21, C-22, ALPH-42: `alphabet_index`, P001, objects in the graph, `triggers`."""
    found = graph_of({"relationships": {
        "contrasts": [{"primitives": ["A", "B"]}, {"source": "C", "target": "D"}],
        "presupposes": [{"source": "E", "target": "A"}], "composes_well": [["A", "B", "C"]],
    }})  # fmt: skip
    assert {"A": ["B"], "B": ["A"], "C": ["D"], "D": ["C"]} == found["contrasts"]
    assert {"E": ["A"]} == found["presupposes"] and ["B", "C"] == found["composes"]["A"]
    index = {
        "alphabet_index": {
            "primitives": [{"id": "P001", "label": "being", "prime": 2, "domain": "being"}]
        }
    }
    files = {layout.INDEX: dump(index)}
    assert ["PRM_0001"] == list(read(files).alphabet.primitives)
    state = state_of({"iteration_state": {"triggers": {"iterations_since_last_meta": 3}}})
    assert 3 == state["history"]["iterations_since_last_meta"]


@pytest.mark.parametrize(
    ("state", "key"),
    [
        ({"phase": "COMPLETENESS_CONFIRMED"}, "phase"),
        ({"current_strategy": {"proposer_mode": "GUESS"}}, "current_strategy.proposer_mode"),
        ({"pending": []}, "pending"),
        ({"metrics": {"coverage_score": "high"}}, "metrics.coverage_score"),
        ({"current_iteration": -1}, "current_iteration"),
        ({"history": {"total_proposed": 2, "total_accepted": 1}}, "history.total_proposed"),
    ],
)
def test_a_state_that_is_wrong_is_named_by_file_and_key(state: dict[str, Any], key: str) -> None:
    """ALPH-40, 41, T-50."""
    with pytest.raises(StateError) as wrong:
        state_of({"iteration_state": state})
    assert (layout.STATE, key) == (wrong.value.file, wrong.value.key)


@pytest.mark.parametrize(
    ("row", "key"),
    [({"id": "P-1"}, "primitives[0].id"), ({"prime": 0}, "primitives[0].prime"), ({"domain": "zoo"}, "primitives[0].domain"),
     ({"label": ""}, "primitives[0].label"), ({"status": "dead"}, "primitives[0].status")],
)  # fmt: skip
def test_an_index_that_is_wrong_is_named_by_its_row(row: dict[str, Any], key: str) -> None:
    """ALPH-38."""
    whole = {"id": "PRM_0001", "label": "being", "prime": 2, "domain": "being", **row}
    with pytest.raises(StateError) as wrong:
        read({layout.INDEX: dump({"alphabet_state": {"primitives": [whole]}})})
    assert key == wrong.value.key


def test_a_status_is_what_the_iterations_make_it() -> None:
    """ALPH-39."""
    one = primitive(1, "a", added=3, changed=3)
    assert ["recent", "recent", "stable"] == [status_of(one, at, 10, ()) for at in (3, 12, 13)]
    assert "recent" == status_of(one._replace(changed=20), 22, 10, ())
    assert "contested" == status_of(one, 99, 10, {"PRM_0001"})
    assert "deprecated" == status_of(one._replace(status="deprecated"), 99, 10, {"PRM_0001"})


def test_ids_and_primes_are_given_once() -> None:
    """ALPH-21: not those of primitives that are out of use either."""
    some = alphabet("a", "b", "c", c={"status": "deprecated"})
    assert ("PRM_0004", 7) == (next_id(some), next_prime(some))
    assert ("PRM_0001", 2) == (next_id(alphabet_of([])), next_prime(alphabet_of([])))


def test_every_key_of_an_answer_is_needed() -> None:
    """ALPH-07, 13, 26, 29: leave one out, and the answer is not taken."""
    said = {
        "proposer": proposal("a"),
        "critic": criticism("x"),
        "refiner": refinement(),
        "meta_reasoner": meta(),
    }
    for role, value in said.items():
        assert "" == unfit(role, value)
        for path in _paths(value):
            if path[-1] in ("integrations",):
                continue
            less = json.loads(json.dumps(value))
            inner = less
            for step in path[:-1]:
                inner = inner[step]
            del inner[path[-1]]
            assert unfit(role, less), (role, path)


def _paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [
            path
            for key, inner in value.items()
            for path in [(*prefix, key), *_paths(inner, (*prefix, key))]
        ]
    rows = enumerate(value) if isinstance(value, list) else ()
    return [path for at, inner in rows for path in _paths(inner, (*prefix, at))]


@pytest.mark.parametrize(
    "text",
    [
        yaml.safe_dump(proposal("a")), json.dumps(proposal("a")), f"```yaml\n{yaml.safe_dump(proposal('a'))}```",
        f"Sure!\n\n```json\n{json.dumps(proposal('a'))}\n```\nDone.", f"My thoughts: [1] ...\n{yaml.safe_dump(proposal('a'))}",
        f"[NOTICING: x] {json.dumps(proposal('a'))} and so on",
    ],
)  # fmt: skip
def test_an_answer_is_found_in_what_was_said(text: str) -> None:
    """ALPH-69."""
    assert proposal("a") == read_reply("proposer", text).value


def test_out_of_range_is_invalid() -> None:
    """ALPH-13, 29."""
    for change in ({"leibniz_alignment": 6}, {"leibniz_alignment": 0}):
        value = meta()
        value["meta_reflection"]["philosophical_observations"] |= change
        assert "leibniz_alignment" in unfit("meta_reasoner", value)
    assert [(None, True)] == [(one, bool(why)) for one, why in evaluations({"evaluations": [
        {"critic_output": {**criticism("x")["critic_output"], "confidence": 1.5}}]}).values()]  # fmt: skip


def large(count: int) -> Alphabet:
    return alphabet_of(
        Primitive(
            f"PRM_{n:04d}",
            f"concept {n}",
            n + 1,
            "being",
            definition="what is said of it " * 6 + str(n),
            added=n,
        )
        for n in range(1, count + 1)
    )


@pytest.mark.parametrize("count", [0, 3, 200, 3000])
def test_a_context_keeps_to_its_budgets_and_every_section_is_whole_yaml(count: int) -> None:
    """ALPH-57, 63: summarised, never cut in the middle; the last ten are always there."""
    work = work_of(tree_of(large(count)), [])
    work.base.rejected.extend(
        {"label": f"l{n}", "failed_attack": "circularity", "reason": "w" * 5000} for n in range(50)
    )
    work.base.summaries.extend(
        {"iteration": n, "insights": ["x" * 60_000], "candidates": {}} for n in range(9)
    )
    found = composed(work, "critic", 1, {"candidates": [candidate("concept 1")], "primitives": []})
    for name, text in found["sections"].items():
        assert isinstance(yaml.safe_load(text), dict)
        assert name == "task" or tokens(text) <= BUDGETS[name], (name, tokens(text))
    entries = {row["id"] for row in yaml.safe_load(found["sections"]["alphabet"])["entries"]}
    assert {f"PRM_{n:04d}" for n in range(max(1, count - 9), count + 1)} <= entries and len(
        entries
    ) <= count
    assert count == 0 or "PRM_0001" in entries  # it is what the candidate speaks of
    if count == 3000:
        assert "3000 primitives, too many to list" in found["sections"]["alphabet"]
    said = yaml.safe_load(found["sections"]["reasoning"])
    assert (
        0 < len(said["iterations"]) <= 5 and {"circularity": 50} == said["rejections"]["by_attack"]
    )


def test_a_task_that_does_not_fit_lists_its_sizes() -> None:
    """ALPH-57."""
    with pytest.raises(TooLarge, match="candidates 5"):
        composed(work_of(tree_of(), []), "critic", 1, {"candidates": [{"label": "x" * 200_000}]})


def changing(some: Alphabet) -> Change:
    return Change(some, 5)


def test_relations_are_kept_where_they_break_no_rule() -> None:
    """ALPH-23, 24, 49 to 54: the others are conflicts on record."""
    change = changing(alphabet("being", "time", "change"))
    assert change.relate("PRM_0001", "contrasts_with", "time", "opposites")
    assert ("PRM_0001",) == change.alphabet.primitives["PRM_0002"].contrasts
    assert change.relate("PRM_0003", "presupposes", "PRM_0002", "needs it")
    assert not change.relate("PRM_0002", "presupposes", "change", "a circle")
    assert not change.relate("PRM_0001", "presupposes", "time", "they contrast")
    assert not change.relate("PRM_0001", "composes_with", "PRM_0099", "nobody")
    assert ["circularity", "contrasts", "references"] == [row["rule"] for row in change.detected]
    assert 3 == len(change.resolved) and [] == violations(change.alphabet)


def test_a_merger_rewrites_every_reference_and_a_split_makes_two() -> None:
    """ALPH-27: ids are retired, never given again; versions grow."""
    some = alphabet("being", "time", "age", "change", change={"presupposes": ("PRM_0003",)}, age={"contrasts": ("PRM_0001",)},
                    being={"contrasts": ("PRM_0003",)})  # fmt: skip
    change = changing(some)
    assert change.merge("time", "age", "one thing")
    found = change.alphabet.primitives
    assert (
        "deprecated" == found["PRM_0003"].status and ("PRM_0002",) == found["PRM_0004"].presupposes
    )
    assert ("PRM_0001",) == found["PRM_0002"].contrasts and ("PRM_0002",) == found[
        "PRM_0001"
    ].contrasts
    assert 2 == found["PRM_0004"].version and [] == violations(change.alphabet)
    assert not change.split("time", [], "others refer to it")
    parts = [{"label": "becoming", "definition": "x"}, {"label": "motion", "definition": "y"}]
    assert change.split("change", parts, "two things")
    found = change.alphabet.primitives
    assert ["deprecated", "recent", "recent"] == [found[f"PRM_000{n}"].status for n in (4, 5, 6)]
    assert (11, 13) == (found["PRM_0005"].prime, found["PRM_0006"].prime) and [] == violations(
        change.alphabet
    )


def test_a_split_hands_on_what_referred_to_it_to_the_part_that_takes_it() -> None:
    """ALPH-27: and is refused where that is not said of all, or is said twice."""
    some = alphabet(
        "time", "age", "past", "now",
        age={"presupposes": ("PRM_0001",)}, past={"contrasts": ("PRM_0001",)}, time={"contrasts": ("PRM_0003",)},
    )  # fmt: skip

    def parts(first: list[str], second: list[str]) -> list[dict[str, Any]]:
        return [
            {"label": "moment", "definition": "x", "takes": first},
            {"label": "span", "definition": "y", "takes": second},
        ]

    for first, second in ([], []), (["age"], []), (["age", "past"], ["past"]):
        change = changing(some)
        assert not change.split("time", parts(first, second), "two things")
        assert "which part takes PRM_000" in change.detected[0]["why"] and some == change.alphabet
    change = changing(some)
    assert change.split("time", parts(["age"], ["PRM_0003", "now", "nobody"]), "two things"), (
        change.detected
    )
    found = change.alphabet.primitives
    assert ("PRM_0005",) == found["PRM_0002"].presupposes and ("PRM_0006",) == found[
        "PRM_0003"
    ].contrasts
    assert () == found["PRM_0005"].contrasts and ("PRM_0003",) == found["PRM_0006"].contrasts
    assert [] == violations(change.alphabet) and found["PRM_0004"] == some.primitives["PRM_0004"]
    assert [
        {"retired": "PRM_0001", "into": ["PRM_0005", "PRM_0006"], "reason": "two things"}
    ] == change.splits


def test_a_revision_keeps_the_old_value_that_was_there() -> None:
    """ALPH-26, 27: whatever the answer says that it was."""
    change = changing(alphabet("being", "time"))
    assert change.revise("PRM_0001", "definition", "otherwise", "better")
    [row] = change.revisions
    assert ("what being is", "otherwise") == (row["old_value"], row["new_value"])
    assert 2 == change.alphabet.primitives["PRM_0001"].version
    assert not change.revise("PRM_0001", "label", "Time", "a label that is taken")
    assert not change.revise("PRM_0001", "definition", 7, "no text")
    assert not change.revise("PRM_0009", "label", "x", "nobody")
    assert change.revise(
        "PRM_0002", "presupposes", ["being"], "a list of names"
    ) and [] == violations(change.alphabet)


def test_what_can_be_mended_without_judgement_is_mended_three_at_a_time() -> None:
    """ALPH-87, C-25: a dangling reference, one definition twice; a circle is left to a person."""
    some = alphabet("a", "b", "c", "d", a={"presupposes": ("PRM_0002",)}, b={"presupposes": ("PRM_0001",)},
                    c={"composes": ("PRM_0099",), "definition": "same"}, d={"definition": "same"})  # fmt: skip
    change = changing(some)
    left = resolve(change, violations(change.alphabet))
    assert (
        ["circularity"]
        == [one.rule for one in left]
        == [one.rule for one in violations(change.alphabet)]
    )
    assert "deprecated" == change.alphabet.primitives["PRM_0004"].status
    several = [Violation("references", ("PRM_0001", f"PRM_{n:04d}"), "x") for n in range(50, 55)]
    assert 2 <= len(resolve(changing(some), several))


def sweep(events: list[dict[str, Any]], *said: Any) -> list[dict[str, Any]]:
    """One cycle of EXPANSION over an empty alphabet, step by step as the plan goes."""
    tree = tree_of(alphabet("being"))
    for step, one in zip(
        (expansion.hear_proposer, expansion.hear_critic, expansion.integrate), said
    ):
        role = {"hear_proposer": "proposer", "hear_critic": "critic", "integrate": "refiner"}[
            step.__name__
        ]
        context = steps.compose_context(tree, {"events": events}, role, "1")
        events.append(step(one, context, tree, {"events": events}))
    return events


def said_again() -> list[str]:
    """A cycle in which one candidate is rejected."""
    needless = criticism("CAND_001_001", "REJECT", parsimony={"necessary": False})
    return [json.dumps(proposal("e")), json.dumps({"evaluations": [needless]})]


def test_the_fold_of_a_cycle_is_the_change_that_is_committed() -> None:
    """ALPH-03, 16, 19, 21, 22, 34, 36, 41, 88, 90: accepted, rejected, sent back, put off; each in its place."""
    circle = {"survived": False, "circular_paths": [["b", "b"]]}
    critics = [
        criticism("CAND_001_001"), criticism("CAND_001_002", "REJECT", circularity=circle),
        criticism("CAND_001_003", "REFINE"), criticism("CAND_001_004", "DEFER"),
    ]  # fmt: skip
    relation = {"type": "presupposes", "target": "being", "justification": "it is"}
    row = {"candidate_id": "CAND_001_001", "relationships_added": [relation]}
    proposed = json.dumps(proposal("a", "b", "c", "d", "Being"))
    events = sweep([], proposed, json.dumps({"evaluations": critics}), json.dumps(refinement(row)))
    assert ["Being"] == [one["label"] for one in events[0]["dropped"]]
    assert "5 candidates where 3 were asked for" == events[0]["warnings"][0]  # ALPH-08
    work = work_of(tree_of(alphabet("being")), events)
    history = work.state["history"]
    kinds = ("proposed", "accepted", "rejected", "refined", "deferred")
    assert (4, 1, 1, 1, 1) == tuple(history[f"total_{kind}"] for kind in kinds)
    assert ["c"] == [one["label"] for one in work.pending["to_revise"]]
    assert ["d"] == [one["label"] for one in work.pending["to_evaluate"]]
    assert {"being", "a", "b", "d"} == work.taken
    change = closing.build_change(tree_of(alphabet("being")), {"events": events}, {"files": {}})
    assert change["ok"] and "0.0.1" == change["version"]
    files = change["files"]
    entry = parse(files[f"{layout.DETAILED}/PRM_0002_a.yaml"])["primitive"]
    assert (["PRM_0001"], 3) == (entry["presupposes"], entry["prime"])
    assert relation["justification"] == entry["history"][0]["relation"]["justification"]
    rejected = parse(files[layout.REJECTED])["rejected_candidates"]["candidates"]
    assert (
        "circularity" == rejected[0]["failed_attack"]
        and rejected[0]["critic_output"]
        and rejected[0]["candidate"]
    )
    assert "b -> b" in files["reasoning/paradoxes/PAR_0001_circularity_of_b.md"]
    later = tree_of(
        alphabet("being"), **{layout.REJECTED: files[layout.REJECTED]}
    )  # ALPH-35: rejections add up
    more = closing.build_change(later, {"events": sweep([], *said_again())}, {"files": {}})["files"]
    assert ["b", "e"] == [
        one["label"] for one in parse(more[layout.REJECTED])["rejected_candidates"]["candidates"]
    ]
    assert {"circularity": ["b"], "parsimony": ["e"]} == parse(more[layout.REJECTED_INDEX])[
        "rejected_index"
    ]["by_attack"]
    assert 1 == parse(files[layout.HANDOFF])["session_handoff"]["after_iteration"]
    again = closing.build_change(tree_of(alphabet("being")), {"events": events}, {"files": {}})
    assert change == again
    for name in files:
        if name.endswith(".yaml"):
            parse(files[name])


def test_what_a_refiner_sees_waits_for_the_consolidation_and_three_are_looked_at() -> None:
    """ALPH-24, 87: whatever form it gives it; what was not shown still waits."""
    said_so = {"rule": "redundancy", "ids": ["PRM_0001"], "why": "b says it"}
    seen: list[Any] = ["a clashes with PRM_0001", said_so, {"kind": "x"}, "d"]
    said = json.dumps(refinement(conflicts_detected=[*seen, "d", " "]))
    events = sweep(
        [],
        json.dumps(proposal("a")),
        json.dumps({"evaluations": [criticism("CAND_001_001")]}),
        said,
    )
    texts = ["a clashes with PRM_0001", "PRM_0001: b says it", "kind: x", "d"]
    assert texts == events[-1]["conflicts_left"]
    tree = tree_of(alphabet("being"))
    review = steps.review_alphabet(tree, {"events": events}, 1)
    assert 4 == review["count"] and texts[:3] == [
        issue["why"] for issue in review["context"]["issues"]
    ]
    answer = json.dumps(refinement(action="REVISE"))
    events.append(steps.consolidate(answer, review["context"], tree, {"events": events}))
    assert ["d"] == work_of(tree, events).state["pending"]["conflicts_to_resolve"]


def test_all_cycles_of_an_iteration_are_in_the_log() -> None:
    """T-52: nothing is overwritten."""
    events: list[dict[str, Any]] = []
    for label, name in (("a", "CAND_001_001"), ("b", "CAND_001_002")):
        critics = json.dumps({"evaluations": [criticism(name)]})
        events = sweep(events, json.dumps(proposal(label)), critics, json.dumps(refinement()))
    files = closing.build_change(tree_of(alphabet("being")), {"events": events}, {"files": {}})[
        "files"
    ]
    log = parse(files["reasoning/logs/iteration_001/refiner.yaml"])["refiner_log"]["cycles"]
    assert ["PRM_0002", "PRM_0003"] == [cycle["integrations"][0]["primitive_id"] for cycle in log]
    decisions = {name.rsplit("/", 1)[1] for name in files if "/DEC_" in name}
    assert {"DEC_0001_a_is_primitive.md", "DEC_0002_b_is_primitive.md"} == decisions


def test_two_candidates_of_one_definition_are_not_both_accepted() -> None:
    """ALPH-51: and none that says what a primitive says."""
    rows = [
        candidate(label, informal_definition=text)
        for label, text in (("a", "x"), ("b", "X"), ("c", "what being is"))
    ]
    said = {"proposer_output": {"candidates": rows}}
    critics = [criticism(f"CAND_001_00{n}") for n in (1, 2, 3)]
    events = sweep([], json.dumps(said), json.dumps({"evaluations": critics}))
    assert ["ACCEPT", "REFINE", "REFINE"] == [row["verdict"] for row in events[1]["evaluations"]]


def test_markers_are_found_and_the_logs_answer_questions() -> None:
    """ALPH-89."""
    text = "[BREAKTHROUGH: yes] [BIASED?: a bit] [WHATEVER: no] [STUCK] [BLOG_MARKER:PARADOX: being is not] [BLOG_MARKER:NEWS: x]"
    assert [("BREAKTHROUGH", "yes"), ("BIASED?", "a bit"), ("STUCK", "")] == [
        tuple(one) for one in markers.found(text)
    ]
    assert ["NEWS"] == markers.unknown(text)
    kept = {"BREAKTHROUGH": "yes", "BLOG:PARADOX": "p", "BLOG:BREAKTHROUGH": "b"}
    rows = [{"kind": kind, "text": said} for kind, said in kept.items()]
    marks = markers.logged([{"cycles": [{"markers": rows[:1]}, {}]}, {"markers": rows[1:]}])
    assert [("PARADOX", "p"), ("BREAKTHROUGH", "b")] == [
        tuple(one) for one in markers.blog_content_queue(marks)
    ]
    assert ["yes", "b"] == [one.text for one in markers.find_breakthroughs(marks)]
    row = {"label": "Time", "verdict": "REFINE", "summary": "s", "output": {"confidence": 0.5}}
    log = {
        "iteration": 2,
        "cycles": [{"evaluations": [row, {**row, "label": "b", "output": {"confidence": 1.0}}]}],
    }
    assert [{"iteration": 2, "verdict": "REFINE", "why": "s"}] == markers.trace_concept_evolution(
        "time", [log]
    )
    assert [
        {"iteration": 2, "confidence": 0.75, "evaluations": 2}
    ] == markers.confidence_trajectory([log])
    assert {"circularity": 2} == markers.rejection_analysis([{"failed_attack": "circularity"}] * 2)
    assert ["of x"] == markers.paradox_inventory([{"title": "of x"}])
    assert [{"insight": "i"}] == markers.find_meta_insights(
        [{"insights_for_archive": [{"insight": "i"}]}]
    )


def test_a_large_alphabet_is_checked_where_it_changed_and_as_a_whole_at_the_interval() -> None:
    """ALPH-62, 63."""
    some = large(2001).replaced(primitive(1, "x", definition="one", presupposes=("PRM_0002",))._replace(prime=2),
                                primitive(2, "y", definition="two", presupposes=("PRM_0001",))._replace(prime=3))  # fmt: skip
    tree = tree_of(some)
    assert [] == closing.checked(work_of(tree, []))
    old = parse(tree["files"][layout.STATE])
    old["iteration_state"]["current_iteration"] = 9
    later = {**tree, "files": {**tree["files"], layout.STATE: dump(old)}, "digest": "later"}
    assert {"circularity"} == {one.rule for one in closing.checked(work_of(later, []))}


def test_the_acceptance_rate_is_of_the_last_verdicts() -> None:
    """T-53: not of a lifetime."""
    work = work_of(tree_of(), [])
    rows = ["ACCEPT"] * 30, ["REJECT", "UNPARSED", "DEFER"] * 15, ["ACCEPT"] * 5
    work.base.summaries.extend({"verdicts": words} for words in rows)
    assert (0.25, 20) == steps.acceptance(work)
