"""A command that fdc kills with all its processes at once: its outcome is never taken for the command's own."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from fdc_toolchain.engine.ports import Interrupted

from tests.support.background import wait_for
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
