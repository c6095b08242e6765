"""The hooks as other repositories meet them: the real pre-commit, real git, one real hook environment."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import process
from tests.support.plans import CLEAN
from tests.support.repository import ROOT, copy_to

pytestmark = pytest.mark.long

IDENTITY = {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "A. Tester", "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_COMMITTER_NAME": "A. Tester", "GIT_COMMITTER_EMAIL": "tester@example.org",
}  # fmt: skip


class Git:
    """A git repository made for one test."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.env = {**IDENTITY, **env}
        folder.mkdir(parents=True, exist_ok=True)
        self("init", "--quiet", "--initial-branch=main")

    def __call__(self, *arguments: str) -> str:
        done = process.run(["git", *arguments], cwd=self.folder, env=self.env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def commit(self, message: str) -> subprocess.CompletedProcess[str]:
        """Stages everything and commits: what the hooks say comes on stderr."""
        self("add", "--all")
        return process.run(["git", "commit", "--message", message], cwd=self.folder, env=self.env)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def pre_commit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return process.run(
            [sys.executable, "-m", "pre_commit", *arguments], cwd=self.folder, env=self.env
        )


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, dict[str, str]]:
    """A clone of this checkout that pre-commit can install from, its commit, and one home of hook environments."""
    folder = tmp_path_factory.mktemp("hooks")
    repository = Git(copy_to(folder / "fdc"), {})
    repository("add", "--all", "--force")
    repository("commit", "--quiet", "--message", "this checkout")
    home = {"PRE_COMMIT_HOME": str(folder / "home"), "FDC_CACHE_DIR": str(folder / "cache")}
    return repository.folder, repository("rev-parse", "HEAD"), home


def documented(hooks: tuple[Path, str, dict[str, str]]) -> str:
    """The configuration that docs/hooks.md gives, for the clone under test."""
    page = (ROOT / "docs" / "hooks.md").read_text("utf-8")
    block, *_ = re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert block.count("rev: main\n") == 1  # the one name that every clone knows
    return block.replace("https://example.org/fdc", str(hooks[0]))


@pytest.fixture
def project(hooks: tuple[Path, str, dict[str, str]], tmp_path: Path) -> Git:
    """Somebody else's repository, with the three hooks installed as documented and a first commit."""
    git = Git(tmp_path / "project", hooks[2])
    git.write(".pre-commit-config.yaml", documented(hooks))
    git.write("docs/tea.md", "Green tea.\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    installed = git.pre_commit("install")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return git


def test_the_manifest_is_one_that_pre_commit_accepts() -> None:
    done = process.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"],
        cwd=ROOT,
    )
    assert (0, "") == (done.returncode, done.stderr)


def test_a_clean_plan_is_committed(project: Git) -> None:
    project.write("plans/read.plan", CLEAN)
    done = project.commit("a plan")
    assert done.returncode == 0, done.stderr
    assert "a plan" == project("log", "-1", "--format=%s")


def test_a_wrong_plan_blocks_the_commit_and_says_where_and_what(project: Git) -> None:
    project.write("plans/read.plan", CLEAN.replace("read_file", "raed_file"))
    done = project.commit("a wrong plan")
    assert done.returncode == 1
    assert "plans/read.plan:5" in done.stderr, done.stderr
    assert "`raed_file`" in done.stderr and "read_file" in done.stderr
    assert "Traceback" not in done.stderr
    assert "first" == project("log", "-1", "--format=%s")


def test_a_plan_that_breaks_its_automaton_blocks_the_commit(project: Git) -> None:
    project.write("plans/read.plan", CLEAN.replace("set_plan Read the tea page\n", ""))
    done = project.commit("out of order")
    assert done.returncode == 1 and "plans/read.plan:" in done.stderr, done.stderr


def test_a_plan_that_is_not_in_canonical_form_is_rewritten_and_then_committed(project: Git) -> None:
    plan = project.write(
        "plans/read.plan",
        CLEAN.replace("read_file docs", "read_file    docs").rstrip("\n") + "\n\n\n\n",
    )
    first = project.commit("untidy")
    assert first.returncode == 1 and "files were modified by this hook" in first.stderr, (
        first.stderr
    )
    assert CLEAN == plan.read_text("utf-8")
    second = project.commit("tidy")
    assert second.returncode == 0, second.stderr


def test_a_stale_agents_md_blocks_the_commit_until_it_is_compiled(
    project: Git, hooks: tuple[Path, str, dict[str, str]]
) -> None:
    """FDC-102."""
    source = hooks[0]
    for path in sorted((source / "protocols").rglob("*")):
        if path.is_file():
            project.write(path.relative_to(source).as_posix(), path.read_text("utf-8"))
    project.write("VERSION", "1.0.0\n")
    (project.folder / "knowledge_core").mkdir()
    project.write("AGENTS.md", "written by hand\n")
    stale = project.commit("stale")
    assert stale.returncode == 1 and "AGENTS.md" in stale.stderr, stale.stderr
    assert "Traceback" not in stale.stderr
    compiled = process.fdc("protocols", "build", "--force", cwd=project.folder)
    assert compiled.returncode == 0, compiled.stdout + compiled.stderr
    fresh = project.commit("compiled")
    assert fresh.returncode == 0, fresh.stderr


def test_other_files_are_nobody_s_business(project: Git) -> None:
    project.write("notes.txt", "raed_file is not a plan here\n")
    done = project.commit("notes")
    assert done.returncode == 0, done.stderr
    assert 1 == done.stderr.count("(no files to check)")  # those of fdc fmt
    assert re.search(r"^fdc protocols\.+Passed$", done.stderr, re.MULTILINE)


def test_code_is_committed_where_there_are_no_protocols(project: Git) -> None:
    """C2."""
    project.write("code.py", "x = 1\n")
    done = project.commit("code")
    assert done.returncode == 0 and 1 == done.stderr.count("(no files to check)"), done.stderr


def test_several_plans_are_checked_together_and_each_is_named(project: Git) -> None:
    for number in range(30):
        project.write(
            f"plans/p{number}.plan", CLEAN if number % 10 else CLEAN.replace("submit", "sumbit")
        )
    done = project.commit("thirty plans")
    assert done.returncode == 1
    for number in range(30):
        assert (f"plans/p{number}.plan:" in done.stderr) == (number % 10 == 0), number


def test_a_change_of_what_a_plan_rests_on_blocks_the_commit_of_the_change(project: Git) -> None:
    project.write(
        "plans/caller.plan", CLEAN.replace("read_file docs/tea.md", "call_plan plans/step.plan")
    )
    step = project.write("plans/step.plan", "read_file docs/tea.md\n")
    both = project.commit("both")
    assert both.returncode == 0, both.stderr
    step.write_text("submit\n", "utf-8")
    edited = project.commit("an edit of the callee alone")
    assert edited.returncode == 1 and "plans/caller.plan:5:1" in edited.stderr, edited.stderr
    step.unlink()
    deleted = project.commit("a callee deleted")
    assert deleted.returncode == 1 and "plans/caller.plan:5:" in deleted.stderr, deleted.stderr
    step.write_text("read_file docs/tea.md\n", "utf-8")
    (project.folder / "docs" / "tea.md").unlink()
    unread = project.commit("a file deleted")
    assert unread.returncode == 1 and "docs/tea.md" in unread.stderr, unread.stderr
