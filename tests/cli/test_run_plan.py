"""`run_plan`: a plan that did not exist when its caller was proved, as a run of its own (issue 13)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.inside import fdc

HEAD = "set_plan x\nplan_step_complete y\n"
END = "close_task\nsubmit\n"
TWO = (
    f"{HEAD}one <- request_user_input which colour?\ntwo <- request_user_input which size?\n"
    f"message_user {{one}} {{two}}\n{END}"
)
OUTER = f"{HEAD}text <- read_file inner.txt\ndone <- run_plan {{text}}\nmessage_user ran {{done.run}}\n{END}"


def started(home: Path, outer: str, inner: str, *words: str) -> subprocess.CompletedProcess[str]:
    (home / "outer.plan").write_text(outer)
    (home / "inner.txt").write_text(inner)
    return fdc("run", "outer.plan", *words, cwd=home)


def runs(home: Path) -> dict[str, dict[str, Any]]:
    """The runs, the outer one under its plan's path and the one within as `inner`."""
    found = json.loads(fdc("runs", "--format", "json", cwd=home).stdout)["runs"]
    return {"outer" if row["plan"] == "outer.plan" else "inner": row for row in found}


def notes(home: Path) -> dict[str, Any]:
    """What the outer run's journal says of the step that ran the plan."""
    shown = json.loads(fdc("show", runs(home)["outer"]["run"], "--format", "json", cwd=home).stdout)
    [record] = [one for one in shown["records"] if one.get("tool") == "run_plan"]
    return dict(record["body"]["notes"])


def test_a_plan_is_proved_and_driven_and_the_outer_journal_keeps_its_name(workspace: Path) -> None:
    inner = f"{HEAD}create_file_with_block made.txt\n    hello\n{END}"
    done = started(workspace, OUTER, inner)
    assert 0 == done.returncode, done.stdout + done.stderr
    found = runs(workspace)
    assert "hello\n" == (workspace / "made.txt").read_text()
    assert ("finished", f"ran {found['inner']['run']}") == (
        found["inner"]["status"],
        next(line for line in done.stdout.splitlines() if line.startswith("ran ")),
    )
    assert found["inner"]["run"] == notes(workspace)["run"]
    assert (
        f"(run {found['inner']['run']})" in fdc("show", found["outer"]["run"], cwd=workspace).stdout
    )


def test_what_it_yields_is_the_result(workspace: Path) -> None:
    outer = OUTER.replace("ran {done.run}", "got {done.result}")
    done = started(workspace, outer, f"param who=tea\n{HEAD}yield {{who}}\n{END}")
    assert 0 == done.returncode and "got tea\n" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ("mesage_user hello\n", "the plan is refused: line 1: [unknown-tool]"),
        ("", "the plan is refused"),
        (f"param who\n{HEAD}{END}", "needs a value for its parameter `who`"),
        (f"# fdc: ignore-file\n{HEAD}submit\n", "the plan is refused"),
        (f'{HEAD}require false else "no \\u001b[2J"\n{END}', "stopped"),
    ],
)
def test_a_text_that_the_linter_refuses_runs_nothing(workspace: Path, inner: str, why: str) -> None:
    done = started(workspace, OUTER, inner)
    assert 1 == done.returncode and why in done.stdout, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "\x1b" not in done.stdout


def test_a_waiting_plan_is_a_waiting_run_and_each_answer_is_for_one_question(
    workspace: Path,
) -> None:
    inner = TWO
    done = started(workspace, OUTER, inner)
    found = runs(workspace)
    assert 5 == done.returncode and "which colour?" in done.stdout
    assert ("waiting", "waiting") == (found["outer"]["status"], found["inner"]["status"])
    name = found["outer"]["run"]
    assert 0 == fdc("answer", name, "blue", cwd=workspace).returncode
    done = fdc("resume", name, cwd=workspace)
    assert 5 == done.returncode and "which size?" in done.stdout, done.stdout
    done = fdc("resume", name, cwd=workspace)  # the first answer is none to the second question
    assert 5 == done.returncode and "which size?" in done.stdout, done.stdout
    done = fdc("resume", name, "--answer", "large", cwd=workspace)
    assert 0 == done.returncode and "blue large\n" in done.stdout, done.stdout + done.stderr


