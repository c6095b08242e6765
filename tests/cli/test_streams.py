"""What a terminal is told, and in which order, where several findings or both streams are involved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.process import clean_environment, fdc
from tests.support.process import run as run_process
from tests.support.repository import ROOT

FDC = [sys.executable, str(ROOT / "tooling" / "fdc_cli.py")]


def test_a_run_that_shows_several_findings_is_printed_once(workspace: Path) -> None:
    (workspace / "a.plan").write_text("set_plan x\nplan_step_complete y\nsubmit\n", "utf-8")
    out = fdc("lint", "a.plan", cwd=workspace).stdout
    assert ["FDC401", "FDC403"] == re.findall(r"error\[(FDC\d+)\]", out)
    assert 1 == out.count("trace: the shortest run that shows it")
    assert "trace: the run of FDC401 above" in out


def test_both_streams_in_one_pipe_keep_the_order_of_a_terminal(workspace: Path) -> None:
    """C9: what is said on stderr comes where it was said, not before all of stdout."""
    (workspace / "a.plan").write_text("set_plan x\nraed_file y\n", "utf-8")
    (workspace / "notes.md").write_text("x", "utf-8")
    fdc("lint", "--write-baseline", cwd=workspace)
    orders = {
        ("lint", "a.plan", "notes.md"): ("was not checked", "error[FDC301]"),
        ("lint", "--baseline", "fdc-baseline.json"): ("no new findings", "known finding"),
        ("analyze", "a.plan"): ("Worst case, steps", "these figures may be too low"),
    }
    for words, (first, then) in orders.items():
        done = subprocess.run(
            [*FDC, *words], cwd=workspace, env=clean_environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert 0 <= done.stdout.find(first) < done.stdout.find(then), (words, done.stdout)


def test_a_stdin_without_an_end_is_refused_in_one_sentence(workspace: Path) -> None:
    """`yes x | fdc lint -` read until the memory was full, and called it a bug of fdc."""
    for words in (["lint", "-"], ["lint", "--fix", "-"], ["fmt", "-"], ["migrate", "-"]):
        with subprocess.Popen(["yes", "x"], stdout=subprocess.PIPE) as endless:
            done = subprocess.run(
                ["bash", "-c", 'ulimit -v 2000000; exec "$@"', "-", *FDC, *words],
                cwd=workspace, env=clean_environment(), text=True, stdin=endless.stdout, capture_output=True,
            )  # fmt: skip
            endless.kill()
        assert done.stderr == "fdc: stdin has more than 33554432 bytes\n", words
        assert (done.returncode, done.stdout) == (3, ""), words


WORK = "set_plan x\nplan_step_complete → 一\nmessage_user → 一\nclose_task\nsubmit\n"


def without_a_reader(cwd: Path, words: list[str], **env: str) -> tuple[int, str]:
    """The exit code of a command whose stdout has no reader any more, and what it says on stderr."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*FDC, *words], cwd=cwd, env=clean_environment(env), stdout=write, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(write)
    return done.returncode, done.stderr


@pytest.mark.long
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_leaves_changes_no_exit_code(workspace: Path, unbuffered: str) -> None:
    """`fdc COMMAND | head -1` ended with 1, in the middle of its work, and `fdc --version | true` with a traceback."""
    (workspace / "a.plan").write_text(WORK, "utf-8")
    (workspace / "wrong.plan").write_text("set_plan x\nraed_file y\n", "utf-8")
    for code, line in (
        (0, "--version"), (0, "help --all"), (0, "tools"), (0, "tools --format json"), (0, "rules"), (0, "runs"),
        (0, "analyze a.plan"), (0, "expand a.plan"), (0, "run a.plan"), (0, "show last"), (0, "verify last"),
        (1, "lint wrong.plan"), (1, "validate wrong.plan"), (2, "show no-such-run"),
    ):  # fmt: skip
        assert code == fdc(*line.split(), cwd=workspace).returncode, line
        left, said = without_a_reader(workspace, line.split(), PYTHONUNBUFFERED=unbuffered)
        assert left == code and "Traceback" not in said, (line, said)


def test_a_command_without_a_reader_goes_on_to_its_end(workspace: Path) -> None:
    assert (0, "") == without_a_reader(workspace, ["init"])
    words = ["start", "--task-id", "T-1", "--network", "off"]
    assert (0, "") == without_a_reader(workspace, words)
    assert '"TASK_START"' in (workspace / "logs/activity.log.jsonl").read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "latin-1:strict"])
