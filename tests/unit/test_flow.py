"""Where text comes from and what it may choose: one plan for each thing that is said (security.md 8, T-rows of section 7)."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.linking.catalogue import catalogues, document
from fdc_toolchain.linking.project.settings import Settings

from tests.support.linting import findings, lint, places

HEAD = "# FSM: any.json\n"
WEB = HEAD + "page <- view_text_website https://example.org/\n"
THERE = ("a.txt", "b.txt", "docs/c.md")


def found(plan: str, **files: str) -> list[tuple[str, int, str]]:
    checked = lint(
        {"a.plan": plan, **{f"{name}.plan": text for name, text in files.items()}},
        "a.plan",
        there=THERE,
    )
    return places(checked, "FDC471", "FDC472", "FDC473", "FDC474")


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
        'require page else "it is empty"\nrun_in_bash_session ls',
        'if page == ""\n  read_file a.txt\n  overwrite_file_with_block {run}/seen\n    text\n  message_user it is empty',
    ],
)
def test_what_only_reads_or_tells_is_free(step: str) -> None:
    assert found(WEB + step + "\n") == []


@pytest.mark.parametrize(
    "step",
    [
        "run_in_bash_session ls",
        "submit done",
        "overwrite_file_with_block notes.md\n    text",
        "delete_file a.txt",
        "reset_all",
    ],
)
def test_text_from_outside_decides_nothing_that_is_done(step: str) -> None:
    assert found(WEB + f'if "x" in page\n  {step}\n') == [("a.plan", 4, "FDC472")]


APPROVAL = "record_user_approval_for_plan delete a.txt\n"


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        (f'if not ("safe" in page)\n  {APPROVAL}delete_file a.txt\n', 4),
        (f'if "safe" in page\n  message_user fine\nelse\n  {APPROVAL}delete_file a.txt\n', 6),
        (f'iterate max 2 until "safe" in page\n  {APPROVAL}', 4),
        ('if not ("safe" in page)\n  call_plan ask.plan\ndelete_file a.txt\n', 4),
    ],
)
def test_text_from_outside_does_not_decide_whether_a_person_is_asked_for_an_approval(
    plan: str, line: int
) -> None:
    """Finding B11: a page that says `safe` had a.txt deleted without a question, and the plan was clean."""
    assert found(WEB + plan, ask=APPROVAL) == [("a.plan", line, "FDC472")]


def test_an_approval_that_a_page_cannot_avoid_is_clean() -> None:
    assert found(WEB + APPROVAL + "delete_file a.txt\n") == []
    assert found(WEB + f'require "tea" in page else "no"\n{APPROVAL}delete_file a.txt\n') == []
    assert found(HEAD + f'x <- read_file a.txt\nif "tea" in x\n  {APPROVAL}') == []


def test_a_list_from_outside_decides_how_often() -> None:
    plan = HEAD + "hits <- google_search tea\nfor hit in {hits} max 3\n  run_in_bash_session ls\n"
    assert found(plan) == [("a.plan", 4, "FDC472")]


def test_what_a_branch_binds_is_chosen_by_its_condition() -> None:
    branches = 'if "x" in page\n  name <- plan_step_complete a.txt\nelse\n  name <- plan_step_complete b.txt\n'
    plan = WEB + branches + "read_file {name}\n"
    assert found(plan) == [("a.plan", 7, "FDC471")]


def test_text_of_the_workspace_is_an_argument_and_never_the_command() -> None:
    plan = HEAD + "name <- read_file a.txt\nrun_in_bash_session cat {name}\nread_file {name}\n"
    assert found(plan) == []
    assert found(HEAD + "name <- read_file a.txt\nrun_in_bash_session {name} b\n") == [
        ("a.plan", 3, "FDC471")
    ]


def test_a_parameter_is_text_of_the_command_so_its_caller_must_vouch_for_it() -> None:
    """The finding stands where the text is handed over; the place where it chooses is shown with it."""
    sub = "param command\nrun_in_bash_session {command} x\n"
    files = {
        "a.plan": HEAD + "name <- read_file a.txt\ncall_plan sub.plan command={name}\n",
        "sub.plan": sub,
    }
    (item,) = findings(lint(files, "a.plan", there=THERE), "FDC471")
    assert item.span.line == 3
    assert [label.span.path for label in item.labels] == ["a.plan", "sub.plan"]
    assert found(HEAD + "call_plan sub.plan command=ls\n", sub=sub) == []


def test_a_parameter_elsewhere_in_a_command_is_data_and_may_be_of_the_workspace() -> None:
    plan = HEAD + "name <- read_file a.txt\ncall_plan sub.plan what={name}\n"
    assert found(plan, sub='param what\nrun_in_bash_session grep "{what}" a.txt\n') == []
    outside = plan.replace("read_file a.txt", "view_text_website https://e/")
    assert found(outside, sub="param what\nrun_in_bash_session cat {what}\n") == [
        ("a.plan", 3, "FDC471")
    ]
    assert found(plan, sub='param what\nrun_in_bash_session sh -c "{what}"\n') == [
        ("a.plan", 3, "FDC471")
    ]


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
    plan = (
        WEB
        + f"overwrite_file_with_block {written}\n  {{page}}\nname <- read_file {read}\nview_text_website {{name}}\n"
    )
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
    assert found(plan + "name <- read_file y.md\nread_file {name}\n") == [
        ("a.plan", 5, "FDC474"),
        ("a.plan", 7, "FDC471"),
    ]


def test_a_loop_is_gone_round_until_nothing_changes() -> None:
    """Seven turns carry it from the last file to the first."""
    body = "".join(
        f"  t{n} <- read_file f{n}\n  overwrite_file_with_block f{n + 1}\n    {{t{n}}}\n"
        for n in range(7)
    )
    lines = WEB + "overwrite_file_with_block f0\n  {page}\niterate max 9\n" + body
    plan = lines + "last <- read_file f7\nread_file {last}\n"
    assert [code for _, _, code in found(plan)] == ["FDC471"]


def test_a_model_that_was_shown_a_page_speaks_for_the_page() -> None:
    tools = {
        "format": 1, "name": "t", "tools": {
            "think": {"summary": "think", "action": None, "effect": "read", "trust": "model", "result": "text",
                      "parameters": [{"name": "about", "kind": "rest", "sink": "data"}]},
            "check_address": {"summary": "check", "action": None, "effect": "pure", "trust": "trusted", "clears": ["url"],
                              "result": "text", "parameters": [{"name": "address", "kind": "word"}]},
        }}  # fmt: skip

    def found(plan: str) -> list[tuple[str, int, str]]:
        files = {"a.plan": plan, "t.json": json.dumps(tools)}
        settings = Settings(fsm="any.json", catalogues=("t.json",))
        return places(lint(files, "a.plan", there=THERE, settings=settings), "FDC471", "FDC472")

    assert found(HEAD + "x <- think tea\nsubmit {x}\n") == []
    assert found(HEAD + "x <- think tea\nrun_in_bash_session echo {x}\n") == [
        ("a.plan", 3, "FDC471")
    ]
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
    """What a workspace keeps of pages, mails or issues is text from outside, its author there."""

    def found(step: str) -> list[int]:
        plan = HEAD + f"text <- {step}\nread_file {{text}}\n"
        settings = Settings(fsm="any.json", untrusted=("mail/**", "docs/*.html", "b.txt"))
        checked = lint(
            {"a.plan": plan},
            there=("a.txt", "b.txt", "mail/x.txt", "docs/x.html", "docs/x.md"),
            settings=settings,
        )
        return [item.span.line for item in findings(checked, "FDC471")]

    for name in (
        "read_file mail/x.txt",
        "read_file b.txt",
        "read_file docs/x.html",
        "grep tea **",
        "run_in_bash_session ls",
    ):
        assert found(name) == [3], name
    for name in ("read_file a.txt", "read_file docs/x.md", "grep tea src/**"):
        assert found(name) == [], name


UNDER = 'if "A" in page\n  {change}\n'
CONDITIONAL = [
    (
        "overwrite_file_with_block {run}/f\n    text",
        "for_each_file {run}/*\n  view_text_website {file1}",
        "FDC471",
    ),
    (
        "overwrite_file_with_block {run}/f\n    text",
        "for_each_file {run}/*\n  submit yes",
        "FDC472",
    ),
    (
        "create_file_with_block {run}/f\n    text",
        "found <- list_files {run}\nsubmit {found}",
        "FDC471",
    ),
    (
        "delete_file {run}/f",
        "found <- list_files {run}/*\nif len(found) > 0\n  submit yes",
        "FDC472",
    ),
    ("rename_file {run}/f {run}/g", "found <- grep tea {run}/*\nsubmit {found}", "FDC471"),
    ("delete_file {run}/f", "found <- delete_file {run}/f\nsubmit {found}", "FDC471"),
    (
        "overwrite_file_with_block {run}/f\n    text",
        "done <- run_in_bash_session wc {run}/f\nsubmit {done.output}",
        "FDC471",
    ),
]


@pytest.mark.parametrize(("change", "look", "code"), CONDITIONAL)
def test_whether_a_file_is_there_is_chosen_by_the_condition_above_its_change(
    change: str, look: str, code: str
) -> None:
    """A5: by a glob, a listing, how many there are, what a search finds, what a command prints."""
    plan = WEB + UNDER.format(change=change)
    assert [item for _, _, item in found(plan + look + "\n")] == [code]
    assert found(plan + look.replace("{run}", "docs") + "\n") == []
    assert (
        found(HEAD + look + "\n" + plan.removeprefix(HEAD)) == []
    )  # the folder of a run is empty when it begins


def test_a_listing_of_everything_is_chosen_by_the_condition_above_any_change() -> None:
    change = UNDER.format(change="overwrite_file_with_block new.md\n    text")
    assert [
        code for _, _, code in found(WEB + change + "found <- list_files\nsubmit {found}\n")
    ] == ["FDC472", "FDC471"]
    kept = UNDER.format(change="overwrite_file_with_block {run}/f\n    text")
    assert [code for _, _, code in found(WEB + kept + "found <- list_files\nsubmit {found}\n")] == [
        "FDC471"
    ]


def test_who_chose_that_a_file_is_there_is_followed_through_calls() -> None:
    change = 'param p\nif "A" in p\n  overwrite_file_with_block {run}/f\n    text\n'
    look = "for_each_file {run}/*\n  submit yes\n"
    assert found(WEB + "call_plan sub.plan p={page}\n" + look, sub=change) == [
        ("a.plan", 5, "FDC472")
    ]
    above = (
        WEB
        + UNDER.format(change="overwrite_file_with_block {run}/f\n    text")
        + "call_plan sub.plan\n"
    )
    assert found(above, sub=look) == [("a.plan", 6, "FDC472")]


KEPT = (
    WEB
    + "parts <- list_files docs\nr <- fork part in {{parts}} max 9 keep failures\n  {ends}\n  {after}\n  yield {{part}}\n"
)
ENDS = [
    'require "A" in page else "no"', "grep {page} docs", "for one in {page} max 2\n    plan_step_complete",
    "call_plan sub.plan what={page}", "view_text_website https://e/",
]  # fmt: skip


@pytest.mark.parametrize("ends", ENDS)
def test_a_failure_that_is_kept_is_a_condition_for_what_follows(ends: str) -> None:
    """A21: in the branch, in a plan called there, in files, and in the list that the fork binds."""
    sub = 'param what\nrequire "A" in what else "no"\n'

    def codes(after: str, more: str = "") -> list[str]:
        plan = KEPT.format(ends=ends, after=after) + more
        return [code for _, _, code in found(plan, sub=sub, acts="submit yes\n")]

    assert codes("submit yes") == ["FDC472"]
    assert codes("call_plan acts.plan") == ["FDC472"]
    assert codes(
        "overwrite_file_with_block {run}/f\n    text", "for_each_file {run}/f\n  submit yes\n"
    ) == ["FDC472"]
    assert codes("plan_step_complete", "for one in {r} max 9\n  submit yes\n") == ["FDC472"]
    assert codes("plan_step_complete", "submit yes\n") == []
    assert (
        found(KEPT.replace(" keep failures", "").format(ends=ends, after="submit yes"), sub=sub)
        == []
    )


def test_what_a_model_makes_may_be_listed_and_run() -> None:
    """That files are there, a model may choose that was shown nothing from outside."""
    plan = (
        HEAD
        + "generate_code docs/* write tests\nrun_in_bash_session pytest\nfor_each_file docs/*.md\n"
    )
    assert found(plan + "  run_in_bash_session cat {file1}\n") == []
    assert found(WEB + "generate_code docs/* {page}\n") == [("a.plan", 3, "FDC471")]


def test_the_list_of_a_fork_tells_that_a_branch_failed_which_yields_nothing() -> None:
    first = WEB + UNDER.format(change="overwrite_file_with_block {run}/f\n    text")
    fork = "parts <- list_files docs\nr <- fork part in {parts} max 9 keep failures\n  rename_file {run}/f {run}/g\n"
    assert ("a.plan", 10, "FDC472") in found(first + fork + "for one in {r} max 9\n  submit yes\n")
    assert found(WEB + fork + "for one in {r} max 9\n  submit yes\n") == []


def test_a_failure_that_is_a_value_ends_no_branch() -> None:
    plan = (
        HEAD
        + "parts <- list_files docs\nr <- fork part in {parts} max 9 keep failures\n  {look}\n  submit yes\n"
    )
    assert found(plan.replace("{look}", "hits <- search_web tea")) == []
    assert found(plan.replace("{look}", "hits <- google_search tea")) == [("a.plan", 5, "FDC472")]


def test_an_answer_under_a_condition_is_an_answer_and_that_there_is_one_is_not() -> None:
    """A26: in the branch the answer is the person's; after it, which answer there is, the condition chose."""
    ask = 'if "A" in page\n  n <- request_user_input Which? {page}\n'
    assert found(WEB + ask + "  view_text_website {n}\n") == []
    assert found(WEB + ask + "  submit {n}\n") == [("a.plan", 5, "FDC472")]
    assert found(WEB + ask + "else\n  n <- plan_step_complete a.txt\nsubmit {n}\n") == [
        ("a.plan", 7, "FDC471")
    ]
    assert found(WEB + "n <- plan_step_complete x\n" + ask + "submit {n}\n") == [
        ("a.plan", 6, "FDC471")
    ]
    loop = 'iterate max 3 until "A" in page\n  n <- request_user_input Which?\n'
    assert found(WEB + loop + "read_file {n}\n") == [("a.plan", 5, "FDC471")]
    again = 'n <- request_user_input Go on?\niterate max 3 until n == "no"\n  n <- request_user_input {page}?\n'
    assert found(WEB + again + "run_in_bash_session cat {n}\n") == []