def test_an_answer_counts_for_nothing_where_the_run_within_went_on_meanwhile(
    workspace: Path,
) -> None:
    inner = TWO
    assert 5 == started(workspace, OUTER, inner).returncode
    found = runs(workspace)
    assert 5 == fdc("resume", found["inner"]["run"], "--answer", "red", cwd=workspace).returncode
    done = fdc("resume", found["outer"]["run"], "--answer", "blue", cwd=workspace)
    assert 5 == done.returncode and "which size?" in done.stdout, done.stdout
    assert 0 == fdc("resume", found["inner"]["run"], "--answer", "small", cwd=workspace).returncode
    done = fdc("resume", found["outer"]["run"], cwd=workspace)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_what_the_outer_plan_allows_holds_within(workspace: Path) -> None:
    inner = f"{HEAD}create_file_with_block {{}}\n    hello\n{END}"
    outer = f"allow read **\nallow write out/**\n{OUTER}"
    done = started(workspace, outer, inner.format("out/a.txt"))
    assert 0 == done.returncode, done.stdout + done.stderr
    done = started(workspace, outer, inner.format("b.txt"))
    assert 1 == done.returncode and "`allow write` does not name `b.txt`" in done.stdout, (
        done.stdout
    )
    done = started(workspace, outer, f"{HEAD}run_in_bash_session touch b.txt\n{END}")
    assert 1 == done.returncode and not (workspace / "b.txt").exists()


def test_the_budget_is_passed_on_and_more_of_it_goes_on(workspace: Path) -> None:
    inner = HEAD + "message_user hello\n" * 6 + END
    done = started(workspace, OUTER, inner, "--budget", "steps=9")
    assert 1 == done.returncode and "the budget of 5 steps is used up" in done.stdout, done.stdout
    found = runs(workspace)
    done = fdc("resume", found["outer"]["run"], "--retry", "--budget", "steps=30", cwd=workspace)
    assert 0 == done.returncode, done.stdout + done.stderr
    again = runs(workspace)
    assert found["inner"]["run"] == again["inner"]["run"] and "finished" == again["inner"]["status"]


EACH = "for_each_file tea/*.md\n  read_file {file1}\n"


def tea(home: Path) -> None:
    (home / "tea").mkdir()
    for name in ("a", "b", "c"):
        (home / "tea" / f"{name}.md").write_text(name)


def test_a_budget_that_the_inner_plan_states_is_raised_there(workspace: Path) -> None:
    tea(workspace)
    done = started(workspace, OUTER, f"budget steps 4\n{HEAD}{EACH}{END}")
    found = runs(workspace)
    outer, within = found["outer"]["run"], found["inner"]["run"]
    helps = (
        f"`fdc resume {within} --budget steps=NUMBER` raises it, then `fdc resume {outer} --retry`"
    )
    assert 1 == done.returncode and helps in done.stdout, done.stdout
    assert "MEASURE" not in done.stdout
    assert 0 == fdc("resume", within, "--budget", "steps=40", cwd=workspace).returncode
    done = fdc("resume", outer, "--retry", cwd=workspace)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_a_budget_that_a_plan_called_within_states_needs_another_plan(workspace: Path) -> None:
    tea(workspace)
    (workspace / "low.plan").write_text(f"budget steps 2\n{EACH}")
    done = started(workspace, OUTER, f"{HEAD}call_plan low.plan\n{END}")
    assert 1 == done.returncode and "write a larger `budget` into that plan" in done.stdout
    assert "--retry" not in done.stdout and "MEASURE" not in done.stdout, done.stdout


def test_plans_that_run_themselves_come_to_an_end(workspace: Path) -> None:
    done = started(workspace, OUTER, OUTER)
    assert 1 == done.returncode and "11 deep; the maximum is 10" in done.stdout, done.stdout[-900:]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("text <- read_file inner.txt\n", 0),
        ("text <- view_text_website https://example.org/\n", 1),
        ("page <- view_text_website https://example.org/\ntext <- approve_plan {page}\n", 0),
        ("page <- view_text_website https://example.org/\ntext <- request_user_input {page}\n", 0),
    ],
)
def test_text_from_outside_is_no_plan_without_approval(
    workspace: Path, before: str, code: int
) -> None:
    (workspace / "inner.txt").write_text(HEAD + END)
    (workspace / "p.plan").write_text(f"{HEAD}{before}run_plan {{text}}\n{END}")
    done = fdc("lint", "p.plan", cwd=workspace)
    assert code == done.returncode, done.stdout
    assert code == 0 or "chooses the plan that `run_plan` runs" in done.stdout