def test_every_command_writes_utf_8(workspace: Path, encoding: str) -> None:
    """On a terminal of another encoding the command ended as a bug of fdc, after its run."""
    (workspace / "a.plan").write_text(WORK, "utf-8")
    (workspace / "tea.md").write_text("The price of oolong is 12 → 一.\n", "utf-8")
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for line in ("run a.plan", "show last", "grammar", "research oolong? --docs ."):
        done = fdc(*line.split(), cwd=workspace, env=env)
        assert done.returncode == 0, (line, done.stderr)
        assert "→" in done.stdout or line == "grammar", line


def test_a_pipe_that_breaks_elsewhere_is_a_failure(tmp_path: Path) -> None:
    """Whoever breaks a pipe that is not stdout is no reader who has left: what the command did is not known to be done."""
    code = (
        "import click, os, sys\nfrom fdc_toolchain.console.process import run\n"
        "read, write = os.pipe()\nos.close(read)\n"
        "sys.exit(run([], lambda: click.Command('x', callback=lambda: os.write(write, b'x')), 'x'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    said = "x: a process or a connection that fdc writes to has ended (broken pipe)\n"
    assert (done.returncode, done.stderr) == (3, said)


@pytest.mark.parametrize("words", ["lint", "runs", "tools", "help --all", "protocols"])
def test_a_current_folder_that_is_gone_is_told(tmp_path: Path, words: str) -> None:
    """It said `No such file or directory`, of no file."""
    line = f"mkdir gone; cd gone; rmdir ../gone; exec {sys.executable} {ROOT}/tooling/fdc_cli.py {words}"
    done = run_process(["bash", "-c", line], cwd=tmp_path)
    said = "fdc: the current folder does not exist any more; change to another one\n"
    assert (done.returncode, done.stdout, done.stderr) == (3, "", said)


def test_too_little_memory_is_no_bug_of_fdc(tmp_path: Path) -> None:
    code = (
        "import click, sys\nfrom fdc_toolchain.console.process import run\n"
        "sys.exit(run([], lambda: click.Command('x', callback=lambda: bytearray(1 << 60)), 'x'))\n"
    )
    done = run_process([sys.executable, "-c", code], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "x: there is not enough memory\n")


@pytest.mark.parametrize(
    "words",
    ["lint a.plan", "certify a.plan", "graph a.plan", "rules", "report last"],
)
def test_a_dash_as_output_is_stdout(workspace: Path, words: str) -> None:
    """`lint`, `certify`, `rules` and `report` wrote a file called `-`; `graph` and `draft` never did."""
    (workspace / "a.plan").write_text(WORK, "utf-8")
    if words == "report last":
        assert 0 == fdc("run", "a.plan", cwd=workspace).returncode
    plain = fdc(*words.split(), cwd=workspace)
    done = fdc(*words.split(), "--output", "-", cwd=workspace)
    assert (plain.returncode, plain.stdout) == (done.returncode, done.stdout) and done.stdout
    assert not (workspace / "-").exists()


def test_another_encoding_of_names_is_said_and_no_file_is_to_be_renamed(workspace: Path) -> None:
    """`rename the file` was said of a name in UTF-8, because Python read it as ASCII."""
    (workspace / "thé.plan").write_text(WORK)
    locale = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = run_process(
        [sys.executable, "-m", "fdc_toolchain", "lint", "thé.plan"],
        cwd=workspace,
        env={**locale, "PYTHONPATH": str(ROOT / "tooling")},
    )
    assert 1 == done.returncode and "rename" not in done.stdout, done.stdout
    said = "set LC_ALL=C.UTF-8, and do not set PYTHONUTF8=0\n"
    assert done.stderr.endswith(said) and said in done.stdout


def test_a_missing_file_whose_name_has_two_forms_says_so(workspace: Path) -> None:
    """Both forms look the same in the message; ASCII has one."""
    (workspace / "th\u00e9.md").write_text("tea")
    for name, forms in (("the\u0301.md", 1), ("th\u00e9.md", 0), ("tea.md", 0)):
        (workspace / "a.plan").write_text(WORK.replace("message_user → 一", f"read_file {name}"))
        assert forms == fdc("lint", "a.plan", cwd=workspace).stdout.count("Unicode NFC or NFD")
