"""In an editor, what is protected or secret is asked again when the settings or git's change, and again when they are back."""

from __future__ import annotations

import subprocess
from pathlib import Path

from fdc_toolchain import api

PLAN = """\
# FSM: tooling/fdc_fsm.json
set_plan x
plan_step_complete x
t <- read_file tools/a.txt
message_user {t}
overwrite_file_with_block tools/b.txt
  y
run_in_bash_session true
close_task
submit
"""


def test_a_file_that_settings_or_git_protect_now_was_open_before(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "a.txt").write_text("x")
    session = api.Session(workspace=tmp_path)

    def found() -> list[tuple[str, int]]:
        done = session.check("a.plan", text=PLAN).diagnostics
        return [(one.code, one.span.line) for one in done]

    settings = tmp_path / "fdc.toml"
    assert found() == []
    settings.write_text('protect = ["tools/b.txt"]\n')
    assert found() == [("FDC417", 6)]
    settings.write_text('secret = ["tools/a.txt"]\n')
    assert [line for _, line in found()] == [4]
    settings.unlink()
    assert found() == []
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "config", "core.hooksPath", "tools"], cwd=tmp_path, check=True)
    assert found() == [("FDC417", 6)]
