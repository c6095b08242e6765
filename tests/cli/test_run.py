"""`fdc run`, `resume`, `runs` and `show` as a user meets them: real processes on real workspaces."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.process import clean_environment, fdc, working_in
from tests.support.repository import ROOT

PLAN = """param topic = "tea"
set_plan Write about {topic}
plan_step_complete planned
create_file_with_block notes/{topic}.md
    # {topic}
listed <- run_in_bash_session ls notes
require listed.exit_code == 0 else "no notes"
message_user I wrote about {topic}
close_task
submit
"""


@pytest.fixture
def plan(workspace: Path) -> Path:
    (workspace / "a.plan").write_text(PLAN)
    return workspace


def run_name(output: str) -> str:
    found = re.search(r"\d{8}-\d{6}-\w{4}", output)
    assert found is not None, output
    return found.group()


def write(workspace: Path, *steps: str, head: str = "") -> None:
    """A plan of the default automaton around some steps."""
    body = "\n".join(["set_plan x", "plan_step_complete x", *steps, "close_task", "submit"])
    (workspace / "a.plan").write_text(head + body + "\n")


def test_a_record_of_fdc_is_text_from_outside_and_no_value_leads_there(workspace: Path) -> None:
    (workspace / ".fdc").mkdir()
    (workspace / ".fdc/x.md").write_text("said by a page")
    write(workspace, "t <- read_file .fdc/x.md", "overwrite_file_with_block {run}/outside/y\n  {t}")
    done = fdc("run", "a.plan", cwd=workspace)
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(fdc("show", run_name(done.stdout), "--format", "json", cwd=workspace).stdout)
    assert "untrusted" in json.dumps(shown)
    write(workspace, "t <- read_file {p}", head='param p = ".fdc/x.md"\n')
    done = fdc("run", "a.plan", cwd=workspace)
    assert (
        done.returncode == 1
        and "`.fdc/x.md` is a record of fdc; a step can read it only if its text" in done.stdout
    )
    write(
        workspace, "t <- read_file {p}", "u <- read_file .fdc/x.md", head='param p = ".fdc/x.md"\n'
    )
    assert fdc("run", "a.plan", cwd=workspace).returncode == 1


def test_a_plan_is_proved_run_and_looked_at(plan: Path) -> None:
    done = fdc("run", "a.plan", "topic=green tea", cwd=plan)
    assert (done.returncode, done.stderr) == (0, "")
    assert (plan / "notes" / "green tea.md").read_text() == "# green tea\n"
    name = run_name(done.stdout)
    lines = done.stdout.splitlines()
    assert lines[0] == f"run {name}: a.plan"
    assert lines[3] == "ok     main/3     create_file_with_block notes/green tea.md # green tea"
    assert "I wrote about green tea" in lines
    assert lines[-2] == "wrote notes/green tea.md"
    assert re.fullmatch(rf"finished: 7 steps, .*; `fdc show {name}` shows every step", lines[-1])
    assert "\x1b" not in done.stdout
    shown = fdc("show", name[:-2], cwd=plan)
    assert (
        shown.returncode == 0
        and "not sandboxed" not in shown.stdout
        and "topic=green tea" in shown.stdout
    )
    listed = fdc("runs", "--format", "json", cwd=plan)
    [one] = json.loads(listed.stdout)["runs"]
    assert (one["run"], one["status"], one["plan"]) == (name, "finished", "a.plan")
    step = fdc("show", name, "--step", "main/4", cwd=plan)
    assert "green tea.md" in step.stdout and "run_in_bash_session (once), a.plan:6" in step.stdout


def test_a_plan_that_is_refused_by_the_proof_does_not_begin(workspace: Path) -> None:
    (workspace / "a.plan").write_text("set_plan x\nsubmit\n")
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 1 and "FDC401" in done.stderr and done.stdout == ""
    assert not (workspace / ".fdc").exists()


def test_a_dry_run_says_what_would_be_done_and_does_nothing(plan: Path) -> None:
    told = fdc("run", "a.plan", "topic=mate", "--dry-run", "--format", "json", cwd=plan)
    said = json.loads(told.stdout)
    assert (0, None, []) == (told.returncode, said["run"], said["missing"])
    done = fdc("run", "a.plan", "topic=mate", "--dry-run", cwd=plan)
    assert done.stdout.splitlines() == said["outline"]
    assert done.returncode == 0
    assert "create_file_with_block notes/mate.md # mate" in done.stdout
    assert done.stdout.endswith("no step was performed\n")
    assert sorted(os.listdir(plan)) == ["a.plan", "knowledge_core"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a.plan", "topik=x"], "the plan has no parameter `topik`; did you mean `topic`?"),
        (["a.plan", "x"], "expected key=value, found `x`"),
        (["a.plan", "--topic", "x"], "is written without dashes: `topic=VALUE`."),
        (["a.plan", "--topic=x"], "is written without dashes: `topic=VALUE`."),
        (["a.plan", "--dry-rum"], "Did you mean '--dry-run'?"),
        (["a.plan", "topic=a", "topic=b"], "`topic` is given twice"),
        (["none.plan"], "the plan `none.plan` is neither a file"),
        (
            ["a.plan", "--budget", "stepz=1"],
            "MEASURE=NUMBER with one of steps, model_calls, tokens, money, seconds",
        ),
        (["a.plan", "--budget", "steps=nan"], "not a valid limit"),
        (["a.plan", "--budget", "seconds=0"], "0 seconds are used up before the first step"),
        (["needs.plan"], "the plan needs `who=VALUE`"),
        (["a.plan", "--workspace", "nowhere"], "the workspace `nowhere` is not a folder"),
    ],
)
def test_a_wrong_command_line_is_one_sentence_and_code_2(
    plan: Path, arguments: list[str], says: str
) -> None:
    (plan / "needs.plan").write_text(
        "param who\n" + PLAN.replace("{topic}", "{who}").split("\n", 1)[1]
    )
    done = fdc("run", *arguments, cwd=plan)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
    assert not (plan / ".fdc").exists()


def test_runs_that_do_not_exist_or_are_several_are_named(plan: Path) -> None:
    assert fdc("runs", cwd=plan).stdout == "no runs yet; start one with `fdc run PLAN`\n"
    assert fdc("show", "2", cwd=plan).returncode == 2
    assert "no run begins with `2`" in fdc("resume", "2", cwd=plan).stderr
    fdc("run", "a.plan", "topic=a", cwd=plan)
    fdc("run", "a.plan", "topic=b", cwd=plan)
    done = fdc("show", "2", cwd=plan)
    assert done.returncode == 2 and "2 runs begin with `2`" in done.stderr


@pytest.mark.parametrize("command", ["show", "answer", "cancel", "resume", "replay"])
def test_an_empty_name_is_the_beginning_of_no_run(plan: Path, command: str) -> None:
    """A script whose variable is not set cancelled the only run."""
    (plan / "ask.plan").write_text(
        PLAN.split("\n", 1)[0]
        + "\nset_plan a\nplan_step_complete a\nrequest_user_input a?\nclose_task\nsubmit\n"
    )
    assert fdc("run", "ask.plan", "topic=a", cwd=plan).returncode == 5
    done = fdc(command, "", cwd=plan)
    assert done.returncode == 2 and "begins with an empty name" in done.stderr, done
    assert "waiting" in fdc("runs", cwd=plan).stdout


def test_json_is_one_object_and_the_streams_carry_nothing_else(plan: Path) -> None:
    done = fdc("run", "a.plan", "--format", "json", cwd=plan)
    assert (done.returncode, done.stderr) == (0, "")
    end = json.loads(done.stdout)
    assert (end["format"], end["status"], end["steps"], end["wrote"]) == (
        1,
        "finished",
        7,
        ["notes/tea.md"],
    )
    assert end["said"] == ["I wrote about tea"]
    shown = json.loads(fdc("show", end["run"], "--format", "json", cwd=plan).stdout)
    assert [one["address"] for one in shown["records"] if one["kind"] == "outcome"] == [
        "main/1", "main/2", "main/3", "main/4", "main/6", "main/7", "main/8",
    ]  # fmt: skip


def test_quiet_leaves_the_plans_words_and_the_end(plan: Path) -> None:
    lines = fdc("run", "a.plan", "-q", cwd=plan).stdout.splitlines()
    assert len(lines) == 2 and lines[0] == "I wrote about tea"


def test_a_plan_that_stops_says_why_and_where_with_code_1(workspace: Path) -> None:
    write(workspace, "f <- read_file missing.md", 'require len(f) > 0 else "it is empty"')
    done = fdc("lint", "a.plan", cwd=workspace)
    assert done.returncode == 1  # the linter knows already that it is not there
    (workspace / "missing.md").write_text("")
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 1
    assert "require: it is empty\n  at a.plan:4 (main/4)\n" in done.stdout
    again = fdc("resume", run_name(done.stdout), cwd=workspace)
    assert again.returncode == 1 and "require: it is empty" in again.stdout


def test_the_budget_of_a_called_plan_stops_the_run_and_is_the_plans_own(workspace: Path) -> None:
    """docs/headers.md, docs/models.md: the stop names the plan; `--budget` does not raise it."""
    (workspace / "docs").mkdir()
    (workspace / "pages.plan").write_text(
        "budget steps 2\nfor_each_file docs/*.md\n  read_file {file1}\n"
    )
    write(workspace, "call_plan pages.plan", "call_plan pages.plan")
    for name in ("a", "b"):
        (workspace / "docs" / f"{name}.md").write_text("x")
    assert "before its end" not in fdc("run", "a.plan", "--dry-run", cwd=workspace).stdout
    assert fdc("run", "a.plan", cwd=workspace).returncode == 0
    (workspace / "docs" / "c.md").write_text("x")
    dry = fdc("run", "a.plan", "--dry-run", cwd=workspace).stdout
    assert "at worst: 8 steps, with the files that exist now" in dry
    assert "the budget of 2 steps that `pages.plan` states may stop the run before its end" in dry
    done = fdc("run", "a.plan", "--format", "json", cwd=workspace)
    stop = json.loads(done.stdout)["stop"]
    assert (done.returncode, stop["kind"], stop["cause"]["kind"]) == (1, "plan_budget", "budget")
    assert (stop["path"], stop["line"], stop["address"]) == (
        "pages.plan",
        3,
        "main/3>pages.plan/1[3]/1",
    )
    assert stop["cause"] == {"kind": "budget", "measure": "steps", "of": "plan"}
    again = fdc("resume", "last", "--budget", "steps=50", cwd=workspace)
    assert "write a larger `budget` into that plan, and begin a new run" in again.stdout
    assert again.returncode == 1 and "--budget MEASURE" not in again.stdout
    assert (
        "the budget of 2 steps that `pages.plan` states is used up before `read_file`"
        in again.stdout
    )
    assert fdc("verify", "last", cwd=workspace).returncode == 0
    assert "main/4" not in fdc("show", "last", cwd=workspace).stdout


def test_a_budget_stops_a_run_before_the_step_and_more_of_it_lets_the_run_go_on(plan: Path) -> None:
    done = fdc("run", "a.plan", "--budget", "steps=3", cwd=plan)
    assert (
        done.returncode == 1
        and "the budget of 3 steps is used up before `run_in_bash_session`" in done.stdout
    )
    assert "--budget MEASURE=NUMBER` continues" in done.stdout
    done = fdc("resume", run_name(done.stdout), "--budget", "steps=20", cwd=plan)
    assert done.returncode == 0 and done.stdout.splitlines()[-1].startswith("finished: 7 steps")


def test_a_failed_step_can_be_tried_again_when_its_cause_is_gone(workspace: Path) -> None:
    (workspace / "log").touch()
    write(workspace, "run_in_bash_session test -e ready && echo once >> log")
    done = fdc("run", "a.plan", cwd=workspace)
    assert (
        done.returncode == 1
        and "ended with exit code 1" in done.stdout
        and "--retry" in done.stdout
    )
    (workspace / "ready").write_text("")
    name = run_name(done.stdout)
    assert fdc("resume", name, cwd=workspace).returncode == 1
    done = fdc("resume", name, "--retry", cwd=workspace)
    assert done.returncode == 0, done.stdout
    assert (workspace / "log").read_text() == "once\n"
    assert "will be retried: main/3" in fdc("show", name, cwd=workspace).stdout


def test_a_question_waits_for_its_answer_across_processes(workspace: Path) -> None:
    write(workspace, "colour <- request_user_input Which colour?", "message_user It is {colour}.")
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 5
    assert "question: Which colour?" in done.stdout and "--answer '...'" in done.stdout
    name = run_name(done.stdout)
    [one] = json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"]
    assert one["status"] == "waiting"
    assert fdc("resume", name, cwd=workspace).returncode == 5
    assert (
        "no question that `--assume` could answer"
        in fdc("resume", name, "--assume", "done", cwd=workspace).stderr
    )
    done = fdc("resume", name, "--answer", "deep blue=green", cwd=workspace)
    assert done.returncode == 0 and "It is deep blue=green." in done.stdout


def test_the_program_that_was_proved_is_what_goes_on_whatever_becomes_of_the_files(
    workspace: Path,
) -> None:
    """G-TOC."""
    (workspace / "which").touch()
    write(workspace, "x <- request_user_input Go on?", "run_in_bash_session echo proved > which")
    name = run_name(fdc("run", "a.plan", cwd=workspace).stdout)
    write(workspace, "x <- request_user_input Go on?", "run_in_bash_session echo swapped > which")
    assert fdc("resume", name, "--answer", "yes", cwd=workspace).returncode == 0
    assert (workspace / "which").read_text() == "proved\n"
    (workspace / "a.plan").unlink()
    assert fdc("show", name, cwd=workspace).returncode == 0


def test_a_workspace_brings_its_own_tools_and_predicates(workspace: Path) -> None:
    tool = {
        "summary": "words of a text", "action": "step_op", "effect": "pure", "trust": "trusted",
        "parameters": [{"name": "text", "kind": "rest"}], "result": "list", "run": {"python": "words:split"},
    }  # fmt: skip
    predicate = {
        "summary": "more than one",
        "parameters": ["value"],
        "run": {"python": "words:many"},
    }
    own = {"format": 1, "name": "own", "tools": {"split": tool}, "predicates": {"many": predicate}}
    (workspace / "fdc_tools.json").write_text(json.dumps(own))
    (workspace / "words.py").write_text(
        "def split(text): return text.split()\ndef many(value): return len(value) > 1\n"
    )
    write(
        workspace,
        "w <- split {text}",
        'require many({w}) else "one word only"',
        head="param text\n",
    )
    done = fdc("run", "a.plan", "text=green tea", cwd=workspace)
    assert done.returncode == 0, done.stdout + done.stderr
    again = fdc("run", "a.plan", "text=tea", cwd=workspace)
    assert again.returncode == 1 and "require: one word only" in again.stdout
    shown = json.loads(fdc("show", run_name(done.stdout), "--format", "json", cwd=workspace).stdout)
    assert ("main/4?1", "many") in [(one["address"], one.get("tool")) for one in shown["records"]]


def test_what_a_plan_allows_is_checked_again_with_the_values_of_the_run(workspace: Path) -> None:
    head = "param name\nallow write out/{name}.md\nallow read **\n"
    write(workspace, "create_file_with_block out/{name}.md", "    x", head=head)
    assert fdc("run", "a.plan", "name=tea", cwd=workspace).returncode == 0
    assert (workspace / "out" / "tea.md").exists()


def test_what_tools_and_plans_say_cannot_speak_to_the_terminal(workspace: Path) -> None:
    write(
        workspace,
        r"r <- run_in_bash_session printf 'a\033[2Jb\rc\342\200\256d'",
        "message_user {r.output}",
    )
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 0
    for text in (
        done.stdout,
        fdc("show", run_name(done.stdout), "--step", "main/3", cwd=workspace).stdout,
    ):
        assert "\x1b" not in text and "\u202e" not in text and "\r" not in text
        assert r"\u{1b}[2J" in text or r"\u001b[2J" in text


def test_a_pipe_that_closes_does_not_stop_a_run(plan: Path) -> None:
    command = f"{sys.executable} {ROOT}/tooling/fdc_cli.py run a.plan | true"
    subprocess.run(
        ["bash", "-c", command], cwd=plan, env=clean_environment(), check=True, timeout=PATIENCE
    )
    [one] = json.loads(fdc("runs", "--format", "json", cwd=plan).stdout)["runs"]
    assert one["status"] == "finished"
    assert (plan / "notes" / "tea.md").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_an_interrupted_run_says_how_it_goes_on_and_leaves_no_process(
    workspace: Path, number: int
) -> None:
    (workspace / "pid").touch()
    write(
        workspace,
        "run_in_bash_session echo $$ > pid; test -e again || sleep 60",
        "message_user done",
    )
    with fdc_started("run", "a.plan", cwd=workspace) as process:
        wait_for(lambda: (workspace / "pid").exists() and (workspace / "pid").read_text().strip())
        for _ in range(3):  # an impatient finger
            process.send_signal(number)
            time.sleep(0.02)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "Traceback" not in out + err
    name = run_name(out)
    assert (
        f"`fdc resume {name}` begins that step again, and with `--all --assume done` it counts as done"
        in out
        and "all steps are recorded" not in out
    )
    assert "stopped: run_in_bash_session" in out
    wait_for(lambda: not working_in(workspace))
    (workspace / "again").write_text("")
    done = fdc("resume", name, cwd=workspace)
    assert done.returncode == 0, done.stdout
    assert (
        "fdc had stopped it before it ended"
        in fdc("show", name, "--step", "main/3", cwd=workspace).stdout
    )


def test_an_interrupted_fork_leaves_no_process_of_any_branch(workspace: Path) -> None:
    for name in "abc":
        (workspace / f"{name}.in").write_text("")
    (workspace / "a.plan").write_text(
        "set_plan x\nplan_step_complete x\nfiles <- list_files *.in\nfork f in {files} max 3\n"
        "    run_in_bash_session trap '' TERM; echo $$ > {f}.pid; sleep 60; sleep 60\nclose_task\nsubmit\n"
    )
    pids = [workspace / f"{name}.in.pid" for name in "abc"]
    for path in pids:
        path.touch()
    with fdc_started("run", "a.plan", cwd=workspace) as process:
        wait_for(lambda: all(path.exists() and path.read_text().strip() for path in pids))
        for _ in range(2):
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "Traceback" not in out + err
    wait_for(lambda: not working_in(workspace))


def test_a_terminal_shows_one_live_line_and_asks_there(workspace: Path) -> None:
    asks = "name <- request_user_input Who is there?"
    write(
        workspace,
        "run_in_bash_session while [ ! -e go ]; do sleep 0.05; done",
        asks,
        "message_user Hello {name}!",
    )
    main, terminal = pty.openpty()
    streams = {"stdin": terminal, "stdout": terminal, "stderr": terminal, "text": False}
    seen = b""
    with fdc_started(
        "run", "a.plan", cwd=workspace, env={"TERM": "xterm"}, start_new_session=True, **streams
    ) as process:
        os.close(terminal)
        answered = False
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if select.select([main], [], [], 0.1)[0]:
                try:
                    seen += os.read(main, 4096)
                except OSError:
                    break  # the other side is closed
            if (
                b"2 steps" in seen
                and b"run_in_bash_session while" in seen.rpartition(b"2 steps")[2]
            ):
                (workspace / "go").write_text("")
            if b"> " in seen and not answered:
                answered = True
                os.write(main, b"Ada\n")
        os.close(main)
        assert process.wait(timeout=PATIENCE) == 0
    text = seen.decode()
    assert "\x1b[J" in text and "2 steps" in text and "run_in_bash_session while" in text
    assert "Who is there?" in text and "Hello Ada!" in text
