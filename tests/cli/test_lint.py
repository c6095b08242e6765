"""`fdc lint` as a user starts it: real processes, exit codes 0 to 4, streams, formats, repairs (FDC-09, issue 2)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support.background import PATIENCE
from tests.support.plans import CLEAN
from tests.support.process import clean_environment, fdc, run
from tests.support.repository import ROOT

pytestmark = pytest.mark.slow

FDC = [sys.executable, str(ROOT / "tooling" / "fdc_cli.py")]
UNUSED = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete ready\nx <- list_files\nclose_task\nsubmit\n"
DIRTY = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete ready\nnonsense\nclose_task\nsubmit\n"
LOOKALIKE = """\
# FSM: tooling/fdc_fsm.json
set_plan x
plan_step_complete ready
message_user
  Dear {Reader}
close_task
submit
"""
CALLER = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete\ncall_plan b.plan\nclose_task\nsubmit\n"
REPAIRED = LOOKALIKE.replace("{Reader}", "{{Reader}}")


@pytest.fixture
def tea(workspace: Path) -> Path:
    """A workspace with the file that the clean plan reads."""
    (workspace / "docs").mkdir()
    (workspace / "docs/tea.md").write_text("Tea.\n")
    return workspace


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / (name.replace("__", "/") + ".plan")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


# ---- what is linted -----------------------------------------------------------------------------


def test_a_clean_plan_is_one_line_and_zero(tea: Path):
    put(tea, a=CLEAN)
    for _ in range(2):  # the second time from the cache
        done = fdc("lint", "a.plan", cwd=tea)
        assert (done.returncode, done.stdout, done.stderr) == (
            0,
            "1 plan proved, no findings\n",
            "",
        )


def test_folders_are_searched_and_files_are_meant_whatever_their_name(tea: Path):
    put(tea, a=CLEAN, lib__b=CLEAN)
    (tea / "plan.txt").write_text(CLEAN)
    (tea / "notes.txt").write_text(DIRTY)
    (tea / ".venv").mkdir()
    (tea / ".venv/x.plan").write_text(DIRTY)
    assert fdc("lint", cwd=tea).stdout == "3 plans proved, no findings\n"
    assert fdc("lint", "lib", cwd=tea).stdout == "1 plan proved, no findings\n"
    assert (
        fdc("lint", "lib", "lib/b.plan", "./a.plan", cwd=tea).stdout
        == "2 plans proved, no findings\n"
    )
    assert fdc("lint", "notes.txt", cwd=tea).returncode == 1
    (tea / "empty").mkdir()
    done = fdc("lint", "empty", cwd=tea)
    assert (done.returncode, done.stdout) == (0, "no plans found\n")


def test_a_plan_under_a_name_that_is_not_searched_is_said_and_not_passed_over(tea: Path):
    """Finding A12: `plans/bad_plan.txt` was no plan, exit 0, without a word; each time, with and without the cache."""
    (tea / "plans").mkdir()
    (tea / "plans/bad_plan.txt").write_text(DIRTY)
    (tea / "plans/notes.txt").write_text("A plan for Tuesday: set_plan is a tool.\n")
    (tea / "plans/PLAN.md").write_text("# The plan\n\nWe shall see.\n")
    for more in ((), (), ("--no-cache",)):
        done = fdc("lint", "plans", *more, cwd=tea)
        assert (done.returncode, done.stdout) == (0, "no plans found\n")
        assert done.stderr == (
            "fdc: warning: plans/bad_plan.txt looks like a plan and was not checked: folders are searched for"
            " *.plan, *.plan.txt and plan.txt; rename it, or name it: fdc lint plans/bad_plan.txt\n"
        )
    assert fdc("lint", "--strict", cwd=tea).returncode == 1
    assert fdc("lint", "plans/bad_plan.txt", cwd=tea).returncode == 1
    put(tea, a=CLEAN)
    (tea / "plans/more.txt").write_text("# FSM: tooling/fdc_fsm.json\n" + CLEAN)
    done = fdc("lint", cwd=tea)
    assert done.stdout == "1 plan proved, no findings\n"
    assert "plans/bad_plan.txt, plans/more.txt look like plans and were not checked" in done.stderr
    (tea / "plans/bad_plan.txt").write_text("nothing of the kind\n")
    (tea / "plans/more.txt").unlink()
    for _ in range(2):
        assert fdc("lint", cwd=tea).stderr == ""
    (tea / "plans/notes.txt").write_text(CLEAN)
    assert "plans/notes.txt looks like a plan" in fdc("lint", cwd=tea).stderr


def test_stdin_is_a_plan_with_the_name_that_it_is_given(tea: Path):
    done = fdc("lint", "-", cwd=tea, stdin=CLEAN)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 plan proved, no findings\n", "")
    done = fdc("lint", "--format", "concise", "-", cwd=tea, stdin=DIRTY)
    assert (done.returncode, done.stdout.split(":")[0]) == (1, "<stdin>")
    done = fdc(
        "lint", "--format", "concise", "-", "--stdin-filename", "lib/new.plan", cwd=tea, stdin=DIRTY
    )
    assert done.stdout.startswith("lib/new.plan:4:1: error[FDC301]")


def test_a_name_for_stdin_is_a_place_in_the_workspace_from_wherever_it_is_said(tea: Path):
    """An editor says where the file lies: relative to its own folder, or in full."""
    (tea / "fdc.toml").write_text('[per-file-ignores]\n"lib/*" = ["FDC313"]\n')
    (tea / "lib").mkdir()
    for name in ("new.plan", "./new.plan", str(tea / "lib/new.plan")):
        done = fdc("lint", "-", "--stdin-filename", name, cwd=tea / "lib", stdin=UNUSED)
        assert (done.returncode, done.stdout) == (0, "1 plan proved, no findings\n"), name


def test_stdin_stands_for_the_file_that_others_call(tea: Path):
    put(tea, a=CALLER, b="list_files\n")
    done = fdc(
        "lint",
        "--format",
        "concise",
        "a.plan",
        "-",
        "--stdin-filename",
        "b.plan",
        cwd=tea,
        stdin="nonsense\n",
    )
    assert "b.plan:1:1: error[FDC301]" in done.stdout


def test_a_plan_is_judged_the_same_from_any_folder(tea: Path):
    put(tea, lib__a=CLEAN, lib__b=DIRTY)
    whole = fdc("lint", "lib", cwd=tea)
    inside = fdc("lint", cwd=tea / "lib")
    stated = fdc("lint", "--workspace", str(tea), str(tea / "lib"), cwd=tea.parent)
    assert whole.returncode == inside.returncode == stated.returncode == 1
    assert (
        re.findall(r"FDC\d+", whole.stdout)
        == re.findall(r"FDC\d+", inside.stdout)
        == re.findall(r"FDC\d+", stated.stdout)
    )


# ---- exit codes ---------------------------------------------------------------------------------


def test_findings_are_one_and_warnings_only_where_that_is_asked(tea: Path):
    put(tea, a=DIRTY, w=CLEAN.replace("read_file docs", "x <- read_file docs"))
    assert fdc("lint", "a.plan", cwd=tea).returncode == 1
    assert fdc("lint", "--exit-zero", "a.plan", cwd=tea).returncode == 0
    done = fdc("lint", "w.plan", cwd=tea)
    assert (done.returncode, "warning[FDC313]" in done.stdout) == (0, True)
    assert fdc("lint", "--strict", "w.plan", cwd=tea).returncode == 1
    (tea / "fdc.toml").write_text("strict = true\n")
    assert fdc("lint", "w.plan", cwd=tea).returncode == 1
    assert fdc("lint", "w.plan", cwd=tea).returncode == 1, "and from the cache"


@pytest.mark.parametrize("no_cache", [(), ("--no-cache",)])
def test_a_file_that_is_not_there_is_told_in_the_words_of_the_row(
    tea: Path, no_cache: tuple[str, ...]
):
    """FDC-09."""
    done = fdc("lint", *no_cache, "gone.plan", cwd=tea)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fdc: Could not find file `gone.plan`\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--formt", "json"], "--format"),
        (["--format", "yaml"], "yaml"),
        (["--model", "C"], "'C'"),
        (["--output-file"], "requires an argument"),
        (["--profile", "other"], "other"),
    ],
)
def test_a_wrong_command_line_is_two_and_says_what_is_meant(
    tea: Path, arguments: list[str], told: str
):
    put(tea, a=CLEAN)
    done = fdc("lint", "a.plan", *arguments, cwd=tea)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "fsn = 'x'",
        "ignore = ['FDC9']",
        "per-file-ignores = {a = 3}",
        "limits = {nesting = 0}",
        "\0",
    ],
)
@pytest.mark.parametrize("command", ["lint", "validate", "analyze", "expand", "graph"])
def test_wrong_settings_are_two_whatever_the_command(tea: Path, command: str, text: str):
    put(tea, a=CLEAN)
    (tea / "fdc.toml").write_text(text + "\n")
    done = fdc(command, "a.plan", cwd=tea)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("fdc: fdc.toml")
    assert done.stderr.count("\n") == 1


def test_a_file_that_cannot_be_read_is_three_and_named(tea: Path):
    """The memory of a process is a regular file that gives an error at its first byte, even to root."""
    if not os.path.isfile("/proc/self/mem"):
        pytest.skip("this system has no /proc")
    for arguments in (["/proc/self/mem"], ["--no-cache", "/proc/self/mem"]):
        done = fdc("lint", *arguments, cwd=tea)
        assert (done.returncode, done.stdout) == (3, "")
        assert "/proc/self/mem" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_three_and_named(tea: Path):  # pragma: no cover
    put(tea, a=CLEAN)
    (tea / "a.plan").chmod(0)
    done = fdc("lint", "a.plan", cwd=tea)
    assert done.returncode == 3
    assert "a.plan" in done.stderr


def test_what_is_no_file_is_no_plan(tea: Path):
    """Security 5: devices and pipes are refused, and never waited for."""
    os.mkfifo(tea / "pipe.plan")
    for name in ("pipe.plan", "/dev/null"):
        for arguments in ([name], ["--no-cache", name]):
            done = fdc("lint", *arguments, cwd=tea)
            assert (done.returncode, done.stdout) == (2, ""), name
            assert done.stderr == f"fdc: `{name}` is not a regular file; use `-` to read stdin\n"


def test_a_file_that_is_not_utf8_is_a_finding_with_its_byte(tea: Path):
    (tea / "a.plan").write_bytes(b"set_plan \xff\n")
    done = fdc("lint", "--format", "concise", "a.plan", cwd=tea)
    assert done.returncode == 1
    assert "a.plan:1:10: error[FDC101] byte 0xff at offset 9 is not UTF-8" in done.stdout


def test_a_report_that_cannot_be_written_is_three_and_names_the_file(tea: Path):
    put(tea, a=DIRTY)
    for target in ("gone/report.txt", "docs"):
        done = fdc("lint", "a.plan", "--output-file", target, cwd=tea)
        assert (done.returncode, done.stdout) == (3, "")
        assert f"`{target}`" in done.stderr
    assert sorted(path.name for path in tea.iterdir()) == ["a.plan", "docs", "knowledge_core"], (
        "nothing is left behind"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_three(tea: Path):
    put(tea, a=DIRTY, ok=CLEAN)
    for name in ("a.plan", "ok.plan", "ok.plan"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [*FDC, "lint", name], cwd=tea, env=clean_environment(), stdout=full, stderr=subprocess.PIPE, text=True,
                check=False,
            )  # fmt: skip
        assert (done.returncode, done.stderr) == (3, "fdc: No space left on device (stdout)\n")


# ---- streams ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "code"), [("a.plan", 1), ("ok.plan", 0)])
def test_a_reader_who_leaves_changes_no_verdict(tea: Path, name: str, code: int):
    """`fdc lint | head -1` under `set -o pipefail`: a failed lint stays failed, and no one sees a traceback."""
    put(tea, a=DIRTY, ok=CLEAN)
    for options in ([], [], ["--no-cache"], ["--format", "json"], ["--diff"]):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [*FDC, "lint", *options, name], cwd=tea, env=clean_environment(), stdout=write, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
        os.close(write)
        assert (done.returncode, done.stderr) == (0 if options == ["--diff"] else code, ""), options


def test_head_gets_its_line(tea: Path):
    put(tea, a=DIRTY * 1 + "nonsense\n" * 500)
    command = f"set -o pipefail; {' '.join(FDC)} lint a.plan | head -1; echo ${{PIPESTATUS[0]}}"
    done = run(["bash", "-c", command], cwd=tea)
    first, status = done.stdout.split("\n")[:2]
    assert first.startswith("error[FDC301] unknown-tool")
    assert (status, done.stderr) == ("1", "")


ENTRY = f'env PYTHONPATH={ROOT}/tooling {sys.executable} -c "from fdc_toolchain.cli.fast_path import entry; entry()"'
"""As the console script starts it."""


@pytest.mark.parametrize("command", [" ".join(FDC), ENTRY], ids=["script", "entry"])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_no_trouble(tea: Path, closed: str, command: str):
    put(tea, a=DIRTY, ok=CLEAN)
    for name, code in (("a.plan", 1), ("ok.plan", 0), ("ok.plan", 0)):
        done = run(["bash", "-c", f"{command} lint {name} {closed}"], cwd=tea)
        assert (done.returncode, done.stderr) == (code, ""), (name, closed)
    done = run(["bash", "-c", f"{command} lint - <&-"], cwd=tea)
    assert (done.returncode, done.stderr) == (2, "fdc: `-` reads stdin, which is closed\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_the_report_is_utf8_whatever_the_terminal_claims(tea: Path, encoding: str):
    put(tea, a="# FSM: tooling/fdc_fsm.json\nset_plan Grüße 日本\nnonsense grün\n")
    done = fdc("lint", "a.plan", cwd=tea, env={"PYTHONIOENCODING": encoding})
    assert done.returncode == 1
    assert "nonsense grün" in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/syscall"), reason="nothing tells here that a process waits"
)
def test_ctrl_c_is_one_line_and_130(tea: Path):
    pipe = subprocess.PIPE
    env = clean_environment()
    process = subprocess.Popen(
        [*FDC, "lint", "-"], cwd=tea, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )
    reads = ("0 0x0 ", "63 0x0 ")  # read(0, ...) by its number on x86-64 and on arm64
    while not Path(f"/proc/{process.pid}/syscall").read_text().startswith(reads):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "fdc: interrupted\n")


def test_a_file_name_is_not_a_command_to_the_terminal(tea: Path):
    name = "e\x1b[31m\n.plan"
    (tea / name).write_text(DIRTY)
    done = fdc("lint", cwd=tea)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    done = fdc("lint", "gone\x1b[31m.plan", cwd=tea)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr


# ---- formats ------------------------------------------------------------------------------------


def test_every_format_says_the_same_and_goes_to_a_file_too(tea: Path):
    put(tea, a=DIRTY)
    for form in ("text", "concise", "llm", "json", "jsonl", "sarif", "github", "gitlab", "junit"):
        shown = fdc("lint", "--format", form, "a.plan", cwd=tea)
        assert shown.returncode == 1
        assert "FDC301" in shown.stdout
        written = fdc("lint", "--format", form, "--output-file", "out.txt", "a.plan", cwd=tea)
        assert (written.returncode, written.stdout, written.stderr) == (1, "", "")
        assert (tea / "out.txt").read_text() == shown.stdout
        if form in ("json", "sarif", "gitlab"):
            json.loads(shown.stdout)
        if form == "junit":
            ET.fromstring(shown.stdout)


def test_every_format_of_a_clean_lint_is_well_formed(tea: Path):
    put(tea, a=CLEAN)
    for form in ("json", "sarif", "gitlab"):
        done = fdc("lint", "--format", form, "a.plan", cwd=tea)
        assert done.returncode == 0
        json.loads(done.stdout)
    assert (
        ET.fromstring(fdc("lint", "--format", "junit", "a.plan", cwd=tea).stdout).tag
        == "testsuites"
    )
    for line in fdc("lint", "--format", "jsonl", "a.plan", cwd=tea).stdout.splitlines():
        assert json.loads(line)["kind"] == "summary"
    assert "::" not in fdc("lint", "--format", "github", "a.plan", cwd=tea).stdout, (
        "nothing for the runner to read"
    )
    for form in ("text", "concise", "llm"):
        assert (
            fdc("lint", "--format", form, "a.plan", cwd=tea).stdout
            == "1 plan proved, no findings\n"
        )
        assert fdc("lint", "--quiet", "--format", form, "a.plan", cwd=tea).stdout == ""


def test_colours_are_for_terminals_and_for_who_asks(tea: Path):
    put(tea, a=DIRTY)
    assert "\x1b[" not in fdc("lint", "a.plan", cwd=tea, env={"TERM": "xterm"}).stdout
    assert "\x1b[" in fdc("lint", "--color", "always", "a.plan", cwd=tea).stdout
    assert (
        "\x1b["
        not in fdc(
            "lint", "--color", "never", "a.plan", cwd=tea, env={"FORCE_COLOR": "1", "NO_COLOR": ""}
        ).stdout
    )


# ---- repairs ------------------------------------------------------------------------------------


def test_fix_repairs_what_is_safe_and_reports_the_rest(tea: Path):
    put(tea, a=LOOKALIKE, b=LOOKALIKE.replace("close_task", "clos_task"))
    done = fdc("lint", "--fix", "a.plan", "b.plan", cwd=tea)
    assert (done.returncode, done.stderr) == (1, "2 findings repaired\n")
    assert (tea / "a.plan").read_text() == REPAIRED
    assert "clos_task" in (tea / "b.plan").read_text(), "what changes a run is not done unasked"
    done = fdc("lint", "--fix", "--unsafe-fixes", "b.plan", cwd=tea)
    assert done.returncode == 0
    assert (tea / "b.plan").read_text() == REPAIRED


def test_fix_keeps_line_ends_marks_and_mode_of_a_file(tea: Path):
    path = tea / "a.plan"
    path.write_bytes(b"\xef\xbb\xbf" + LOOKALIKE.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    assert fdc("lint", "--fix", "a.plan", cwd=tea).returncode == 0
    assert path.read_bytes() == b"\xef\xbb\xbf" + REPAIRED.replace("\n", "\r\n").encode()
    assert path.stat().st_mode & 0o777 == 0o640


def test_fix_follows_a_link_and_leaves_it_one(tea: Path):
    (tea / "real.txt").write_text(LOOKALIKE)
    (tea / "a.plan").symlink_to("real.txt")
    assert fdc("lint", "--fix", "a.plan", cwd=tea).returncode == 0
    assert (tea / "a.plan").is_symlink()
    assert (tea / "real.txt").read_text() == REPAIRED


def test_diff_shows_the_same_and_changes_nothing(tea: Path):
    put(tea, a=LOOKALIKE, ok=REPAIRED)
    before = (tea / "a.plan").stat()
    done = fdc("lint", "--diff", cwd=tea)
    assert done.returncode == 1
    assert "-  Dear {Reader}\n+  Dear {{Reader}}\n" in done.stdout
    assert "ok.plan" not in done.stdout
    assert ((tea / "a.plan").read_text(), (tea / "a.plan").stat().st_mtime_ns) == (
        LOOKALIKE,
        before.st_mtime_ns,
    )
    patched = run(["patch", "-p1", "--dry-run"], cwd=tea, stdin=done.stdout)
    assert patched.returncode == 0, patched.stdout + patched.stderr
    assert fdc("lint", "--diff", "ok.plan", cwd=tea).stdout == ""


def test_a_text_from_stdin_comes_back_repaired_and_the_report_goes_aside(tea: Path):
    done = fdc("lint", "--fix", "-", cwd=tea, stdin=LOOKALIKE)
    assert (done.returncode, done.stdout) == (0, REPAIRED)
    done = fdc("lint", "--fix", "-", cwd=tea, stdin=DIRTY)
    assert (done.returncode, done.stdout) == (1, DIRTY), (
        "with nothing to repair it comes back as it was"
    )
    assert "FDC301" in done.stderr


def test_a_sub_plan_that_was_not_named_is_not_touched(tea: Path):
    put(tea, a=CALLER, b="message_user\n  Dear {Reader}\n")
    done = fdc("lint", "--fix", "a.plan", cwd=tea)
    assert "FDC316" in done.stdout
    assert "{Reader}" in (tea / "b.plan").read_text()


# ---- options ------------------------------------------------------------------------------------


def test_the_automaton_and_the_profile_can_be_chosen(tea: Path):
    put(
        tea,
        a="set_plan x\nread_file docs/tea.md\nplan_step_complete\n\ncreate_file_with_block report.md\n  x\nclose_task\n",
    )
    assert fdc("lint", "a.plan", cwd=tea).returncode == 1
    done = fdc("lint", "--fsm", "tooling/research_fsm.json", "a.plan", cwd=tea)
    assert (done.returncode, done.stdout) == (0, "1 plan proved, no findings\n")
    done = fdc("lint", "--fsm", "gone.json", "a.plan", cwd=tea)
    assert (done.returncode, "FDC201" in done.stdout) == (1, True)
    put(tea, c=CALLER, b="list_files\n")
    assert fdc("lint", "c.plan", cwd=tea).returncode == 0
    assert "FDC326" in fdc("lint", "--profile", "fdc", "c.plan", cwd=tea).stdout


def test_linting_changes_nothing_in_the_workspace(tea: Path):
    """FDC-27."""
    put(
        tea,
        a=CLEAN,
        b=DIRTY
        + "create_file_with_block made.md\ndelete_file docs/tea.md\nrun_in_bash_session touch made.too\n",
    )
    before = {path: path.stat().st_mtime_ns for path in tea.rglob("*")}
    fdc("lint", cwd=tea)
    assert {path: path.stat().st_mtime_ns for path in tea.rglob("*")} == before


def test_a_bug_of_ours_is_four_and_asks_for_a_report(tea: Path):
    """Provoked by a parser that somebody took away."""
    put(tea, a=CLEAN)
    code = (
        "import fdc_toolchain.syntax.parse as p; p.parse = None\n"
        "from fdc_toolchain.cli.main import main; import sys; sys.exit(main())"
    )
    done = run(
        [sys.executable, "-c", code, "lint", "--no-cache", "a.plan"],
        cwd=tea,
        env={"PYTHONPATH": str(ROOT / "tooling")},
    )
    assert done.returncode == 4
    assert "this is a bug of fdc, please report it" in done.stderr
    assert "Traceback" not in done.stderr
