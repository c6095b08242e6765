"""Folders and corpora of other programs: taken as far as fdc knows them, kept whole, and named where it does not."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from fdc_packs.alphabet import layout
from fdc_packs.alphabet.calculus.consistency import violations
from fdc_packs.alphabet.config import config_of
from fdc_packs.alphabet.foreign.corpus import FORMULAS, measured, rows_of
from fdc_packs.alphabet.foreign.importing import imported
from fdc_packs.alphabet.state import read
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.alphabets import AT, alphabet
from tests.support.inside import fdc

FILES = {
    "config.yaml": (
        "version: '1.0.0'\nllm: {provider: anthropic, model: some-model, colour: red}\n"
        "logging: {level: DEBUG, pretty_print_yaml: true}\npaths: {alphabet: alphabet/}\nstopping: {max_iterations: many}\n"
    ),
    "alphabet/primitives/index.yaml": (
        "version: 1\ntotal_primitives: 3\nprimitives:\n"
        "- {id: P001, label: existence, domain: being, status: stable, prime: 2}\n"
        "- {id: P002, label: difference, domain: meta-ontology, status: stable, prime: 3}\n"
        "- {id: P003, label: change, domain: time, status: proven, prime: 9}\n"
    ),
    "alphabet/primitives/detailed/P002.yaml": (
        "id: P002\nlabel: difference\nprime_number: 3\ndefinition: {informal: That this is not that., formal: null}\n"
        "examples: {ostensive: [two stones], negative: [one stone]}\n"
        "relationships: {presupposes: [P001], contrasts_with: [P009], composes_well_with: [P003], similar_to: []}\n"
        "confidence: 0.95\nnotes: The second.\n"
    ),
    "reasoning/iteration_state.yaml": (
        "current_iteration: 11\ncurrent_phase: COMPLETENESS_CONFIRMED\nderived_concepts:\n- {name: x, formula: a * b}\n"
    ),
    "reasoning/logs/iteration_003/critic.yaml": (
        "evaluations:\n- {candidate: {label: running, domain: action}, verdict: REJECT, reasoning_summary: no,"
        " attacks: {redundancy: {can_be_expressed: true}}}\n"
        "- {candidate_label: speed, verdict: reject, reasoning_summary: nothing needs it}\n"
        "- {candidate_label: kept, verdict: ACCEPT}\n"
    ),
    "validation/test_concepts.yaml": "version: 1.0\n- {name: plurality}\n",
    "notes.md": "# Anything\n",
}  # fmt: skip


def folder(root: Path, files: dict[str, str] = FILES) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_foreign_folder_becomes_an_alphabet_that_fits_together(tmp_path: Path) -> None:
    """C-20 to C-22, D6: ids, forms and relations are fdc's, every original is kept, and the work can go on."""
    source = folder(tmp_path / "theirs")
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    done = fdc("alphabet", "import", "theirs", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert "theirs.imported: 3 primitives, iteration 11, 2 rejected candidates" in done.stdout
    goal = tmp_path / "theirs.imported"
    for said in (
        "`llm.colour`", "`stopping.max_iterations` takes a whole number", "COMPLETENESS_CONFIRMED",
        "`derived_concepts` is unknown",
        "the domain `meta-ontology` is none", "the status `proven` is none", "`9` is not a prime number of its own: 11",
        "PRM_0002 contrasts P009: that leads nowhere", "`relationships.similar_to` is unknown", "`notes` is unknown",
        "validation/test_concepts.yaml: is not valid YAML: line 2", "the rejection of `speed` names no attack",
    ):  # fmt: skip
        assert said in done.stdout, said
    for path, data in before.items():
        assert path.read_bytes() == data
        assert (goal / "sources/imported" / path.relative_to(source)).read_bytes() == data
    checked = fdc("alphabet", "check", cwd=goal)
    assert "3 primitives, 11 iterations: everything fits together" in checked.stdout, checked.stdout
    assert 0 == fdc("alphabet", "schema", cwd=goal).returncode
    asked = fdc("alphabet", "introspect", "rejection-analysis", cwd=goal)
    assert {"redundancy": 1, "parsimony": 1} == json.loads(asked.stdout)
    entry = yaml.safe_load((goal / layout.DETAILED / "PRM_0002_difference.yaml").read_text())
    assert ["PRM_0001"] == entry["primitive"]["presupposes"]
    assert "The second." == entry["primitive"]["imported"]["notes"]
    composed = fdc("alphabet", "compose", "existence, change", "--format", "json", cwd=goal)
    assert 2 * 11 == json.loads(composed.stdout)["alternatives"][0]["number"]
    again = fdc("alphabet", "import", "theirs", cwd=tmp_path)
    assert 2 == again.returncode and "exists and is not an empty folder" in again.stderr
    assert 0 == fdc("alphabet", "import", "theirs", "--into", "b", cwd=tmp_path).returncode


@pytest.mark.parametrize(
    "head", ["", "alphabet_state: {version: 3}\n", "alphabet_index: {total: 3}\n"]
)
def test_no_primitive_of_an_index_is_lost(head: str) -> None:
    """The list may stand beside the table of the state; it was lost without a word where one entry had a file."""
    index = "alphabet/primitives/index.yaml"
    got = imported({**FILES, index: head + FILES[index]}, AT)
    assert ["existence", "difference", "change"] == [one.label for one in got.alphabet]


def test_what_is_no_such_folder_is_one_sentence(tmp_path: Path) -> None:
    folder(tmp_path / "empty", {"config.yaml": "a: [\n"})
    done = fdc("alphabet", "import", "empty", cwd=tmp_path)
    assert 1 == done.returncode and "it has no primitives" in done.stderr
    assert not (tmp_path / "empty.imported").exists()
    assert 2 == fdc("alphabet", "import", "nowhere", cwd=tmp_path).returncode


def test_links_and_what_is_no_text_are_named_and_not_followed(tmp_path: Path) -> None:
    source = folder(tmp_path / "theirs")
    (tmp_path / "secret").write_text("secret")
    (source / "notes").symlink_to(tmp_path / "secret")
    (source / "picture.png").write_bytes(b"\x89PNG\xff")
    done = fdc("alphabet", "import", "theirs", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert (
        "notes: skipped, because it is not a regular file" in done.stdout
        and "picture.png: skipped, because it is not UTF-8" in done.stdout
    )
    assert not list((tmp_path / "theirs.imported").rglob("notes"))


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 99)
    | st.just(10**900 + 7) | st.floats(allow_nan=True) | st.text(max_size=8)
    | st.sampled_from(["P001", "PRM_0002", "REJECT", "being", "time"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            "id label domain status prime definition relationships presupposes contrasts_with primitives verdict attacks "
            "candidate confidence examples current_iteration decomposition test_concepts".split()
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from([*FILES, layout.GRAPH, layout.CONCEPTS]), junk, max_size=4))
def test_whatever_stands_in_a_folder_gives_a_sound_alphabet(wrong: dict[str, Any]) -> None:
    """Only the six rules may be broken, by relations that the folder really has; `check` says which."""
    files = FILES | {path: yaml.safe_dump(value) for path, value in wrong.items()}
    try:
        found = imported(files, AT)
    except ValueError as error:
        assert "it has no primitives" in str(error)
        return
    assert {one.rule for one in violations(found.alphabet)} <= {
        "circularity",
        "contrasts",
        "redundancy",
        "ids",
    }
    primes = [one.prime for one in found.alphabet.primitives.values()]
    assert len(primes) == len(set(primes)) and found.config == config_of(found.config)


CORPUS = {
    "corpus": {"name": "small"},
    "sources": [
        {"title": "one", "concepts": [
            {"name": "plurality", "importance": 3, "decomposition": {"primitives": ["a", "b"], "expressible": True}},
            {"name": "change", "importance": 2, "decomposition": {"primitives": ["a"]}},
        ]},
        {"title": "two", "concepts": [
            {"name": "beauty", "importance": 4, "decomposition": {"primitives": [], "expressible": False}},
            {"name": "odd", "decomposition": {"primitives": ["a", "zzz"], "expressible": True}},
        ]},
    ],
}  # fmt: skip


def test_a_corpus_is_measured_by_the_stated_formulas() -> None:
    """ALPH-86: by hand. a is used twice and b once by what can be expressed; `zzz` is not a primitive of the alphabet."""
    found = measured(rows_of(CORPUS), alphabet("a", "b", "c", "d"))
    a, b = math.log2(3 / 2), math.log2(3)
    assert (4, 2, 0.5, 0.5) == (
        found["concepts"], found["expressible"], found["coverage"], found["weighted_coverage"],
    )  # fmt: skip
    assert ["beauty", "odd"] == found["inexpressible"]
    assert [{"label": "zzz", "concepts": 1}] == found["unknown"]
    h = 2 / 3 * a + 1 / 3 * b
    assert pytest.approx([h, h, (2 * a + b) / 2], abs=1e-4) == [
        found["entropy"], found["normalised_entropy"], found["bits_per_concept"],
    ]  # fmt: skip
    assert pytest.approx([8, 2 * a + b, 8 + 2 * a + b], abs=0.01) == list(found["mdl"].values())
    assert [("a", 1.0), ("b", 0.5)] == [
        (row["label"], row["importance"]) for row in found["importance"]
    ]
    alone = measured(rows_of(CORPUS), None)
    assert (3, 0.75, 0.6) == (alone["expressible"], alone["coverage"], alone["weighted_coverage"])
    assert set(FORMULAS) == {*alone["formulas"]} and 3 == alone["primitives"]


def test_the_command_measures_a_corpus_anywhere(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(CORPUS))
    done = fdc("alphabet", "measure", "c.yaml", cwd=tmp_path)
    assert (
        0 == done.returncode and "coverage: 75.0% (3 of 4)  [expressible / concepts]" in done.stdout
    )
    as_json = json.loads(
        fdc("alphabet", "measure", "c.yaml", "--format", "json", cwd=tmp_path).stdout
    )
    assert 0.75 == as_json["coverage"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [\n", "is not valid YAML: line"), ("concepts: []\n", "has no concept with `decomposition"),
        ("- {name: x, weight: -1, decomposition: {primitives: [a]}}\n", "its weight is not a number above 0"),
        ("- {name: x, decomposition: {primitives: [a], expressible: perhaps}}\n", "neither true nor false"),
        ("- {name: x, decomposition: [a]}\n", "concept 1, `x`: its `decomposition` has no list `primitives`; write"),
        ("- {name: x, decomposition: null}\n", "concept 1, `x`: its `decomposition` has no list"),
        ("- {name: x, decomposition: {primitives: a}}\n", "concept 1, `x`: its `decomposition` has no list"),
        ("--- \n- {name: x, decomposition: {primitives: [a]}}\n---\n[", "is not valid YAML: line"),
        ("a: &a [1]\nb: [*a, *a]\n", "is not valid YAML: it has an alias"), ("\udcff", "c.yaml: is not UTF-8"),
    ],
)  # fmt: skip
def test_a_corpus_that_is_none_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "c.yaml").write_text(text, "utf-8", "surrogateescape")
    done = fdc("alphabet", "measure", "c.yaml", cwd=tmp_path)
    assert 1 == done.returncode and says in done.stderr and "Traceback" not in done.stderr
    assert 2 == fdc("alphabet", "measure", "nowhere.yaml", cwd=tmp_path).returncode
    os.mkfifo(tmp_path / "pipe")
    assert 2 == fdc("alphabet", "measure", "pipe", cwd=tmp_path).returncode


def test_no_concept_of_a_corpus_is_left_out() -> None:
    """A concept that cannot be expressed and has no list was not counted: the coverage was 100 %."""
    one = {"name": "a", "decomposition": {"primitives": ["time"]}}
    bare = {"name": "b", "decomposition": {"expressible": False}}
    none = {"name": "c", "decomposition": {"primitives": None, "expressible": False}}
    found = measured(rows_of([one, bare, none]), None)
    assert (3, 1, ["b", "c"]) == (found["concepts"], found["expressible"], found["inexpressible"])


def test_a_corpus_may_be_several_documents(tmp_path: Path) -> None:
    """Only the first was measured, and nothing said so."""
    one, other = "decomposition: {primitives: [a]}", "decomposition: {expressible: false}"
    (tmp_path / "c.yaml").write_text(f"---\nname: x\n{one}\n---\nname: y\n{other}\n")
    done = fdc("alphabet", "measure", "c.yaml", cwd=tmp_path)
    assert 0 == done.returncode and "coverage: 50.0% (1 of 2)" in done.stdout, done
    assert "entropy: 0.0000 bits" in done.stdout  # it was -0.0000


INDEX = "alphabet/primitives/index.yaml"


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (
            "primitives: [{id: P001, label: one, prime: 2}, {id: P001, label: two, prime: 3}]\n",
            f"{INDEX}: PRM_0001 is `two` here and `one` before: one primitive, `two`",
        ),
        (
            "primitives: [{id: P001, label: one}, {id: P002, label: One}]\n",
            "PRM_0001 and PRM_0002 are both called `one`: `fdc alphabet run` refuses that",
        ),
        ("primitives: [{id: P001, label: one}]\n", "PRM_0001 one: it has no domain: `being`"),
        ("primitives: [{id: P001, label: one}]\n", "PRM_0001 one: it has no prime: 2"),
        (
            "primitives: [{id: P001, label: one}]\n---\nprimitives: [{id: P002, label: two}]\n",
            f"{INDEX}: only the text before its second `---` is read",
        ),
    ],
)
def test_what_an_import_loses_or_makes_up_is_named(index: str, said: str) -> None:
    assert said in imported({INDEX: index}, AT).notes


def test_why_an_index_has_no_primitive_is_said() -> None:
    with pytest.raises(ValueError, match=r"no primitives: .*; .*index.yaml: is not valid YAML: li"):
        imported({INDEX: "primitives: [{id: P001"}, AT)


def test_a_link_to_a_folder_is_named(tmp_path: Path) -> None:
    (folder(tmp_path / "theirs") / "more").symlink_to("/etc")
    done = fdc("alphabet", "import", "theirs", cwd=tmp_path)
    assert "more: skipped, because it is a link to a folder" in done.stdout


def test_an_imported_folder_is_read_as_any_alphabet_is(tmp_path: Path) -> None:
    folder(tmp_path / "theirs")
    assert 0 == fdc("alphabet", "import", "theirs", "--into", "mine", cwd=tmp_path).returncode
    goal = tmp_path / "mine"
    base = read(
        {
            str(path.relative_to(goal)): path.read_text()
            for path in goal.rglob("*.yaml")
            if "sources" not in path.parts
        }
    )
    assert 11 == base.state["current_iteration"] and base.config["pretty_print_yaml"] is True
    assert ["two stones"] == base.examples["PRM_0002"]["examples"]
    assert ["running", "speed"] == [row["label"] for row in base.rejected]
