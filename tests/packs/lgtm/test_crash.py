"""`fdc lgtm` is killed at its boundaries, by SIGKILL, and goes on: the same plan, nothing asked twice that was recorded."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.lgtm import artifacts

from tests.support.explored import shop
from tests.support.killing import killed_at
from tests.support.lgtm import (
    ANSWERS,
    QUESTION,
    asked,
    folder_of,
    kind_of,
    plan_for,
    steps,
    thinking,
    tree,
)
from tests.support.process import fdc


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The run folder of a run that no one disturbed."""
    workspace = tmp_path_factory.mktemp("whole") / "w"
    with thinking() as (_, env):
        assert 0 == plan_for(workspace, env=env).returncode
    return tree(folder_of(workspace))


def persisted(workspace: Path, run_name: str) -> None:
    """The worldview on disk is one that the run was about to persist: the last one, or the one before it (LGTM-28)."""
    path = workspace / "runs" / run_name / "worldview.json"
    seen = [
        value["text"] for tool, _, value in steps(workspace, run_name) if tool == "get_worldview"
    ]
    if path.exists():
        text = path.read_text("utf-8").rstrip("\n")
        assert [] == artifacts.problems("worldview", json.loads(text)) and text in seen


SOAK = [
    pytest.param(kind, marks=pytest.mark.soak)
    for kind in ("hypothesis", "refined", "evidence", "narrative", "pipeline")
]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["component", *SOAK])
def test_killed_while_a_model_is_asked_it_goes_on_to_the_same_plan(
    tmp_path: Path, kind: str, whole: dict[str, str]
) -> None:
    """LGTM-28, 82: in each phase, within branches and within the pipeline's own run too."""
    shop(tmp_path)
    victims: list[int] = []

    def deadly(body: dict[str, Any]) -> Any:
        if not victims:
            victims.append(controller(tmp_path))
            os.kill(victims[0], signal.SIGKILL)
        return ANSWERS[kind](body)

    with thinking(**{kind: deadly}) as (server, env):
        first = fdc("lgtm", QUESTION, cwd=tmp_path, env=env)
        assert -signal.SIGKILL == first.returncode and victims
        name = folder_of(tmp_path).name
        persisted(tmp_path, name)
        before = {json.dumps(body["messages"]) for body in server.requests if kind_of(body) != kind}
        asked_before = len(server.requests)
        second = fdc("resume", name, cwd=tmp_path, env=env)
        assert 0 == second.returncode, second.stdout + second.stderr
        again = [
            body
            for body in server.requests[asked_before:]
            if json.dumps(body["messages"]) in before
        ]
    assert whole == tree(folder_of(tmp_path))
    assert len(again) <= 8  # at most what was under way in the branches of that moment
    with closing(sqlite3.connect(tmp_path / ".fdc/runs.sqlite")) as db:
        assert [("finished",), ("finished",)] == db.execute(
            "SELECT status FROM run"
        ).fetchall()  # it and one pipeline
    assert 1 <= len(asked(server, kind))


def controller(workspace: Path) -> int:
    """The process that drives the outer run, as its lock says."""
    [lock, *_] = sorted((workspace / ".fdc/runs").glob("*/lock"))
    return int(lock.read_text("ascii"))


@pytest.mark.parametrize(
    "moment", [45, *(pytest.param(one, marks=pytest.mark.soak) for one in (9, 20, 60))]
)
def test_killed_right_before_or_after_an_effect_it_goes_on(tmp_path: Path, moment: int) -> None:
    """LGTM-01, 28, 32: without a model; whatever was half done is done once."""
    for name in ("whole", "killed"):
        shop(tmp_path / name)
    assert 7 == plan_for(tmp_path / "whole").returncode
    done = killed_at(moment, tmp_path / "killed", "lgtm", QUESTION)
    assert -signal.SIGKILL == done.returncode
    name = folder_of(tmp_path / "killed").name if (tmp_path / "killed/runs").exists() else "last"
    if name != "last":
        persisted(tmp_path / "killed", name)
    resumed = fdc("resume", name, cwd=tmp_path / "killed")
    assert 0 == resumed.returncode, resumed.stdout + resumed.stderr  # the plan ended
    assert tree(folder_of(tmp_path / "whole")) == tree(folder_of(tmp_path / "killed"))


def test_a_folder_that_is_there_already_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    """LGTM-01: the run's own folder, made by somebody else in the meantime."""
    shop(tmp_path)
    with thinking() as (server, env):
        first = killed_at(1, tmp_path, "lgtm", QUESTION, env=env)
        assert -signal.SIGKILL == first.returncode
        name = fdc("runs", "--format", "json", cwd=tmp_path).stdout
        found = json.loads(name)
        rows = found["runs"] if isinstance(found, dict) else found
        (tmp_path / "runs" / rows[0]["run"] / "knowledge").mkdir(parents=True)
        second = fdc("resume", rows[0]["run"], cwd=tmp_path, env=env)
    assert (
        1 == second.returncode
        and "exists already" in second.stdout + second.stderr
        and not server.requests
    )
