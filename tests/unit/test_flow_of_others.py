"""What a step opens chooses what it may choose, whatever the step's trust: files that the settings name, and files that were
written before. The rule and the checker of certificates say the same."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.certificate.data import check
from fdc_toolchain.certificate.making import make_data
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.check import program_of
from fdc_toolchain.linking.project.settings import Settings

from tests.support import flow_claims
from tests.support.linting import findings, lint

ROW = {
    "summary": "change mail", "action": "write_op", "effect": "idempotent", "trust": "trusted", "result": "text",
    "run": {"python": "own:own"},
}  # fmt: skip
PATH = {"name": "path", "kind": "path", "access": "write"}
TOOLS = {
    "own_glob": {**ROW, "parameters": [], "access": {"read": [], "write": ["mail/a.md"]}},
    "own_read": {**ROW, "parameters": [], "access": {"read": ["mail/**"]}},
    "own_path": {**ROW, "parameters": [PATH], "access": {"read": []}},
    "own_idle": {**ROW, "parameters": [], "access": {"read": []}},
    "own_note": {**ROW, "parameters": [PATH], "effect": "once", "access": {"read": []}},
    "own_cache": {
        **ROW,
        "parameters": [],
        "effect": "read",
        "access": {"read": [], "write": ["counts/**"]},
    },
    "own_command": {
        **ROW,
        "parameters": [],
        "effect": "read",
        "access": {"read": ["go.py"]},
        "run": {"command": ["python3", "-u", "go.py"]},
    },
    "own_docs": {**ROW, "parameters": [PATH], "access": {"read": [], "write": ["counts/**"]}},
}
EDIT = (
    "replace_with_git_merge_diff {}\n  <<<<<<< SEARCH\n  hi\n  =======\n  ho\n  >>>>>>> REPLACE\n"
)
KEPT = "items <- list_files docs\nfork item in {items} max 3 keep failures\n"
ACT = "  create_file_with_block out/{item}\n    x\n"
PICK = "page <- view_text_website https://e/\nfiles <- list_files docs\nx <- among {page} {files}\n"
UNDER = 'page <- view_text_website https://e/\nif "a" in page\n  '
PAGE = "page <- view_text_website https://e/\noverwrite_file_with_block {run}/outside/p\n  {page}\n"


def _found(steps: str) -> set[str]:
    """The codes of the flow's findings; the checker agrees."""
    files = {
        "a.plan": "# FSM: any.json\n" + steps,
        "t.json": json.dumps({"format": 1, "name": "t", "tools": TOOLS}),
        "own.py": "def own(**given): return ''\n",
        "mail/x.plan": "read_file docs/a.md\n",
    }
    settings = Settings(fsm="any.json", untrusted=("mail/**",), catalogues=("t.json",))
    there = ("mail/a.md", "docs/a.md", "docs/b.md")
    checked = lint(files, "a.plan", there=there, settings=settings)
    of = program_of(checked)
    codes = {item.code for item in findings(checked) if item.code.startswith("FDC47")}
    try:
        assert check(of, make_data.make(of)) is None and not codes
    except Wrong:
        assert codes and check(of, flow_claims.careless(of))
    return codes


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ("rename_file mail/a.md docs/z.md\nt <- read_file docs/z.md\nread_file {t}\n", "FDC471"),
        ("rename_file mail/a.md test.py\nrun_in_bash_session make\n", "FDC474"),
        ("r <- " + EDIT.format("mail/a.md") + "run_in_bash_session cat {r.bytes}\n", "FDC471"),
        (PAGE + "r <- " + EDIT.format("{run}/outside/p") + "run_in_bash_session cat {r.bytes}\n", "FDC471"),
        (KEPT + "  " + EDIT.format("mail/a.md").replace("\n  ", "\n    ") + ACT, "FDC472"),
        (KEPT + "  git_add mail/a.md\n" + ACT, "FDC472"),
        ("git_add mail/a.md\n" + KEPT + "  git_commit x\n" + ACT, "FDC472"),
        ("r <- git_commit x\nread_file {r.commit}\n", "FDC471"),
        ("r <- restore_file mail/a.md\nrun_in_bash_session cat {r.bytes}\n", "FDC471"),
        ("t <- own_glob\nread_file {t}\n", "FDC471"),
        ("t <- own_read\nread_file {t}\n", "FDC471"),
        ("t <- own_path mail/a.md\nread_file {t}\n", "FDC471"),
        (PAGE + "t <- own_path {run}/outside/p\nread_file {t}\n", "FDC471"),
        ("call_plan mail/x.plan\n", "FDC474"),
        ("rename_file mail/a.md go.py\nown_command\n", "FDC474"),
        (PICK + "git_add {x}\n", "FDC472"),
        (UNDER + "git_add docs/a.md\n", "FDC472"),
        (UNDER + "own_idle\n", "FDC472"),
        (UNDER + "own_note {run}/x\n", "FDC472"),
        (UNDER + "own_cache\n", "FDC472"),
        (UNDER + "record_user_approval_for_plan x\n", "FDC472"),
    ],
)  # fmt: skip
def test_what_a_step_opens_chooses_no_more_than_it_may(steps: str, code: str) -> None:
    assert _found(steps) == {code}


