"""Assumptions lie in a file beside the cached verdicts: where it is lost, written anew or cannot be written, nothing changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fdc_toolchain.cache import assumption_packs

from tests.property.test_cache import lint
from tests.support.plans import CLEAN

COMMAND = CLEAN.replace("submit", "run_in_bash_session make all\nread_file docs/tea.md\nsubmit")
FORMS = ([], ["--assumptions"], ["--format", "json"], ["--format", "sarif"])


@pytest.fixture
def cache(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (workspace / "docs").mkdir(exist_ok=True)
    (workspace / "docs/tea.md").write_text("Green tea.\n")
    for name in ("a", "b"):
        (workspace / f"{name}.plan").write_text(COMMAND)
    monkeypatch.setenv("FDC_CACHE_DIR", str(workspace / "the-cache"))
    return workspace / "the-cache"


def same_as_cold() -> None:
    for form in FORMS:
        cold = lint("--no-cache", *form)
        assert [lint(*form), lint(*form)] == [cold, cold], form
    assert "FDC702" in lint("--format", "json")[1], "there must be an assumption to lose"


def test_assumptions_that_are_lost_are_made_again(cache: Path) -> None:
    same_as_cold()
    shutil.rmtree(cache / "packs")
    same_as_cold()
    for pack in (cache / "packs").iterdir():
        pack.write_bytes(b"another mark of 16 bytes and nothing")
    same_as_cold()


def test_a_stretch_that_is_cut_off_is_lost(cache: Path) -> None:
    same_as_cold()
    (pack,) = (cache / "packs").iterdir()
    pack.write_bytes(pack.read_bytes()[:-10])
    same_as_cold()


def test_a_pack_of_old_stretches_is_written_anew(
    cache: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assumption_packs, "_WASTE", 0)
    sizes = []
    for number in range(12):
        (workspace / "a.plan").write_text(COMMAND + f"# {number}\n")
        same_as_cold()
        (pack,) = (cache / "packs").iterdir()
        sizes.append(pack.stat().st_size)
    assert max(sizes) < 4 * sizes[0]


def test_where_nothing_can_be_stored_everything_is_said(cache: Path) -> None:
    cache.write_text("no folder")
    same_as_cold()
