"""Git's index as a source of file ids: git's own answers where it stores files byte for byte, silence elsewhere."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from fdc_toolchain.cache.blob_ids import Contents, blob_id
from fdc_toolchain.cache.git_index import read_index

NAMES = ("a.plan", "plans/b.plan", "plans/deep/c d.plan", "plans/ä.plan")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with four plans in its index, and nobody's own configuration."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    (tmp_path / "gitconfig").write_text("")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\nsubmit\n")
    git(folder, "add", "--all")
    return folder


def test_the_ids_are_those_that_git_gives(checkout: Path) -> None:
    entries, written = read_index(str(checkout))
    assert set(NAMES) == set(entries)
    assert written == (checkout / ".git/index").stat().st_mtime_ns
    for name in NAMES:
        info = (checkout / name).stat()
        expected = (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino & 0xFFFFFFFF)
        assert (expected, bytes.fromhex(git(checkout, "hash-object", name))) == entries[name]
        assert entries[name][1] == blob_id((checkout / name).read_bytes())


def attributes_here(at: Path) -> None:
    (at / ".gitattributes").write_text("* text=auto\n")


def attributes_below(at: Path) -> None:
    (at / "plans/.gitattributes").write_text("* ident\n")
    git(at, "add", "--all")


def attributes_of_the_repository(at: Path) -> None:
    (at / ".git/info").mkdir(exist_ok=True)
    (at / ".git/info/attributes").write_text("* text\n")


def attributes_of_the_user(at: Path) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "git"
    folder.mkdir(parents=True)
    (folder / "attributes").write_text("* text\n")


def line_ends_of_the_repository(at: Path) -> None:
    git(at, "config", "core.autocrlf", "true")


def line_ends_of_the_user(at: Path) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[core]\n\tautoCRLF = input\n")


def included_configuration(at: Path) -> None:
    git(at, "config", "include.path", "../more")


def newer_index(at: Path) -> None:
    git(at, "update-index", "--index-version", "4")


def longer_ids(at: Path) -> None:
    subprocess.run(["rm", "-rf", at / ".git"], check=True)
    git(at, "init", "--quiet", "--object-format=sha256")
    git(at, "add", "--all")


def damaged_index(at: Path) -> None:
    path = at / ".git/index"
    path.write_bytes(path.read_bytes()[:90])


def no_index(at: Path) -> None:
    (at / ".git/index").unlink()


@pytest.mark.parametrize(
    "change",
    [attributes_here, attributes_below, attributes_of_the_repository, attributes_of_the_user,
     line_ends_of_the_repository, line_ends_of_the_user, included_configuration, newer_index, longer_ids,
     damaged_index, no_index],
)  # fmt: skip
def test_nothing_is_believed_where_bytes_may_differ_or_the_format_is_another(
    change, checkout: Path
) -> None:
    assert read_index(str(checkout))[0]
    change(checkout)
    assert {} == read_index(str(checkout))[0]


def test_a_file_that_changed_since_is_read(checkout: Path, session_cache: Path) -> None:
    late = max((checkout / name).stat().st_ctime_ns for name in NAMES) + 10_000_000_000
    os.utime(checkout / ".git/index", ns=(late, late))
    (checkout / "plans/b.plan").write_text("# other\n")
    contents = Contents(str(checkout))
    assert blob_id(b"# other\n") == contents.id("plans/b.plan")
    assert blob_id((checkout / "plans/deep/c d.plan").read_bytes()) == contents.id(
        "plans/deep/c d.plan"
    )


def test_a_file_written_as_late_as_the_index_is_read(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git wrote the index a moment after the file: another write may hide behind the clock's grain."""
    wrong = {name: (entry[0], b"wrong") for name, entry in read_index(str(checkout))[0].items()}
    contents = Contents(str(checkout))
    monkeypatch.setattr("fdc_toolchain.cache.git_index._entries", lambda data: wrong)
    assert blob_id((checkout / "a.plan").read_bytes()) == contents.id("a.plan")
    late = (checkout / "a.plan").stat().st_ctime_ns + 10_000_000_000
    os.utime(checkout / ".git/index", ns=(late, late))
    assert b"wrong" == Contents(str(checkout)).id("plans/b.plan"), "long after, it is believed"
