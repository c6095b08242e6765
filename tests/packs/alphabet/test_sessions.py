"""What `fdc alphabet` leaves from one session for the next, and which model it asks: over real HTTP."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from fdc_packs.alphabet import layout
from fdc_packs.alphabet.wordlists import NSM

from tests.support.alphabets import (
    CONFIG,
    FIXED,
    answering,
    good,
    made,
    meta,
    need_dictionary,
    proposal,
    role_of,
    tree,
)
from tests.support.inside import fdc
from tests.support.messages_api import Item

EVERY = CONFIG.replace(
    "candidates_per_cycle: 2", "candidates_per_cycle: 2, meta_reflection_interval: 1"
)


def values(folder: Path, path: str) -> Any:
    return yaml.safe_load((folder / path).read_text("utf-8"))


def run(folder: Path, *more: str, env: dict[str, str]) -> Any:
    return fdc("alphabet", "run", *more, cwd=folder, env={**FIXED, **env})


def test_what_roles_mark_is_in_the_logs_though_raw_answers_are_not_kept(tmp_path: Path) -> None:
    """ALPH-36, 89: breakthroughs and the blog's queue are answered from the logs; a paradox has its file."""
    folder = made(tmp_path / "a", EVERY + "logging: {include_raw_llm_output: false}\n")
    marked = "\n# [BREAKTHROUGH: it is one] [BLOG_MARKER:PARADOX: being is\\nnot a being | <b>]\n"

    def marking(role: str, body: dict[str, Any]) -> str:
        return good(role, body) + (marked if role in ("critic", "meta_reasoner") else "")

    with answering(marking) as (_, env):
        done = run(folder, env=env)
    assert 0 == done.returncode, done.stderr
    assert not list(folder.rglob("raw"))
    found = json.loads(fdc("alphabet", "introspect", "find-breakthroughs", cwd=folder).stdout)
    assert ["it is one", "it is one"] == [row["text"] for row in found]
    queue = json.loads(fdc("alphabet", "introspect", "blog-content-queue", cwd=folder).stdout)
    assert ["PARADOX", "PARADOX"] == [row["kind"] for row in queue]
    [first, second] = sorted((folder / "reasoning/paradoxes").glob("PAR_*.md"))
    assert (
        "PAR_0001_being_is_nnot_a_being_b.md" == first.name
        and "said by the meta_reasoner" in second.read_text()
    )
    assert "everything fits together" in fdc("alphabet", "check", cwd=folder).stdout


