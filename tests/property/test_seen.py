"""The shortest way to a known verdict, by time stamps alone: it is taken only where nothing can have changed.

The other tests of the cache edit files faster than a file system's clock ticks, so they never get
this far. Here files count as written long ago.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from fdc_toolchain import resources
from fdc_toolchain.cache import verdicts
from fdc_toolchain.cli.linting import lint as slow
from fdc_toolchain.linking.project import discover, stat_cache

from tests.property.test_cache import World, difference, lint
from tests.support.plans import CLEAN
from tests.support.profiles import quick_and_whole

SESSIONS, EDITS = 8, 14


@pytest.fixture
def long_ago(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every file was written so long ago that its times are beyond doubt; the cache is empty."""
    monkeypatch.setattr(stat_cache, "settled", lambda found, since: True)
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("sessions", quick_and_whole(SESSIONS // 4, SESSIONS))
def test_warm_output_equals_cold_output_after_any_edit(
    long_ago: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sessions: int
) -> None:
    recalled, recall = [0], stat_cache.recall

    def counted(name: str, stamps: dict[str, stat_cache.Stamp] | None = None) -> object:
        found = recall(name, stamps)
        recalled[0] += found is not None
        return found

    monkeypatch.setattr(stat_cache, "recall", counted)
    for seed in range(sessions):
        folder = tmp_path / f"w{seed}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        world = World(folder, random.Random(1000 + seed))
        history = []
        for _ in range(EDITS):
            arguments = world.arguments()
            cold = lint("--no-cache", *arguments)
            for _ in range(2):
                warm = lint(*arguments)
                if warm != cold:
                    pytest.fail(
                        difference(f"seed {seed}, {arguments} after {history}", warm, cold),
                        pytrace=False,
                    )
            history.append(world.edit())
    assert recalled[0] > sessions * EDITS / 3, "most second looks must have gone the short way"


READS = "read_file docs/tea.md\n"
PLAN = CLEAN.replace(
    READS,
    f"{READS}create_file_with_block out/new.md\n    Tea.\nread_file out/new.md\n"
    "create_file_with_block docs/more.md\n    Tea.\nread_file docs/more.md\n",
)
"""It rests on a file that is there and on one that is not."""

WORDS = ([], ["plans"], ["plans/a.plan"])
"""Everything, a folder, one plan: what the last one rests on, no search has listed."""


@pytest.fixture
def known(long_ago: None, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of git whose verdicts are known; `fdc lint` says the same again without judging anything, by times alone."""
    (workspace / ".git").mkdir()
    (workspace / ".git/config").write_text("[core]\n")
    (workspace / "docs").mkdir()
    (workspace / "docs/tea.md").write_text("Green tea.\n")
    (workspace / "plans/deep").mkdir(parents=True)
    (workspace / "plans/a.plan").write_text(PLAN)
    (workspace / "plans/b.plan").symlink_to("../docs/nowhere")
    (workspace / "plans/.gitignore").write_text("c.plan\n")
    (workspace / "plans/c.plan").write_text("nonsense\n")
    for words in WORDS:
        assert PROVED == lint(*words)
    recalls(monkeypatch)
    return workspace


PROVED = (0, "1 plan proved, no findings\n", "")


def recalls(monkeypatch: pytest.MonkeyPatch) -> None:
    """`fdc lint` says the same again without looking at what files hold."""

    def judged(*arguments: object) -> None:
        raise AssertionError("judged again")

    with monkeypatch.context() as patch:
        patch.setattr(slow, "lint", judged)
        patch.setattr(verdicts, "digest", judged)
        for words in WORDS:
            assert PROVED == lint(*words)


def test_files_that_git_writes_for_itself_cost_no_second_look(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pre-commit and `git commit` make and remove `index.lock` before each hook: the short way was never taken there."""
    for name in ("index.lock", "COMMIT_EDITMSG", "index"):
        (known / ".git" / name).write_text("")
        recalls(monkeypatch)
    (known / ".git/index.lock").unlink()
    recalls(monkeypatch)


def replaced(path: Path, text: str) -> None:
    """Another text of the same length, with the modification time that the file had."""
    info = path.stat()
    assert info.st_size == len(text)
    path.write_text(text)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


EDITS_OF_KNOWN: dict[str, tuple[Callable[[Path], object], int]] = {
    # what happens to the workspace, and the exit code of the next lint of all of it
    "a plan edited": (lambda at: (at / "plans/a.plan").write_text("nonsense\n"), 1),
    "a plan edited, its length and time kept": (
        lambda at: replaced(at / "plans/a.plan", PLAN.replace("docs/tea.md", "docs/ten.md")), 1,
    ),
    "a plan deleted": (lambda at: (at / "plans/a.plan").unlink(), 0),
    "a plan added": (lambda at: (at / "plans/deep/d.plan").write_text("nonsense\n"), 1),
    "a folder with a plan added": (
        lambda at: ((at / "more").mkdir(), (at / "more/d.plan").write_text("nonsense\n")), 1,
    ),
    "a dangling link given a target": (lambda at: (at / "docs/nowhere").write_text("nonsense\n"), 1),
    "a file that a plan reads deleted": (lambda at: (at / "docs/tea.md").unlink(), 1),
    "a file that a plan creates created": (
        lambda at: ((at / "out").mkdir(), (at / "out/new.md").write_text("Tea.\n")), 1,
    ),
    "a file that a plan creates in a folder created there": (
        lambda at: (at / "docs/more.md").write_text("Tea.\n"), 1,
    ),
    "a file made where a plan makes a folder": (lambda at: (at / "out").write_text("Tea.\n"), 1),
    "a link made where a plan makes a folder": (lambda at: (at / "out").symlink_to("docs"), 1),
    "a folder replaced by a link to it": (
        lambda at: ((at / "docs").rename(at / "pages"), (at / "docs").symlink_to("pages")), 1,
    ),
    "an ignore file edited": (lambda at: (at / "plans/.gitignore").write_text("d.plan\n"), 1),
    "an ignore file added": (lambda at: (at / ".gitignore").write_text("a.plan\n"), 0),
    "settings added": (lambda at: (at / "fdc.toml").write_text("nonsense\n"), 2),
    "a catalogue added": (lambda at: (at / "fdc_tools.json").write_text("{"), 1),
    "a registry added": (lambda at: (at / "knowledge_core/plan_registry.json").write_text("{"), 1),
    "an automaton of the workspace's own": (
        lambda at: ((at / "tooling").mkdir(), (at / "tooling/fdc_fsm.json").write_text("{")), 1,
    ),
    "git told to obey a file that a plan creates": (
        lambda at: (at / ".git/config").write_text("[core]\n\thooksPath = out\n"), 1,
    ),
    "a link in the folder of git to a file that a plan creates": (
        lambda at: (at / ".git/hooks").symlink_to("../out"), 1,
    ),
    "a folder in the folder of git, with such a link": (
        lambda at: ((at / ".git/hooks").mkdir(), (at / ".git/hooks/pre-push").symlink_to("../../out/new.md")), 1,
    ),
    "the folder of git replaced by a file that names another": (
        lambda at: ((at / ".git").rename(at / "git"), (at / ".git").write_text("gitdir: git\n")), 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS_OF_KNOWN)
def test_a_change_of_anything_that_mattered_is_seen(edit: str, known: Path) -> None:
    change, expected = EDITS_OF_KNOWN[edit]
    change(known)
    for words in WORDS:
        warm, cold = lint(*words), lint("--no-cache", *words)
        assert cold == warm, words
        assert words or expected == cold[0], cold


def test_the_same_is_seen_where_folders_have_no_times(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems do not touch a folder when a file is added to it: then listings are compared."""
    monkeypatch.setattr(stat_cache, "_devices_that_keep_times", lambda: set())
    for module in (stat_cache, discover):
        monkeypatch.setattr(module, "folder_stamp", lambda path: (1, 1, 1, 1))
    assert 0 == lint("plans")[0]
    (known / "plans/deep/d.plan").write_text("nonsense\n")
    assert 1 == lint("plans")[0]


def test_other_words_folders_and_tools_have_memories_of_their_own(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = stat_cache.name_of("/w", ["."], "")
    assert 4 == len(
        {
            here,
            stat_cache.name_of("/v", ["."], ""),
            stat_cache.name_of("/w", ["a"], ""),
            stat_cache.name_of("/w", ["."], "x"),
        }
    )
    monkeypatch.chdir(known / "plans")
    assert here != stat_cache.name_of("/w", ["."], "")
    monkeypatch.setattr(stat_cache, "tool_identity", lambda: "another fdc")
    monkeypatch.chdir(known)
    assert here != stat_cache.name_of("/w", ["."], "")


def test_where_a_program_is_found_belongs_to_the_path(
    long_ago: None, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "plans").mkdir(exist_ok=True)
    run = "run_in_bash_session teapot --hot"
    (workspace / "plans/a.plan").write_text(PLAN.replace("close_task", f"{run}\nclose_task"))
    (workspace / "docs").mkdir()
    (workspace / "docs/tea.md").write_text("Green tea.\n")
    without, found = tmp_path / "without", tmp_path / "with"
    for folder in (without, found):
        folder.mkdir()
    (found / "teapot").write_text("")
    for folder, expected in (
        (without, True), (without, True), (found, False), (found, False), (without, True), (found, False),
    ):  # fmt: skip
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/bin")
        said = lint("--assumptions")
        assert ("teapot" in said[1]) is expected, said
        assert said == lint("--assumptions", "--no-cache")
    (found / "teapot").unlink()
    assert lint("--assumptions") == lint("--assumptions", "--no-cache")


def test_what_was_written_a_moment_ago_is_not_remembered() -> None:
    second = 1_000_000_000
    now = 1000 * second
    assert not stat_cache.settled((now - 100_000_001, now - 900_000_000, 1, 1), now)
    assert not stat_cache.settled((now - 900_000_001, now - 100_000_000, 1, 1), now)
    assert stat_cache.settled((now - 300_000_001, now - 300_000_001, 1, 1), now)
    assert not stat_cache.settled((now - second, now - second, 1, 1), now), (
        "whole seconds: the clock may be a coarse one"
    )
    assert stat_cache.settled((now - 3 * second, now - 3 * second, 1, 1), now)


def test_a_plan_just_written_is_judged_by_its_content(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "a.plan").write_text(CLEAN.replace("read_file docs/tea.md", "read_file a.plan"))
    sight = stat_cache.Seen()  # as the command does when it begins
    assert 0 == lint()[0]
    assert not all(
        stat_cache.settled(found, sight.began) for found in [stat_cache.stamp("a.plan")] if found
    )
    name = stat_cache.name_of(str(workspace), ["."], repr([None] * 4))
    assert stat_cache.recall(name, {}) is None


def wheel(folder: Path, record: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What an fdc installed below `folder` with such a record calls itself."""
    package = folder / "fdc_toolchain"
    (package / "_data").mkdir(parents=True)
    (package / "_data" / "VERSION").write_text("1.2.3\n")
    if record:
        (folder / "fdc_toolchain-1.2.3.dist-info").mkdir()
        (folder / "fdc_toolchain-1.2.3.dist-info" / "RECORD").write_text(record)
    monkeypatch.setattr(resources, "ROOT", str(package / "_data"))
    monkeypatch.setattr(resources, "__file__", str(package / "resources.py"))
    return stat_cache.tool_identity()


def test_a_wheel_is_what_is_in_it_wherever_and_whenever_it_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two builds of one version are two tools; one build installed twice is one, so a CI cache holds."""
    one = wheel(tmp_path / "one", "a.py,sha256=x,1\n", monkeypatch)
    assert one == wheel(tmp_path / "two", "a.py,sha256=x,1\n", monkeypatch)
    assert one != wheel(tmp_path / "three", "a.py,sha256=y,1\n", monkeypatch)
    assert wheel(tmp_path / "four", "", monkeypatch) != wheel(tmp_path / "five", "", monkeypatch)


def test_the_first_part_that_is_missing_stands_for_the_path(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "f").write_text("")
    for path, expected in (("a/b/c", "a/b"), ("x/y", "x"), ("a/b", "a/b"), ("f/g/h", "f/g")):
        assert f"{tmp_path}/{expected}" == stat_cache.missing_part(f"{tmp_path}/{path}", {})