def declared(parameter: dict[str, str], **row: str) -> list[tuple[str, int, str]]:

    tool = {
        "summary": "t",
        "action": None,
        "trust": "trusted",
        "result": "text",
        "parameters": [parameter],
        **row,
    }
    files = {
        "a.plan": WEB + "pay {page}\n",
        "t.json": json.dumps({"format": 1, "name": "t", "tools": {"pay": tool}}),
    }
    return places(
        lint(files, "a.plan", settings=Settings(fsm="any.json", catalogues=("t.json",))),
        "FDC471",
        "FDC308",
    )


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
def test_a_parameter_without_a_declared_sink_may_choose_anything(effect: str) -> None:
    """A7: but that of a pure function, which only makes a result of it."""
    assert declared({"name": "to", "kind": "rest"}, effect=effect) == [("a.plan", 3, "FDC471")]
    assert declared({"name": "to", "kind": "rest", "sink": "change"}, effect=effect) == [
        ("a.plan", 3, "FDC471")
    ]
    assert declared({"name": "to", "kind": "rest", "sink": "data"}, effect=effect) == []


def test_a_pure_function_and_a_file_choose_nothing() -> None:
    assert declared({"name": "to", "kind": "rest"}, effect="pure") == []


@pytest.mark.parametrize("name", catalogues())
def test_every_shipped_catalogue_says_what_each_parameter_chooses(name: str) -> None:
    """A7."""
    tools = document(name)["tools"]
    assert tools
    unsaid = [
        (tool, item["name"])
        for tool, row in tools.items()
        for item in row["parameters"]
        if "sink" not in item and item["kind"] not in ("path", "glob")
    ]
    assert unsaid == []


