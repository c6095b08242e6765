"""Where text comes from and what it may choose: one plan for each thing that is said (security.md 8, T-rows of section 7)."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import findings, lint, places

HEAD = "# FSM: any.json\n"
WEB = HEAD + "page <- view_text_website https://example.org/\n"
THERE = ("a.txt", "b.txt", "docs/c.md")


def found(plan: str, **files: str) -> list[tuple[str, int, str]]:
    checked = lint({"a.plan": plan, **{f"{name}.plan": text for name, text in files.items()}}, "a.plan", there=THERE)
    return places(checked, "FDC471", "FDC472", "FDC473")


@pytest.mark.parametrize(
    "step",
    [
        "run_in_bash_session echo {page}",
        "read_file {page}",
        "grep tea {page}",
        "view_text_website {page}",
        "submit {page}",
        "overwrite_file_with_block {page}\n  text",
        "for_each_file {page}\n  message_user {file1}",
    ],
)
def test_text_from_outside_chooses_nothing(step: str) -> None:
    assert found(WEB + step + "\n") == [("a.plan", 3, "FDC471")]


@pytest.mark.parametrize(
    "step",
    [
        "message_user {page}",
        "overwrite_file_with_block notes.md\n  {page}",
        "google_search {page}",
        "answer <- request_user_input Run it? {page}\nrun_in_bash_session {answer}",
        "require page else \"it is empty\"\nrun_in_bash_session ls",
        "if page == \"\"\n  read_file a.txt\n  overwrite_file_with_block {run}/seen\n    text\n  message_user it is empty",
    ],
)
def test_what_only_reads_or_tells_is_free(step: str) -> None:
    assert found(WEB + step + "\n") == []


@pytest.mark.parametrize(
    "step",
    ["run_in_bash_session ls", "submit done", "overwrite_file_with_block notes.md\n    text", "delete_file a.txt", "reset_all"],
)
def test_text_from_outside_decides_nothing_that_is_done(step: str) -> None:
    assert found(WEB + f'if "x" in page\n  {step}\n') == [("a.plan", 4, "FDC472")]


def test_a_list_from_outside_decides_how_often() -> None:
    plan = HEAD + "hits <- google_search tea\nfor hit in {hits} max 3\n  run_in_bash_session ls\n"
    assert found(plan) == [("a.plan", 4, "FDC472")]


def test_what_a_branch_binds_is_chosen_by_its_condition() -> None:
    branches = 'if "x" in page\n  name <- plan_step_complete a.txt\nelse\n  name <- plan_step_complete b.txt\n'
    plan = WEB + branches + "read_file {name}\n"
    assert found(plan) == [("a.plan", 7, "FDC471")]


def test_a_declared_number_says_nothing() -> None:
    plan = HEAD + "x <- run_in_bash_session ls\npage <- view_text_website https://e/\n"
    assert found(plan + "run_in_bash_session exit {x.exit_code}\n") == []
    assert found(HEAD + "s <- scan_documents docs/**\nread_file {s.lines}\n") == []


def test_text_of_the_workspace_is_an_argument_and_never_the_command() -> None:
    plan = HEAD + "name <- read_file a.txt\nrun_in_bash_session cat {name}\nread_file {name}\n"
    assert found(plan) == []
    assert found(HEAD + "name <- read_file a.txt\nrun_in_bash_session {name} b\n") == [("a.plan", 3, "FDC471")]


def test_a_parameter_is_text_of_the_command_so_its_caller_must_vouch_for_it() -> None:
    """The finding stands where the text is handed over; the place where it chooses is shown with it."""
    sub = "param command\nrun_in_bash_session {command} x\n"
    files = {"a.plan": HEAD + "name <- read_file a.txt\ncall_plan sub.plan command={name}\n", "sub.plan": sub}
    (item,) = findings(lint(files, "a.plan", there=THERE), "FDC471")
    assert item.span.line == 3
    assert [label.span.path for label in item.labels] == ["a.plan", "sub.plan"]
    assert found(HEAD + "call_plan sub.plan command=ls\n", sub=sub) == []


def test_a_parameter_elsewhere_in_a_command_is_data_and_may_be_of_the_workspace() -> None:
    plan = HEAD + "name <- read_file a.txt\ncall_plan sub.plan what={name}\n"
    assert found(plan, sub='param what\nrun_in_bash_session grep "{what}" a.txt\n') == []
    outside = plan.replace("read_file a.txt", "view_text_website https://e/")
    assert found(outside, sub="param what\nrun_in_bash_session cat {what}\n") == [("a.plan", 3, "FDC471")]
    assert found(plan, sub='param what\nrun_in_bash_session sh -c "{what}"\n') == [("a.plan", 3, "FDC471")]


def test_it_is_followed_through_three_plans_and_back() -> None:
    deep = "param what\nyield {what}\n"
    middle = "param p\nx <- call_plan deep.plan what={p}\nyield {x}\n"
    plan = WEB + "got <- call_plan middle.plan p={page}\nread_file {got}\n"
    assert found(plan, middle=middle, deep=deep) == [("a.plan", 4, "FDC471")]


def test_a_plan_called_in_a_branch_is_chosen_by_it() -> None:
    plan = WEB + 'if "x" in page\n  call_plan sub.plan\n'
    assert found(plan, sub="run_in_bash_session ls\n") == [("a.plan", 4, "FDC472")]
    assert found(plan, sub="read_file a.txt\n") == []


@pytest.mark.parametrize(
    ("written", "read", "line"),
    [
        ("notes.md", "notes.md", True),
        ("notes.md", "a.txt", False),
        ("{run}/page.md", "{run}/page.md", True),
        ("{run}/page.md", "{run}/other.txt", False),
        ("docs/x/../page.md", "docs/page.md", True),
    ],
)
def test_files_are_remembered_by_their_paths(written: str, read: str, line: bool) -> None:
    plan = WEB + f"overwrite_file_with_block {written}\n  {{page}}\nname <- read_file {read}\nview_text_website {{name}}\n"
    assert found(plan) == ([("a.plan", 6, "FDC471")] if line else [])


def test_files_are_remembered_across_calls_in_both_directions() -> None:
    writes = "param p\noverwrite_file_with_block notes.md\n  {p}\n"
    plan = WEB + "call_plan sub.plan p={page}\nname <- read_file notes.md\nread_file {name}\n"
    assert found(plan, sub=writes) == [("a.plan", 5, "FDC471")]
    reads = "name <- read_file notes.md\nread_file {name}\n"
    plan = WEB + "overwrite_file_with_block notes.md\n  {page}\ncall_plan sub.plan\n"
    assert found(plan, sub=reads) == [("a.plan", 5, "FDC471")]


def test_a_command_may_carry_it_from_file_to_file() -> None:
    plan = WEB + "overwrite_file_with_block x.md\n  {page}\nrun_in_bash_session cp x.md y.md\n"
    assert found(plan + "name <- read_file y.md\nread_file {name}\n") == [("a.plan", 7, "FDC471")]


def test_a_loop_is_gone_round_until_nothing_changes() -> None:
    """Seven turns carry it from the last file to the first."""
    body = "".join(f"  t{n} <- read_file f{n}\n  overwrite_file_with_block f{n + 1}\n    {{t{n}}}\n" for n in range(7))
    lines = WEB + "overwrite_file_with_block f0\n  {page}\niterate max 9\n" + body
    plan = lines + "last <- read_file f7\nread_file {last}\n"
    assert [code for _, _, code in found(plan)] == ["FDC471"]


def test_a_model_that_was_shown_a_page_speaks_for_the_page() -> None:
    tools = {
        "format": 1, "name": "t", "tools": {
            "think": {"summary": "think", "action": None, "effect": "read", "trust": "model", "result": "text",
                      "parameters": [{"name": "about", "kind": "rest"}]},
            "check_address": {"summary": "check", "action": None, "effect": "pure", "trust": "trusted", "clears": ["url"],
                              "result": "text", "parameters": [{"name": "address", "kind": "word"}]},
        }}  # fmt: skip
    from fdc_toolchain.resolve.settings import Settings

    def found(plan: str) -> list[tuple[str, int, str]]:
        files = {"a.plan": plan, "t.json": json.dumps(tools)}
        settings = Settings(fsm="any.json", catalogues=("t.json",))
        return places(lint(files, "a.plan", there=THERE, settings=settings), "FDC471", "FDC472")

    assert found(HEAD + "x <- think tea\nsubmit {x}\n") == []
    assert found(HEAD + "x <- think tea\nrun_in_bash_session echo {x}\n") == [("a.plan", 3, "FDC471")]
    assert found(WEB + "x <- think {page}\nsubmit {x}\n") == [("a.plan", 4, "FDC471")]
    cleared = WEB + "x <- check_address {page}\nview_text_website {x}\n"
    assert found(cleared) == []
    assert found(cleared + "read_file {x}\n") == [("a.plan", 5, "FDC471")]


def test_data_where_the_shell_reads_code_is_refused_at_its_place() -> None:
    plan = HEAD + 'for_each_file docs/*.md as f\n  run_in_bash_session bash -c "cat {f}"\n'
    checked = lint({"a.plan": plan}, there=THERE)
    (item,) = findings(checked, "FDC473")
    assert (item.span.line, item.span.column) == (3, 36)
    assert not findings(lint({"a.plan": plan.replace("bash -c ", "cat ")}, there=THERE), "FDC473")


def test_files_of_others_are_named_in_the_settings() -> None:
    """What a workspace keeps of pages, mails or issues is text from outside, whoever wrote it there."""
    from fdc_toolchain.resolve.settings import Settings

    def found(step: str) -> list[int]:
        plan = HEAD + f"text <- {step}\nread_file {{text}}\n"
        settings = Settings(fsm="any.json", untrusted=("mail/**", "docs/*.html", "b.txt"))
        checked = lint({"a.plan": plan}, there=("a.txt", "b.txt", "mail/x.txt", "docs/x.html", "docs/x.md"), settings=settings)
        return [item.span.line for item in findings(checked, "FDC471")]

    for name in ("read_file mail/x.txt", "read_file b.txt", "read_file docs/x.html", "grep tea **", "run_in_bash_session ls"):
        assert found(name) == [3], name
    for name in ("read_file a.txt", "read_file docs/x.md", "grep tea src/**"):
        assert found(name) == [], name
