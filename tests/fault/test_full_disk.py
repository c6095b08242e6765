"""A full disk under the commands that write and run nothing: all of it or nothing, and one sentence that names the file."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.workspace.run_folders import journal_path

from tests.fault.test_world_fails import small_disk
from tests.support.process import fdc

WORKSPACE = {
    "Makefile": "test:\n\t@echo 3 passed\n",
    "tea.py": "def price():\n    return 12\n",
}


def everything(folder: Path) -> dict[str, bytes | None]:
    """The files and folders below a folder, without locks and a log without a line, which stay."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if not path.name.endswith(".lock") and path.name != "logs"
        if path.name != "activity.log.jsonl" or path.stat().st_size
    }


def filled(disk: Path, pages: int) -> Path:
    """Fills a disk up to some pages."""
    free = os.statvfs(disk)
    ballast = disk / "ballast"
    ballast.write_bytes(b"x" * max(0, free.f_bavail * free.f_bsize - pages * 4096))
    return ballast


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["init", "--agent", "claude"], "work/"),
        (["knowledge", "build"], "knowledge_core/"),
        (["start", "--task-id", "T-1", "--network", "off"], "logs/activity.log.jsonl"),
        (["registry", "register", "tea", "tea.plan"], "knowledge_core/plan_registry.json)"),
        (["pack", "new", "mine"], "mine)"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_full_disk_leaves_nothing_half_written_and_the_file_is_named(
    tmp_path: Path, words: list[str], names: str
) -> None:
    """`fdc init` left folders behind that make another folder the workspace; others named no file, or a temporary one."""
    ends = set()
    with small_disk(tmp_path / "disk", "1m") as disk:
        work = disk / "work"
        work.mkdir()
        for name, text in WORKSPACE.items():
            (work / name).write_text(text)
        if words[0] != "init":
            fdc("init", cwd=work)
            (work / "tea.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
        for pages in (*range(10), 20):
            ballast, before = filled(disk, pages), everything(work)
            done = fdc(*words, cwd=work, env={"HOME": str(tmp_path)})
            ballast.unlink()
            ends.add(done.returncode)
            if done.returncode == 0:
                break
            assert done.returncode == 3 and before == everything(work), done
            assert done.stderr.count("\n") == 1 and names in done.stderr, done.stderr
            assert "No space left on device" in done.stderr and ".tmp" not in done.stderr
    assert ends == {0, 3}


def test_a_drafted_plan_that_cannot_be_written_is_printed(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        filled(disk, 0)
        done = fdc(
            "draft", "Say hello", "--output", "a.plan", cwd=disk, env={"HOME": str(tmp_path)}
        )
        assert (done.returncode, os.listdir(disk)) == (3, ["ballast"])
        assert "\nset_plan Say hello\n" in done.stdout and done.stdout.endswith("\nsubmit\n")
        assert "`a.plan` cannot be written: no space left on device; the plan is on" in done.stderr


def test_a_disk_without_room_for_a_name_is_told_by_the_name_that_was_asked_for(
    tmp_path: Path,
) -> None:
    """There the temporary file cannot be made, whose name says nothing."""
    with small_disk(tmp_path / "disk", "1m,nr_inodes=4") as disk:
        (disk / "a.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
        (disk / "two").write_text("")
        (disk / "three").write_text("")
        words = ["certify", "a.plan", "--output", "a.json"]
        done = fdc(*words, cwd=disk, env={"HOME": str(tmp_path)})
        assert (done.returncode, done.stderr) == (3, "fdc: No space left on device (a.json)\n")


@pytest.mark.long
def test_the_runs_on_a_full_disk_can_be_read(tmp_path: Path) -> None:
    """SQLite needs 32 KiB for the file that its readers share: nobody could see which run had filled the disk."""
    ends = set()
    with small_disk(tmp_path / "disk", "1m") as disk:
        (disk / "a.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
        env = {"HOME": str(tmp_path)}
        assert fdc("run", "a.plan", cwd=disk, env=env).returncode == 0
        for pages in (0, 1, 7, 8, 9, 17):
            ballast = filled(disk, pages)
            for words in (["runs"], ["show", "last"], ["verify", "last"], ["replay", "last"],
                          ["report", "last", "--output", str(tmp_path / "r.html")]):  # fmt: skip
                done = fdc(*words, cwd=disk, env=env)
                assert (done.returncode, done.stderr) == (0, ""), (pages, words)
            done = fdc("run", "a.plan", cwd=disk, env=env)
            ends.add(done.returncode)
            ballast.unlink()
    assert 3 in ends


@pytest.mark.long
def test_old_runs_are_removed_with_little_room(tmp_path: Path) -> None:
    """One commit for 200 runs needed room for all that it frees, so the command that frees a disk failed on a full one."""
    env, ends = {"HOME": str(tmp_path)}, set()
    with small_disk(tmp_path / "disk", "8m") as disk:
        (disk / "many.plan").write_text(
            "set_plan x\nplan_step_complete x\niterate max 30\n    list_files *\nclose_task\nsubmit\n"
        )
        assert fdc("run", "many.plan", cwd=disk, env=env).returncode == 0
        with closing(Store(journal_path(str(disk)))) as store:
            (row,) = store.runs()
            for number in range(150):
                inputs = {**row.inputs, "builtin": {"run": f"runs/copy-{number}"}}
                store.create(
                    f"copy-{number}", row.plan, store.program(row), inputs, 1.0,
                    records=store.records(row),
                )  # fmt: skip
            store._db.execute("UPDATE run SET status='finished'")
        for pages in (0, 4, 12, 40):
            ballast = filled(disk, pages)
            done = fdc("runs", "prune", "--older", "0h", cwd=disk, env=env)
            ballast.unlink()
            ends.add((pages, done.returncode))
            if done.returncode:
                assert done.stderr.count("\n") == 1 and "free about 1 MiB" in done.stderr, done
            else:
                assert "151 runs removed" in done.stdout and done.stderr == "", done
    assert {(0, 3), (40, 0)} <= ends, done


@pytest.mark.long
def test_a_run_that_a_full_disk_did_not_cancel_can_go_on(tmp_path: Path) -> None:
    """The request stayed, and the next `fdc resume` carried it out."""
    env, ends = {"HOME": str(tmp_path)}, set()
    with small_disk(tmp_path / "disk", "1m") as disk:
        (disk / "a.plan").write_text(
            "set_plan x\nplan_step_complete x\nt <- request_user_input why?\nmessage_user {t}\nclose_task\nsubmit\n"
        )
        assert fdc("run", "a.plan", cwd=disk, env=env).returncode == 5
        for pages in (0, 1, 2, 4):
            ballast = filled(disk, pages)
            done = fdc("cancel", "last", cwd=disk, env=env)
            ballast.unlink()
            ends.add(done.returncode)
            assert not list(disk.glob(".fdc/runs/*/cancel")), pages
            if done.returncode == 0:
                break
            assert fdc("resume", "last", cwd=disk, env=env).returncode == 5, pages
    assert 3 in ends


def test_a_cache_on_a_full_disk_is_still_known_as_a_cache_later(tmp_path: Path) -> None:
    """Its mark was left empty, and `fdc cache clear` refused that cache for ever."""
    (tmp_path / "a.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
    with small_disk(tmp_path / "disk", "64k") as disk:
        env = {"FDC_CACHE_DIR": str(disk / "cache")}
        ballast = filled(disk, 0)
        assert 0 == fdc("lint", cwd=tmp_path, env=env).returncode
        ballast.unlink()
        assert 0 == fdc("lint", cwd=tmp_path, env=env).returncode
        cleared = fdc("cache", "clear", cwd=tmp_path, env=env)
        assert 0 == cleared.returncode, cleared.stderr
