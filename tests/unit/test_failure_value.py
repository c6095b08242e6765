"""A tool whose failure is a value gives its result, or an object with the texts `failed` and `why` (docs/types.md)."""

from __future__ import annotations

import json

import pytest

from tests.support.linting import findings, lint

LINE = "r <- weigh 5\n"


def codes(text: str, result: object, **row: str) -> list[str]:
    tool = {
        "summary": "weigh", "action": "step_op", "effect": "read", "trust": "untrusted", "result": result,
        "parameters": [{"name": "number", "kind": "number"}], "run": {"python": "own:weigh"},
        "access": {"read": [], "net": True}, **row,
    }  # fmt: skip
    own = json.dumps({"format": 1, "name": "own", "tools": {"weigh": tool}})
    files = {"a.plan": "use fsm any.json\n" + text, "fdc_tools.json": own}
    return [
        item.code
        for item in findings(lint(files, "a.plan"))
        if item.code in ("FDC308", "FDC315", "FDC471", "FDC481")
    ]


USES = (
    "message_user {r.why}\n",
    "if r.failed\n  hello_world\n",
    'require not r.failed else "it failed"\nmessage_user {r.grams}\n',
)


@pytest.mark.parametrize("use", USES)
def test_its_fields_are_those_of_the_result_and_of_the_failure(use: str) -> None:
    assert codes(LINE + use, {"grams": "number"}, failure="value") == []


def test_a_result_without_fields_may_be_the_failure_too() -> None:
    for result in ("object", "value", "list", "text"):
        assert codes(LINE + USES[0], result, failure="value") == [], result


def test_other_fields_are_none() -> None:
    for use, result, row in (
        ("message_user {r.grms}\n", {"grams": "number"}, {"failure": "value"}),
        (USES[0], {"grams": "number"}, {}),
        (USES[0], "text", {}),
    ):
        assert "FDC315" in codes(LINE + use, result, **row), (use, result)


def test_the_word_of_a_failure_is_no_number() -> None:
    """It is text from outside, whatever type the result has in a field of that name."""
    use = LINE + "request_code_review {r.failed}\n"
    assert codes(use, {"failed": "number"}, failure="value") == ["FDC471"]
    assert codes(use, {"failed": "number"}) == []


@pytest.mark.parametrize(
    ("access", "there", "then", "code"),
    [
        ("create", False, "read_file a.md", "FDC411"),
        ("write", False, "read_file a.md", "FDC411"),
        ("delete", True, "create_file_with_block a.md\n  x", "FDC412"),
        ("write", True, "read_file a.md", None),
    ],
)
def test_it_may_have_left_its_file_as_it_was(
    access: str, there: bool, then: str, code: str | None
) -> None:
    """The step fails, and the run goes on to the next one."""
    tool = {
        "summary": "x", "action": "step_op", "effect": "idempotent", "trust": "workspace", "failure": "value",
        "parameters": [{"name": "path", "kind": "path", "access": access}], "run": {"python": "own:f"},
        "access": {"read": []},
    }  # fmt: skip
    own = json.dumps({"format": 1, "name": "own", "tools": {"try_it": tool}})
    files = {"a.plan": f"use fsm any.json\ntry_it a.md\n{then}\n", "fdc_tools.json": own}
    files |= {"a.md": "x"} if there else {}
    found = [item.code for item in findings(lint(files, "a.plan")) if item.code[:5] == "FDC41"]
    assert found == ([code] if code else [])
