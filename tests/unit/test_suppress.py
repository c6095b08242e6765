"""Suppressions: a comment with a code and a reason silences one finding, and says so where it silences none (issue 2)."""

from __future__ import annotations

import pytest
from fdc_toolchain.resolve.settings import Settings
from fdc_toolchain.syntax.suppress import NEVER
from fdc_toolchain.text.codes import CODES
from fdc_toolchain.text.edits import apply

from tests.support.linting import findings, lint, places

HEAD = "set_plan\n"


def found(text: str, **more: str) -> list[tuple[str, int, str]]:
    files = {"a.plan": text, **{name.replace("_", "."): body for name, body in more.items()}}
    return places(lint(files, "a.plan"))


def test_a_comment_is_about_the_next_statement():
    assert found("read_file a\n") == [("a.plan", 1, "FDC411")]
    assert found("# fdc: ignore[FDC411] made by hand\nread_file a\n") == []
    assert found("# fdc: ignore[missing-file] made by hand\nread_file a\n") == []
    assert found("#fdc:ignore[FDC411] made by hand\nread_file a\n") == []
    assert found("# fdc: ignore[FDC411] made by hand\n\n# more words\n\nread_file a\n") == []
    assert found("# fdc: ignore[FDC411] made by hand\nread_file a\nread_file b\n") == [("a.plan", 3, "FDC411")]


def test_several_codes_and_several_comments_add_up():
    bad = "x <- read_file a\n"
    assert sorted(code for _, _, code in found(bad)) == ["FDC313", "FDC411"]
    assert found(f"# fdc: ignore[FDC411, FDC313] both\n{bad}") == []
    assert found(f"# fdc: ignore[FDC411] one\n# fdc: ignore[unused-name] two\n{bad}") == []


def test_a_comment_inside_a_body_is_about_the_next_statement_there():
    text = "for_each_file *\n  # fdc: ignore[FDC411] made by hand\n  read_file a\n  read_file b\n"
    assert found(text) == [("a.plan", 4, "FDC411")]


def test_a_finding_in_a_text_block_belongs_to_its_step():
    text = "create_file_with_block n.md\n  hello {nobody}\n  and {nobody}\nread_file n.md\n"
    assert found(text) == [("a.plan", 2, "FDC316"), ("a.plan", 3, "FDC316")]
    assert found("# fdc: ignore[FDC316] a template for others\n" + text) == []


def test_the_same_words_in_a_text_block_are_text():
    text = "create_file_with_block n.md\n  # fdc: ignore[FDC411] x\nread_file n.md\nread_file a\n"
    assert found(text) == [("a.plan", 4, "FDC411")]


def test_a_whole_file_is_silenced_from_anywhere_in_it():
    text = "read_file a\n# fdc: ignore-file[FDC411] generated\nread_file b\n"
    assert found(text) == []
    assert found(text + "nonsense\n") == [("a.plan", 4, "FDC301")]


def test_what_is_found_at_a_call_is_silenced_there():
    assert found("call_plan b.plan\n", b_plan="read_file a\n") == [("a.plan", 1, "FDC411")]
    assert found("# fdc: ignore[FDC411] made by hand\ncall_plan b.plan\n", b_plan="read_file a\n") == []


def test_a_comment_says_nothing_about_other_files():
    text = "# fdc: ignore-file[FDC301] x\nnonsense\ncall_plan b.plan\n"
    assert found(text, b_plan="nonsense\n") == [("b.plan", 1, "FDC301")]


def test_one_that_silences_nothing_is_a_finding_with_a_fix():
    text = "# fdc: ignore[FDC411] no longer\nset_plan\n"
    [item] = findings(lint(text))
    assert (item.code, item.severity, item.span.line) == ("FDC114", "warning", 1)
    assert item.fix is not None
    assert item.fix.safe
    assert apply(text, [item.fix])[0] == "set_plan\n"
    assert found("set_plan\n# fdc: ignore[FDC411] at the end\n") == [("a.plan", 2, "FDC114")]
    assert found("# fdc: ignore-file[FDC411] x\nset_plan\n") == [("a.plan", 1, "FDC114")]


def test_of_several_codes_the_idle_ones_are_told():
    [item] = findings(lint("# fdc: ignore[FDC411, FDC313] both\nread_file a\n"))
    assert (item.code, item.message) == ("FDC114", "nothing to suppress: there is no FDC313 here")


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# fdc: ignore[FDC411]", "the suppression gives no reason"),
        ("# fdc: ignore[FDC999] x", "`FDC999` is no code and no rule"),
        ("# fdc: ignore[mising-file] x", "`mising-file` is no code and no rule"),
        ("# fdc: ignore[] x", "the suppression names no code"),
        ("# fdc: ignore FDC411 x", "is no suppression; expected `# fdc: ignore[CODE] reason`"),
        ("# fdc: ignroe[FDC411] x", "is no suppression; expected `# fdc: ignore[CODE] reason`"),
    ],
)
def test_a_malformed_one_is_an_error_at_its_place(comment: str, message: str):
    [item] = findings(lint(f"set_plan\n{comment}\nset_plan\n"), "FDC115")
    assert (item.span.line, item.span.column) == (2, 1)
    assert message in item.message


def test_a_misspelt_rule_is_met_with_the_one_that_was_meant():
    [item] = findings(lint("# fdc: ignore[mising-file] x\nset_plan\n"))
    assert item.help == "did you mean `missing-file`?"


def test_without_a_reason_the_finding_is_silenced_and_the_comment_reported():
    """One flaw, one finding: who forgot the reason did mean the code."""
    assert found("# fdc: ignore[FDC411]\nread_file a\n") == [("a.plan", 1, "FDC115")]


@pytest.mark.parametrize("code", NEVER)
def test_what_guards_the_guard_cannot_be_silenced(code: str):
    text = f"# fdc: ignore-file[{code}] please\n"
    if code == "FDC106":
        assert ("a.plan", 1, "FDC114") in found(text + HEAD)
    else:
        bad = {"FDC114": "# fdc: ignore[FDC411] idle\n", "FDC115": "# fdc: ignore[nobody] x\n"}[code]
        assert ("a.plan", 2, code) in found(text + bad + HEAD)


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_and_every_rule_name_is_known_to_the_comment(code: str):
    for name in (code, CODES[code].name):
        assert not findings(lint(f"# fdc: ignore[{name}] x\nset_plan\n"), "FDC115")


def test_a_suppression_of_what_only_a_whole_run_shows_is_not_idle_where_the_plan_is_a_part():
    """Linted with its caller a sub-plan is no run of its own: whether the comment is needed is not known there."""
    files = {"b.plan": "# fdc: ignore[FDC411] the caller makes it\nread_file a\n"}
    assert not places(lint(files, "b.plan"))
    assert not places(lint({**files, "a.plan": "create_file_with_block a\nread_file a\ncall_plan b.plan\n"}, "a.plan"))


def test_settings_that_ignore_a_code_do_not_make_its_suppressions_idle():
    checked = lint("# fdc: ignore[FDC411] x\nread_file a\n", settings=Settings(fsm="any.json", ignore=("FDC411",)))
    assert places(checked) == []
