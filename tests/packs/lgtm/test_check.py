"""`fdc lgtm --check`: a run folder as it was left, and with one thing wrong in it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.lgtm.folder import faults

from tests.support.lgtm import folder_of, plan_for, thinking
from tests.support.process import fdc


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace of a run with a model."""
    workspace = tmp_path_factory.mktemp("check") / "w"
    with thinking() as (_, env):
        assert (
            0
            == plan_for(workspace, "--max-iterations", "2", "--confidence", "1", env=env).returncode
        )
    return workspace


def texts(folder: Path) -> dict[str, str]:
    """The files of a run folder, read without any of the product's code."""
    return {
        str(path.relative_to(folder)): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def changed(files: dict[str, str], pattern: str, change: Callable[[Any], Any]) -> str:
    """Changes the first file of that name, as JSON; returns its path."""
    path = next(path for path in sorted(files) if re.search(pattern, path))
    value = json.loads(files[path])
    files[path] = json.dumps(change(value) or value)
    return path


def gone(files: dict[str, str], pattern: str) -> str:
    """Takes the first file of that name away; returns its path."""
    path = next(path for path in sorted(files) if re.search(pattern, path))
    del files[path]
    return path


def replaced(files: dict[str, str], pattern: str, old: str, new: str) -> str:
    path = next(path for path in sorted(files) if re.search(pattern, path))
    assert re.search(old, files[path])
    files[path] = re.sub(old, new, files[path], count=1)
    return path


NC = "challenges/nc_"
REFINED = r"hyp_h_Stock_001_v2_refined"
WRONG: list[tuple[str, Callable[[dict[str, str]], str], str]] = [
    ("LGTM-03, 20", lambda files: gone(files, "k_EV_01"), "worldview.json: `{}` leads to no file of the run"),
    ("LGTM-04", lambda files: gone(files, r"h_Stock_001_v1"), "the versions of h_Stock_001 are 0, 2, 3; one is missing"),
    ("LGTM-05, 22", lambda files: gone(files, "challenges/nc_h_Stock"), "{}: it is missing"),
    ("LGTM-06", lambda files: gone(files, "_final"), "worldview.json: `{}` leads to no file of the run"),
    ("LGTM-07", lambda files: replaced(files, "k_EV_01", r"\*\*Sources", "Sources"), "{}: the section Sources is missing"),
    ("LGTM-08", lambda files: replaced(files, "k_EV_01", r"\*\* \d\.\d+", "** 0.11"),
     "{}: its confidence or its summary is not"),
    ("LGTM-09", lambda files: changed(files, NC, lambda value: value.update(more=1)), "{}: $: Additional properties"),
    ("LGTM-09, 11", lambda files: changed(files, NC, lambda value: value["falsificationAttempts"][0].update(outcome="No")),
     "{}: $.falsificationAttempts[0].outcome: 'No'"),
    ("LGTM-10", lambda files: changed(files, NC, lambda value: value["falsificationAttempts"][1].update(targetID="T01")),
     "{}: $.falsificationAttempts: a targetID is there twice"),
    ("LGTM-12", lambda files: changed(files, NC, lambda value: value.update(overallOutcome="Failed")),
     "{}: $.overallOutcome: `Failed` does not follow"),
    ("LGTM-13", lambda files: changed(files, NC, lambda value: value["falsificationAttempts"][0].update(
        falsificationEvidenceFound=["knowledge/k_X_evidence.md"])), "{}: `knowledge/k_X_evidence.md` leads to no file"),
    ("LGTM-14", lambda files: changed(files, NC, lambda value: value.update(
        hypothesisFilePath="hypotheses/hyp_h_Stock_001_v9_candidate.json")), "{}: `hypotheses/hyp_h_Stock_001_v9_candidate"),
    ("LGTM-15", lambda files: changed(files, REFINED, lambda value: value.pop("rationale") and None), "{}: $: 'rationale'"),
    ("LGTM-16", lambda files: changed(files, REFINED, lambda value: value.update(areaOfAnalysisID="A_Gone")),
     "{}: $.areaOfAnalysisID: the area A_Gone does not exist"),
    ("LGTM-17", lambda files: changed(files, REFINED, lambda value: value.update(refinementHistory=[])),
     "{}: $.refinementHistory does not go on from that of version 1"),
    ("LGTM-18", lambda files: changed(files, "worldview", lambda value: value.update(schemaVersion=4)), "{}: $.schemaVersion"),
    ("LGTM-23", lambda files: changed(files, "worldview", lambda value: value["microHypotheses"][0].update(
        nullChallengeOutcome="Pending")), "{}: $.microHypotheses[0].nullChallengeOutcome"),
    ("LGTM-25", lambda files: changed(files, "worldview", lambda value: value.update(hypothesisConflicts=[{
        "conflictID": "C_001", "involvedHypotheses": ["h_Stock_001", "h_Gone_001"], "description": "d", "status": "Detected"}])),
     "{}: $.hypothesisConflicts: C_001 names h_Gone_001, which there is not"),
    ("LGTM-27", lambda files: replaced(files, "worldview", r"\}\s*\Z", ",}"), "{}: it is not a strict JSON"),
    ("LGTM-77", lambda files: replaced(files, "_final", r"## 4\. ", "## IV. "), "{}: the section"),
    ("LGTM-78", lambda files: gone(files, "_narrative"), "`{}` leads to no file of the run"),
    ("LGTM-81", lambda files: replaced(files, "_final", r"(Related Micro-Hypotheses:\*\*).*", r"\1 none"), "{}: `Step 1: "),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "spoil", "says"), WRONG, ids=[row[0] for row in WRONG])
def test_what_is_wrong_in_a_run_folder_is_said_with_its_place(
    left: Path, rows: str, spoil: Callable[[dict[str, str]], str], says: str
) -> None:
    """LGTM-03 to 27, 77, 78, 81: and nothing is wrong before."""
    files = texts(folder_of(left))
    assert [] == faults(files)
    path = spoil(files)
    found = faults(files)
    assert any(says.format(path) in one for one in found), found


def test_the_command_opens_a_run_by_its_name_or_its_folder(left: Path, tmp_path: Path) -> None:
    """LGTM-12, 78: exit code 0 where nothing is wrong, 1 with a line for each finding, 2 for what is not a run.

    The runs within the steps of a run have names that begin with the same second: the outer one is meant.
    """
    name = folder_of(left).name
    for given in (name, f"runs/{name}", "2", "last"):
        done = fdc("lgtm", "--check", given, cwd=left)
        assert 0 == done.returncode and "artifacts, no findings" in done.stdout, (
            done.stdout + done.stderr
        )
    shutil.copytree(folder_of(left), tmp_path / "copy")
    next((tmp_path / "copy/knowledge").iterdir()).write_bytes(b"\xff")
    (tmp_path / "copy/link").symlink_to("/etc/hostname")
    told = fdc("lgtm", "--check", str(tmp_path / "copy"), "--format", "json", cwd=left)
    found = json.loads(told.stdout)["findings"]
    assert 1 == told.returncode and any(one.startswith("link:") for one in found)
    assert any("cannot be read" in one for one in found)
    assert (
        2 == fdc("lgtm", "--check", "nope", cwd=left).returncode == fdc("lgtm", cwd=left).returncode
    )
