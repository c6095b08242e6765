"""What a check changes of the interpreter while it lasts is put back behind it."""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path

import pytest
from fdc_toolchain import check
from fdc_toolchain.recursion import uncollected

from tests.support.plans import CLEAN


def test_garbage_is_collected_again_behind_a_check_however_it_ends(workspace: Path) -> None:
    (workspace / "docs").mkdir()
    (workspace / "docs/tea.md").write_text("Green tea.\n")
    (workspace / "a.plan").write_text(CLEAN)
    assert gc.isenabled()
    assert [] == check.check_paths([str(workspace / "a.plan")], str(workspace)).diagnostics
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
        _ = 1 / 0
    assert gc.isenabled()


def test_garbage_is_collected_again_however_checks_of_several_threads_overlap() -> None:
    """One begins at the very moment at which another one ends."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def often() -> None:
        for _ in range(50_000):
            with uncollected():
                pass

    try:
        threads = [threading.Thread(target=often) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert gc.isenabled()
