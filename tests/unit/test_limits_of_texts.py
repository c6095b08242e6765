"""A text over a limit: the finding names the setting as the settings spell it."""

from __future__ import annotations

import re

import pytest

from tests.support.inside import fdc

SMALL = {"file-bytes": 10, "line-characters": 5, "statements": 1}


@pytest.mark.parametrize("name", SMALL)
def test_the_named_setting_is_one(tmp_path, name) -> None:
    plan, settings = tmp_path / "a.plan", tmp_path / "fdc.toml"
    plan.write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
    settings.write_text(f"[limits]\n{name} = {SMALL[name]}\n")
    said = fdc("lint", "a.plan", cwd=tmp_path).stdout
    assert "FDC106" in said
    named = re.findall(r"raise `limits\.([a-z_-]+)`", said)
    assert [name] == named
    settings.write_text(f"[limits]\n{named[0]} = 1000000\n")
    assert 0 == fdc("lint", "a.plan", cwd=tmp_path).returncode
