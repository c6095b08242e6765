"""Numbers that tools declare, and texts of a list: what of text from outside may be sent to others, and what it chooses."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.linking.project.settings import Settings

from tests.support.linting import findings, lint
from tests.unit.test_flow import HEAD, THERE, WEB, found


@pytest.mark.parametrize(
    ("step", "refused"),
    [
        ("submit {bill.amount} {bill.due}", False),
        ("submit {bill.text}", True),
        ("read_file bills/{bill.amount}.md", True),
        ("run_in_bash_session echo {bill.amount}", True),
        ("close_task {bill.amount}", True),
        ("for_each_file {bill.amount}/*\n  message_user {file1}", True),
    ],
)
def test_a_declared_number_has_no_words_and_chooses_as_any_text_does(
    step: str, refused: bool
) -> None:
    """It may be told to others. How much is paid, and which file is read, is a choice of who wrote it."""
    row = {"summary": "a bill", "action": None, "effect": "read", "trust": "untrusted", "parameters": [],
           "result": {"amount": "number", "due": "boolean", "text": "text"}}  # fmt: skip
    files = {
        "a.plan": f"{HEAD}bill <- bill\n{step}\n",
        "t.json": json.dumps({"format": 1, "name": "t", "tools": {"bill": row}}),
    }
    settings = Settings(fsm="any.json", catalogues=("t.json",))
    checked = lint(files, "a.plan", there=THERE, settings=settings)
    assert ["FDC471"] * refused == [item.code for item in findings(checked, "FDC471", "FDC473")]


def test_text_from_outside_says_which_name_of_a_list_others_are_sent_and_no_more() -> None:
    chosen = WEB + "files <- list_files docs\nname <- among {page} {files}\n"
    assert found(chosen + "submit {name} is the best\nread_file {name}\n") == []
    assert found(chosen + "view_text_website {name}\n") == [("a.plan", 5, "FDC471")]
    assert found(chosen + "run_in_bash_session echo {name}\n") == [("a.plan", 5, "FDC471")]
    made = WEB + "hits <- google_search tea\nname <- among {page} {hits}\nsubmit {name}\n"
    assert found(made) == [("a.plan", 4, "FDC471")]
