"""`fdc fmt` as people and hooks start it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.process import fdc

UGLY = "set_plan   a\n\n\n\nx<-read_file   b   \n"
CANONICAL = "set_plan a\n\nx <- read_file b\n"


def test_plans_are_written_in_place_and_the_rest_is_left_alone(workspace: Path) -> None:
    Path("deep/er").mkdir(parents=True)
    Path("deep/er/ugly.plan").write_text(UGLY)
    Path("deep/fine.plan").write_text(CANONICAL)
    Path("deep/notes.txt").write_text(UGLY)
    os.chmod("deep/er/ugly.plan", 0o640)
    done = fdc("fmt", "deep", cwd=workspace)
    assert (0, "1 plan reformatted, 1 plan left unchanged\n", "") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )
    assert CANONICAL == Path("deep/er/ugly.plan").read_text()
    assert 0o640 == Path("deep/er/ugly.plan").stat().st_mode & 0o777
    assert UGLY == Path("deep/notes.txt").read_text()
    assert ["er", "fine.plan", "notes.txt"] == sorted(os.listdir("deep")), "no temporary file stays"
    again = fdc("fmt", cwd=workspace)
    assert (0, "2 plans left unchanged\n") == (again.returncode, again.stdout)


def test_check_and_diff_change_nothing(workspace: Path) -> None:
    Path("a.plan").write_text(UGLY)
    check = fdc("fmt", "--check", "a.plan", cwd=workspace)
    assert (1, "Would reformat: a.plan\n1 plan would be reformatted\n") == (
        check.returncode,
        check.stdout,
    )
    diff = fdc("fmt", "--diff", "a.plan", cwd=workspace)
    assert (1, "1 plan would be reformatted\n") == (diff.returncode, diff.stderr)
    assert "--- a/a.plan\n+++ b/a.plan\n" in diff.stdout
    assert "-set_plan   a\n" in diff.stdout and "+x <- read_file b\n" in diff.stdout
    assert UGLY == Path("a.plan").read_text()
    Path("a.plan").write_text(CANONICAL)
    assert 0 == fdc("fmt", "--check", "--diff", "a.plan", cwd=workspace).returncode


def test_stdin_goes_to_stdout(workspace: Path) -> None:
    done = fdc("fmt", "-", cwd=workspace, stdin=UGLY)
    assert (0, CANONICAL, "") == (done.returncode, done.stdout, done.stderr)
    wrong = fdc(
        "fmt", "-", "--stdin-filename", "x.plan", cwd=workspace, stdin="while x\n  submit\n"
    )
    assert (1, "") == (wrong.returncode, wrong.stdout)
    assert "x.plan:1:1" in wrong.stderr and "a plan has no `while`" in wrong.stderr


def test_a_plan_that_is_not_understood_is_reported_and_the_others_are_written(
    workspace: Path,
) -> None:
    broken = "if x\n\tsubmit\n"
    Path("broken.plan").write_text(broken)
    Path("ugly.plan").write_text(UGLY)
    done = fdc("fmt", ".", cwd=workspace)
    assert 1 == done.returncode
    assert "1 plan reformatted, 1 plan skipped: syntax errors\n" == done.stdout
    assert "error[FDC105] tab-indentation" in done.stderr and "broken.plan:2:1" in done.stderr
    assert broken == Path("broken.plan").read_text()
    assert CANONICAL == Path("ugly.plan").read_text()


def test_wrong_usage_says_so(workspace: Path) -> None:
    missing = fdc("fmt", "nowhere.plan", cwd=workspace)
    assert (2, "fdc: Could not find file `nowhere.plan`\n") == (missing.returncode, missing.stderr)
    assert 2 == fdc("fmt", "-", "a.plan", cwd=workspace).returncode
    Path("fdc.toml").write_text("excluded = 3\n")
    settings = fdc("fmt", cwd=workspace)
    assert (
        2 == settings.returncode
        and "unknown key `excluded`; did you mean `exclude`?" in settings.stderr
    )


def test_excluded_and_ignored_plans_are_left_alone_unless_named(workspace: Path) -> None:
    Path("fdc.toml").write_text('exclude = ["/old/"]\n')
    Path(".gitignore").write_text("*.tmp.plan\n")
    for name in ("old/a.plan", "b.tmp.plan", "c.plan"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(UGLY)
    done = fdc("fmt", "--check", cwd=workspace)
    assert "Would reformat: c.plan\n1 plan would be reformatted\n" == done.stdout
    named = fdc("fmt", "--check", "old/a.plan", "b.tmp.plan", cwd=workspace)
    assert (
        "Would reformat: old/a.plan\nWould reformat: b.tmp.plan\n2 plans would be reformatted\n"
        == named.stdout
    )


@pytest.mark.parametrize("name", ["README.md", "notes/Page.MARKDOWN"])
def test_markdown_is_refused_and_left_alone(workspace: Path, name: str) -> None:
    (workspace / "notes").mkdir()
    (workspace / name).write_text("set_plan   x\n")
    done = fdc("fmt", name, cwd=workspace)
    assert (2, "") == (done.returncode, done.stdout) and "is Markdown" in done.stderr
    assert "set_plan   x\n" == (workspace / name).read_text()


@pytest.mark.parametrize("command", [["fmt"], ["fmt", "p.plan"], ["migrate", "--write", "p.plan"]])
def test_a_link_out_of_the_workspace_is_not_followed(
    workspace: Path, tmp_path: Path, command: list[str]
) -> None:
    """A clone can bring one; `lint` refuses it with the same error. A path that names the file itself is followed."""
    other = tmp_path / "other.plan"
    other.write_text(UGLY)
    os.symlink(other, "p.plan")
    done = fdc(*command, cwd=workspace)
    assert done.returncode in (1, 2) and "link that leads out of the workspace" in done.stderr, done
    assert UGLY == other.read_text() and Path("p.plan").is_symlink()
    assert 0 == fdc("fmt", str(other), cwd=workspace).returncode and CANONICAL == other.read_text()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["fmt"], UGLY),
        (
            ["lint", "--fix"],
            "set_plan x\nplan_step_complete x\nmessage_user\n  Dear {Reader}\nclose_task\nsubmit\n",
        ),
        (["migrate", "--write"], "set_plan\nRead <the_book>.\n---\nsubmit\n"),
    ],
    ids=["fmt", "fix", "migrate"],
)
def test_where_one_plan_cannot_be_written_none_is(
    workspace: Path, words: list[str], text: str
) -> None:
    Path("fdc.toml").touch()
    plans = ["a.plan", "z" * 240 + ".plan"]  # beside the second one no temporary file has a name
    for plan in plans:
        Path(plan).write_text(text)
    done = fdc(*words, *plans, cwd=workspace)
    assert (3, [text, text]) == (done.returncode, [Path(plan).read_text() for plan in plans])
    assert f"fdc: File name too long ({workspace}/zzz" in done.stderr
    os.rename(plans[1], "z.plan")
    fdc(*words, "a.plan", "z.plan", cwd=workspace)
    assert text not in (Path("a.plan").read_text(), Path("z.plan").read_text())
