"""Half a character (a lone surrogate), which JSON can spell and UTF-8 cannot write: it enters no record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.tools.results import outcome_of
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.inside import fdc
from tests.support.linting import ANY


@pytest.mark.parametrize("value", ["\ud800", "a\udcff", ["x", {"a": "\udfff"}], {"\ud800": 1}])
def test_no_tool_returns_it(value: Any) -> None:
    with pytest.raises(ToolFailure, match=r"half a character \(U\+D[0-9A-F]{3}\), which UTF-8"):
        outcome_of(value)


@pytest.mark.parametrize("value", ["\U0001f600", "\\ud800", ["\U0001f600", "\\ud800"], {"ü": "é"}])
def test_whole_characters_are_returned_as_they_are(value: Any) -> None:
    assert value == outcome_of(value).value


def test_no_person_answers_it(workspace: Path) -> None:
    (workspace / "any.json").write_text(ANY)
    plan = "use fsm any.json\na <- request_user_input first?\nb <- request_user_input {a}?\n"
    (workspace / "a.plan").write_text(plan + "message_user {b}\n")
    assert fdc("run", "a.plan", cwd=workspace).returncode == 5
    for given in (
        ("--answer", "x\udcff"),
        ("--assume", "done:\udcff"),
        ("--answer", "x" * 2_000_000),
    ):
        refused = fdc("resume", "last", *given, cwd=workspace)
        assert refused.returncode == 2 and "fdc: the answer " in refused.stderr, refused
    assert fdc("resume", "last", "--answer", "ü", cwd=workspace).returncode == 5
    assert fdc("verify", "last", cwd=workspace).returncode == 0
