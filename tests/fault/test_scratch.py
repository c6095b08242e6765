"""What a killed controller leaves below the folder for temporary files, and who clears it away."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from fdc_toolchain.sandbox.scratch import PREFIX, SETTLED

from tests.support.background import fdc_started, wait_for
from tests.support.process import fdc

PLAN = """allow read **
allow run *
allow write {writes}
set_plan Wait
plan_step_complete begun
run_in_bash_session {command}
close_task
submit
"""
WAITS = "touch begun; while [ ! -e go ]; do sleep 0.05; done"


def test_the_scratch_folder_of_a_killed_controller_goes_with_the_next_command_and_one_in_use_stays(
    tmp_path: Path,
) -> None:
    """The lock says who is alive; a folder that is not fdc's, or younger than a minute, has no owner to take."""
    temporary, work = tmp_path / "tmp", tmp_path / "work"
    temporary.mkdir()
    work.mkdir()
    env = {"TMPDIR": str(temporary)}
    (work / "wait.plan").write_text(PLAN.format(command=WAITS, writes="begun"))
    (work / "look.plan").write_text(PLAN.format(command="true", writes="other"))

    def left() -> set[str]:
        return {path.name for path in temporary.iterdir()}

    with fdc_started("run", "wait.plan", cwd=work, env=env) as killed:
        wait_for((work / "begun").exists)
        [dead] = left()
        assert dead.startswith(PREFIX)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    (work / "begun").unlink()
    with fdc_started("run", "wait.plan", cwd=work, env=env) as living:
        wait_for((work / "begun").exists)
        [used] = left() - {dead}
        (temporary / "notes").mkdir()
        for name in (dead, used, "notes"):
            os.utime(temporary / name, (1, os.stat(temporary / name).st_mtime - 2 * SETTLED))
        young = temporary / f"{PREFIX}young"
        young.mkdir()
        assert 0 == fdc("run", "look.plan", cwd=work, env=env).returncode
        assert {used, "notes", young.name} == left()
        (work / "go").touch()
        assert 0 == living.wait()
    assert {"notes", young.name} == left()
