"""`fdc fix` where several edits pass and nothing tells them apart: they are shown, the likeliest first, and none is applied."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import inside

CODE = """\
def given(rows):
    out = []
    for row in rows:
        if row is not None:
            continue
        out.append(row)
    return out
"""
TESTS = "from code_under import given\n\n\ndef test_one():\n    assert given([1]) == [1]\n"


@pytest.mark.long
def test_the_choice_is_shown_once_for_each_behaviour_and_git_takes_one(tmp_path: Path) -> None:
    (tmp_path / "code_under.py").write_text(CODE)
    (tmp_path / "test_one.py").write_text(TESTS)
    test = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
    done = inside.fdc("fix", "--test", test, "code_under.py", cwd=tmp_path, env={"FDC_MODEL": ""})
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    story = done.stderr.splitlines()
    at = next(number for number, line in enumerate(story) if line.startswith("not decided: "))
    assert story[at].endswith("says which is meant; none of them is applied")
    assert "`row is None` is meant" in story[at + 1]
    patches = [line.split()[-1] for line in story[at:] if line.startswith("    git apply ")]
    assert len(patches) > 1
    assert "is tried first" not in done.stderr
    subprocess.run(["git", "apply", patches[0]], cwd=tmp_path, check=True)
    assert (tmp_path / "code_under.py").read_text() == CODE.replace("is not None", "is None")


@pytest.mark.long
def test_an_example_of_the_docstring_that_fails_as_well_decides(tmp_path: Path) -> None:
    """No edit breaks it, for it fails without an edit: with the right one alone it passes."""
    text = '    """The rows that are there.\n\n    >>> given([2, None, 3])\n    [2, 3]\n    """\n'
    code = CODE.replace("(rows):\n", "(rows):\n" + text)
    (tmp_path / "code_under.py").write_text(code)
    (tmp_path / "test_one.py").write_text(TESTS)
    test = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider test_one.py"
    done = inside.fdc("fix", "--test", test, "code_under.py", cwd=tmp_path, env={"FDC_MODEL": ""})
    assert done.returncode == 0, done.stderr
    changed = [
        line for line in done.stdout.split("\n") if line[:1] in ("+", "-") and line[1:2] == " "
    ]
    assert changed == ["-        if row is not None:", "+        if row is None:"]


@pytest.mark.long
def test_edits_that_break_other_tests_do_not_end_the_search(tmp_path: Path) -> None:
    """Places enough to end a search pass the command, and break another file; what is left turns a default round."""
    parts = [f"def part_{one}(x):\n    return x + {one}\n" for one in range(1, 7)]
    calls = " + ".join(f"part_{one}(x)" for one in range(1, 7))
    whole = f"def whole(x, plain=True):\n    found = {calls} + 0.0\n    return found if plain else found + 1\n"
    (tmp_path / "code_under.py").write_text("\n\n".join([*parts, whole]))
    asked = "from code_under import whole\n\n\ndef test_whole():\n    assert whole(2) == 34\n"
    (tmp_path / "test_one.py").write_text(asked)
    each = [f"    assert code_under.part_{one}(2) == {2 + one}\n" for one in range(1, 7)]
    text = "import code_under\n\n\ndef test_parts():\n" + "".join(each)
    (tmp_path / "test_two.py").write_text(text)
    test = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider test_one.py"
    done = inside.fdc("fix", "--test", test, "code_under.py", cwd=tmp_path, env={"FDC_MODEL": ""})
    assert "plain=True" not in [line for line in done.stdout.split("\n") if line[:1] == "-"]
    assert done.returncode == 0, done.stderr
    subprocess.run(["git", "apply"], cwd=tmp_path, input=done.stdout.encode(), check=True)
    subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, check=True)


@pytest.mark.long
def test_a_second_edit_of_one_function_is_shown_and_not_applied(tmp_path: Path) -> None:
    """Two mistakes of one function, each with a test of its own: two wrong edits can make tests pass as well."""
    code = (
        "def price(total):\n    if total > 100:\n        total = total - 7\n"
        "    if total < 20:\n        return total - 5\n    return total\n"
    )
    (tmp_path / "code_under.py").write_text(code)
    tests = (
        "from code_under import price\n\n\ndef test_large():\n    assert price(100) == 93\n    assert price(99) == 99\n\n\n"
        "def test_small():\n    assert price(10) == 15\n    assert price(20) == 20\n"
    )
    (tmp_path / "test_one.py").write_text(tests)
    test = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
    done = inside.fdc("fix", "--test", test, "code_under.py", cwd=tmp_path, env={"FDC_MODEL": ""})
    assert done.returncode == 6, done.stderr
    story = done.stderr.splitlines()
    assert "  apply the diff first; take it with `git apply` if it is what is meant" in story
    assert "or use --write" not in done.stderr
    second = [line.split()[-1] for line in story if line.startswith("    git apply ")]
    subprocess.run(["git", "apply"], cwd=tmp_path, input=done.stdout.encode(), check=True)
    assert subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path).returncode == 1
    subprocess.run(["git", "apply", second[0]], cwd=tmp_path, check=True)
    subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, check=True)
