"""`fdc lint --staged` in a plain git hook: it judges what the commit would hold, whatever the working tree has."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fdc_toolchain.sandbox.scratch import SETTLED

from tests.support import process
from tests.support.background import fdc_started, wait_for
from tests.support.plans import CLEAN
from tests.support.repository import ROOT

from .test_precommit import Git

WRONG = CLEAN.replace("read_file", "raed_file")


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """A repository with a page, a plan that reads it, and a plain hook that lints what is staged."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    made = Git(tmp_path / "project", {"TMPDIR": str(temporary)})
    made.write("docs/tea.md", "Green tea.\n")
    made.write("plans/read.plan", CLEAN)
    made("add", "--all")
    made("commit", "--quiet", "--message", "first")
    hook = made.write(
        ".git/hooks/pre-commit",
        f"#!/bin/sh\nexec {sys.executable} {ROOT}/tooling/fdc_cli.py lint --staged $ARGUMENTS\n",
    )
    hook.chmod(0o755)
    return made


def commit(git: Git, *arguments: str, folder: str = ".", **env: str) -> tuple[int, str]:
    """The exit code of `git commit`, and what the hook said. The copy is gone afterwards."""
    done = process.run(
        ["git", "commit", "--quiet", "--message", "next", *arguments],
        cwd=git.folder / folder,
        env={**git.env, **env},
    )
    assert [] == os.listdir(git.env["TMPDIR"])
    return done.returncode, done.stdout + done.stderr


def staged(git: Git, *arguments: str, folder: str = ".") -> subprocess.CompletedProcess[str]:
    return process.fdc("lint", "--staged", *arguments, cwd=git.folder / folder, env=git.env)


def test_a_wrong_plan_that_is_staged_blocks_the_commit_though_the_file_is_right_again(
    git: Git,
) -> None:
    git.write("plans/read.plan", WRONG)
    git("add", "--all")
    git.write("plans/read.plan", CLEAN)
    code, said = commit(git)
    assert 1 == code and "plans/read.plan:5" in said and "raed_file" in said, said


def test_a_right_plan_that_is_staged_is_committed_though_the_file_is_wrong_by_now(git: Git) -> None:
    git.write("plans/read.plan", CLEAN + "# one line more\n")
    git("add", "--all")
    git.write("plans/read.plan", WRONG)
    assert (0, "1 plan proved, no findings\n") == commit(git)


def test_the_files_that_a_verdict_rests_on_are_those_of_the_index_too(git: Git) -> None:
    git("rm", "--quiet", "--cached", "docs/tea.md")  # the file stays in the working tree
    code, said = commit(git)
    assert 1 == code and "docs/tea.md" in said, said
    git("add", "docs/tea.md")
    git.write("fdc.toml", "max-stack = 0\n")  # settings that nobody added
    (git.folder / "docs" / "tea.md").unlink()
    assert (0, "1 plan proved, no findings\n") == commit(git, "--allow-empty")


def test_the_index_of_a_commit_of_named_files_or_of_all_is_judged(git: Git) -> None:
    git.write("plans/read.plan", WRONG)
    git("add", "--all")
    git.write("docs/tea.md", "Black tea.\n")
    assert 0 == commit(git, "docs/tea.md")[0]  # what is staged beside it is not committed now
    assert 1 == commit(git)[0]
    git.write("plans/read.plan", CLEAN)
    git("add", "--all")
    git.write("plans/read.plan", WRONG)
    assert 1 == commit(git, "--all")[0]


def test_files_that_a_commit_leaves_out_are_not_judged(git: Git) -> None:
    git.write("plans/intended.plan", WRONG)
    git("add", "--intent-to-add", "plans/intended.plan")
    git.write("plans/untracked.plan", WRONG)
    assert (0, "1 plan proved, no findings\n") == commit(git, "--allow-empty")


def test_files_that_a_sparse_checkout_leaves_out_are_judged(git: Git) -> None:
    git("sparse-checkout", "set", "--no-cone", "plans")
    assert not (git.folder / "docs").exists()
    assert (0, "1 plan proved, no findings\n") == commit(git, "--allow-empty")


def test_a_submodule_is_judged_in_the_commit_that_was_added(git: Git, tmp_path: Path) -> None:
    inner = Git(tmp_path / "inner", {})
    inner.write("tea.md", "Green tea.\n")
    inner("add", "--all")
    inner("commit", "--quiet", "--message", "inner")
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "more")
    git.write("plans/read.plan", CLEAN.replace("docs/tea.md", "more/tea.md"))
    git("add", "--all")
    (git.folder / "more" / "tea.md").unlink()
    assert (0, "1 plan proved, no findings\n") == commit(git)