SAVED = "overwrite_file_with_block {}\n  {{page}}\n"


@pytest.mark.parametrize(
    "command",
    ["make", "bash tools/x.sh", "cat n.txt | sh", "git commit -m x", "sort -o f a.txt", "cat *"],
)
def test_a_command_may_execute_what_it_sees(command: str) -> None:
    """A6: text from outside in a file of the workspace, or of the run, is a flow into every later command."""
    run = f"run_in_bash_session {command}\n"
    assert found(WEB + SAVED.format("notes.md") + run) == [("a.plan", 5, "FDC474")]
    assert found(WEB + SAVED.format("{run}/notes.md") + run) == [("a.plan", 5, "FDC474")]
    assert found(WEB + SAVED.format("{run}/outside/notes.md") + run) == []
    assert found(WEB + run + SAVED.format("notes.md")) == []
    assert (
        found(WEB + "page <- request_user_input Good? {page}\n" + SAVED.format("notes.md") + run)
        == []
    )


LOOKS = [
    "cat notes.md",
    "wc -l notes.md",
    "diff -u a.txt notes.md",
    "sort -n notes.md",
    "head -n 3 {a}",
    "sha256sum -b notes.md",
]


@pytest.mark.parametrize("command", LOOKS)
def test_a_command_that_only_looks_at_data_executes_nothing(command: str) -> None:
    """A6: its output is from outside all the same."""
    plan = (
        WEB
        + "a <- read_file a.txt\n"
        + SAVED.format("notes.md")
        + f"x <- run_in_bash_session {command}\n"
    )
    assert found(plan) == []
    assert found(plan + "read_file {x.output}\n") == [("a.plan", 7, "FDC471")]
    assert found(plan.replace(command, "cat a.txt") + "read_file {x.output}\n") == []