def test_a_result_from_outside_is_not_given_on(workspace: Path) -> None:
    (workspace / "fdc.toml").write_text('untrusted = ["mail/**"]\n')
    (workspace / "mail").mkdir()
    (workspace / "mail/a.md").write_text("do this\n")
    inner = f"{HEAD}text <- read_file mail/a.md\nyield {{text}}\n{END}"
    done = started(workspace, OUTER, inner)
    assert 1 == done.returncode and "the plan yields text from outside" in done.stdout, done.stdout
    assert ["outer"] == list(runs(workspace))
    done = started(workspace, OUTER.replace("done <- ", "").replace("{done.run}", ""), inner)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_a_person_approves_the_very_text(workspace: Path) -> None:
    outer = OUTER.replace("done <-", "text <- approve_plan {text}\ndone <-")
    inner = f"{HEAD}message_user hello\n{END}"
    done = started(workspace, outer, inner)
    assert 5 == done.returncode and "May this plan be run?" in done.stdout
    name = runs(workspace)["outer"]["run"]
    (workspace / "inner.txt").write_text(f"{HEAD}run_in_bash_session touch owned\n{END}")
    done = fdc("resume", name, "--answer", "yes", cwd=workspace)
    assert 0 == done.returncode and "\nhello\n" in done.stdout, done.stdout + done.stderr
    assert not (workspace / "owned").exists()
    done = started(workspace, outer, inner)
    waits = next(
        one
        for one in json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"]
        if one["status"] == "waiting"
    )
    done = fdc("resume", waits["run"], "--answer", "no", cwd=workspace)
    assert 1 == done.returncode and "the user does not approve the plan" in done.stdout


@pytest.fixture
def mail(workspace: Path) -> Path:
    """A workspace with a file from outside."""
    (workspace / "fdc.toml").write_text('untrusted = ["mail/**"]\n')
    (workspace / "mail").mkdir()
    (workspace / "mail/a.md").write_text("curl evil\n")
    (workspace / "notes.md").write_text("x\n")
    return workspace


COPY = "mail <- read_file mail/a.md\noverwrite_file_with_block notes.md\n    {mail}\n"


def test_what_the_outer_run_wrote_of_outside_is_outside_within(mail: Path) -> None:
    outer = f"{HEAD}text <- read_file inner.txt\n{COPY}run_plan {{text}}\n{END}"
    (mail / "inner.txt").write_text("")
    inner = f"{HEAD}x <- read_file notes.md\nrun_in_bash_session echo {{x}}\n{END}"
    done = started(mail, outer, inner)
    assert 1 == done.returncode and "[untrusted-flow]" in done.stdout, done.stdout + done.stderr


def test_what_the_run_within_wrote_of_outside_is_outside_afterwards(mail: Path) -> None:
    inner = f"{HEAD}{COPY}{END}"
    outer = f"{HEAD}text <- read_file inner.txt\nrun_plan {{text}}\nread_file notes.md\n{END}"
    done = started(mail, outer, inner)
    assert 1 == done.returncode, done.stdout + done.stderr
    assert "holds text from outside, which the run" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("inner", "within", "said"),
    [
        ('mail <- read_file mail/a.md\nrequire "tea" in mail else "no"\n', "  run_plan {text}\n", "`run_plan`"),
        (COPY, "  x <- read_file notes.md\n", "did not when this plan was proved"),
        (COPY, "  for_each_file *.md as f\n    message_user {f}\n", "did not when this plan was proved"),
    ],
)  # fmt: skip
def test_no_branch_keeps_a_failure_that_text_from_outside_decided(
    mail: Path, inner: str, within: str, said: str
) -> None:
    first = "" if "run_plan" in within else "run_plan {text}\n"
    outer = (
        f"{HEAD}text <- read_file inner.txt\nfiles <- list_files notes.md\n{first}"
        f"done <- fork one in {{files}} max 1 keep failures\n{within}  yield {{one}}\n"
        f"overwrite_file_with_block made.md\n  {{done}}\n{END}"
    )
    done = started(mail, outer, f"{HEAD}{inner}{END}")
    assert 1 == done.returncode and said in done.stdout, done.stdout + done.stderr
    assert not (mail / "made.md").exists()


def test_the_last_run_to_verify_is_none_within_a_step(workspace: Path) -> None:
    (workspace / "inner.txt").write_text(
        "set_plan Inner\nplan_step_complete begun\nmessage_user hi\nclose_task\nsubmit\n"
    )
    (workspace / "outer.plan").write_text(
        "set_plan Outer\nplan_step_complete begun\ntext <- read_file inner.txt\n"
        "done <- run_plan {text}\nmessage_user {done.run}\nclose_task\nsubmit\n"
    )
    assert 0 == fdc("run", "outer.plan", cwd=workspace).returncode
    shown = fdc("show", "last", cwd=workspace).stdout
    assert "outer.plan" in shown
    assert shown.split()[1].rstrip(":") in fdc("verify", "last", cwd=workspace).stdout
