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


def test_what_lint_finds_in_a_plan_that_is_in_the_language_is_said(workspace: Path) -> None:
    """Nothing to do is not a word that it is right; a tool with a typing error is not an older notation."""
    (workspace / "p.plan").write_text("set_plan x\nplan_step_complete y\nmesage_user a\nsubmit\n")
    done = fdc("migrate", "p.plan", cwd=workspace)
    assert 0 == done.returncode and "nothing to do" in done.stderr
    assert "`fdc lint` finds line 3: [unknown-tool]" in done.stderr and "more" in done.stderr


def test_nobody_is_sent_to_migrate_a_plan_that_it_refuses(workspace: Path) -> None:
    text = "set_plan x\n---\nplan_step_complete y\n---\n{}\n---\nclose_task\n"
    (workspace / "p.plan").write_text(text.format("hello there world"))
    assert 1 == fdc("migrate", "p.plan", cwd=workspace).returncode
    said = fdc("lint", "p.plan", cwd=workspace).stdout
    assert "convert the plan with" not in said and "cannot do it: line 5" in said
    (workspace / "p.plan").write_text(text.format("message_user hello"))
    assert 0 == fdc("migrate", "p.plan", cwd=workspace).returncode
    assert "convert the plan with `fdc migrate`" in fdc("lint", "p.plan", cwd=workspace).stdout
