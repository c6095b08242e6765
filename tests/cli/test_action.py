"""The GitHub Action of this repository: its shell, run as a runner would run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.support.plans import CLEAN
from tests.support.process import run
from tests.support.repository import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def lint(folder: Path, **environment: str) -> tuple[int, str, str]:
    """What the step `fdc lint` does in a folder."""
    runner = folder / "runner"
    (runner / "fdc/bin").mkdir(parents=True)
    (runner / "fdc/bin/fdc").symlink_to(ROOT / ".venv/bin/fdc")
    step = ACTION["runs"]["steps"][-1]
    needed = dict.fromkeys(step["env"], "")
    done = run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env={**needed, "RUNNER_TEMP": str(runner), **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_the_action_annotates_and_writes_sarif(tmp_path: Path) -> None:
    (tmp_path / "fdc.toml").write_text("", "utf-8")
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans/a.plan").write_text(CLEAN, "utf-8")
    code, out, err = lint(
        tmp_path,
        FDC_SARIF="out.sarif",
        FDC_ARGUMENTS="plans --strict",
        FDC_SERVER="https://git.example",
        FDC_REPOSITORY="o/fdc",
        FDC_REF="v1",
    )
    assert code == 1 and "::error file=plans/a.plan,line=5" in out, err
    [one] = json.loads((tmp_path / "out.sarif").read_text("utf-8"))["runs"][0]["tool"]["driver"][
        "rules"
    ]
    assert "https://git.example/o/fdc/blob/v1/docs/rules.md#missing-file" == one["helpUri"]


def test_no_input_is_pasted_into_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    assert {"arguments", "sarif", "working-directory", "python-version"} == set(ACTION["inputs"])