def test_a_workspace_below_the_top_and_a_second_worktree_have_their_own_index(git: Git) -> None:
    git.write("shop/fdc.toml", "")
    git.write("shop/docs/tea.md", "Oolong.\n")
    git.write("shop/plans/read.plan", WRONG)
    git("add", "--all")
    git.write("shop/plans/read.plan", CLEAN)
    for done in (
        staged(git, folder="shop"),
        staged(git, "plans/read.plan", folder="shop"),
        staged(git, str(git.folder / "shop" / "plans"), folder="shop"),
        staged(git, "--workspace", "shop"),
        staged(git, "--workspace", "../shop", folder="docs"),
    ):
        assert 1 == done.returncode and "plans/read.plan:5" in done.stdout, (
            done.stdout,
            done.stderr,
        )
    code, said = commit(git, ARGUMENTS="--workspace shop")
    assert 1 == code, said
    git("worktree", "add", "--quiet", "../other", "HEAD")
    done = process.run(
        ["git", "commit", "--message", "next", "--allow-empty"],
        cwd=git.folder.parent / "other",
        env=git.env,
    )
    assert 0 == done.returncode, done.stderr


def test_what_this_user_confirmed_for_the_workspace_counts(git: Git, tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    git.env.update(env)
    git.write("fdc.toml", '[[allow]]\ncode = "FDC471"\nfiles = "plans/*"\nreason = "a test"\n')
    git.write(
        "plans/read.plan",
        CLEAN.replace(
            "read_file docs/tea.md",
            "page <- view_text_website https://example.org/tea\nrun_in_bash_session {page}",
        ),
    )
    git("add", "--all")
    assert "error[FDC471]" in staged(git).stdout
    assert 0 == staged(git, "--trust-settings").returncode
    assert 0 == process.fdc("trust", "--yes", cwd=git.folder, env=git.env).returncode
    assert 0 == staged(git).returncode
    with (git.folder / "fdc.toml").open("a") as file:
        file.write('[[allow]]\ncode = "FDC472"\nfiles = "*"\nreason = "never confirmed"\n')
    assert 0 == staged(git).returncode
    git("add", "--all")
    assert "error[FDC471]" in staged(git).stdout


def test_a_report_lies_where_it_was_asked_for_and_a_baseline_is_that_of_the_index(git: Git) -> None:
    git.write("plans/read.plan", WRONG)
    assert 0 == process.fdc("lint", "--write-baseline", cwd=git.folder).returncode
    git("add", "--all")
    (git.folder / "fdc-baseline.json").unlink()
    done = staged(git, "--baseline", "fdc-baseline.json", "--output", "report.txt")
    assert 0 == done.returncode, done.stderr
    assert "fdc: 1 known finding in fdc-baseline.json" in done.stderr
    assert "no new findings\n" == (git.folder / "report.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fix",), "`--staged` cannot be used with `--fix`"),
        (("--changed",), "`--staged` cannot be used with `--changed`"),
        (("-",), "it cannot be used with stdin"),
        (("plans/new.plan",), "`plans/new.plan` is not in git's index"),
        (("../tmp",), "`../tmp` is outside of the workspace"),
        (("--workspace", "../tmp"), "`--staged` needs a git repository"),
    ],
)
def test_what_the_index_cannot_answer_is_wrong_usage(
    git: Git, arguments: tuple[str, ...], said: str
) -> None:
    git.write("plans/new.plan", CLEAN)
    done = staged(git, *arguments)
    assert 2 == done.returncode and said in done.stderr, done.stderr


def test_an_index_with_conflicts_is_not_judged(git: Git) -> None:
    git("checkout", "--quiet", "-b", "other")
    git.write("docs/tea.md", "Black tea.\n")
    git("commit", "--quiet", "--all", "--message", "black", "--no-verify")
    git("checkout", "--quiet", "main")
    git.write("docs/tea.md", "White tea.\n")
    git("commit", "--quiet", "--all", "--message", "white", "--no-verify")
    process.run(["git", "merge", "other"], cwd=git.folder, env=git.env)
    done = staged(git)
    said = "fdc: `docs/tea.md` has a conflict of a merge: resolve it, then `git add` the file\n"
    assert (done.returncode, done.stderr) == (3, said)


def test_a_file_of_git_lfs_is_judged_by_its_content_and_not_as_a_pointer(git: Git) -> None:
    """Its filter is a program, which git does not start here: the plan was three unknown commands."""
    for text, code in ((CLEAN, 0), (WRONG, 1)):
        name = hashlib.sha256(text.encode()).hexdigest()
        about = f"oid sha256:{name}\nsize {len(text)}\n"
        git.write("plans/read.plan", f"version https://git-lfs.github.com/spec/v1\n{about}")
        git("add", "--all")
        if code == 0:
            done = staged(git)
            assert done.returncode == 1 and "a pointer of Git LFS" in done.stdout, done
        git.write(f".git/lfs/objects/{name[:2]}/{name[2:4]}/{name}", text)
        done = staged(git)
        assert done.returncode == code and "lfs" not in done.stdout.lower(), done


def test_the_copy_of_a_process_that_was_killed_goes_with_the_next_one(git: Git) -> None:
    temporary = Path(git.env["TMPDIR"])
    command = ("lint", "--staged")
    with fdc_started(*command, cwd=git.folder, env=git.env) as killed:
        wait_for(lambda: os.listdir(temporary))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    [left] = temporary.iterdir()
    assert staged(git).returncode == 0
    assert [left] == [*temporary.iterdir()]  # it is young: its owner may not have locked it yet
    os.utime(left, (1, os.stat(left).st_mtime - 2 * SETTLED))
    assert staged(git).returncode == 0
    assert [] == [*temporary.iterdir()]
