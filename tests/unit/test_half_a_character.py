"""Half a character (a lone surrogate), which JSON can spell and UTF-8 cannot write: it enters no record."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.ports import Waiting, WorldFailed
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


def test_a_file_of_which_no_record_could_hold_the_name_is_left_out(workspace: Path) -> None:
    (workspace / "any.json").write_text(ANY)
    folder, odd = workspace / "d", os.fsdecode(b"\xff\xfe")
    for path in (folder / "a", folder / odd, folder / "sub" / odd / "b"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("old\n")
    body = "for_each_file d/**\n  overwrite_file_with_block {file1}\n    new\nl <- list_files d\n"
    body += 'g <- grep "" path=d/**\nfork x in {l} max 9\n  read_lines {x}\n'
    body += "message_user {l} {g}\nfor_each_file d/*\n  delete_file {file1}\n"
    (workspace / "a.plan").write_text("use fsm any.json\n" + body)
    run = fdc("run", "a.plan", cwd=workspace)
    assert run.returncode == 0, run
    hit = json.dumps([{"line": 1, "path": "d/a", "text": "new"}], separators=(",", ":"))
    assert f'["d/a"] {hit}' in run.stdout
    hints = [line.strip() for line in run.stdout.split("\n") if "UTF-8" in line]
    assert hints == [f"left out, because the name is not UTF-8: {n}" for n in (2, 2, 2, 1)]
    assert not (folder / "a").exists()
    assert (folder / odd).read_text() == (folder / "sub" / odd / "b").read_text() == "old\n"
    assert fdc("verify", "last", cwd=workspace).returncode == 0


def test_no_failure_says_it(workspace: Path) -> None:
    """One that did made the journal unreadable: `fdc runs` said that the row of the run is damaged."""
    row = {
        "summary": "fails",
        "action": None,
        "effect": "read",
        "trust": "workspace",
        "access": {"read": []},
    }
    rows = {name: {**row, "parameters": [], "run": {"python": f"ow:{name}"}} for name in ("f", "g")}
    rows["f"]["failure"] = "value"
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "ow", "tools": rows})
    )
    (workspace / "ow.py").write_text(
        "def f():\n    raise Exception('\\ud83d')\ndef g():\n    raise OSError(28, '\\ud83d')\n"
    )
    (workspace / "any.json").write_text(ANY)
    (workspace / "a.plan").write_text("use fsm any.json\nx <- f\nmessage_user {x.why}\ng\n")
    ended = fdc("run", "a.plan", cwd=workspace)
    assert ended.returncode == 3 and "raised Exception: \ufffd\n" in ended.stdout
    for command in (("runs",), ("show", "last"), ("verify",)):
        assert fdc(*command, cwd=workspace).returncode == 0
    for failure in (ToolFailure("\ud83d", "\ud83d"), Waiting("\ud83d"), WorldFailed("\ud83d")):
        assert str(failure) == "\ufffd" == getattr(failure, "kind", "\ufffd")


def test_a_plan_whose_name_is_not_utf8_is_an_error(workspace: Path) -> None:
    """It was proved, and `fdc run` ended with a bug of fdc: a record is UTF-8."""
    plan = b"set_plan x\nplan_step_complete y\nclose_task\nsubmit\n"
    (workspace / os.fsdecode(b"a\xff.plan")).write_bytes(plan)
    for words in (["lint", "."], ["lint"], ["run"], ["expand"], ["certify"]):
        named = [] if words == ["lint", "."] else [os.fsdecode(b"a\xff.plan")]
        done = fdc(*words, *named, cwd=workspace)
        assert done.returncode == 1 and "is not UTF-8" in done.stdout + done.stderr, (words, done)
