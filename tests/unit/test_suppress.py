"""Suppressions: a comment with a code and a reason silences one finding, and says so where it silences none (issue 2)."""

from __future__ import annotations

import pytest
from fdc_toolchain.diagnostics.codes import CODES, silenced_by_text
from fdc_toolchain.diagnostics.edits import apply
from fdc_toolchain.linking.project.settings import Allowed, Settings
from fdc_toolchain.syntax.suppressions import OWN

from tests.support.linting import findings, lint, places

HEAD = "set_plan\n"


def found(text: str, **more: str) -> list[tuple[str, int, str]]:
    files = {"a.plan": text, **{name.replace("_", "."): body for name, body in more.items()}}
    return places(lint(files, "a.plan"))


def test_a_comment_is_about_the_next_statement():
    assert found("a <- list_files\n") == [("a.plan", 1, "FDC313")]
    assert found("# fdc: ignore[FDC313] made by hand\na <- list_files\n") == []
    assert found("# fdc: ignore[unused-name] made by hand\na <- list_files\n") == []
    assert found("#fdc:ignore[FDC313] made by hand\na <- list_files\n") == []
    assert found("# fdc: ignore[FDC313] made by hand\n\n# more words\n\na <- list_files\n") == []
    assert found("# fdc: ignore[FDC313] made by hand\na <- list_files\nb <- list_files\n") == [
        ("a.plan", 3, "FDC313")
    ]


def test_several_codes_and_several_comments_add_up():
    bad = "x <- create_file_with_block n.md\n  text\n"
    assert sorted(code for _, _, code in found(bad)) == ["FDC313", "FDC441"]
    assert found(f"# fdc: ignore[FDC441, FDC313] both\n{bad}") == []
    assert found(f"# fdc: ignore[FDC441] one\n# fdc: ignore[unused-name] two\n{bad}") == []


def test_a_comment_inside_a_body_is_about_the_next_statement_there():
    text = "for_each_file *\n  # fdc: ignore[FDC313] made by hand\n  a <- list_files\n  b <- list_files\n"
    assert found(text) == [("a.plan", 4, "FDC313")]


def test_a_finding_in_a_text_block_belongs_to_its_step():
    text = "create_file_with_block n.md\n  hello {nobody}\n  and {nobody}\nread_file n.md\n"
    assert found(text) == [("a.plan", 2, "FDC316"), ("a.plan", 3, "FDC316")]
    assert found("# fdc: ignore[FDC316] a template for others\n" + text) == []


def test_the_same_words_in_a_text_block_are_text():
    text = (
        "create_file_with_block n.md\n  # fdc: ignore[FDC313] x\nread_file n.md\na <- list_files\n"
    )
    assert found(text) == [("a.plan", 4, "FDC313")]


def test_a_whole_file_is_silenced_from_anywhere_in_it():
    text = "a <- list_files\n# fdc: ignore-file[FDC313] generated\nb <- list_files\n"
    assert found(text) == []
    assert found(text + "nonsense\n") == [("a.plan", 4, "FDC301")]


def test_a_comment_says_nothing_about_other_files():
    text = "# fdc: ignore-file[FDC313] x\na <- list_files\ncall_plan b.plan\n"
    assert found(text, b_plan="a <- list_files\n") == [("b.plan", 1, "FDC313")]


def test_one_that_silences_nothing_is_a_finding_with_a_fix():
    text = "# fdc: ignore[FDC313] no longer\nset_plan\n"
    [item] = findings(lint(text))
    assert (item.code, item.severity, item.span.line) == ("FDC114", "warning", 1)
    assert item.fix is not None
    assert item.fix.safe
    assert apply(text, [item.fix])[0] == "set_plan\n"
    assert found("set_plan\n# fdc: ignore[FDC313] at the end\n") == [("a.plan", 2, "FDC114")]
    assert found("# fdc: ignore-file[FDC313] x\nset_plan\n") == [("a.plan", 1, "FDC114")]


def test_of_several_codes_the_idle_ones_are_told():
    [item] = findings(lint("# fdc: ignore[FDC441, FDC313] both\na <- list_files\n"))
    assert (item.code, item.message) == ("FDC114", "nothing to suppress: no FDC441 was found here")


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# fdc: ignore[FDC313]", "the suppression gives no reason"),
        ("# fdc: ignore[FDC999] x", "`FDC999` is neither a code nor the name of a rule"),
        ("# fdc: ignore[unusd-name] x", "`unusd-name` is neither a code nor the name of a rule"),
        ("# fdc: ignore[] x", "the suppression names no code"),
        ("# fdc: ignore FDC313 x", "is not a suppression; expected `# fdc: ignore[CODE] reason`"),
        ("# fdc: ignroe[FDC313] x", "is not a suppression; expected `# fdc: ignore[CODE] reason`"),
    ],
)
def test_a_malformed_one_is_an_error_at_its_place(comment: str, message: str):
    [item] = findings(lint(f"set_plan\n{comment}\nset_plan\n"), "FDC115")
    assert (item.span.line, item.span.column) == (2, 1)
    assert message in item.message