@pytest.mark.parametrize(
    "command",
    [
        "cat `x`", "cat $(x)", "cat a > b", "cat a; sh b", "./cat a", "X=1 cat a", "sort {a}", "diff {a} b", "diff -l a b",
        "sort --compress-program=x a", "sha256sum a\\;b", "cat a&", "head 'a'", "tail a\tb", "sha256sum -wc a",
    ],
)  # fmt: skip
def test_what_is_no_plain_look_is_no_data_command(command: str) -> None:
    from fdc_toolchain.rules.solver.flow.data_commands import is_data_command
    from fdc_toolchain.syntax.values import Value, template

    assert not is_data_command(Value(command, template(command), 0, len(command)))


def test_what_a_command_sees_is_followed_through_calls_loops_and_moves() -> None:
    run = "run_in_bash_session make\n"
    writes = "param p\noverwrite_file_with_block notes.md\n  {p}\n"
    assert found(WEB + "call_plan sub.plan p={page}\n" + run, sub=writes) == [
        ("a.plan", 4, "FDC474")
    ]
    assert found(WEB + SAVED.format("notes.md") + "call_plan sub.plan\n", sub=run) == [
        ("a.plan", 5, "FDC474")
    ]
    turn = (
        WEB
        + "iterate max 2\n  run_in_bash_session make\n  overwrite_file_with_block x\n    {page}\n"
    )
    assert found(turn) == [("a.plan", 4, "FDC474")]
    move = WEB + SAVED.format("{run}/outside/x") + "rename_file {run}/outside/x x\n" + run
    assert found(move) == [("a.plan", 6, "FDC474")]


