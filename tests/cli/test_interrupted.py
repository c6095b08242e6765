"""Commands that fdc itself stopped, and what going on asks about them (issue 4, "Durable"; FDC-31)."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.support.background import fdc_started, wait_for
from tests.support.process import fdc, working_in

pytestmark = pytest.mark.slow
BRANCHES = 7
PLAN = """set_plan x
plan_step_complete x
items <- numbers {count}
fork n in {items.list} max 50
    run_in_bash_session echo start >> log/{n}; while [ -e held ]; do sleep 0.05; done; echo end >> log/{n}
message_user all done
close_task
submit
"""
OWN = """
import os, time

def numbers(count):
    return {"list": [str(number) for number in range(int(count))]}

def deed(name):
    with open(f"out/begun-{name}", "a") as file:
        file.write("x")
    while os.path.exists("held"):
        time.sleep(0.01)
    with open(f"out/made-{name}", "a") as file:
        file.write("x")
"""
DEED = "set_plan x\nplan_step_complete x\ndeed a\nclose_task\nsubmit\n"


def laid_out(workspace: Path, **declared: object) -> None:
    tools = {
        "numbers": {
            "summary": "so many", "action": "step_op", "effect": "read", "trust": "trusted",
            "parameters": [{"name": "count", "kind": "word"}], "result": {"list": "list"}, "run": {"python": "own:numbers"},
        },
        "deed": {
            "summary": "a deed", "action": "step_op", "effect": "once", "trust": "trusted",
            "parameters": [{"name": "name", "kind": "word"}], "run": {"python": "own:deed"},
            "access": {"write": ["out/**"]}, **declared,
        },
    }  # fmt: skip
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": tools})
    )
    (workspace / "own.py").write_text(OWN)
    (workspace / "fork.plan").write_text("param count\n" + PLAN)
    (workspace / "deed.plan").write_text(DEED)
    (workspace / "held").write_text("")
    (workspace / "log").mkdir()


def interrupted(workspace: Path, count: int, which: signal.Signals = signal.SIGINT) -> str:
    """Commands of so many branches are under way, and fdc is asked to end. Returns what it says."""
    with fdc_started(
        "run", "--jobs", str(count), "fork.plan", f"count={count}", cwd=workspace
    ) as run:
        logs = [workspace / f"log/{n}" for n in range(count)]
        wait_for(lambda: all(log.exists() and log.read_text() for log in logs))
        run.send_signal(which)
        out, err = run.communicate()
        assert 130 == run.returncode, (out, err)
    assert "end" not in "".join((workspace / f"log/{n}").read_text() for n in range(count))
    return out


def killed(workspace: Path) -> None:
    """A controller dies of SIGKILL in the middle of a deed."""
    with fdc_started("run", "deed.plan", cwd=workspace) as run:
        begun = workspace / "out/begun-a"
        wait_for(lambda: begun.exists() and "x" == begun.read_text())
        run.kill()
        run.wait()
    wait_for(lambda: not working_in(workspace))
    (workspace / "held").unlink()


@pytest.mark.long
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("count", [1, BRANCHES])
def test_commands_that_fdc_stopped_are_on_record_and_begin_again_when_the_run_is_resumed(
    workspace: Path, count: int, which: signal.Signals
) -> None:
    laid_out(workspace)
    said = interrupted(workspace, count, which)
    noun = "that step" if count == 1 else f"those {count} steps"
    assert "all steps are recorded" not in said and f"` begins {noun} again, and with" in said
    assert min(count, 5) == said.count("fdc stopped it before its end; resuming begins it again")
    listed = json.loads(fdc("show", "last", "--format", "json", cwd=workspace).stdout)
    assert count == json.dumps(listed).count('"interrupted"') - json.dumps(listed["status"]).count(
        '"interrupted"'
    )
    shown = fdc("show", "last", cwd=workspace).stdout
    assert count == shown.count("stopped by fdc before its end")
    assert (
        0
        == fdc("replay", "last", cwd=workspace).returncode
        == fdc("verify", "last", cwd=workspace).returncode
    )
    (workspace / "held").unlink()
    done = fdc("resume", cwd=workspace)
    assert 0 == done.returncode and "finished" in done.stdout, done
    assert ["start\nstart\nend\n"] * count == [
        (workspace / f"log/{n}").read_text() for n in range(count)
    ]
    assert (
        0
        == fdc("replay", "last", cwd=workspace).returncode
        == fdc("verify", "last", cwd=workspace).returncode
    )
    over = fdc("resume", cwd=workspace)
    assert 2 == over.returncode and "no run here can continue" in over.stderr


def test_a_tool_that_must_not_be_repeated_is_asked_about_when_fdc_stopped_it(
    workspace: Path,
) -> None:
    laid_out(workspace, repeatable=False)
    with fdc_started("run", "deed.plan", cwd=workspace) as run:
        wait_for(lambda: (workspace / "out/begun-a").exists())
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate()
        assert 130 == run.returncode, (out, err)
    assert "`fdc resume" in out and "--all --assume not-done` does that step again" in out
    (workspace / "held").unlink()
    asked = fdc("resume", cwd=workspace)
    assert 5 == asked.returncode, asked
    assert "fdc stopped it before it ended; what it had done by then is done\n" in asked.stdout
    assert "x" == (workspace / "out/begun-a").read_text()
    assert 0 == fdc("resume", "--assume", "not-done", cwd=workspace).returncode
    assert "xx" == (workspace / "out/begun-a").read_text()


def test_what_a_stopped_tool_left_half_written_does_not_count_as_done(workspace: Path) -> None:
    """A path that `creates` names tells whether a lost step happened, and nothing about one that fdc stopped."""
    laid_out(workspace, creates="out/begun-{name}")
    with fdc_started("run", "deed.plan", cwd=workspace) as run:
        wait_for(lambda: (workspace / "out/begun-a").exists())
        run.send_signal(signal.SIGINT)
        out, err = run.communicate()
        assert 130 == run.returncode, (out, err)
    (workspace / "held").unlink()
    assert 0 == fdc("resume", cwd=workspace).returncode
    assert ("xx", "x") == (
        (workspace / "out/begun-a").read_text(),
        (workspace / "out/made-a").read_text(),
    )


def test_one_answer_may_be_given_at_once_and_single_ones_beside_it(workspace: Path) -> None:
    laid_out(workspace)
    interrupted(workspace, 3)
    (workspace / "held").unlink()
    done = fdc("resume", "last", "--all", "--assume", "done", cwd=workspace)
    assert 0 == done.returncode, done
    assert ["start\n"] * 3 == [(workspace / f"log/{n}").read_text() for n in range(3)]
    wrong = fdc("resume", "last", "--all", cwd=workspace)
    assert 2 == wrong.returncode and "`--all` needs one `--assume" in wrong.stderr


def test_a_tool_that_is_declared_repeatable_is_repeated_and_nobody_is_asked(
    workspace: Path,
) -> None:
    laid_out(workspace, repeatable=True)
    killed(workspace)
    done = fdc("resume", cwd=workspace)
    assert 0 == done.returncode, done
    assert ("xx", "x") == (
        (workspace / "out/begun-a").read_text(),
        (workspace / "out/made-a").read_text(),
    )
    assert 0 == fdc("replay", "last", cwd=workspace).returncode


def test_a_tool_that_creates_a_path_has_happened_where_the_path_is_there(workspace: Path) -> None:
    laid_out(workspace, creates="out/made-{name}")
    killed(workspace)
    (workspace / "out/made-a").write_text("it had come so far")
    assert 0 == fdc("resume", cwd=workspace).returncode
    assert ("x", "it had come so far") == (
        (workspace / "out/begun-a").read_text(),
        (workspace / "out/made-a").read_text(),
    )


def test_and_has_not_where_it_is_missing(workspace: Path) -> None:
    laid_out(workspace, creates="out/made-{name}")
    killed(workspace)
    assert 0 == fdc("resume", cwd=workspace).returncode
    assert ("xx", "x") == (
        (workspace / "out/begun-a").read_text(),
        (workspace / "out/made-a").read_text(),
    )


def test_a_path_that_was_there_before_tells_nothing(workspace: Path) -> None:
    laid_out(workspace, creates="out/made-{name}")
    (workspace / "out").mkdir()
    (workspace / "out/made-a").write_text("old")
    killed(workspace)
    asked = fdc("resume", cwd=workspace)
    assert 5 == asked.returncode and "it is unknown whether it happened" in asked.stdout, asked
    assert 0 == fdc("resume", "--assume", "not-done", cwd=workspace).returncode


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"repeatable": True, "effect": "read"}, "`repeatable` is for tools that happen once"),
        ({"creates": "out/made-{nam}"}, "the parameter `nam` does not exist"),
        ({"repeatable": True, "cost": {"tokens": 5}}, "a tool that has a cost cannot be repeated"),
        ({"cost": {"tokens": "left"}}, "`left` is for a tool that runs a plan"),
    ],
)
def test_declarations_that_make_no_sense_are_findings(
    workspace: Path, declared: dict[str, object], says: str
) -> None:
    laid_out(workspace, **declared)
    assert says in fdc("lint", "deed.plan", cwd=workspace).stdout


@pytest.mark.long
@pytest.mark.parametrize("branches", [1, 2])
def test_a_command_that_ignores_the_signal_is_killed_and_not_unknown(
    workspace: Path, branches: int
) -> None:
    command = "run_in_bash_session trap '' TERM; echo x >> log/{n}; while [ -e held ]; do sleep 0.05; done"
    laid_out(workspace)
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nitems <- numbers 2\nfork n in {items.list} max 2\n"
        f"    {command}\nclose_task\nsubmit\n"
        if branches == 2
        else f"set_plan x\nplan_step_complete x\n{command.replace('{n}', '0')}\nclose_task\nsubmit\n"
    )
    logs = [workspace / f"log/{n}" for n in range(branches)]
    with fdc_started("run", "p.plan", cwd=workspace) as run:
        wait_for(lambda: all(log.exists() for log in logs))
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate()
        assert 130 == run.returncode, (out, err)
    assert branches == out.count("resuming begins it again"), out
    wait_for(lambda: not working_in(workspace))
    (workspace / "held").unlink()
    assert 0 == fdc("resume", cwd=workspace).returncode
    assert ["x\nx\n"] * branches == [log.read_text() for log in logs]
