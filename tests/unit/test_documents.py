"""Which documents of a folder are read, in which order, and what is said of the others (FDC-53)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from fdc_toolchain.tools.files import documents
from fdc_toolchain.tools.files.documents import MARK, Scan, lines_of, read_beneath, scan

from tests.support.process import clean_environment
from tests.support.research import write


def paths(found: Scan) -> list[str]:
    return [document.path for document in found.documents]


def reasons(found: Scan) -> dict[str, str]:
    return {one.path: one.reason for one in found.skipped}


def test_documents_are_found_by_name_and_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["z.md", "a.txt", "b/c.rst", "README", "b/a.MD", "doc.adoc", "INSTALL.Debian"]
    write(
        tmp_path,
        {
            name: f"This is {name}.\n"
            for name in [*names, "code.py", "picture.png", "CMakeLists.txt", "requirements.txt"]
        },
    )
    assert sorted(names) == paths(scan(str(tmp_path)))


def test_source_files_are_read_when_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "# A comment.\n", "b.md": "Text.\n", "c.bin": "x"})
    assert (["b.md"], ["a.py", "b.md"]) == (
        paths(scan(str(tmp_path))),
        paths(scan(str(tmp_path), code=True)),
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfeh\0i\0", "UTF-16 text, not UTF-8"),
        (b"text\0text", "binary"),
        (b"caf\xe9 au lait", "not UTF-8 (byte 3)"),
        (b"", "empty"),
        (b"\n\r\n\n", "empty"),
        (
            MARK.encode() + b"\n# An old question?\n",
            "a report of earlier research, which cannot be evidence",
        ),
    ],
)
def test_what_cannot_be_read_is_listed_with_the_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    """FDC-53."""
    write(tmp_path, {"bad.md": content, "good.md": "Good.\n"})
    found = scan(str(tmp_path))
    assert (["good.md"], {"bad.md": reason}) == (paths(found), reasons(found))


def test_formats_that_are_no_text_are_listed(tmp_path: Path) -> None:
    """FDC-53."""
    write(tmp_path, {"a.odt": b"PK", "b.docx": b"PK"})
    assert {
        "a.odt": "OpenDocument is not read, because it is not text",
        "b.docx": "Word is not read, because it is not text",
    } == reasons(scan(str(tmp_path)))


def test_a_file_over_a_limit_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_FILE", 100)
    monkeypatch.setattr(documents, "MAX_TOTAL", 150)
    write(tmp_path, {"a.md": "a" * 101, "b.md": "b" * 90, "c.md": "c" * 90, "d.md": "d" * 50})
    found = scan(str(tmp_path))
    assert ["b.md", "d.md"] == paths(found)
    assert {"a.md": "larger than 100 bytes", "c.md": "beyond 150 bytes in total"} == reasons(found)


def test_of_equal_files_the_first_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": "Same.\n", "a/x.md": "Same.\n", "c.md": "Other.\n"})
    found = scan(str(tmp_path))
    assert (["a/x.md", "c.md"], {"b.md": "the same text as a/x.md"}) == (
        paths(found),
        reasons(found),
    )


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = write(
        tmp_path / "outside", {"secret.md": "Secret.\n", "folder/deep.md": "Deep secret.\n"}
    )
    inside = write(tmp_path / "inside", {"own.md": "Own.\n"})
    (inside / "file.md").symlink_to(outside / "secret.md")
    (inside / "folder").symlink_to(outside / "folder")
    (inside / "loop").symlink_to(inside)
    (inside / "nowhere.md").symlink_to(inside / "missing.md")
    found = scan(str(inside))
    assert ["own.md"] == paths(found)
    assert dict.fromkeys(
        ["file.md", "folder", "loop", "nowhere.md"], "a symbolic link, which fdc does not follow"
    ) == reasons(found)


def test_a_named_pipe_does_not_stop_the_walk(tmp_path: Path) -> None:
    write(tmp_path, {"own.md": "Own.\n"})
    os.mkfifo(tmp_path / "pipe.md")
    found = scan(str(tmp_path))
    assert (["own.md"], {"pipe.md": "not a regular file"}) == (paths(found), reasons(found))


def test_a_name_that_cannot_be_shown_is_listed_escaped(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a\x1b[31m.md": "Red.\n", "b\n.md": "Two lines.\n", os.fsdecode(b"c\xff.md"): "Bytes.\n"},
    )
    found = scan(str(tmp_path))
    assert [] == paths(found)
    assert {"a\\x1b[31m.md", "b\\n.md", "c\\udcff.md"} == set(reasons(found))


def test_dependencies_are_not_the_folders_documents(tmp_path: Path) -> None:
    write(tmp_path, {
        "own.md": "Own.\n", "node_modules/x/README.md": "X.\n", "env/pyvenv.cfg": "home = /\n", "env/lib/README.md": "Y.\n",
        ".fdc/runs/note.md": "Z.\n", ".github/CONTRIBUTING.md": "Hidden, but written for people.\n",
    })  # fmt: skip
    assert [".github/CONTRIBUTING.md", "own.md"] == paths(scan(str(tmp_path)))


IGNORED = {
    ".gitignore": "build/\n*.txt\n!keep.txt\n/only-here.md\n\n# comment\nsub/deep/*\n!sub/deep/kept.md\nspaced\\ name.md\n",
    "a/.gitignore": "\ufeffnote.md\r\n!again.txt\r\n",
    "a/b/.gitignore": "*.md\n!b.md\n",
    ".git/info/exclude": "excluded.md\n",
    "nothing/.gitignore": "[z-a]\n[\n",
}
TREE = [
    "keep.txt", "no.txt", "only-here.md", "excluded.md", "spaced name.md", "build/x.md", "c/build/x.md", "c/only-here.md",
    "a/note.md", "a/again.txt", "a/other.txt", "a/b/b.md", "a/b/c.md", "a/b/note.md", "a/keep.txt", "a/excluded.md",
    "sub/deep/kept.md", "sub/deep/gone.md", "nothing/z.md", "nothing/a.md",
]  # fmt: skip


def test_what_git_ignores_is_not_read(tmp_path: Path) -> None:
    """The oracle is git itself."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    git("init", "-q")
    write(tmp_path, {**IGNORED, **{name: f"This is {name}.\n" for name in TREE}})
    listed = git(
        "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"
    ).split("\0")
    expected = sorted(name for name in listed if name and not name.endswith(".gitignore"))
    assert expected == paths(scan(str(tmp_path)))
    below = [name.removeprefix("a/") for name in expected if name.startswith("a/")]
    assert below == paths(scan(str(tmp_path / "a")))