def test_what_is_below_a_folder_is_found_by_its_name() -> None:
    plan = WEB + SAVED.format("docs/new.md")
    assert found(plan + "hits <- grep tea docs\nsubmit {hits}\n") == [("a.plan", 6, "FDC471")]
    assert found(plan + "names <- list_files docs\nsubmit {names}\n") == []


def test_a_path_of_a_run_may_be_in_the_folder_of_this_run() -> None:
    plan = WEB + SAVED.format("{run}/x/page.md")
    assert found(plan + "t <- read_file runs/20260101-a/x/page.md\nread_file {t}\n") == [
        ("a.plan", 6, "FDC471")
    ]
    assert found(plan + "t <- read_file runs/20260101-a/x/other\nread_file {t}\n") == []


@pytest.mark.parametrize(
    "step",
    ["read_file .fdc/runs/a/messages.jsonl", "read_file ./.fdc/runs.sqlite", "read_file docs/.FDC/x", "grep tea .fdc/runs",
     "read_file .fdc/runs/{p}/x", "read_file docs/../runs/a/outside/x", "read_file ./runs/a/outside/x"],
)  # fmt: skip
def test_records_of_fdc_hold_text_from_outside(step: str) -> None:
    """What pages said stands in the records of runs."""
    use = "run_in_bash_session ls {t}\n"
    for lines, code in (
        (f"t <- {step}\nread_file {{t}}\n", "FDC471"),
        (f"t <- {step}\n{use}", "FDC471"),
    ):
        assert found(f'param p = "a"\n{HEAD}{lines}') == [("a.plan", 4, code)]
    called = found(
        HEAD + f"t <- call_plan b.plan\n{use}", b=f'param p = "a"\n{HEAD}t <- {step}\nyield {{t}}\n'
    )
    assert called == [("a.plan", 3, "FDC471")]
    for other in (
        "read_file docs/x.fdc",
        "read_file a.fdc/x",
        "read_file .fdcx",
        "read_file .fdc_tools/x",
    ):
        assert found(HEAD + f"t <- {other}\n{use}") == []


