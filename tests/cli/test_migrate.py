"""`fdc migrate` as people start it."""

from __future__ import annotations

from pathlib import Path

from tests.support.process import fdc

OLD = "set_plan\nRead <the_book>.\n---\nsubmit\n"
NEW = "param the_book\n\nset_plan Read {the_book}.\nsubmit\n"


def test_the_new_text_goes_to_stdout_and_the_changes_to_stderr(workspace: Path) -> None:
    Path("old.txt").write_text(OLD)
    done = fdc("migrate", "old.txt", cwd=workspace)
    assert (0, NEW) == (done.returncode, done.stdout)
    assert "old.txt: D3 (blocks between `---`)\n" in done.stderr
    assert "  line 2: `<the_book>` is the parameter `{the_book}`\n" in done.stderr
    assert OLD == Path("old.txt").read_text()
    assert NEW == fdc("migrate", "-", "-q", cwd=workspace, stdin=OLD).stdout


def test_write_converts_what_it_can_and_leaves_the_rest(workspace: Path) -> None:
    guess = "create_file_with_block\na.md\n---\nnot a tool\n"
    for name, text in (("old.txt", OLD), ("new.txt", NEW), ("guess.txt", guess)):
        Path(name).write_text(text)
    done = fdc("migrate", "--write", "old.txt", "new.txt", "guess.txt", cwd=workspace)
    assert (1, "") == (done.returncode, done.stdout)
    assert (NEW, NEW, guess) == tuple(
        Path(name).read_text() for name in ("old.txt", "new.txt", "guess.txt")
    )
    assert "new.txt: nothing to do: the plan is in the language already\n" in done.stderr
    assert "guess.txt:4:1" in done.stderr and "guess.txt: not converted\n" in done.stderr


def test_a_tool_of_the_workspace_is_known(workspace: Path) -> None:
    Path("fdc_tools.json").write_text(
        '{"format": 1, "name": "mine", "tools": {"paint": {"summary": "paint", "action": "step_op", "effect": "pure",'
        ' "trust": "trusted", "parameters": [{"name": "colour", "kind": "word"}]}}}'
    )
    done = fdc(
        "migrate", "-", cwd=workspace, stdin="set_plan x\n---\npaint\nlight blue\n---\nsubmit\n"
    )
    assert (0, 'set_plan x\npaint "light blue"\nsubmit\n') == (done.returncode, done.stdout)


def test_wrong_usage_says_so(workspace: Path) -> None:
    assert 2 == fdc("migrate", cwd=workspace).returncode
    assert 2 == fdc("migrate", "a.txt", "b.txt", cwd=workspace).returncode
    assert 2 == fdc("migrate", "--write", "-", cwd=workspace).returncode
    assert "fdc: Could not find file `a.txt`\n" == fdc("migrate", "a.txt", cwd=workspace).stderr
    assert (
        "fdc: `.` is a folder; name the plans to convert\n"
        == fdc("migrate", ".", cwd=workspace).stderr
    )
