"""A command that fdc kills with all its processes at once: its outcome is never taken for the command's own."""

from __future__ import annotations

import json
import math
import re
import threading
from pathlib import Path

import pytest
from fdc_toolchain.engine.ports import Interrupted
from fdc_toolchain.workspace.operator import Operator

from tests.support.background import wait_for
from tests.support.inside import fdc
from tests.support.process import working_in
from tests.unit.test_tools import Bench


@pytest.mark.parametrize(
    "command", ["sleep 60", "trap '' TERM; sleep 60", "exec >&- 2>&-; sleep 60"]
)
def test_a_command_that_is_cancelled_and_killed_at_once_is_interrupted(
    workspace: Path, tmp_path: Path, command: str
) -> None:
    """The process that monitors the command dies as well: that is not a failure of the sandbox."""
    bench = Bench(workspace, tmp_path)

    def killed() -> None:
        wait_for(lambda: working_in(workspace))
        bench.tools.cancel()
        bench.tools.cancel()

    thread = threading.Thread(target=killed)
    thread.start()
    with pytest.raises(Interrupted) as raised:
        bench.do("run_in_bash_session", command=command)
    assert raised.value.begun
    thread.join()
    wait_for(lambda: not working_in(workspace))


def test_two_requests_to_cancel_leave_a_command_its_time(workspace: Path, tmp_path: Path) -> None:
    """`fdc cancel` asks the commands to end, and so does the controller that stops then."""
    bench = Bench(workspace, tmp_path, operator=Operator(unsandboxed=True, tiers=("landlock",)))

    def cancelled() -> None:
        wait_for(lambda: (workspace / "began").exists())
        bench.tools.cancel()
        bench.tools.cancel()

    thread = threading.Thread(target=cancelled)
    thread.start()
    command = "trap 'sleep 0.3; touch ended; exit' TERM; touch began; while :; do sleep 0.1; done"
    with pytest.raises(Interrupted):
        bench.do("run_in_bash_session", command=command)
    thread.join()
    wait_for(lambda: (workspace / "ended").exists())


def test_a_command_ends_with_the_seconds_of_a_budget(workspace: Path) -> None:
    """Its step has failed with the kind `spent`, so a test command that was killed does not count as one that failed."""
    (workspace / "slow.plan").write_text(
        "budget seconds 2\nset_plan x\nplan_step_complete x\nrun_in_bash_session sleep 60\nclose_task\nsubmit\n"
    )
    done = fdc("run", "slow.plan", "--format", "json", cwd=workspace)
    said = json.loads(done.stdout)
    assert (done.returncode, said["status"], said["stop"]["cause"]["kind"]) == (
        1,
        "stopped",
        "budget",
    )
    assert "the budget of seconds is used up" in said["stop"]["message"]
    assert said["seconds"] < 60
    assert fdc("replay", "last", cwd=workspace).returncode == 0
    more = math.ceil(said["seconds"]) + 3  # on a slow machine the run took longer than its budget
    again = fdc("resume", "last", "--budget", f"seconds={more}", cwd=workspace)
    assert " --retry --budget MEASURE=NUMBER` retries the failed step" in again.stdout
    assert 2 == fdc("show", "last", cwd=workspace).stdout.count("main/3 ")


@pytest.mark.long
def test_no_branch_of_a_fork_keeps_what_the_budget_ended(workspace: Path) -> None:
    """With more seconds each of its steps is done again; a plan within a step is one that the outer budget ended."""
    (workspace / "inner.txt").write_text(
        "set_plan x\nplan_step_complete x\nrun_in_bash_session sleep 60\nclose_task\nsubmit\n"
    )
    for step in (
        "text <- read_file inner.txt\nrun_plan {text}\n",
        "a <- list_files *.txt\nfork b in {a} max 9 keep failures\n  run_in_bash_session sleep 60; echo {b}\n",
    ):
        (workspace / "slow.plan").write_text(
            f"budget seconds 2\nset_plan x\nplan_step_complete x\n{step}close_task\nsubmit\n"
        )
        said = json.loads(fdc("run", "slow.plan", "--format", "json", cwd=workspace).stdout)
        assert (said["status"], said["stop"]["cause"]["kind"]) == ("stopped", "budget")
        assert (said["stop"]["kind"], said.get("kept", [])) == ("failure", [])
        more = fdc("resume", "last", "--budget", "seconds=4", cwd=workspace)
        assert more.returncode == 1 and " --retry --budget " in more.stdout, more.stdout
        ended = re.search(r"stopped after [45] steps, (\d+)\.\d", more.stdout)
        assert ended is not None and int(ended[1]) >= 4, more.stdout
        assert fdc("replay", "last", cwd=workspace).returncode == 0
