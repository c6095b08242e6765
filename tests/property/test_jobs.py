"""`fdc lint --jobs`: what several processes find is what one finds, also when one of them is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.corpus import write_plans, write_workspace
from tests.support.background import fdc_started
from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

PLANS = 200


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace of plans that call each other; every other one has a finding."""
    workspace = tmp_path / "workspace"
    write_workspace(workspace)
    write_plans(workspace, PLANS, 7)
    for number, path in enumerate(sorted(workspace.glob("plans/*.plan"))):
        if number % 2:
            text = path.read_text()
            path.write_text(text.replace("grep", "unused <- grep", 1))
    return workspace


def lint(home: Path, jobs: str, *more: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr, with a cache of its own for each number of jobs."""
    env = {"FDC_CACHE_DIR": str(home.parent / f"cache{jobs}")}
    done = fdc(
        "lint",
        *more,
        *(["--jobs", jobs] if jobs else ["--no-cache"]),
        cwd=home,
        env=env,
        fresh=True,
    )
    return done.returncode, done.stdout, done.stderr


def edit(home: Path, chance: random.Random) -> None:
    """Changes most of the plans, removes some, and adds callers of others."""
    paths = sorted(home.glob("plans/*.plan"))
    for path in chance.sample(paths, len(paths) * 3 // 4):
        text = path.read_text()
        kind = chance.randrange(6)
        if kind == 0:
            path.write_text(text + "\n# a comment\n")
        elif kind == 1:
            path.write_text(text.replace("require", "requires", 1))
        elif kind == 2:
            path.write_text(text + f"call_plan {chance.choice(paths).relative_to(home)}\n")
        elif kind == 3:
            path.write_text(f"# fdc: disable=unused-result\n{text}")
        elif kind == 4 and "fragment" in path.name:
            path.unlink()
        else:
            path.write_text(text.replace("unused <- ", "", 1))


@pytest.mark.long
def test_jobs_change_no_byte(home: Path) -> None:
    """Also where plans call each other in a circle, which the edits make."""
    chance = random.Random(1)
    exits = set()
    for change in (edit, None):
        plain = lint(home, "", "--format", "json")
        for jobs in ("2", "5"):
            assert plain == lint(home, jobs, "--format", "json")
            assert plain == lint(home, jobs, "--format", "json"), "from the cache"
        exits.add(plain[0])
        if change is not None:
            change(home, chance)
    assert 1 in exits


def agree(home: Path) -> str:
    """What is found without a cache, which three processes find as well."""
    plain = lint(home, "", "--format", "json")
    assert plain == lint(home, "3", "--format", "json")
    return plain[1]


END = "plan_step_complete ready\nclose_task\nsubmit\n"


@pytest.mark.slow
def test_callers_of_a_changed_plan_are_proved_again(tmp_path: Path) -> None:
    home = tmp_path / "workspace"
    home.mkdir()
    (home / "part.plan").write_text("set_plan one\n")
    (home / "middle.plan").write_text("call_plan part.plan\n")
    for number in range(70):
        (home / f"caller{number}.plan").write_text(f"call_plan middle.plan\n{END}")
        (home / f"other{number}.plan").write_text(f"set_plan other\n{END}")
    assert "caller7.plan" not in agree(home)
    (home / "part.plan").write_text("set_plan one\nsubmit\n")
    for number in range(70):
        (home / f"other{number}.plan").write_text(f"set_plan another\n{END}")
    assert "caller7.plan" in agree(home)


def children(process: int) -> list[int]:
    try:
        return [
            int(word)
            for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()
        ]
    except FileNotFoundError:
        return []


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_a_part_whose_process_is_killed_is_proved_again(home: Path) -> None:
    expected = lint(home, "1", "--format", "json")
    env = {"FDC_CACHE_DIR": str(home.parent / "cache-killed")}
    with fdc_started("lint", "--format", "json", "--jobs", "2", cwd=home, env=env) as process:
        end = time.monotonic() + 60
        found: list[int] = []
        while len(found) < 2 and process.poll() is None and time.monotonic() < end:
            found = children(process.pid)
        assert 2 == len(found), "it starts two processes"
        os.kill(found[0], signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert expected == (process.returncode, out, err)


NO_PROCESS = """
import os, resource
from fdc_toolchain.cli.linting import parallel
if os.geteuid() == 0:  # whom the limit does not hold
    os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
print(parallel.each(lambda part: [tuple(part)], [["a"], ["b"]]))
"""


def test_where_no_process_can_be_started_nothing_is_lost() -> None:
    """What no process did is done by the one that asks."""
    done = subprocess.run(
        [sys.executable, "-c", NO_PROCESS],
        env=clean_environment({"PYTHONPATH": str(ROOT / "tooling")}), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (0, "[]\n") == (done.returncode, done.stdout), done.stderr


def test_a_plan_that_is_too_long_is_shown_as_from_the_cache(tmp_path: Path) -> None:
    home = tmp_path / "workspace"
    home.mkdir()
    (home / "long.plan").write_text("set_plan x\n" + "plan_step_complete r\n" * 60_000)
    cold = lint(home, "")
    assert cold == lint(home, "1") and "1 | set_plan x\n" in cold[1]


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "257", "1.5", "99999999999"])
def test_what_is_no_number_of_processes_is_refused(home: Path, jobs: str) -> None:
    done: subprocess.CompletedProcess[str] = fdc("lint", f"--jobs={jobs}", cwd=home)
    assert 2 == done.returncode
    assert "--jobs" in done.stderr and "Traceback" not in done.stderr