def test_who_names_an_ignored_folder_wants_what_is_in_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".gitignore": "/build\n",
            "build/docs/a.md": "Built.\n",
        },
    )
    assert [] == paths(scan(str(tmp_path)))
    assert ["docs/a.md"] == paths(scan(str(tmp_path / "build")))
    assert ["a.md"] == paths(scan(str(tmp_path / "build" / "docs")))


def test_the_digest_names_paths_and_contents(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "One.\n", "b.md": "Two.\n"})
    first = scan(str(tmp_path)).digest
    assert first == scan(str(tmp_path)).digest
    (tmp_path / "b.md").rename(tmp_path / "c.md")
    second = scan(str(tmp_path)).digest
    (tmp_path / "c.md").write_text("Three.\n")
    assert 3 == len({first, second, scan(str(tmp_path)).digest})


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../x.md", "a/../../x.md", "a//x.md", "./x.md", "x\0.md"]
)
def test_no_path_leaves_the_folder(tmp_path: Path, path: str) -> None:
    write(tmp_path, {"in/x.md": "In.\n", "x.md": "Out.\n"})
    with pytest.raises(OSError):
        read_beneath(str(tmp_path / "in"), path)


def test_lines_are_those_of_an_editor() -> None:
    text = "one\r\ntwo\u2028still two\x0cand\x85too\nthree\rstill three"
    assert ("one", "two\u2028still two\x0cand\x85too", "three\rstill three") == lines_of(
        b"\xef\xbb\xbf" + text.encode()
    )


def test_a_folder_is_listed_whole_by_as_many_as_list_it_at_once(tmp_path: Path) -> None:
    """Branches of a fork list one workspace: descriptors that share a place in a folder each see a part of it."""
    from concurrent.futures import ThreadPoolExecutor

    from fdc_toolchain.workspace.files import Root

    write(tmp_path, {f"d{n:03}.md": f"This is {n}.\n" for n in range(400)})
    root = Root(str(tmp_path))
    try:

        def count(_: int) -> tuple[int, int]:
            with root.folder([]) as handle:
                return len(root.scan([])), len(scan(str(tmp_path), opened=handle).documents)

        with ThreadPoolExecutor(8) as pool:
            assert {(400, 400)} == set(pool.map(count, range(40)))
    finally:
        root.close()
