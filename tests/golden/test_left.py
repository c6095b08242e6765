"""What a release left in a workspace, under the fdc of today: each command goes on, or is refused with the sentence that mends it.

`left/RELEASE.tar.gz` holds a workspace as users of that release have it, with their state folder; `left/make.sh` made it
with that release's code (FDC issue 12, "what 0.1.0 left").
"""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.golden import FOLDER
from tests.support.process import fdc

pytestmark = pytest.mark.slow
RELEASES = sorted(path.name.removesuffix(".tar.gz") for path in (FOLDER / "left").glob("*.tar.gz"))
IGNORES = 'ignore = ["FDC414", "FDC451"]\n'


class Left(NamedTuple):
    """An unpacked workspace, and the environment of its user."""

    root: Path
    env: dict[str, str]

    def fdc(
        self, *arguments: str, code: int = 0, script: str = "fdc_cli.py"
    ) -> subprocess.CompletedProcess[str]:
        """A command; whatever comes of it, it is not a bug of fdc, and a refusal is one sentence."""
        done = fdc(*arguments, cwd=self.root, env=self.env, script=script)
        assert code == done.returncode, (arguments, done)
        assert (
            "internal error" not in done.stderr and "Traceback" not in done.stdout + done.stderr
        ), done
        if code in (2, 3):
            assert 1 == len(done.stderr.splitlines()) and done.stderr.startswith("fdc: "), done
        return done

    def names(self, plan: str) -> list[str]:
        """The runs of a plan, the oldest first."""
        found = json.loads(
            self.fdc("runs", "--plan", f"plans/{plan}.plan", "--format", "json").stdout
        )["runs"]
        return [str(one["run"]) for one in found]


