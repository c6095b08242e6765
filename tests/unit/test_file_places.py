"""Paths with which a step fails on every run: the linter refuses what the runner's file tools refuse (A8)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root

from tests.support.inside import fdc
from tests.support.linting import ANY

READS = {
    "/etc/passwd": "FDC416", "../x": "FDC416", "docs/../docs/a.md": "FDC416", "docs": "FDC415", "out": "FDC415",
    "out/passwd": "FDC415", "docs/a.md/b": "FDC415", "nope": "FDC411", "docs/a.md": None, "./docs//a.md": None,
    "fdc.toml": None, ".git/config": None,
}  # fmt: skip
WRITES = {
    ".git/hooks/x": "FDC417", "docs/.GIT/x": "FDC417", ".fdc/x": "FDC417", "fdc_tools.json": "FDC417", "FDC.toml": "FDC417",
    "own_tools.json": "FDC417", "/x": "FDC416", "a/../b": "FDC416", "docs": "FDC415", "out/x": "FDC415",
    "d/" + "é" * 128: "FDC416", "abc/" * 1001 + "x": "FDC416", "d/" + "é" * 127: None,
    "docs/a.md/b": "FDC415", "docs/a.md": None, "new/b.md": None, "docs/fdc.toml": "FDC417",
}  # fmt: skip


FOLDER = "set_plan x\nplan_step_complete y\noverwrite_file_with_block {run}/a\n    x\nread_file {run}/a\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("docs", ".git", "knowledge_core"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs/a.md").write_text("a")
    (tmp_path / ".git/config").write_text("")
    (tmp_path / "any.json").write_text(ANY)
    (tmp_path / "own_tools.json").write_text('{"format": 1, "name": "own", "tools": {}}')
    (tmp_path / "fdc.toml").write_text('catalogues = ["own_tools.json"]\nfsm = "any.json"\n')
    (tmp_path / "out").symlink_to("/etc")
    return tmp_path


def codes(root: Path, text: str) -> list[str]:
    (root / "a.plan").write_text(text)
    found = check_paths([str(root / "a.plan")], str(root)).diagnostics
    return [item.code for item in found if "FDC411" <= item.code <= "FDC419"]


@pytest.mark.parametrize("home", ["~/a", "~anna/a", "$HOME/a", "~", "$HOME"])
def test_a_path_in_a_home_folder_is_refused_and_one_that_a_shell_leaves_alone_is_not(
    root: Path, home: str
) -> None:
    """The runner takes `~` literally, so a folder of this name would lie in the workspace, for a `rm -r ~`."""
    steps = (
        "overwrite_file_with_block {}\n    x\n", "read_file {}\n", "delete_file {}\n", "list_files {}/*\n",
        "grep x {}\n", "rename_file docs/a.md {}\n", "for_each_file {}/* as file\n    read_file {{file}}\n",
        "param name\nread_file {}/{{name}}\n",
    )  # fmt: skip
    for step in steps:
        assert "FDC416" in codes(root, step.format(home)), step
    (root / home).parent.mkdir(exist_ok=True)
    (root / home).write_text("x\n")
    assert codes(root, f"read_file ./{home}\noverwrite_file_with_block ./{home}\n    x\n") == []


@pytest.mark.parametrize(
    "name", ["a~", "~$b.docx", "~lock.b#", "$HOMES/a", "docs/~/a", "docs/$HOME"]
)
def test_a_name_that_is_no_home_folder_is_no_finding(root: Path, name: str) -> None:
    assert codes(root, f"overwrite_file_with_block {name}\n    x\nread_file {name}\n") == []


@pytest.mark.parametrize("path", READS)
def test_what_cannot_be_read_is_refused_by_both(root: Path, path: str) -> None:
    expected = READS[path]
    assert codes(root, f"read_file {path}\n") == ([expected] if expected else [])
    try:
        Root(str(root)).read(path)
    except ToolFailure as failure:
        assert expected is not None and failure.kind in ("path", "file", "missing")
    else:
        assert expected is None


@pytest.mark.parametrize("path", WRITES)
def test_what_cannot_be_written_is_refused_by_both(root: Path, path: str) -> None:
    expected = WRITES[path]
    assert codes(root, f"overwrite_file_with_block {path}\n  x\n") == (
        [expected] if expected else []
    )
    try:
        Root(str(root), ("own_tools.json",)).write(path, b"x", "write", "key")
    except ToolFailure as failure:
        assert expected is not None and failure.kind in ("path", "file", "protected")
    else:
        assert expected is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("list_files nope\n", ["FDC411"]),
        ("grep x nope\n", ["FDC411"]),
        ("read_file docs{run}\n", ["FDC411"]),
        ("delete_file new/{run}/x\n", ["FDC411"]),
        ("create_file_with_block new/{run}/x\n  x\nread_file new/{run}/x\n", []),
        ("list_files docs/a.md/b\n", ["FDC415"]),
        ("grep x docs//a.md/b/c\n", ["FDC415"]),
        ("list_files ..\n", ["FDC416"]),
        ("list_files /etc\n", ["FDC416"]),
        ("for_each_file ../*\n  read_file {file1}\n", ["FDC416"]),
        ("for_each_file *.toml\n  delete_file {file1}\n", ["FDC417"]),
        ("rename_file docs/a.md ./docs/a.md\n", ["FDC412"]),
        ("create_file_with_block new\n  x\ncreate_file_with_block new/y\n  x\n", ["FDC415"]),
        ("create_file_with_block new/y\n  x\nlist_files new\n", []),
        ("rename_file docs/a.md new\noverwrite_file_with_block new/y\n  x\n", ["FDC415"]),
        ("rename_file docs/a.md new/y\nlist_files new\n", []),
        (
            "list_files docs\nlist_files docs/a.md\nlist_files /\nlist_files .\nlist_files nope/*.md\n",
            [],
        ),
    ],
)
def test_folders_and_globs_that_cannot_be_looked_through_are_refused(
    root: Path, text: str, found: list[str]
) -> None:
    assert codes(root, text) == found


@pytest.mark.parametrize("end", ["", "/", "/outside", "/outside/"])
def test_the_folders_of_a_run_may_be_looked_through_before_a_file_is_in_them(
    root: Path, end: str
) -> None:
    plan = (
        f'x <- list_files {{run}}{end}\ny <- grep a {{run}}{end}\nrequire not x and not y else ""\n'
    )
    (root / "a.plan").write_text(f"use fsm any.json\n{plan}")
    linted = fdc("lint", "--assumptions", "--format", "json", "a.plan", cwd=root)
    assert '"assumptions": []' in linted.stdout, linted.stdout
    assert 0 == fdc("run", "a.plan", cwd=root).returncode


def test_a_loop_over_no_glob_is_refused(root: Path) -> None:
    """Also where a call gives it."""
    (root / "sub.plan").write_text("param p\nfor_each_file {p}\n  read_file {file1}\n")
    assert codes(root, 'for_each_file ""\n  read_file {file1}\n') == ["FDC416"]
    assert codes(root, 'call_plan sub.plan p=""\n') == ["FDC416"]


def test_a_protected_file_is_written_where_every_plan_with_allow_lines_on_the_way_names_it(
    root: Path,
) -> None:
    write = "overwrite_file_with_block .pre-commit-config.yaml\n  x\n"
    assert codes(root, "allow write docs/*\n" + write) == ["FDC417"]
    assert codes(root, "allow write .pre-commit-config.yaml\n" + write) == []
    (root / "sub.plan").write_text("allow write .pre-commit-config.yaml\n" + write)
    assert codes(root, "allow write docs/*\ncall_plan sub.plan\n") == ["FDC417"]
    assert codes(root, "allow write .pre-commit-config.yaml\ncall_plan sub.plan\n") == []
    assert codes(root, "call_plan sub.plan\n") == []


@pytest.mark.parametrize("made", [Path.touch, os.mkfifo, lambda path: path.symlink_to("docs")])
def test_a_run_whose_folder_cannot_be_made_does_not_begin(
    root: Path, made: Callable[[Path], None]
) -> None:
    """`runs`, where the folders of all runs lie, is a file, a pipe or a link. No file says that a run cannot write there."""
    assert [] == codes(root, FOLDER)
    (root / "runs").mkdir()
    assert [] == codes(root, FOLDER)
    (root / "runs").rmdir()
    made(root / "runs")
    assert ["FDC415", "FDC415"] == codes(root, FOLDER)
    with pytest.raises(ToolFailure):
        Root(str(root)).write("runs/20260101-000000-abcd/a", b"x", "create", "k")


def test_nothing_lies_below_a_file_that_a_glob_found(root: Path) -> None:
    loop = "for_each_file docs/*.md as f\n"
    write = "  overwrite_file_with_block {file1}/x\n    y\n"
    assert codes(root, loop + write) == ["FDC415"]
    assert codes(root, loop + write.replace("file1}/x", "f}/{f}")) == ["FDC415"]
    assert codes(root, loop + "  f <- read_file {f}\n" + write.replace("file1", "f")) == []
    assert codes(root, loop + "  read_file ./{file1}//x\n") == ["FDC415"]
    inner = "  l <- list_files docs\n  for file1 in {l} max 9\n    message_user {file1}\n"
    assert codes(root, loop + inner + write) == ["FDC415"]
    branch = "  if f == docs/a.md\n    file1 <- read_file {f}\n"
    assert codes(root, loop + branch + write) == ["FDC415"]
    other = "  else\n    file1 <- read_file {f}\n"
    assert codes(root, loop + branch + other + write) == []
    gone = "  delete_file {file1}\n"
    assert codes(root, loop + gone + write) == []
    assert codes(root, loop + write + gone) == ["FDC415"]
    assert codes(root, loop + f"  if f == docs/a.md\n  {gone}" + write) == ["FDC415"]
    assert codes(root, loop + "  overwrite_file_with_block o/{file1}\n    y\n") == []


@pytest.mark.parametrize("step", ["list_files", "grep x"])
def test_a_search_of_a_link_or_a_pipe_fails_where_it_would_find_nothing(
    root: Path, step: str
) -> None:
    """A path that is neither a file nor a folder: lint refuses it, and a run to which it is given stops."""
    os.mkfifo(root / "pipe")
    (root / "docs/to").symlink_to("a.md")
    for path in ("out", "docs/to", "./docs//to/", "pipe"):
        assert codes(root, f"{step} {path}\n") == ["FDC415"], path
        (root / "a.plan").write_text(f"param p\n{step} {{p}}\n")
        done = fdc("run", "a.plan", f"p={path}", cwd=root)
        assert done.returncode == 1 and "is a link or a special file" in done.stdout, done
    for path in ("docs", "docs/a.md", "docs/*", "o*", ".", "./", "docs/.", ""):
        assert codes(root, f"{step} {path}\n") == [], path


def test_the_literal_beginning_of_a_computed_path_goes_through_folders(root: Path) -> None:
    asked = "x <- request_user_input Which?\n"
    for path, found in (
        ("docs/a.md/{x}b", ["FDC415"]), ("docs/a.md/b/{x}", ["FDC415"]), ("docs/./a.md//{x}b", ["FDC415"]),
        ("docs/{x}", []), ("docs/a.md{x}", []), ("new/{x}", []), ("{x}/docs/a.md/b", []),
    ):  # fmt: skip
        assert codes(root, f"{asked}overwrite_file_with_block {path}\n    y\n") == found, path


@pytest.mark.parametrize(
    "step", ["read_file .env", "grep x .env", "rename_file .env e", "run_in_bash_session cat .env"]
)
def test_a_step_that_reads_a_file_of_secrets_is_refused(root: Path, step: str) -> None:
    (root / ".env").write_text("KEY=abcdefghij\n")
    assert "FDC418" in codes(root, f"{step}\n")
    assert "FDC418" not in codes(root, f"allow read .env **\nallow write **\nallow run *\n{step}\n")
