"""With `--format json` stdout is JSON: a command without a result prints one object that says why (docs/exit-codes.md)."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.cli.test_options import every
from tests.support.inside import fdc
from tests.support.process import fdc as started
from tests.support.repository import ROOT

WRONG = "set_plan x\nplan_step_complete x\nraed_file a.md\nclose_task\nsubmit\n"
TALKS = "set_plan x\nplan_step_complete x\nmessage_user hi\nclose_task\nsubmit\n"
JSON = {
    name: name.split()
    for name, command in every().items()
    if any(
        "--format" in option.opts
        and isinstance(option.type, click.Choice)
        and "json" in option.type.choices
        for option in command.params
    )
}


def refusal(out: str, code: int) -> str:
    """The message of the one object on stdout."""
    said = json.loads(out)
    assert set(said) == {"format", "error"} and said["format"] == 1
    assert set(said["error"]) == {"code", "name", "message"}
    assert said["error"]["code"] == code
    assert said["error"]["name"] and said["error"]["message"]
    return str(said["error"]["message"])


def test_there_are_such_commands() -> None:
    assert {"run", "lint", "fix", "pack install"} <= {*JSON, "pack install"} and len(JSON) > 25


@pytest.mark.parametrize("name", JSON)
def test_a_wrong_command_line_is_said_in_json(workspace: Path, name: str) -> None:
    done = fdc(*JSON[name], "--format=json", "--no-such-option", cwd=workspace)
    assert done.returncode == 2
    assert "no-such-option" in refusal(done.stdout, 2) and "no-such-option" in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("run wrong.plan", 1),
        ("run gone.plan", 2),
        ("run talks.plan no=such", 2),
        ("run talks.plan --workspace gone", 2),
        ("resume last", 2),
        ("show last", 2),
        ("verify last", 2),
        ("replay last", 2),
        ("diff talks.plan wrong.plan", 1),
        ("analyze gone.plan", 2),
        ("expand wrong.plan", 1),
        ("lint gone.plan", 2),
        ("lint --workspace gone", 2),
        ("tools gone", 2),
        ("explain FDC999", 2),
        ("explore", 2),
        ("fix", 2),
        ("lgtm", 2),
        ("agent", 2),
        ("pack show gone", 2),
    ],
)
def test_a_refusal_is_said_in_json(workspace: Path, words: str, code: int) -> None:
    (workspace / "wrong.plan").write_text(WRONG)
    (workspace / "talks.plan").write_text(TALKS)
    done = fdc(*words.split(), "--format", "json", cwd=workspace)
    assert done.returncode == code, done.stdout + done.stderr
    assert refusal(done.stdout, code).splitlines()[-1] in done.stderr


def test_a_result_stays_the_only_thing_on_stdout(workspace: Path) -> None:
    (workspace / "wrong.plan").write_text(WRONG)
    (workspace / "stops.plan").write_text(TALKS.replace("message_user hi", "read_file {run}/gone"))
    found = fdc("lint", "wrong.plan", "--format", "json", cwd=workspace)
    assert (found.returncode, "error" in json.loads(found.stdout)) == (1, False)
    (workspace / "asks.plan").write_text(TALKS.replace("message_user hi", "request_user_input a?"))
    asked = fdc("run", "asks.plan", "--format", "json", cwd=workspace)
    assert (asked.returncode, json.loads(asked.stdout)["status"]) == (5, "waiting")


def test_a_command_that_was_not_asked_for_json_says_it_on_stderr_only(workspace: Path) -> None:
    for words in (("run", "gone.plan"), ("lint", "gone.plan"), ("run", "--", "--format", "json")):
        done = fdc(*words, cwd=workspace)
        assert (done.returncode, done.stdout) == (2, "") and done.stderr


def test_a_real_process_says_it_too(workspace: Path) -> None:
    for words in (("lint", "gone.plan"), ("run", "gone.plan")):
        done = started(*words, "--format", "json", cwd=workspace)
        assert done.returncode == 2
        assert "gone.plan" in refusal(done.stdout, 2)


def test_a_refusal_that_cannot_be_written_is_said_in_one_line(workspace: Path) -> None:
    """stdout is closed, or full: no traceback, on the fast way of `lint` as elsewhere."""
    command = [sys.executable, str(ROOT / "tooling" / "fdc_cli.py")]
    for words in (("lint", "gone.plan"), ("run", "gone.plan")):
        for closing, codes in ((">&-", (1, 2)), (">/dev/full", (3,)), ("2>&-", (1, 2))):
            line = shlex.join([*command, *words, "--format", "json"])
            done = subprocess.run(
                ["sh", "-c", f"{line} {closing}"], cwd=workspace, capture_output=True, text=True, check=False
            )  # fmt: skip
            assert done.returncode in codes, (words, closing, done)
            assert "Traceback" not in done.stderr, done.stderr