@pytest.fixture(params=RELEASES)
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Left:
    """As its users have it, on the day on which they take today's fdc."""
    with tarfile.open(FOLDER / "left" / f"{request.param}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    return Left(tmp_path / "workspace", {"XDG_STATE_HOME": str(tmp_path / "state")})


@pytest.fixture
def mended(left: Left) -> Left:
    """The same after what lint says of the settings and of one plan was done."""
    settings, plan = left.root / "fdc.toml", left.root / "plans" / "silenced.plan"
    settings.write_text(settings.read_text().replace(IGNORES, ""))
    plan.write_text(
        "".join(line for line in plan.read_text().splitlines(True) if "fdc: ignore" not in line)
    )
    return left


def test_settings_and_comments_that_silenced_are_refused_with_what_mends_them(left: Left) -> None:
    settings, plan = left.root / "fdc.toml", left.root / "plans" / "silenced.plan"
    for command in (
        ("lint", "plans"),
        ("protocols", "check"),
        ("run", "plans/finished.plan"),
        ("analyze", "plans/finished.plan"),
    ):
        said = left.fdc(*command, code=2).stderr
        assert (
            "`ignore` names FDC414, an assumption; it is not a finding and needs none: take it out"
            in said
        )
    settings.write_text(settings.read_text().replace('"FDC414", ', ""))
    assert (
        "`ignore` names FDC451, an error; a table `[[allow]]` with"
        in left.fdc("lint", "plans", code=2).stderr
    )
    settings.write_text(settings.read_text().replace('ignore = ["FDC451"]\n', ""))
    said = left.fdc("lint", "plans", code=1).stdout
    assert 1 == said.count("error[") and "FDC115" in said and "remove the comment" in said, said
    plan.write_text(
        "".join(line for line in plan.read_text().splitlines(True) if "fdc: ignore" not in line)
    )
    said = left.fdc("lint", "plans").stdout
    assert "error[" not in said and "plans/teas.plan: a fragment of `fdc_fsm`" in said


def test_every_run_is_shown_verified_and_replayed(left: Left) -> None:
    assert 11 == left.fdc("verify").stdout.count(": whole, ")
    runs = json.loads(left.fdc("runs", "--format", "json").stdout)["runs"]
    states = [
        "finished",
        "finished",
        "waiting",
        "waiting",
        "stopped",
        "waiting",
        "finished",
        "cancelled",
        "new",
        "interrupted",
    ]
    assert [*states, "interrupted"] == [one["status"] for one in runs]
    for one in runs:
        assert one["run"] in left.fdc("show", one["run"]).stdout
        assert "follows from its record" in left.fdc("replay", one["run"]).stdout
    assert "</html>" in left.fdc("report", "last").stdout
    first, second = left.names("finished")[:2]
    assert "the same steps" in left.fdc("diff", first, second).stdout


def test_runs_that_can_go_on_do(left: Left) -> None:
    """Also with settings that lint refuses: a run goes on with the program that it began with."""
    assert "finished" in left.fdc("resume", left.names("finished")[2]).stdout
    assert "finished" in left.fdc("resume", left.names("waiting")[0], "--answer", "two").stdout
    assert "one pot, sugar: two\n" == (left.root / "order.txt").read_text()
    approval = left.names("approval")[0]
    assert "Brew it?" in left.fdc("answer", approval, code=5).stdout
    left.fdc("answer", approval, "main/3", "yes")
    assert "finished" in left.fdc("resume", approval).stdout and (left.root / "brewed.txt").exists()
    for name, how in zip(left.names("interrupted"), ("not-done", "done:slept"), strict=True):
        left.fdc("show", name)
        assert "it is unknown whether it happened" in left.fdc("resume", name, code=5).stdout
        if how.startswith("done"):
            assert "finished" in left.fdc("resume", name, "--assume", how).stdout
    assert (
        "there is no coffee"
        in left.fdc("resume", left.names("stopped")[0], "--retry", code=1).stdout
    )
    assert "was cancelled" in left.fdc("resume", left.names("waiting")[1], code=1).stderr
    fork = left.fdc("fork", f"{left.names('finished')[0]}@main/4", "-q").stdout.strip()
    assert "finished" in left.fdc("resume", fork).stdout
    for name in (*left.names("finished"), *left.names("approval"), *left.names("waiting")):
        left.fdc("verify", name)
        left.fdc("replay", name)


def test_a_run_with_tools_of_the_workspace_is_refused_before_anything_happens(left: Left) -> None:
    name = left.names("own")[0]
    said = left.fdc("resume", name, "--answer", "two", code=3).stderr
    assert (
        "fdc 0.1.0 did not record the code of `brew` (`tea.py`); begin it again with `fdc run`"
        in said
    )
    assert "waiting" in left.fdc("runs", "--plan", "plans/own.plan").stdout
    left.fdc("verify", name)
    left.fdc("cancel", name)


def test_new_runs_of_old_plans_begin(mended: Left) -> None:
    assert "finished" in mended.fdc("run", "plans/finished.plan").stdout
    assert "finished" in mended.fdc("run", "plans/sub.plan").stdout
    assert "Sugar?" in mended.fdc("run", "plans/own.plan", code=5).stdout
    assert "finished" in mended.fdc("resume", "last", "--answer", "two").stdout
    assert "a cup of green" in mended.fdc("show", "last", "--step", "main/5").stdout


def test_tasks_registry_and_protocols_go_on(mended: Left) -> None:
    root = mended.root
    agents, log = (
        (root / "AGENTS.md").read_bytes(),
        (root / "logs" / "activity.log.jsonl").read_bytes(),
    )
    assert "AGENTS.md is up to date" in mended.fdc("protocols", "check").stdout
    mended.fdc("protocols", "build")
    assert agents == (root / "AGENTS.md").read_bytes()
    assert "teas : plans/teas.plan" in mended.fdc("list", script="plan_manager.py").stdout
    mended.fdc("audit", code=0)
    mended.fdc("close", "--task-id", "TEA-2")
    mended.fdc("start", "--task-id", "TEA-3", "--network", "off")
    assert "finished" in mended.fdc("run", "plans/finished.plan", "--task-id", "TEA-3").stdout
    assert (root / "logs" / "activity.log.jsonl").read_bytes().startswith(log), (
        "the log of before stays"
    )
    assert any("TEA-2" in path.name for path in (root / "postmortems").iterdir())


def test_old_runs_are_pruned_and_nothing_that_can_go_on(left: Left) -> None:
    said = left.fdc("runs", "prune", "--older", "0h").stdout
    assert "4 runs removed" in said and f"kept {left.names('finished')[0]}: the run" in said, said
    assert 7 == left.fdc("verify").stdout.count(": whole, ")