def test_a_misspelt_rule_is_met_with_the_one_that_was_meant():
    [item] = findings(lint("# fdc: ignore[unusd-name] x\nset_plan\n"))
    assert item.help == "did you mean `unused-name`?"


def test_without_a_reason_the_finding_is_silenced_and_the_comment_reported():
    """One flaw, one finding: who forgot the reason did mean the code."""
    assert found("# fdc: ignore[FDC313]\na <- list_files\n") == [("a.plan", 1, "FDC115")]


@pytest.mark.parametrize("code", OWN)
def test_what_guards_the_guard_cannot_be_silenced(code: str):
    text = f"# fdc: ignore-file[{code}] please\n"
    bad = {"FDC114": "# fdc: ignore[FDC313] idle\n", "FDC115": "# fdc: ignore[nobody] x\n"}[code]
    assert ("a.plan", 2, code) in found(text + bad + HEAD)


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_comment_may_name_a_warning_by_code_or_name_and_no_error(code: str):
    for name in (code, CODES[code].name):
        told = findings(lint(f"# fdc: ignore[{name}] x\nset_plan\n"), "FDC115")
        assert (not told) is silenced_by_text(code)
        for item in told:
            assert (
                item.message
                == f"no comment silences {code} ({CODES[code].name}); only warnings can be silenced"
            )


ERRORS = [
    ("read_file gone\n", "FDC411"),
    ("nonsense\n", "FDC301"),
    ("x <- view_text_website https://example.org\nrun_in_bash_session eval {x}\n", "FDC471"),
    ("x <- view_text_website https://example.org\nrun_in_bash_session eval {x}\n", "FDC473"),
]


@pytest.mark.parametrize(("text", "code"), ERRORS)
def test_no_comment_silences_an_error(text: str, code: str):
    """A1: a plan must not switch its own proof off."""
    for mark in (f"# fdc: ignore[{code}] it is fine\n", f"# fdc: ignore-file[{code}] it is fine\n"):
        codes = [item.code for item in lint(mark + text).diagnostics]
        assert code in codes and "FDC115" in codes


@pytest.mark.parametrize(("text", "code"), ERRORS)
def test_no_setting_of_a_clone_silences_an_error(text: str, code: str):
    """A22: `allow` counts after a confirmation on this machine only, and for safety errors only."""
    for settings in (
        Settings(fsm="any.json", ignore=(code,), per_file_ignores=(("**", (code,)),)),
        Settings(fsm="any.json", allow=(Allowed(code, "**", "it is fine"),)),
    ):
        assert findings(lint(text, settings=settings), code)


def test_a_confirmed_allowance_is_an_assumption_and_nobody_allows_a_soundness_error():
    text = "x <- view_text_website https://example.org\nrun_in_bash_session eval {x}\nnonsense\n"
    allow = tuple(Allowed(code, "a.*", "it is fine") for code in ("FDC471", "FDC473", "FDC301"))
    checked = lint(text, settings=Settings(fsm="any.json", allow=allow, trusted=True))
    assert {item.code for item in checked.diagnostics} == {"FDC301"}
    assert {item.code for item in checked.assumptions} >= {"FDC712"}
    elsewhere = lint({"b.plan": text}, settings=Settings(fsm="any.json", allow=allow, trusted=True))
    assert {"FDC471", "FDC473", "FDC301"} <= {item.code for item in elsewhere.diagnostics}


def test_settings_can_deny_assumptions():
    text = "x <- view_text_website https://example.org\nrun_in_bash_session echo {x}\n"
    settings = Settings(
        fsm="any.json",
        allow=(Allowed("FDC471", "**", "fine"),),
        trusted=True,
        assumptions=("allowed-error",),
    )
    [item] = findings(lint(text, settings=settings), "FDC712")
    assert item.severity == "error"


def test_settings_that_ignore_a_code_do_not_make_its_suppressions_idle():
    checked = lint(
        "# fdc: ignore[FDC313] x\na <- list_files\n",
        settings=Settings(fsm="any.json", ignore=("FDC313",)),
    )
    assert places(checked) == []