@pytest.mark.parametrize(
    "steps",
    [
        "rename_file docs/a.md docs/z.md\nt <- read_file docs/z.md\nread_file {t}\n",
        "r <- " + EDIT.format("docs/a.md") + "run_in_bash_session cat {r.bytes}\n",
        KEPT + "  git_add docs/a.md\n" + ACT,
        KEPT + "  overwrite_file_with_block mail/{item}\n    x\n" + ACT,
        "git_add mail/a.md\nr <- git_commit x\nmessage_user {r.commit}\nrun_in_bash_session make\n",
        "t <- own_docs docs/a.md\nread_file {t}\n",
        "rename_file docs/a.md go.py\nown_command\n",
        UNDER + "create_file_with_block {run}/x\n    y\n",
        "for_each_file docs/*.md as f\n  "
        + EDIT.format("{f}").replace("\n  ", "\n    ")
        + "run_in_bash_session make\n",
        EDIT.format("mail/a.md") + "run_in_bash_session make\n",
        "r <- overwrite_file_with_block mail/a.md\n  x\nrun_in_bash_session cat {r.bytes}\n",
    ],
)
def test_what_a_step_does_not_open_chooses_nothing(steps: str) -> None:
    assert _found(steps) == set()


@pytest.mark.parametrize(
    ("untrusted", "said"),
    [
        ("sub.plan", [("sub.plan:1:1", "is a plan that is run")]),
        ("any.json", [("a.plan:1:1", "is the automaton of this plan"), ("sub.plan:1:1", "is the automaton of this plan")]),
        ("docs/**", []),
    ],
)  # fmt: skip
def test_what_a_run_is_made_of_is_no_file_that_the_settings_name_whatever_ran_before(
    untrusted: str, said: list[tuple[str, str]]
) -> None:
    plans = {"a.plan": "call_plan sub.plan\n", "sub.plan": "message_user hi\n"}
    settings = Settings(fsm="any.json", untrusted=(untrusted,))
    found = findings(lint(plans, "a.plan", settings=settings), "FDC474")
    assert [(str(item.span), item.message.partition(") ")[2]) for item in found] == said


@pytest.mark.parametrize("name", ["a\\tb.md", "a b.md", "a:b.md", "a=1 *.md", "\\n.md", "7 .md"])
def test_a_called_plan_reads_a_file_whose_name_has_any_character(name: str) -> None:
    """What a summary says of the files of a called plan is read back as it was, whatever stands in a path (found by a tab)."""
    path = name.replace("\\t", "\t").replace("\\n", "\n")
    called = f'text <- read_file "docs/{name}"\nyield {{text}}\n'
    page = f'page <- view_text_website https://e/\noverwrite_file_with_block "docs/{name}"\n  {{page}}\n'
    use = "x <- call_plan sub.plan\ndelete_file {x}\n"
    there = (f"docs/{path}", "docs/z.md")
    plain = lint({"p.plan": "# FSM: any.json\n" + use, "sub.plan": called}, "p.plan", there=there)
    assert not [one.code for one in plain.diagnostics if one.severity == "error"]
    tainted = lint(
        {"p.plan": "# FSM: any.json\n" + page + use, "sub.plan": called}, "p.plan", there=there
    )
    assert "FDC471" in {one.code for one in tainted.diagnostics}
