"""A run and the run within its step, killed with SIGKILL: real processes, and nothing is done twice (issue 13)."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest
from fdc_toolchain import api
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.workspace.run_folders import journal_path

from tests.cli.test_ui import ui
from tests.fault.test_kill import OWN_TOOLS, declared, said
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.mcp_client import call, text_of
from tests.support.process import fdc

HEAD = "set_plan x\nplan_step_complete y\n"
END = "close_task\nsubmit\n"
OUTER = (
    f"{HEAD}text <- read_file inner.txt\nkeep before\ndone <- run_plan {{text}}\nkeep after\n{END}"
)
INNER = f"{HEAD}{{}}keep one\ndeed two\nkeep three\n{END}"

pytestmark = pytest.mark.slow


def laid_out(workspace: Path) -> Path:
    """The workspace with an outer plan, the one within, and the tools of both."""
    tools = {"deed": declared("once", "deed"), "keep": declared("idempotent", "keep")}
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": tools})
    )
    (workspace / "own_deeds.py").write_text(OWN_TOOLS)
    (workspace / "outer.plan").write_text(OUTER)
    (workspace / "inner.txt").write_text(INNER.format(""))
    return workspace


@pytest.fixture
def home(workspace: Path) -> Path:
    return laid_out(workspace)


def runs(home: Path) -> dict[str, tuple[str, str]]:
    """Name and status of the one outer run, and of the one within."""
    found = json.loads(fdc("runs", "--format", "json", cwd=home).stdout)["runs"]
    assert 2 == len(found), found
    return {
        "outer" if row["plan"] == "outer.plan" else "inner": (row["run"], row["status"])
        for row in found
    }


def killed(home: Path, *words: str, env: dict[str, str], when: str) -> None:
    with fdc_started(*words, cwd=home, env=env) as process:
        wait_for(lambda: said(home / when))
        process.kill()
        assert -signal.SIGKILL == process.wait(timeout=PATIENCE)
    (home / when).unlink(missing_ok=True)


def deeds(home: Path) -> Counter[str]:
    return Counter(line.split()[1] for line in said(home / "witness.log").splitlines())


def finished(home: Path) -> None:
    assert {"before": 1, "one": 1, "two": 1, "three": 1, "after": 1} == deeds(home)
    assert {"finished"} == {status for _, status in runs(home).values()}


def test_both_are_killed_and_the_outer_run_goes_on_with_the_same_run_within(home: Path) -> None:
    killed(home, "run", "outer.plan", env={"KILL_AT": "before one"}, when="reached")
    before = runs(home)
    done = fdc("resume", before["outer"][0], cwd=home)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert before["inner"][0] == runs(home)["inner"][0]
    finished(home)


def test_a_run_within_whose_record_is_gone_is_not_begun_again(home: Path) -> None:
    killed(home, "run", "outer.plan", env={"KILL_AT": "after two"}, when="reached")
    outer, inner = (runs(home)[one][0] for one in ("outer", "inner"))
    assert 0 == fdc("cancel", inner, cwd=home).returncode
    pruned = fdc("runs", "prune", "--older", "0h", cwd=home)
    assert f"kept {inner}: it is nested in the run {outer}" in pruned.stdout, pruned
    held = Store(journal_path(str(home)))
    [row] = [row for row in held.runs() if row.name == inner]
    held.remove([row.id], lambda: [row])
    held.close()
    done = fdc("resume", outer, cwd=home)
    assert 1 == done.returncode and "the record of the nested run" in done.stdout, done.stdout
    assert 1 == deeds(home)["two"]


def test_what_happens_once_is_asked_for_within_and_never_done_again(home: Path) -> None:
    killed(home, "run", "outer.plan", env={"KILL_AT": "after two"}, when="reached")
    outer, inner = (runs(home)[one][0] for one in ("outer", "inner"))
    done = fdc("resume", outer, cwd=home)
    assert (
        5 == done.returncode and f"`fdc resume {inner} --assume main/4=done` (or " in done.stdout
    ), done.stdout
    done = fdc("resume", inner, "--assume", "main/4=done", cwd=home)
    assert 0 == done.returncode, done.stdout + done.stderr
    done = fdc("resume", outer, cwd=home)
    assert 0 == done.returncode, done.stdout + done.stderr
    finished(home)


def test_the_run_within_is_driven_and_killed_by_itself_while_the_outer_one_waits(
    home: Path,
) -> None:
    (home / "inner.txt").write_text(INNER.format("request_user_input which colour?\n"))
    assert 5 == fdc("run", "outer.plan", cwd=home).returncode
    outer, inner = (runs(home)[one][0] for one in ("outer", "inner"))
    with fdc_started(
        "resume", inner, "--answer", "blue", cwd=home, env={"KILL_AT": "before three"}
    ) as process:
        wait_for(lambda: said(home / "reached"))
        busy = fdc("resume", outer, cwd=home)
        assert 3 == busy.returncode and inner in busy.stderr
        process.kill()
        assert -signal.SIGKILL == process.wait(timeout=PATIENCE)
    done = fdc("resume", outer, cwd=home)
    assert 0 == done.returncode, done.stdout + done.stderr
    finished(home)


def test_who_cancels_the_outer_run_cancels_the_run_within(home: Path) -> None:
    """`last` is the run that somebody began, not the one within its step; afterwards nothing keeps their records."""
    killed(home, "run", "outer.plan", env={"KILL_AT": "before one"}, when="reached")
    assert 0 == fdc("cancel", "last", cwd=home).returncode
    assert {"cancelled"} == {status for _, status in runs(home).values()}
    assert "2 runs removed" in fdc("runs", "prune", "--older", "0h", cwd=home).stdout


def no_form_asks_for_it(home: Path, outer: str) -> None:
    """Neither an agent's program nor the page shows a form whose answer would be refused."""
    given = {"op": "resume", "run": outer}
    said = text_of(call(home, "fdc_run", given, person=lambda *_: pytest.fail("a form")))
    assert f"  fdc resume {outer} --all --assume done or fdc resume {outer} " in said, said
    assert {"nested"} == {one.how for one in api.show(outer, workspace=home).questions}
    with ui(home) as page:
        shown = page.get(f"/runs/{outer}")
    assert "<h2>Question <code>" in shown and "/answer" not in shown


@pytest.mark.parametrize(("word", "times"), [("done", 1), ("not-done", 2)])
def test_what_is_said_of_all_lost_steps_is_said_of_those_within(
    home: Path, word: str, times: int
) -> None:
    """The outer run asked the same again, whatever was said of all steps; and it took an answer that it could not use."""
    killed(home, "run", "outer.plan", env={"KILL_AT": "after two"}, when="reached")
    outer = runs(home)["outer"][0]
    done = fdc("resume", outer, cwd=home)
    assert 5 == done.returncode and f"fdc resume {outer} --all --assume done" in done.stdout
    assert "fdc answer" not in done.stdout and "not known" not in done.stdout
    shown = fdc("answer", outer, cwd=home)
    assert 5 == shown.returncode and "answer with" not in shown.stdout
    refused = fdc("answer", outer, "yes", cwd=home)
    assert (2, "") == (refused.returncode, refused.stdout)
    assert "fdc: no answer settles this: the nested run" in refused.stderr
    no_form_asks_for_it(home, outer)
    done = fdc("resume", outer, "--all", "--assume", word, cwd=home)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert times == deeds(home)["two"]
    assert {"finished"} == {status for _, status in runs(home).values()}