def test_a_value_in_an_option_may_be_any_option() -> None:
    """`sort -n{x}` may be `sort -noMakefile`: it writes, and so it is not a command that only looks at data."""
    sort = (
        "x <- plan_step_complete r\n"
        "page <- view_text_website https://e/\noverwrite_file_with_block p\n  {page}\n"
    )
    assert found(HEAD + sort + "run_in_bash_session sort -n p\n") == []
    for option in ("-n{x}", "-{x}"):
        assert found(HEAD + sort + f"run_in_bash_session sort {option} p\n") == [
            ("a.plan", 6, "FDC474")
        ]
    assert found(HEAD + sort + "run_in_bash_session diff -{x} p a.txt\n") == [
        ("a.plan", 6, "FDC474")
    ]
    assert found(HEAD + sort + "run_in_bash_session head -{x} p\n") == []


def test_what_an_earlier_run_left_goes_along_with_a_file_that_is_moved() -> None:
    later = "page <- view_text_website https://e/\noverwrite_file_with_block a.txt\n  {page}\n"
    moves = "rename_file a.txt c.txt\nname <- read_file c.txt\nread_file {name}\n"
    assert found(HEAD + moves + later) == [("a.plan", 4, "FDC471")]
    assert found(HEAD + moves.replace("a.txt c.txt", "b.txt c.txt") + later) == []


@pytest.mark.parametrize(("path", "line"), [(True, True), (False, True), (False, False)])
def test_a_models_text_is_trusted_no_more_than_what_the_model_read(path: bool, line: bool) -> None:
    """A tool that reads a file, or that is a Python function which may read any; a prompt is shown what it is given."""
    row = {
        "summary": "x", "action": None, "effect": "read", "trust": "model", "result": "text",
        "parameters": [{"name": "what", **({"kind": "path", "access": "read"} if path else {"kind": "word", "sink": "data"})}],
        "run": {"python": "mine:sums_up"} if line else {"prompt": "p.md", "role": "writer"},
    }  # fmt: skip
    files = {
        "fdc_tools.json": json.dumps({"format": 1, "name": "mine", "tools": {"sums_up": row}}), "p.md": "Sum up {{ what }}",
        "a.plan": WEB + "overwrite_file_with_block {run}/outside/p\n  {page}\ns <- sums_up {run}/outside/p\nsubmit {s}\n",
    }  # fmt: skip
    assert places(lint(files, "a.plan", there=THERE), "FDC471") == (
        [("a.plan", 6, "FDC471")] if line else []
    )


def test_a_predicate_of_the_workspace_may_look_at_every_file() -> None:
    """It is a Python function: what it answers may be what a page said, and then it decides nothing that is done."""
    catalogue = {"format": 1, "name": "mine", "tools": {}, "predicates": {
        "fits": {"summary": "x", "parameters": ["value"], "run": {"python": "mine:fits"}}}}  # fmt: skip
    write = "overwrite_file_with_block {run}/outside/p\n  {page}\n"
    for before, line in (
        (WEB + write, 5),
        (WEB, None),
        (HEAD + "page <- plan_step_complete tea\n" + write, None),
    ):
        plan = before + 'if fits("x")\n  submit done\n'
        checked = lint(
            {"a.plan": plan, "fdc_tools.json": json.dumps(catalogue)}, "a.plan", there=THERE
        )
        assert places(checked, "FDC472") == ([("a.plan", line + 1, "FDC472")] if line else [])
    cited = WEB + write + 'if cited("x")\n  submit done\n'
    assert found(cited) == []
