"""What a shell is offered: names of this workspace, and never a word that it would read as more than a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.plans import CLEAN
from tests.support.process import fdc


def offered(folder: Path, *words: str) -> list[str]:
    """The completions of the last word, as bash gets them."""
    environment = {
        "_FDC_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["fdc", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = fdc(cwd=folder, env=environment)
    assert (0, "") == (done.returncode, done.stderr)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "knowledge_core").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/tea.md").write_text("Tea.\n", "utf-8")
    for name in ("tea.plan", "$(reboot).plan", "a b.plan", "-x.plan", "n\new.plan"):
        (tmp_path / name).write_text(CLEAN, "utf-8")
    return tmp_path


def test_the_names_of_plans_runs_rules_and_tools_are_completed(shop: Path) -> None:
    assert ["tea.plan"] == offered(shop, "lint", "t")
    assert "deep-research" in offered(shop, "run", "")
    assert not [
        name
        for name in offered(shop, "run", "")
        if set("$ -\n") & set(name[:1] + name[1:].replace("-", ""))
    ]
    assert ["last"] == offered(shop, "show", "")
    ran = fdc("run", "tea.plan", "--quiet", cwd=shop).stdout
    assert 2 == len(offered(shop, "show", "")) and offered(shop, "show", "2")[0] in ran
    assert ["FDC471", "FDC472", "FDC473", "FDC474"] == offered(shop, "explain", "FDC47")
    assert ["read_file", "read_files"] >= offered(shop, "tools", "read_file") >= ["read_file"]
    assert ["init"] == offered(shop, "ini")


def test_where_the_settings_are_wrong_nothing_is_offered_and_nothing_said(shop: Path) -> None:
    (shop / "fdc.toml").write_text("wrong", "utf-8")
    assert ["z"] == offered(shop, "lint", "z")
    assert [] == offered(shop, "tools", "read")
