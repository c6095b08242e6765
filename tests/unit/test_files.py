"""G-PATH: no path, link, race or name leads a file tool out of the workspace, or into what steps may not change."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from pathlib import Path

import pytest
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.globs import files


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file next to the workspace that no one may touch."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    return secret


@pytest.fixture
def root(workspace: Path, outside: Path) -> Root:
    return Root(str(workspace))


ESCAPES = [
    "../secret.txt", "a/../../secret.txt", "./../secret.txt", "/etc/passwd", "//etc/passwd", "", ".", "./", "/", "a/..",
    "knowledge_core/../../secret.txt", "nul\0byte", "link", "folder/secret.txt", "folder", "loop", "absolute",
    "deep/inner/secret.txt", "dangling", "proc/self/environ", "fifo", "knowledge_core", "plain/x", "x" * 300, "\ud800",
]  # fmt: skip


@pytest.fixture
def trapped(root: Root, workspace: Path, outside: Path) -> Root:
    (workspace / "link").symlink_to(outside)
    (workspace / "absolute").symlink_to("/etc/passwd")
    (workspace / "folder").symlink_to(outside.parent)
    (workspace / "deep").mkdir()
    (workspace / "deep" / "inner").symlink_to("../..")
    (workspace / "loop").symlink_to("loop")
    (workspace / "dangling").symlink_to(outside.parent / "new.txt")
    (workspace / "proc").symlink_to("/proc")
    os.mkfifo(workspace / "fifo")
    (workspace / "plain").write_text("a file, not a folder")
    return root


@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_leads_out_of_the_workspace(trapped: Root, outside: Path, path: str) -> None:
    before = sorted(os.listdir(outside.parent))
    for attempt in (
        lambda: trapped.read(path),
        lambda: trapped.write(path, b"gone", "write", "k"),
        lambda: trapped.write(path, b"gone", "create", "k"),
        lambda: trapped.write(path, b"gone", "edit", "k"),
        lambda: trapped.rename(path, "stolen.txt"),
    ):
        with pytest.raises(ToolFailure) as raised:
            attempt()
        assert raised.value.kind in ("path", "missing", "file", "exists")
    try:
        trapped.delete(path)
    except ToolFailure:
        pass
    assert outside.read_text() == "secret"
    assert sorted(os.listdir(outside.parent)) == before


def test_a_folder_swapped_for_a_link_at_any_moment_never_leads_out(
    root: Root, workspace: Path, tmp_path: Path
) -> None:
    """The race of CVE-2025-53109: check here, use there. Here there is no check apart from the use."""
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "f.txt").write_text("untouched")
    (workspace / "real").mkdir()
    (workspace / "real" / "f.txt").write_text("mine")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(workspace / "real", workspace / "aside")
            with contextlib.suppress(
                FileExistsError
            ):  # the writer may have made the folder anew in the gap
                os.symlink(target, workspace / "real")
            while (workspace / "aside").exists():
                with contextlib.suppress(OSError):
                    if (workspace / "real").is_symlink():
                        os.unlink(workspace / "real")
                    else:
                        shutil.rmtree(workspace / "real", ignore_errors=True)
                    os.rename(workspace / "aside", workspace / "real")

    worker = threading.Thread(target=swap)
    worker.start()
    try:
        for number in range(10_000):
            try:
                assert root.read("real/f.txt") != b"untouched"
                if number % 4 == 0:
                    root.write("real/f.txt", b"mine %d" % number, "write", str(number))
            except ToolFailure as refused:
                assert refused.kind in ("path", "missing")
    finally:
        stop.set()
        worker.join()
    assert {path.name: path.read_text() for path in target.iterdir()} == {"f.txt": "untouched"}


@pytest.mark.parametrize(
    "path",
    [".git/config", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", ".g\u200bit/config", ".fdc/runs.sqlite",
     ".FDC/x", "fdc.toml", "FDC.TOML", "fdc_tools.json", "policy/tools.json"],
)  # fmt: skip
def test_what_rules_fdc_and_git_is_never_written_even_where_it_does_not_exist(
    workspace: Path, path: str
) -> None:
    """G-CFG; CVE-2026-25725: protected names are denied even when absent."""
    root = Root(str(workspace), ("policy/tools.json",))
    for data in (b"x", b""):
        with pytest.raises(ToolFailure) as raised:
            root.write(path, data, "write", "k")
        assert raised.value.kind == "protected"
    (workspace / "mine").write_text("x")
    with pytest.raises(ToolFailure):
        root.rename("mine", path)
    with pytest.raises(ToolFailure):
        root.delete(path)
    assert not (workspace / path).exists() and (workspace / "mine").exists()


def test_pyproject_may_change_but_for_the_table_of_fdc(root: Root, workspace: Path) -> None:
    plain = b'[project]\nname = "x"\n'
    root.write("pyproject.toml", plain, "create", "k")
    root.write("pyproject.toml", plain + b'version = "1"\n', "edit", "k")
    with pytest.raises(ToolFailure):
        root.write("pyproject.toml", plain + b'[tool.fdc]\nprofile = "default"\n', "edit", "k")
    with pytest.raises(ToolFailure):
        root.write(
            "pyproject.toml", plain + b'["tool"]\n"fdc" = {profile = "default"}\n', "edit", "k"
        )
    ruled = plain + b'[tool.fdc]\nprofile = "fdc"\n'
    (workspace / "pyproject.toml").write_bytes(ruled)
    root.write("pyproject.toml", ruled + b"\n# a comment\n", "edit", "k")
    for change in (plain, ruled.replace(b'"fdc"', b'"default"'), ruled + b"[broken"):
        with pytest.raises(ToolFailure):
            root.write("pyproject.toml", change, "edit", "k")
    with pytest.raises(ToolFailure):
        root.delete("pyproject.toml")


def test_a_file_with_a_second_name_is_not_written(
    root: Root, workspace: Path, outside: Path
) -> None:
    os.link(outside, workspace / "twin")
    for attempt in (lambda: root.write("twin", b"x", "write", "k"), lambda: root.delete("twin")):
        with pytest.raises(ToolFailure) as raised:
            attempt()
        assert "hard link" in str(raised.value)
    assert outside.read_text() == "secret"


HOSTILE = [
    "a\nb", "\x1b[31mred", "-rf", "$(reboot)", "a b", "ünï", "e\u0301", "quote'\"", "*", "[x]", "\u202egnp",
    "{file1}",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_names_like_any_other(root: Root, workspace: Path, name: str) -> None:
    root.write(f"d/{name}", b"1", "create", "k")
    assert files(root, "d/*") == [f"d/{name}"]
    assert root.read(f"d/{name}") == b"1"
    root.rename(f"d/{name}", f"e/{name}")
    assert (workspace / "e" / name).read_bytes() == b"1"
    assert root.delete(f"e/{name}") and not root.delete(f"e/{name}")


def test_a_name_that_is_not_utf8_is_usable_and_in_no_glob(root: Root, workspace: Path) -> None:
    name = os.fsdecode(b"\xff.txt")
    (workspace / name).write_bytes(b"1")
    assert root.read(name) == b"1"
    root.write(name, b"2", "write", name)
    assert root.read(name) == b"2" and files(root, "*") == []


def test_a_write_is_all_or_nothing_and_leaves_no_other_file(root: Root, workspace: Path) -> None:
    (workspace / "f").write_text("old")
    os.chmod(workspace / "f", 0o640)
    root.write("f", b"new", "write", "k")
    assert (workspace / "f").read_text() == "new" and os.stat(
        workspace / "f"
    ).st_mode & 0o777 == 0o640
    assert sorted(os.listdir(workspace)) == ["f", "knowledge_core"]


def test_what_a_killed_attempt_left_is_cleared_away_by_the_next_of_the_same_step(
    root: Root, workspace: Path
) -> None:
    from hashlib import blake2b

    left = workspace / f".fdc-{blake2b(b'run:main/1', digest_size=9).hexdigest()}.tmp"
    left.write_text("half a fi")
    root.write("f", b"whole", "create", "run:main/1")
    assert sorted(os.listdir(workspace)) == ["f", "knowledge_core"]


def test_creating_what_exists_is_refused_unless_it_is_the_same_step_once_more(
    root: Root, workspace: Path
) -> None:
    root.write("f", b"1", "create", "k")
    root.write("f", b"1", "create", "k")
    with pytest.raises(ToolFailure) as raised:
        root.write("f", b"2", "create", "k")
    assert (raised.value.kind, (workspace / "f").read_bytes()) == ("exists", b"1")


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "docs/b.md", "docs/deep/c.md"]),
        ("docs/**", ["docs/b.md", "docs/deep/c.md", "docs/x.py"]),
        ("docs/*", ["docs/b.md", "docs/x.py"]),
        ("**/deep/*", ["docs/deep/c.md"]),
        ("**/**/c.*", ["docs/deep/c.md"]),
        ("d?cs/[bx].*", ["docs/b.md", "docs/x.py"]),
        ("./docs//b.md", ["docs/b.md"]),
        ("a.md/**", []),
        (".hidden/*", [".hidden/h.md"]),
        (".git/*", []),
        ("none/*", []),
        ("**", ["a.md", "docs/b.md", "docs/deep/c.md", "docs/x.py"]),
    ],
)
def test_a_glob_names_regular_files_in_order_of_paths(
    workspace: Path, glob: str, expected: list[str]
) -> None:
    for path in (
        "a.md",
        "docs/b.md",
        "docs/deep/c.md",
        "docs/x.py",
        ".hidden/h.md",
        ".git/config",
        ".fdc/x.md",
    ):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text("x")
    (workspace / "docs" / "link.md").symlink_to(workspace / "a.md")
    (workspace / "around").symlink_to(workspace)
    assert files(Root(str(workspace)), glob) == expected


@pytest.mark.parametrize("glob", ["../*", "/etc/*", "a/../../*", "", "\0"])
def test_no_glob_leads_out_of_the_workspace(root: Root, glob: str) -> None:
    with pytest.raises(ToolFailure):
        files(root, glob)
