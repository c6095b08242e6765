"""What a plan says from the habit of shells and of other agents, and what it is told to write instead."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.linking.project.settings import Settings

from tests.support.linting import findings, lint

HEAD = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete y\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bash make test", "`run_in_bash_session` does that"),
        ("Read README.md", "`read_file` does that"),
        # near by its letters to `read_file`, which is not what is meant
        ("create_file page.md", "`create_file_with_block` does that"),
        ("edit_file page.md", "`replace_with_git_merge_diff` does that"),
        ("git commit -m x", "the tool for `git commit` is `git_commit`"),
        ("git status", "`run_in_bash_session git ...`"),
        ("git", "`run_in_bash_session git ...`"),
        ("pytest -q", "`run_in_bash_session pytest ...`"),
        ("read = x", "a name is bound to a step's result"),
        ("read_fil x", "did you mean `read_file`?"),
        ("call frobnicate x=y", "`call_plan NAME key=value`"),
        ("frobnicate x", "`fdc tools` lists the tools"),
    ],
)
def test_an_unknown_tool_is_answered_with_the_tool_that_is_meant(line: str, told: str) -> None:
    [found] = findings(lint(f"{HEAD}{line}\n"), "FDC301")
    assert told in (found.help or "")
    assert (found.fix is not None) == told.startswith("did you mean")


@pytest.mark.parametrize(
    ("lines", "code", "told"),
    [
        ('git_commit -m "x y"\n', "FDC303", "`git_commit x y`"),
        ('message_user --text="x"\n', "FDC303", "`message_user x`"),
        ("a <- list_files\nmessage_user $a\n", "FDC313", "`{a}`; `$a` in line 5 is text"),
        ("a <- list_files\nmessage_user $ab\n", "FDC313", "remove it"),
        ("a <- list_files\nfor x in $a max 3\n  submit\n", "FDC481", "a value is written `{a}`"),
        ("a <- list_files\nfor x in {a}:\n  submit\n", "FDC481", "the line without the colon"),
        ("for_each_file *.md\n  read_file $file1\n", "FDC411", "a value is written `{file1}`"),
        ("if $a.b == 1\n  submit\n", "FDC109", "without `$`"),
        ('grep {"pattern": "x"}\n', "FDC109", "not written as JSON"),
        ('grep [{"pattern": "x"}]\n', "FDC109", "not written as JSON"),
        ('grep a"b\n', "FDC109", "inside a word"),
        ('a <- list_files\ngrep {a}"b"\n', "FDC109", "inside a word"),
        ("a <- grep x\nfor b in {a} max 9\n  read_file {b}\n", "FDC481", "with `b.line`, `b.path`"),
        ("read_file README.md\nsubmit\n", "FDC401", "close_op (`close_task`)"),
        ("read_file README.md\nsubmit\n", "FDC401", "read_op (`read_file`, ...)"),
    ],
)
def test_a_habit_is_answered_with_the_form_that_this_language_has(
    lines: str, code: str, told: str
) -> None:
    assert any(
        told in f"{found.message} {found.help}" for found in findings(lint(HEAD + lines), code)
    )


@pytest.mark.parametrize(
    "lost", ["a <- bash x", "a <- read_file(x)", "a = read_file x", "a := read_file x"]
)
def test_a_name_that_a_line_left_out_binds_is_reported_once(lost: str) -> None:
    """One flaw gives one finding: the line, and none of the places that use what it would have bound."""
    assert [] == findings(lint(f"{HEAD}{lost}\nmessage_user {{a}}\n"), "FDC311")
    assert findings(lint(f"{HEAD}{lost}\nmessage_user {{b}}\n"), "FDC311")


def test_what_a_text_block_shows_binds_nothing() -> None:
    text = f"{HEAD}message_user\n    a <- bash x\nbash y\nmessage_user {{a}}\n"
    assert 1 == len(findings(lint(text), "FDC311"))


def test_a_plan_with_an_allow_line_is_told_to_add_another() -> None:
    [found] = findings(lint("allow write out/**\nread_file README.md\n"), "FDC451")
    assert "add it above the first step" in (found.help or "")


@pytest.mark.parametrize("later", [True, False])
def test_a_write_is_to_be_looked_at_where_the_automaton_ever_lets_a_look_follow(
    later: bool,
) -> None:
    after = {"read_op": "L", "step_op": "L"} if later else {"step_op": "L"}
    rows = {"W": {"write_op": "M"}, "M": {"step_op": "L"}, "L": after}
    automaton = {
        "states": ["W", "M", "L"], "start_state": "W", "accept_states": ["M", "L"], "transitions": rows,
        "alphabet": ["write_op", "step_op", "read_op"],
    }  # fmt: skip
    plan = "create_file_with_block a.md\n  x\nplan_step_complete b\n"
    files = {"a.plan": plan, "f.json": json.dumps(automaton)}
    checked = lint(files, settings=Settings(fsm="f.json"))
    assert [item.code for item in findings(checked)] == (["FDC441"] if later else [])
