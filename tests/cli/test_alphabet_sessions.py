"""What `fdc alphabet` leaves from one session for the next, and which model it asks: over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from fdc_toolchain.packs.alphabet import layout

from tests.support.alphabets import CONFIG, FIXED, answering, good, made
from tests.support.inside import fdc

EVERY = CONFIG.replace("candidates_per_cycle: 2", "candidates_per_cycle: 2, meta_reflection_interval: 1")


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
    assert "PAR_0001_being_is_nnot_a_being_b.md" == first.name and "said by the meta_reasoner" in second.read_text()
    assert "everything fits together" in fdc("alphabet", "check", cwd=folder).stdout


def test_a_model_of_another_provider_is_asked_through_a_gateway(tmp_path: Path) -> None:
    """ALPH-56: `openai` is a server that speaks the Messages API for that model; without one nothing is asked."""
    folder = made(tmp_path / "a", CONFIG.replace("provider: anthropic, model: m", "provider: openai, model: gpt"))
    with answering(good) as (server, env):
        alone = {"FDC_MODEL": "", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": ""}
        refused = run(folder, "--model", "config", env=alone)
        assert 2 == refused.returncode and "ANTHROPIC_BASE_URL" in refused.stderr and [] == server.requests
        done = run(folder, "--model", "config", env={**env, "FDC_MODEL": ""})
    assert 0 == done.returncode, done.stderr
    assert {"gpt"} == {body["model"] for body in server.requests}


def test_a_session_begins_with_what_the_last_one_left(tmp_path: Path) -> None:
    """ALPH-88: read first, and said; one that cannot be read costs nothing else."""
    folder = made(tmp_path / "a", CONFIG)
    with answering(good) as (_, env):
        assert "after iteration" not in run(folder, env=env).stderr
        left = values(folder, layout.HANDOFF)["session_handoff"]
        assert 1 == left["after_iteration"]
        assert f"after iteration 1 of {left['written']}" in run(folder, env=env).stderr
        (folder / layout.HANDOFF).write_text("session_handoff: 3\n")
        done = run(folder, env=env)
    assert 0 == done.returncode and "says nothing that can be read" in done.stderr, done.stderr
