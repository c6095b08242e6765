"""`fdc fix` in a workspace that is too large to be copied: it leaves out what git ignores, and else says what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.process import fdc

pytestmark = pytest.mark.long
LARGE = (1 << 30) + 1


def _workspace(root: Path, ignored: str) -> Path:
    (root / "fdc.toml").touch()
    (root / ".gitignore").write_text(ignored)
    (root / "tea.py").write_text("def price(n):\n    return n + 12\n")
    (root / "test_tea.py").write_text(
        "import os\nfrom tea import price\nassert os.path.exists('small/note.txt')\n"
        "assert price(2) == 24 and price(3) == 36\n"
    )
    for name, text in (("data/all.bin", ""), ("data/old.py", "x = 1\n"), ("small/note.txt", "x")):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    os.truncate(root / "data" / "all.bin", LARGE)
    return root


def _fix(root: Path, *more: str) -> tuple[int, str, str]:
    done = fdc("fix", "--test", "python3 test_tea.py", *more, cwd=root, env={"HOME": str(root)})
    return done.returncode, done.stdout, done.stderr


def test_the_largest_of_what_git_ignores_is_not_copied(tmp_path: Path) -> None:
    root = _workspace(tmp_path, "/data/\n/small/\n")
    code, out, err = _fix(root)
    assert code == 0, err
    assert "+    return n * 12" in out
    assert "not copied, as git ignores it and the workspace is large: data\n" in err
    assert "1 file may be changed" in err
    taken = sum(one.stat().st_size for one in root.glob("runs/**/*") if one.is_file())
    assert taken < 1 << 24


def test_a_file_to_be_repaired_is_copied_though_git_ignores_it(tmp_path: Path) -> None:
    root = _workspace(tmp_path, "/data/all.bin\n/tea.py\n")
    code, out, err = _fix(root, "tea.py")
    assert code == 0, err
    assert "+    return n * 12" in out
    assert "large: data/all.bin\n" in err


def test_a_file_to_be_repaired_in_a_large_folder_is_refused(tmp_path: Path) -> None:
    code, _, err = _fix(_workspace(tmp_path, "/data/\n"), "data/old.py")
    assert code == 1
    assert "with the files that may be changed" in err


def test_what_git_does_not_ignore_is_refused_with_what_to_do(tmp_path: Path) -> None:
    root = _workspace(tmp_path, "/small/\n")
    code, _, err = _fix(root)
    assert code == 1
    assert "100,000 files or 1,024 MB" in err
    assert "--workspace" in err
    assert not list(root.glob("runs/*/copy*"))


def test_a_name_of_two_lines_is_told_in_one(tmp_path: Path) -> None:
    root = _workspace(tmp_path, "/da*\n")
    (root / "data").rename(root / "da\nfixed: nothing was")
    _, _, err = _fix(root)
    assert "large: da\\u{a}fixed: nothing was\n" in err, err
