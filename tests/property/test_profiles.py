"""The default run tries the same examples everywhere and every time: a landing fails for what it changes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import profiles


def tried() -> list[Any]:
    """The examples of one test."""
    seen: list[Any] = []

    @given(st.tuples(st.integers(), st.text(), st.floats(), st.binary()))
    def collect(value: tuple[Any, ...]) -> None:
        seen.append(repr(value))

    collect()
    return seen


@pytest.mark.skipif(
    settings.get_current_profile_name() != "default",
    reason="other profiles are there to try others",
)
def test_what_a_worker_has_imported_before_changes_no_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which tests a worker runs first is up to the scheduler; Hypothesis would take constants from what they load."""
    first = tried()
    source = "".join(
        f"a{number} = {number * 977 + 100_003}, 'constant {number}', {number}.25\n"
        for number in range(40)
    )
    path = tmp_path / "loaded_meanwhile.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("loaded_meanwhile", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "loaded_meanwhile", module)
    spec.loader.exec_module(module)
    assert first == tried() and len(first) >= 50


@given(st.text(), st.integers(0, 10**9))
def test_three_commits_in_a_row_of_numbers_leave_out_each_long_test_once(
    nodeid: str, first: int
) -> None:
    left = [not profiles.in_part(nodeid, "2/3", first + more) for more in range(3)]
    assert sum(left) == 1
    assert profiles.in_part(nodeid, "1/1", first)