def test_a_model_of_another_provider_is_asked_as_that_one_is(tmp_path: Path) -> None:
    """ALPH-56: `openai` is a server that speaks the API of OpenAI; without one nothing is asked."""
    folder = made(
        tmp_path / "a",
        CONFIG.replace("provider: anthropic, model: m", "provider: openai, model: gpt"),
    )
    with answering(good) as (server, env):
        alone = {"FDC_MODEL": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
        refused = run(folder, "--model", "config", env={**env, **alone})
        assert (
            2 == refused.returncode
            and "OPENAI_BASE_URL" in refused.stderr
            and [] == server.requests
        )
        there = {"FDC_MODEL": "", "OPENAI_BASE_URL": server.url + "/v1"}
        done = run(folder, "--model", "config", env={**env, **there})
    assert 0 == done.returncode, done.stderr
    assert {"gpt"} == {body["model"] for body in server.requests}


@pytest.mark.long
def test_a_session_begins_with_what_the_last_one_left(tmp_path: Path) -> None:
    """ALPH-88: read first, and said; one that cannot be read costs nothing else."""
    folder = made(tmp_path / "a", CONFIG)
    with answering(good) as (_, env):
        assert "after iteration" not in run(folder, env=env).stderr
        left = values(folder, layout.HANDOFF)["session_handoff"]
        assert 1 == left["after_iteration"]
        assert f"after iteration 1 of {left['written']}" in run(folder, env=env).stderr
        (folder / layout.HANDOFF).write_text("session_handoff: 3\n")
        shutil.rmtree(folder / ".fdc/alphabet")  # as in a clone: there is nothing to put back
        done = run(folder, env=env)
    assert 0 == done.returncode and "says nothing that can be read" in done.stderr, done.stderr


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\ncritic_output: {candidates: [*b, *b]}\n"
PYTHON = "x: !!python/object/apply:os.system ['touch pwned']\n"
RUDE = json.dumps(
    meta(
        "PIVOT",
        proposer_temperature=9.0,
        proposer_mode="RULE_THE_WORLD",
        domain_priorities=["../../etc"],
    )
)


@pytest.mark.parametrize(("role", "primitives", "log"), [
    ("proposer", 0, "logs/iteration_001/proposer.yaml"), ("critic", 0, "logs/iteration_001/critic.yaml"),
    ("refiner", 2, "logs/iteration_001/refiner.yaml"), ("meta_reasoner", 2, "meta_reflections/MR_0001_iteration_001.yaml"),
])  # fmt: skip
def test_a_role_that_answers_badly_twice_loses_its_own_work_alone(
    tmp_path: Path, role: str, primitives: int, log: str
) -> None:
    """ALPH-69: each of the four; what was said is kept, nothing of it acts, the iteration is complete."""
    folder = made(tmp_path / "a", EVERY)
    bad = [BOMB, RUDE if role == "meta_reasoner" else PYTHON]

    def answer(asked: str, body: dict[str, Any]) -> str:
        return bad.pop(0) if asked == role and bad else good(asked, body)

    with answering(answer) as (server, env):
        done = run(folder, env=env)
    assert 0 == done.returncode and not bad, done.stderr
    assert 2 == [role_of(body) for body in server.requests].count(role)
    found = values(folder, layout.INDEX)["alphabet_state"]["primitives"]
    assert primitives == len(found) and not list(tmp_path.rglob("pwned"))
    said = (folder / "reasoning" / log).read_text()
    assert "wrong:" in said
    strategy = values(folder, layout.STATE)["iteration_state"]["current_strategy"]
    if role == "meta_reasoner":
        assert (0.7, []) == (strategy["proposer_temperature"], strategy["domains_priority"])
    kept = sorted(
        path.read_text() for path in (folder / "reasoning/logs/iteration_001/raw").iterdir()
    )
    assert BOMB in kept
    assert "everything fits together" in fdc("alphabet", "check", cwd=folder).stdout


def test_what_measures_coverage_is_shown_to_nobody(tmp_path: Path) -> None:
    """E12: the gaps are those of the practice concepts, and a word that only the test concepts have is in no request."""
    folder = made(tmp_path / "a", CONFIG)
    secret = [{"concept": "xyzzyhood", "domain": "time", "features": ["xyzzy", "plugh"]}]
    (folder / layout.CONCEPTS).write_text(yaml.safe_dump({"test_concepts": secret}))
    shown = [{"concept": "teahood", "domain": "time", "features": ["tealeaf"]}]
    (folder / layout.PRACTICE).write_text(yaml.safe_dump({"test_concepts": shown}))
    with answering(good) as (server, env):
        done = run(folder, "--iterations", "3", env=env)
    assert 0 == done.returncode, done.stderr
    assert ["tealeaf"] == values(folder, layout.STATE)["iteration_state"]["pending"]["gaps_to_fill"]
    assert "plugh" in (folder / layout.COVERAGE).read_text()
    asked = [body["system"][0]["text"] + body["messages"][0]["content"] for body in server.requests]
    assert len(asked) >= 9 and not [text for text in asked if "xyzzy" in text or "plugh" in text]
    for body, role in zip(
        server.requests, ("proposer", "critic", "refiner")
    ):  # all that is sent is counted
        log = values(folder, f"reasoning/logs/iteration_001/{role}.yaml")[f"{role}_log"]
        sent = len(body["system"][0]["text"]) + len(body["messages"][0]["content"])
        assert sent <= 4 * sum(log["cycles"][0]["context_tokens"].values())
    proposers = [text for text in asked if "PROPOSER" in text[:40]]
    assert "tealeaf" not in proposers[0] and "tealeaf" in proposers[1]


@pytest.mark.soak
def test_without_a_model_the_work_comes_to_its_end_by_itself(tmp_path: Path) -> None:
    """ALPH-65, E13: with the configuration of `init` every word of the grounding set that may be one has been judged."""
    need_dictionary()
    folder = made(tmp_path / "a")
    done = run(folder, "--iterations", "60", env={})
    assert 0 == done.returncode and "the work has ended, " in done.stdout, done.stderr
    report = values(folder, "FINAL_REPORT.yaml")["final_report"]
    assert report["reason"] in ("STABILITY_ACHIEVED", "DIMINISHING_RETURNS_NO_PIVOT", "CONCLUDED")
    labels = {row["label"] for row in report["alphabet"]}
    assert (
        100 < len(labels) < 200
        and len(labels & {item for _, own, _ in NSM for item in own.split()}) >= 20
    )
    assert not labels & {"disease", "school", "blow", "plant", "woman", "sheep", "money", "soldier"}
    assert {
        "cause",
        "time",
        "part",
        "thing",
        "place",
        "good",
        "know",
        "feel",
        "other",
        "same",
    } <= labels
    assert "everything fits together" in fdc("alphabet", "check", cwd=folder).stdout


@pytest.mark.long
def test_iterations_that_add_nothing_are_told_until_the_work_ends(tmp_path: Path) -> None:
    folder = made(tmp_path / "a", CONFIG + "stopping: {stability_window: 4}\n")

    def spent(role: str, body: dict[str, Any]) -> str | Item:
        """New labels at first, then none."""
        first = "Iteration 1," in body["messages"][0]["content"]
        return good(role, body) if first or role != "proposer" else json.dumps(proposal())

    with answering(spent) as (_, env):
        done = run(folder, "--iterations", "9", env=env)
    assert 0 == done.returncode, done.stderr
    lines = done.stdout.splitlines()
    told = "nothing was added or changed in {} iterations: the work ends after 4 (`stopping.stability_window` in config.yaml)"
    assert [line for line in lines if line.startswith("nothing was")] == [
        told.format(2),
        told.format(3),
    ]
    assert lines[-1].startswith("the work has ended, STABILITY_ACHIEVED: ")
    assert [line.split(":")[0] for line in lines if line.startswith("iteration ")] == [
        f"iteration {number}" for number in range(1, 6)
    ]


@pytest.mark.parametrize("path", ["config.yaml", layout.CONCEPTS, layout.PRACTICE])
@pytest.mark.parametrize("text", [None, "", "# nothing\n"])
def test_a_file_of_a_person_that_is_gone_is_not_an_empty_one(
    tmp_path: Path, path: str, text: str | None
) -> None:
    """T-51: `check` said that everything fits together, and `run` measured with no concept, or by the default settings."""
    need_dictionary()
    folder = made(tmp_path / "a")
    (folder / path).unlink()
    if text is not None:
        (folder / path).write_text(text)
    if path == "config.yaml" and text:
        return  # settings with nothing but a comment are the default ones
    before = tree(folder)
    for command in ("check", "run"):
        done = fdc("alphabet", command, cwd=folder)
        assert 1 == done.returncode and f"{path}" in done.stdout + done.stderr, done
        assert "put it back, or take the one that" in done.stdout + done.stderr
    assert before == tree(folder)


@pytest.mark.long
@pytest.mark.parametrize("judged", [False, True])
def test_answers_that_cannot_be_read_are_no_sign_that_the_work_is_done(
    tmp_path: Path, judged: bool
) -> None:
    """After ten of them the work had ended, with STABILITY_ACHIEVED and no primitive."""

    def mute(role: str, body: dict[str, Any]) -> str:
        return good(role, body) if judged and role == "proposer" else "Sorry, I cannot help."

    windows = "stopping: {stability_window: 2, diminishing_returns_window: 2}\n"
    folder = made(tmp_path / "a", CONFIG + windows)
    with answering(mute) as (_, env):
        done = run(folder, "--iterations", "2", env=env)
        assert 0 == done.returncode and "iteration 2: " in done.stdout, done
        assert 2 == done.stdout.count("no candidate was judged: the answers could not be read")
        assert "the work has ended" not in done.stdout and "nothing was added" not in done.stdout
        assert not (folder / "FINAL_REPORT.md").exists()
    with answering(lambda role, body: good(role, body)) as (_, env):
        assert 0 == run(folder, env=env).returncode
    assert values(folder, f"{layout.LOGS}/iteration_002/summary.yaml")["summary"]["unread"] is True
    assert values(folder, f"{layout.LOGS}/iteration_003/summary.yaml")["summary"]["unread"] is False
    assert "everything fits together" in fdc("alphabet", "check", cwd=folder).stdout
    assert 0 == fdc("alphabet", "schema", cwd=folder).returncode
