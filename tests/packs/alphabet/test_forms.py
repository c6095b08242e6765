"""The form of an alphabet's files, damage to them, and what an end leaves behind: `fdc alphabet` over real HTTP."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fdc_packs.alphabet import layout, model, schemas
from fdc_packs.alphabet.drawing import drawn
from fdc_packs.alphabet.iteration import phases

from tests.support.alphabets import AT, CONFIG, FIXED, answering, good, made, need_dictionary, tree
from tests.support.inside import fdc

EVERY = CONFIG.replace(
    "candidates_per_cycle: 2", "candidates_per_cycle: 2, meta_reflection_interval: 1"
)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An alphabet of one iteration with a reflection, every role answered by a model; no one changes it."""
    folder = made(tmp_path_factory.mktemp("forms") / "a", EVERY)
    with answering(good) as (_, env):
        done = fdc("alphabet", "run", cwd=folder, env=env)
    assert 0 == done.returncode, done.stderr
    return folder


@pytest.fixture
def mine(grown: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(grown, tmp_path / "mine", symlinks=True)
    return tmp_path / "mine"


def leaves(value: Any) -> Iterator[Any]:
    """Every table of a schema, itself first."""
    yield value
    for one in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from leaves(one)


def test_the_enumerations_are_the_ones_of_the_row_and_files_are_held_to_them() -> None:
    """ALPH-91: 15 domains, 4 phases, 4 verdicts, 4 statuses, 5 relationship types, 6 attacks, 8 blog categories."""
    kept = {
        "domain": (model.DOMAINS, 15), "phase": (model.PHASES, 4), "verdict": (model.VERDICTS, 4), "status": (model.STATUSES, 4),
        "relation": (model.RELATIONS, 5), "attack": (model.ATTACKS, 6), "blog_category": (model.BLOG_CATEGORIES, 8),
    }  # fmt: skip
    defs = schemas.schema(schemas.SCHEMA)["$defs"]
    for name, (values, size) in kept.items():
        assert list(values) == defs[name]["enum"] and size == len(set(values)), name
    assert "deprecated" in model.STATUSES
    codes = {code for _, code in ENDS}
    assert codes == set(defs["stop"]["enum"]) - {""}
    shipped = schemas._shipped()
    used = {
        one["$ref"].rpartition("/")[2]
        for one in leaves(shipped)
        if isinstance(one, dict) and "$ref" in one
    }
    assert set(defs) - used <= {"verdict", "blog_category", "action"}, (
        "a definition that nothing uses holds nothing"
    )


ENDS = [
    (phases.Facts(9, coverage=0.95, tested=3), "COVERAGE_ACHIEVED"), (phases.Facts(500), "MAX_ITERATIONS_REACHED"),
    (phases.Facts(9, decision="CONCLUDE"), "CONCLUDED"),
    (phases.Facts(30, added=(0,) * 9 + (1,), changed=(1,) * 10, pivots=(False,) * 10), "DIMINISHING_RETURNS_NO_PIVOT"),
    (phases.Facts(30, added=(0,) * 10, changed=(0,) * 10, pivots=(True,) * 10), "STABILITY_ACHIEVED"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "code"), ENDS)
def test_every_end_has_a_code_that_files_may_hold(facts: phases.Facts, code: str) -> None:
    """ALPH-65, 91."""
    from fdc_packs.alphabet.config import DEFAULTS

    found = phases.stopping(facts, DEFAULTS)
    assert found is not None and code == found.code


WRONG = [
    (layout.INDEX, '"id": "PRM_0001"', '"id": "PRM_1"', "primitives[0].id` is not written like"),
    (layout.INDEX, '"domain": "being"', '"domain": "beeing"', "primitives[0].domain` is none of being, space"),
    (layout.INDEX, '"status": "recent"', '"status": "old"', "is none of recent, stable, contested, deprecated"),
    (layout.STATE, "phase: EXPANSION", "phase: DREAMING", "is none of EXPANSION, CONSOLIDATION"),
    (layout.GRAPH, f"last_updated: '{AT[:10]}", "last_updated: '2026-02-31", "is not time that there is"),
    (layout.HANDOFF, f"written: '{AT}'", f"written: '{AT[:-1]}+01:00'", "is not written like"),
    (layout.HANDOFF, "  written:", "  writen:", "lacks `written`"),
    ("reasoning/logs/iteration_001/summary.yaml", "- ACCEPT", "- MAYBE", "is none of ACCEPT, REJECT, REFINE, DEFER"),
    ("reasoning/logs/iteration_001/critic.yaml", "candidate_id: CAND_001_001", "candidate_id: C1", "is not written like"),
    ("alphabet/primitives/detailed/PRM_0001_alpha_1_1.yaml", "prime: 2", "prime: two", "is not of type integer, found 'two'"),
    ("reasoning/meta_reflections/MR_0001_iteration_001.yaml", "decision: CONTINUE", "decision: GO", "is none of CONTINUE, PIVOT"),
    (layout.DECISIONS, "id: DEC_0001", "id: D1", "is not written like"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new", "says"), WRONG)
def test_the_schema_command_finds_ids_times_and_words_that_are_none(
    mine: Path, path: str, old: str, new: str, says: str
) -> None:
    """ALPH-91: validated by a command, in every file; `check` says it too."""
    text = (mine / path).read_text()
    assert old in text, text[:400]
    (mine / path).write_text(text.replace(old, new, 1))
    for words in (("schema",), ("schema", path), ("check",)):
        done = fdc("alphabet", *words, cwd=mine)
        assert 1 == done.returncode and (says in done.stdout or words == ("check",)), (
            words,
            done.stdout,
        )
        assert path in done.stdout
    found = json.loads(fdc("alphabet", "schema", path, "--format", "json", cwd=mine).stdout)
    assert (
        not found["ok"]
        and path == found["findings"][0]["file"]
        and says in found["findings"][0]["message"]
    )


def test_only_what_fdc_writes_has_a_form(mine: Path) -> None:
    """ALPH-91: two, for wrong usage; a text that is not valid YAML is a finding, twenty findings are enough."""
    clean = fdc("alphabet", "schema", cwd=mine)
    assert 0 == clean.returncode and "are as they must be" in clean.stdout, clean.stdout
    for name in ("config.yaml", "../elsewhere.yaml", "reasoning/iteration_state.yml"):
        assert 2 == fdc("alphabet", "schema", name, cwd=mine).returncode
    missing = fdc("alphabet", "schema", "reasoning/logs/iteration_009/summary.yaml", cwd=mine)
    assert 2 == missing.returncode and "is not a file" in missing.stderr
    rows = "".join("  - {}\n" for _ in range(9))
    (mine / layout.INDEX).write_text(f"alphabet_state:\n  primitives:\n{rows}")
    assert schemas.MOST + 1 == len(
        fdc("alphabet", "schema", layout.INDEX, cwd=mine).stdout.splitlines()
    )
    for broken in (b"a: [\n", b"\xff\xfe"):
        (mine / layout.STATE).write_bytes(broken)
        assert 1 == fdc("alphabet", "schema", cwd=mine).returncode


WRITTEN = (
    layout.STATE, layout.INDEX, layout.GRAPH, layout.CANDIDATES, layout.HANDOFF, layout.DOMAIN_INDEX, layout.DECISIONS,
    layout.REJECTED, "reasoning/logs/iteration_001/summary.yaml", "alphabet/primitives/detailed/PRM_0001_alpha_1_1.yaml",
    "reasoning/meta_reflections/MR_0001_iteration_001.yaml",
)  # fmt: skip
DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "cut off": lambda data: data[: len(data) // 2], "no text": lambda _: b"\xff\xfe\x00", "gone": lambda _: None,
}  # fmt: skip


@pytest.mark.parametrize("how", DAMAGE)
def test_every_file_that_an_iteration_reads_is_put_back_where_it_is_damaged(
    mine: Path, how: str
) -> None:
    """ALPH-70: all of them at once, also one that can be read and lacks a part; the work goes on as if nothing had been."""
    whole = tree(mine)
    for path in WRITTEN:
        data = DAMAGE[how](whole[path])
        (mine / path).unlink() if data is None else (mine / path).write_bytes(data)
    checked = fdc("alphabet", "check", cwd=mine)
    assert 1 == checked.returncode and (
        how != "gone" or all(f"{path} is missing" in checked.stdout for path in WRITTEN)
    )
    with answering(good) as (_, env):
        done = fdc("alphabet", "run", cwd=mine, env=env)
    assert 0 == done.returncode and ".fdc/alphabet/damaged/" in done.stderr, done.stderr
    assert all(path in done.stderr for path in WRITTEN)
    assert "iteration 2:" in done.stdout
    assert "everything fits together" in fdc("alphabet", "check", cwd=mine).stdout
    entry = (mine / "alphabet/primitives/detailed/PRM_0001_alpha_1_1.yaml").read_bytes()
    assert whole["alphabet/primitives/detailed/PRM_0001_alpha_1_1.yaml"] == entry
    kept = mine / ".fdc/alphabet/damaged" / layout.STATE
    assert kept.exists() == (how != "gone")


def test_what_a_person_wrote_is_no_damage_and_a_copy_that_is_damaged_too_is_not_used(
    mine: Path,
) -> None:
    """ALPH-70: hash-verified; nothing is guessed, and who only looks is told who mends."""
    path = mine / layout.STATE
    path.write_text(path.read_text().replace("critic_strictness: 0.5", "critic_strictness: 0.4"))
    with answering(good) as (_, env):
        done = fdc("alphabet", "run", cwd=mine, env=env)
        assert 0 == done.returncode and "damaged" not in done.stderr
        path.write_text(path.read_text().replace("phase: EXPANSION", "phase: expansion"))
        seen = fdc("alphabet", "status", cwd=mine)
        assert 1 == seen.returncode and "`fdc alphabet run` restores" in seen.stderr
        copy = mine / ".fdc/alphabet/checkpoint" / layout.STATE
        copy.write_text(copy.read_text() + "\n")
        done = fdc("alphabet", "run", cwd=mine, env=env)
    assert 1 == done.returncode and "damaged too" in done.stderr and "Traceback" not in done.stderr
    assert "phase: expansion" in path.read_text()


@pytest.mark.long
def test_an_end_has_its_pictures_and_who_goes_on_leaves_no_report_of_it(tmp_path: Path) -> None:
    """ALPH-67, issue 6: SVG, PNG and the page when the work ends; `--again` takes the stale report away, the snapshot tells."""
    pytest.importorskip("resvg_py")
    folder = made(tmp_path / "a", CONFIG + "stopping: {max_iterations: 1}\n")
    report = [
        layout.REPORT_MD,
        layout.REPORT_YAML,
        *(f"{drawn.FOLDER}/{name}" for name in drawn.FILES),
    ]
    with answering(good) as (_, env):
        done = fdc("alphabet", "run", cwd=folder, env=env)
        assert "MAX_ITERATIONS_REACHED" in done.stdout, done.stdout + done.stderr
        assert all((folder / name).is_file() for name in report)
        first = {name: (folder / drawn.FOLDER / name).read_bytes() for name in drawn.PICTURES}
        assert all(data.startswith(b"\x89PNG\r\n") for data in first.values())
        assert "item" in (folder / "validation/comparisons/vs_nsm_primes.md").read_text()
        (folder / drawn.FOLDER / drawn.PICTURES[0]).unlink()  # as if it had been killed before
        assert 0 == fdc("alphabet", "run", cwd=folder, env=env).returncode
        assert first[drawn.PICTURES[0]] == (folder / drawn.FOLDER / drawn.PICTURES[0]).read_bytes()
        # another end: other pictures
        assert 0 == fdc("alphabet", "run", "--again", cwd=folder, env=env).returncode
        assert all((folder / name).is_file() for name in report)
        assert first[drawn.PICTURES[0]] != (folder / drawn.FOLDER / drawn.PICTURES[0]).read_bytes()
        # no end any more: no report of one
        config = folder / "config.yaml"
        config.write_text(config.read_text().replace("max_iterations: 1", "max_iterations: 9"))
        assert 0 == fdc("alphabet", "run", "--again", cwd=folder, env=env).returncode
    assert [] == [name for name in report if (folder / name).exists()]
    assert "stopped: ''" in (folder / layout.STATE).read_text()
    changes = (folder / "alphabet/versions/v0.1.0/CHANGELOG.md").read_text()
    assert "The work ended with it, MAX_ITERATIONS_REACHED: iteration 1 of 1." in changes
    assert "everything fits together" in fdc("alphabet", "check", cwd=folder).stdout


def test_without_a_model_it_goes_on_until_it_ends_and_with_one_for_an_iteration(
    tmp_path: Path, grown: Path
) -> None:
    """Issue 6: `fdc alphabet run` builds a real small alphabet with no model and says so; a model costs, so it is one then."""
    assert (
        1
        == yaml.safe_load((grown / layout.STATE).read_text())["iteration_state"][
            "current_iteration"
        ]
    )
    need_dictionary()
    folder = made(
        tmp_path / "a",
        "iteration: {expansion_cycles: 1, composition_cycles: 1}\nstopping: {max_iterations: 2}\n",
    )
    done = fdc("alphabet", "run", cwd=folder, env=FIXED)
    assert 0 == done.returncode, done.stderr
    assert (
        "iteration 2:" in done.stdout
        and "MAX_ITERATIONS_REACHED" in done.stdout
        and "no model is used" in done.stderr
    )
    assert "No model was used" in (folder / layout.REPORT_MD).read_text()


def test_what_comes_from_the_dictionary_stands_under_its_licence(grown: Path) -> None:
    """Issue 6, respect its licence: the notice that is to be on all copies is in every alphabet."""
    notice = " ".join((grown / "sources/modern_ontologies/WORDNET_LICENSE.txt").read_text().split())
    for sentence in (
        "the same appear on ALL copies of the software, database and documentation",
        "WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved.",
        'PROVIDED "AS IS"',
        "may not be used in advertising",
    ):
        assert sentence in notice
