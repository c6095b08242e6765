"""A command that failed is never shown as a success, wherever its step stands (finding C1)."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.test_run import run_name
from tests.support.inside import fdc
from tests.support.linting import ANY

PLAN = """set_plan x
plan_step_complete x
good <- run_in_bash_session true
bad <- run_in_bash_session exit 7
iterate max 2
  t <- run_in_bash_session false
require bad.exit_code == 7 else "no"
close_task
submit
"""


@pytest.fixture
def ran(workspace: Path) -> tuple[Path, str, str]:
    """The workspace, the run, and what was printed while it ran. The plan goes on after commands that fail."""
    (workspace / "a.plan").write_text(PLAN)
    done = fdc("run", "a.plan", cwd=workspace)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return workspace, run_name(done.stdout), done.stdout


def test_the_lines_of_a_run_and_of_fdc_show_have_the_exit_code(ran: tuple[Path, str, str]) -> None:
    workspace, run, printed = ran
    for out in (printed, fdc("show", run, cwd=workspace).stdout):
        assert re.search(r"^ok     main/3 .*run_in_bash_session true  exit 0", out, re.MULTILINE), (
            out
        )
        assert re.search(r"^exit 7 main/4 .*run_in_bash_session exit 7", out, re.MULTILINE), out
        assert re.search(r"^exit 1 main/5\[1\]/1 .*run_in_bash_session false", out, re.MULTILINE), (
            out
        )
        assert not re.search(r"^ok .*(exit 7|false)", out, re.MULTILINE)
    assert "  exit code 7\n" in fdc("show", run, "--step", "main/4", cwd=workspace).stdout


def test_a_run_that_stops_shows_why_its_last_command_failed(workspace: Path) -> None:
    (workspace / "any.json").write_text(ANY)
    gate = 'require t.exit_code == 0 else "tests fail"\n'
    many = "t <- run_in_bash_session seq 20; exit 3\nmessage_user between\n"
    ended = "  | 19\n  | 20\nrequire: tests fail\n"
    for steps, shown, ending in (
        (many + gate, "the end of the output of main/1:\n  | 9\n", ended),
        (
            many.removeprefix("t <- "),
            "of main/1:\n  | 9\n",
            "  | 20\nfailure: ",
        ),
        (
            "t <- run_in_bash_session echo a; exit 1\n" + gate,
            "\nthe output of main/1:\n  | a\n",
            "",
        ),
        ("run_in_bash_session echo a; exit 1\n", "", ""),
        (many + "t <- run_in_bash_session echo b\n" + gate.replace("== 0", "== 1"), "", ""),
    ):
        (workspace / "b.plan").write_text("use fsm any.json\n" + steps)
        out = fdc("run", "b.plan", cwd=workspace).stdout
        assert shown in out and ending in out and bool(shown) == ("the output of main/1" in out), (
            out
        )


def test_programs_that_read_it_find_the_exit_code(ran: tuple[Path, str, str]) -> None:
    workspace, run, _ = ran
    records = json.loads(fdc("show", run, "--format", "json", cwd=workspace).stdout)["records"]
    codes = {row["address"]: row["exit_code"] for row in records if "exit_code" in row}
    assert (codes["main/3"], codes["main/4"]) == (0, 7)
    ended = json.loads(fdc("run", "a.plan", "--format", "json", cwd=workspace).stdout)
    assert {"address": "main/4", "tool": "run_in_bash_session", "exit_code": 7} in ended[
        "failed_commands"
    ]
    assert not [row for row in ended["failed_commands"] if row["address"] == "main/3"]


def test_the_page_of_a_run_shows_it_as_failed(ran: tuple[Path, str, str]) -> None:
    workspace, run, _ = ran
    page = fdc("report", run, "--output", "page.html", cwd=workspace)
    assert page.returncode == 0, page.stderr
    text = (workspace / "page.html").read_text()
    [bad] = re.findall(r'<details class="step ([^"]*)" id="s4">\s*<summary>(.*)</summary>', text)
    assert (
        bad[0] == "failed-command"
        and '<span class="bad">exit 7</span>' in bad[1]
        and "mark ok" not in bad[1]
    )
    [good] = re.findall(r'<details class="step ([^"]*)" id="s3">\s*<summary>(.*)</summary>', text)
    assert good[0] == "ok" and '<span class="good">exit 0</span>' in good[1]
    assert re.search(r'<tr class="failed-command"><td class="states"><a href="#s4"', text)
    assert "failed command" in text.partition("<nav>")[0]


def test_a_run_that_failed_says_how_to_read_all_that_the_step_printed(workspace: Path) -> None:
    (workspace / "a.plan").write_text(
        "set_plan x\nplan_step_complete y\nif 1 == 1\n  run_in_bash_session printf 'one\\n  two'; exit 3\n"
        "close_task\nsubmit\n"
    )
    done = fdc("run", "a.plan", cwd=workspace)
    [command] = re.findall(r"`fdc (show \S+ --step [^`]+)`", done.stdout)
    shown = fdc(*shlex.split(command), cwd=workspace)
    assert (done.returncode, shown.returncode) == (1, 0)
    assert "    output:\n      one\n        two\n" in shown.stdout
