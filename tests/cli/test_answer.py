"""`fdc answer` as a user meets it: answers that are kept beside a waiting run, and taken up once (G-APP, FDC-105)."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.background import PATIENCE
from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

ASKS = """param what = "it"
set_plan x
plan_step_complete x
sugar <- request_user_input Sugar?
record_user_approval_for_plan {what}
overwrite_file_with_block order.txt
    {sugar}
close_task
submit
"""


@pytest.fixture
def waiting(workspace: Path) -> Iterator[Path]:
    """A workspace with a run that waits for an answer at main/3."""
    (workspace / "p.plan").write_text(ASKS)
    assert fdc("run", "p.plan", "what=a\x1b[2J\u202eb", cwd=workspace).returncode == 5
    yield workspace


def show(workspace: Path, *options: str) -> Any:
    return json.loads(fdc("show", "last", "--format", "json", *options, cwd=workspace).stdout)


def kept(workspace: Path) -> Path:
    return next((workspace / ".fdc" / "runs").iterdir()) / "answers.json"


def test_each_line_of_a_question_is_a_line(workspace: Path) -> None:
    """A plan asks what to do about the output of a command; a line of it cannot pass for one of fdc."""
    text = ASKS.replace("Sugar?", "Why? {said.output}").replace(
        "sugar <-",
        "said <- run_in_bash_session printf 'a\\nquestion: b\\n\\nc\\n'; false\nsugar <-",
    )
    (workspace / "p.plan").write_text(text)
    asked = fdc("run", "p.plan", "-q", cwd=workspace)
    assert "question: Why? a\n  | question: b\n  |\n  | c\n  at p.plan:" in asked.stdout, asked
    shown = fdc("answer", "last", cwd=workspace)
    assert "(main/4): Why? a\n  | question: b\n  |\n  | c\n  text, " in shown.stdout, shown
    (workspace / "p.plan").write_text(text.replace("printf 'a", "seq 90; printf 'a"))
    asked = fdc("run", "p.plan", "-q", cwd=workspace)
    assert "  | 60\n  | 61\n  33 lines more; `fdc answer " in asked.stdout, asked


def test_an_answer_waits_for_the_next_resume_and_is_recorded_with_who_gave_it(
    waiting: Path,
) -> None:
    """FDC-105: the run goes on at the same step, with the answer of a process that is long gone."""
    before = show(waiting)["records"]
    said = fdc("answer", "last", "two\nlumps", cwd=waiting)
    assert said.returncode == 0 and "the answer for main/3 is stored" in said.stdout, said.stderr
    assert (
        show(waiting)["records"] == before
    )  # nothing was driven, nothing was written to the journal
    assert "answered, not used yet: two\\u{a}lumps" in fdc("answer", "last", cwd=waiting).stdout
    again = fdc("answer", "last", "main/3", "three", cwd=waiting)  # another mind, not used yet
    assert again.returncode == 0 and again.stdout.splitlines()[-2] == (
        "the answer for main/3 is stored; it replaces the unused answer `two\\u{a}lumps`"
    )
    again = fdc("answer", "last", "main/3", "three", cwd=waiting)
    assert "is stored\n" in again.stdout
    assert fdc("resume", "last", cwd=waiting).returncode == 5  # it waits for the approval now
    found = show(waiting, "--step", "main/3")["records"][-1]["body"]
    assert found["value"] == "three" and found["notes"]["answered"]["by"].endswith(", fdc answer")
    assert not kept(waiting).exists()
    done = fdc("answer", "last", "yes", "--resume", cwd=waiting)
    assert done.returncode == 0 and "finished: 7 steps" in done.stdout, done.stderr
    assert (waiting / "order.txt").read_text() == "three\n"
    assert ", fdc answer)" in fdc("show", "last", cwd=waiting).stdout
    for check in ("replay", "verify"):
        assert fdc(check, "last", cwd=waiting).returncode == 0


def test_an_answer_given_at_once_is_said_to_replace_the_stored_one(waiting: Path) -> None:
    fdc("answer", "last", "two", cwd=waiting)
    twice = fdc("resume", "last", "--answer", "three", "--answer", "main/3=four", cwd=waiting)
    assert twice.returncode == 2 and "is given twice for main/3" in twice.stderr
    said = fdc("resume", "last", "--answer", "three", cwd=waiting)
    assert "for main/3 is used; it replaces the unused answer `two`\n" in said.stderr, said
    assert show(waiting, "--step", "main/3")["records"][-1]["body"]["value"] == "three"


def test_an_approval_shows_its_exact_bytes_with_nothing_hidden(waiting: Path) -> None:
    fdc("answer", "last", "x", "--resume", cwd=waiting)
    shown = fdc("answer", "last", cwd=waiting)
    data = "a\x1b[2J\u202eb".encode()
    assert shown.returncode == 5
    assert f"text, {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}:" in shown.stdout
    assert "    | a\\u{1b}[2J\\u{202e}b\n" in shown.stdout
    assert "\x1b" not in shown.stdout and "\u202e" not in shown.stdout


def test_a_no_stops_the_run_and_no_answer_is_taken_twice(waiting: Path) -> None:
    """The step is tried again after a refusal: the question is asked again, the old answers are spent."""
    fdc("answer", "last", "x", "--resume", cwd=waiting)
    assert fdc("answer", "last", "no", cwd=waiting).returncode == 0
    spent = kept(waiting).read_bytes()
    refused = fdc("resume", "last", cwd=waiting)
    assert refused.returncode == 1 and "does not approve" in refused.stdout
    kept(waiting).write_bytes(spent)  # as if it could not be taken away
    again = fdc("resume", "last", "--retry", cwd=waiting)
    assert (
        again.returncode == 5
        and "approval" not in again.stderr
        and "Do you approve" in again.stdout
    )
    assert fdc("answer", "last", "yes", "--resume", cwd=waiting).returncode == 0


def test_an_answer_that_somebody_changed_counts_for_nothing(waiting: Path) -> None:
    fdc("answer", "last", "yes", cwd=waiting)
    whole = kept(waiting).read_text()
    for field in ("text", "address", "request", "outcomes", "program", "run", "by", "seal"):
        changed = json.loads(whole)
        changed["answers"][0][field] = {"outcomes": 1, "address": "main/4"}.get(field, "0" * 32)
        kept(waiting).write_text(json.dumps(changed))
        assert "not used yet" not in fdc("answer", "last", cwd=waiting).stdout, field
    assert fdc("resume", "last", cwd=waiting).returncode == 5
    assert (
        show(waiting)["status"] == "waiting"
        and show(waiting)["ending"]["questions"][0]["address"] == "main/3"
    )


def test_a_file_of_answers_that_is_none_disturbs_nobody(waiting: Path) -> None:
    for data in (
        b"",
        b"{",
        b"[]",
        b'{"answers": [1]}',
        b'{"answers": 3}',
        b"\xff" * 9,
        b"[" * 99999,
    ):
        kept(waiting).write_bytes(data)
        found = fdc("answer", "last", cwd=waiting)
        assert (found.returncode, found.stderr) == (5, ""), data[:20]
    assert fdc("answer", "last", "one", cwd=waiting).returncode == 0
    assert "ok     main/3" in fdc("resume", "last", cwd=waiting).stdout


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["main/9", "x"], 2, "has no question at `main/9`; it has questions at main/3"),
        (["main/3", "x", "y"], 2, "quote a TEXT of several words"),
    ],
)
def test_an_answer_that_makes_no_sense_is_one_sentence(
    waiting: Path, words: list[str], code: int, said: str
) -> None:
    found = fdc("answer", "last", *words, cwd=waiting)
    assert found.returncode == code and said in found.stderr and found.stderr.count("\n") <= 1


def test_an_approval_takes_yes_or_no_only(waiting: Path) -> None:
    fdc("answer", "last", "x", "--resume", cwd=waiting)
    refused = fdc("answer", "last", "perhaps", cwd=waiting)
    assert refused.returncode == 2 and "yes or no" in refused.stderr and not kept(waiting).exists()


def test_a_run_that_asks_nothing_is_one_sentence(workspace: Path) -> None:
    none = "fdc: this workspace has no run yet; `fdc run PLAN` begins one\n"
    assert none == fdc("answer", "last", "x", cwd=workspace).stderr
    (workspace / "p.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
    assert fdc("run", "p.plan", cwd=workspace).returncode == 0
    refused = fdc("answer", "last", "x", cwd=workspace)
    assert refused.returncode == 1 and "has no question" in refused.stderr


def test_of_several_questions_each_is_answered_by_its_address(workspace: Path) -> None:
    (workspace / "p.plan").write_text(
        'param items = "a b"\nset_plan x\nplan_step_complete x\nnames <- list_files\nall <- fork one in {names} max 9\n'
        "    said <- request_user_input {one}?\n    yield {said}\n"
        "overwrite_file_with_block out.txt\n    {all}\nclose_task\nsubmit\n"
    )
    (workspace / "b.txt").write_text("")
    assert fdc("run", "p.plan", cwd=workspace).returncode == 5
    asked = sorted(one["address"] for one in show(workspace)["ending"]["questions"])
    assert len(asked) == 2
    unclear = fdc("answer", "last", "x", cwd=workspace)
    assert unclear.returncode == 2 and all(address in unclear.stderr for address in asked)
    for number, address in enumerate(asked):
        assert fdc("answer", "last", address, f"answer {number}", cwd=workspace).returncode == 0
    assert fdc("resume", "last", cwd=workspace).returncode == 0
    assert json.loads((workspace / "out.txt").read_text()) == ["answer 0", "answer 1"]


def test_at_a_terminal_the_questions_are_asked(waiting: Path) -> None:
    controller, terminal = pty.openpty()
    command = [sys.executable, str(ROOT / "tooling" / "fdc_cli.py"), "answer", "last"]
    child = subprocess.Popen(
        command, cwd=waiting, stdin=terminal, stdout=terminal, stderr=terminal,
        env=clean_environment({"TERM": "xterm"}),
    )  # fmt: skip
    os.close(terminal)
    try:
        os.write(controller, b"none\n")
        assert child.wait(timeout=PATIENCE) == 0
    finally:
        child.kill()
        child.wait()
        os.close(controller)
    assert json.loads(kept(waiting).read_text())["answers"][0]["text"] == "none"


def test_maybe_at_the_prompt_of_a_run_is_asked_again_and_the_run_goes_on(workspace: Path) -> None:
    """Finding C5: the run failed. Where the answer is given beforehand, the run waits on."""
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrecord_user_approval_for_plan tea\nclose_task\nsubmit\n"
    )
    controller, terminal = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "tooling" / "fdc_cli.py"), "run", "p.plan"], cwd=workspace, stdin=terminal,
        stdout=terminal, stderr=terminal, env=clean_environment({"TERM": "xterm"}),
    )  # fmt: skip
    os.close(terminal)
    try:
        os.write(controller, b"maybe\nyes\n")
        assert child.wait(timeout=PATIENCE) == 0
    finally:
        child.kill()
        child.wait()
        os.close(controller)
    assert fdc("run", "p.plan", cwd=workspace).returncode == 5
    again = fdc("resume", "last", "--answer", "maybe", cwd=workspace)
    assert (
        again.returncode == 5
        and "an approval is answered with yes or no; `maybe` is not accepted" in again.stdout
    )
    assert fdc("resume", "last", "--answer", "yes", cwd=workspace).returncode == 0
