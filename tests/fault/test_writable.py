"""Which files a command may write: those that every `allow write` in force names (G-CAP; issue 4, "Bounded and safe")."""

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from fdc_toolchain import durable
from fdc_toolchain.sandbox import listing, sandbox, writable
from fdc_toolchain.workspace.files import Root

from tests.fault.test_sandbox import UPPER, only, run


@pytest.fixture(params=UPPER)
def tier(request):
    if not sandbox.offered(request.param):
        pytest.skip(f"{request.param}: {sandbox.reason(request.param)}")
    return request.param


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    for name in (".fdc", ".git"):
        (folder / name).mkdir(parents=True)
    (folder / ".git/config").write_text("[core]\n")
    (folder / ".fdc/runs.sqlite").write_text("journal")
    opened = Root(str(folder))
    yield opened
    opened.close()


def test_no_step_fills_a_file_that_others_run_as_its_owner(root):
    """A program that root fills keeps these bits in the kernel."""
    path = Path(root.path, "tool")
    path.write_text("")
    for bits in (0o6755, 0o1755):
        path.chmod(bits)
        root.write("tool", b"#!/bin/sh\nid\n", "write", "key")
        assert stat.S_IMODE(path.stat().st_mode) == bits & 0o1777
    path.chmod(0o4755)
    durable.replace(str(path), b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_what_is_taken_away_may_lie_on_another_file_system(root, tmp_path):
    """A volume of a container, say. Of a pipe nothing is kept, and one thing that stays keeps no other one there."""
    elsewhere = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        if elsewhere.stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("there is one file system only")
        (elsewhere / "a/.git/hooks").mkdir(parents=True)
        (elsewhere / "a/.git/hooks/pre-commit").write_text("evil")
        (elsewhere / "a/.git/link").symlink_to("x")
        (elsewhere / "a/.git/hooks/pre-commit").chmod(0)
        os.mkfifo(elsewhere / "a/.envrc")
        for folder in ("a/.git/hooks", "a/.git", "a"):
            (elsewhere / folder).chmod(0o555)
        with contextlib.closing(Root(str(elsewhere))) as there:
            there.move_out(["gone", "a/.git", "a/.envrc"], str(tmp_path / "refused"))
        assert list((elsewhere / "a").iterdir()) == []
        found = tmp_path / "refused/1-.git"
        assert (found / "hooks/pre-commit").read_text() == "evil" and os.readlink(
            found / "link"
        ) == "x"
    finally:
        shutil.rmtree(elsewhere)


def written(root, tier, globs, stack):
    """Which of some paths a command can write under grants: one plan with `globs`, more plans with `stack`."""
    for name in ("docs/a.md", "docs/deep/c.md", "docs/a.sh", "top.md"):
        Path(root.path, name).parent.mkdir(parents=True, exist_ok=True)
        Path(root.path, name).write_text("was\n")
    outside = Path(root.path).parent / "outside.md"
    outside.write_text("was\n")
    Path(root.path, "docs/link.md").symlink_to(outside)
    tried = (
        "docs/a.md",
        "docs/new.md",
        "docs/deep/c.md",
        "docs/a.sh",
        "top.md",
        "new.md",
        "made/x.txt",
    )
    command = (
        "echo is >> docs/link.md; "
        + "; ".join(f"(echo is >> {name}) 2>/dev/null && echo {name}" for name in tried)
        + "; exit 0"
    )
    grants = tuple({"write": tuple(((False, glob),) for glob in plan)} for plan in (globs, *stack))
    said = set(run(root, command, only(tier), grants=grants).value["output"].splitlines())
    assert outside.read_text() == "was\n"
    return said & set(tried)


@pytest.mark.parametrize(
    ("globs", "stack", "may"),
    [
        (["docs/*.md"], [], {"docs/a.md"}),  # the files that it names, and no new ones: the kernel knows no globs
        (["docs/**/*.md"], [], {"docs/a.md", "docs/deep/c.md"}),
        (["docs/?.sh", "top.md"], [], {"docs/a.sh", "top.md"}),
        (["new.md"], [], {"new.md"}),  # a file that is written out may be made
        (["made/x.txt"], [], {"made/x.txt"}),
        (["docs/**"], [["**/*.md"]], {"docs/a.md", "docs/deep/c.md"}),
        (["docs/*.md", "top.md"], [["docs/**"]], {"docs/a.md"}),
        (["docs"], [], set()),  # a folder's own name is not a name of what lies in it
        (["docs/*"], [["*.md"]], set()),
        (["../outside.md", "docs/link.md"], [], set()),
        (["fdc_tools.json", ".fdc/runs.sqlite", ".git/config"], [], set()),
    ],
)  # fmt: skip
def test_a_command_writes_exactly_the_files_that_the_plans_allow(root, tier, globs, stack, may):
    """Issue 4: write access to allowed paths only; a glob is not a wider for commands than for file tools (G-CAP)."""
    assert written(root, tier, globs, stack) == may
    assert Path(root.path, ".fdc/runs.sqlite").read_text() == "journal"


def test_a_file_that_a_command_did_not_make_after_all_is_not_there(root, tier):
    grants = ({"write": (((False, "new.md"),), ((False, "deep/new.md"),))},)
    run(root, "ls", only(tier), grants=grants)
    assert not Path(root.path, "new.md").exists() and not Path(root.path, "deep").exists()
    outcome = run(root, "echo x > new.md; echo y > other.md; cat new.md", only(tier), grants=grants)
    assert outcome.value["output"].splitlines()[-1] == "x"
    assert (
        Path(root.path, "new.md").read_text() == "x\n" and not Path(root.path, "other.md").exists()
    )


def test_a_glob_that_names_too_many_files_for_a_command_says_what_to_write(root, tier, monkeypatch):
    monkeypatch.setattr(writable, "MOST", 3)
    for number in range(5):
        Path(root.path, f"{number}.txt").write_text("")
    outcome = run(root, "touch ran", only(tier), grants=({"write": (((False, "*.txt"),),)},))
    assert outcome.failure is not None and "name whole folders" in outcome.failure.message


@pytest.mark.parametrize("place", ["runs", "runs/run"])
def test_a_file_in_the_place_of_the_run_folder_stops_no_command(root, tier, place):
    """A command needs no folder of its run: where a file is in the way, there is no text from outside to hide."""
    path = Path(root.path, place)
    path.parent.mkdir(exist_ok=True)
    path.write_text("a file\n")
    outcome = run(root, "echo ran", only(tier))
    assert outcome.failure is None and outcome.value["output"] == "ran\n"
    assert path.read_text() == "a file\n"


def test_what_is_made_for_commands_is_not_made_or_taken_away_behind_a_link(tmp_path):
    """Another command of the run may put one there at any moment, after the paths were looked at."""
    workspace, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    for folder in (workspace, elsewhere / "shut"):
        folder.mkdir(parents=True)
    (elsewhere / "empty").touch()
    (elsewhere / "shut").chmod(0o500)
    (workspace / "out").symlink_to(elsewhere)
    root, made = str(workspace), []
    assert not writable._folder(root, f"{root}/out/new")
    assert not writable._there(root, f"{root}/out/file", made)
    with pytest.raises(NotADirectoryError):
        writable.hold(root, f"{root}/out/new", made)
    writable.discard(f"{root}/out/empty", root)
    writable.discard(f"{root}/out/shut", root)
    assert not listing.opened_again(root, f"{root}/out/shut")
    assert not listing.opened_again(root, f"{root}/out")
    assert sorted(os.listdir(elsewhere)) == ["empty", "shut"] and not made
    assert stat.S_IMODE((elsewhere / "shut").stat().st_mode) == 0o500
