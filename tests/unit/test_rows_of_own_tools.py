"""What lint says of a plan because of the row of a tool of the workspace: what it may touch, its prompt and its schema."""

from __future__ import annotations

import json

import pytest
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.tools.arguments import checked
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.linting import findings, lint

SETTINGS = Settings(catalogues=("own.json",))
ROW = {"summary": "x", "action": "tool_exec", "effect": "idempotent", "trust": "trusted", "parameters": []}  # fmt: skip
PYTHON = {"python": "own:count"}


def codes(row: dict[str, object], plan: str, **files: str) -> list[str]:
    tools = {"format": 1, "name": "own", "tools": {"count": {**ROW, **row}}}
    own = {"own.json": json.dumps(tools), "own.py": "def count(): ...\n"}
    checked = lint({"a.plan": plan, **own, **files}, "a.plan", settings=SETTINGS)
    found = findings(checked)
    assert not [item for item in found if item.code < "FDC300"], found
    return [item.code for item in found if item.severity == "error"]


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize(
    ("allowed", "fits"),
    [
        ("out/**", True),
        ("**", True),
        ("out/a/**", False),
        ("docs/**", False),
        ("out/{x}", False),
        ("docs/** out/**", True),
        ("docs/{x} out/**", True),
    ],
)
def test_an_allow_line_names_what_the_row_of_a_tool_may_touch(
    kind: str, allowed: str, fits: bool
) -> None:
    row = {"run": PYTHON, "access": {"read": [], "write": [], kind: ["out/**"]}}
    other = {"read": "write", "write": "read"}[kind]
    plan = f"param x = y\nallow {kind} {allowed}\nallow {other} **\ncount\n"
    assert codes(row, plan) == ([] if fits else ["FDC451"])


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ('{"type": "object"}', []),
        ("[]", ["FDC309"]),
        ("{", ["FDC309"]),
        (None, ["FDC309"]),
    ],
)
def test_the_schema_of_a_prompt_is_a_json_object(schema: str | None, found: list[str]) -> None:
    row = {
        "run": {"prompt": "ask.md", "schema": "ask.json", "role": "writer"},
        "result": "object",
        "trust": "untrusted",
    }
    files = {"ask.md": "Count.\n", **({} if schema is None else {"ask.json": schema})}
    assert codes(row, "count\n", **files) == found


def test_a_folder_that_a_tool_of_your_own_looks_through_may_be_missing() -> None:
    """Only `list_files` and `grep` fail there."""
    row = {
        "run": PYTHON,
        "access": {"read": ["**"], "write": ["out/**"]},
        "parameters": [
            {"name": "into", "kind": "path", "access": "write"},
            {"name": "files", "kind": "glob"},
        ],
    }
    for step, found in (("count out/a none", []), ("list_files none", ["FDC411"])):
        assert (
            codes(row, f"set_plan x\nplan_step_complete x\n{step}\nclose_task\nsubmit\n") == found
        )


COUNTED = {"parameters": [{"name": "n", "kind": "word", "type": "count"}], "run": {"python": "own:count"}}  # fmt: skip


@pytest.mark.parametrize("literal", ["0", "-0", "1e400", "some"])
def test_a_word_that_is_declared_a_count_is_a_number_from_1(literal: str) -> None:
    tools = {"format": 1, "name": "own", "tools": {"count": {**ROW, **COUNTED}}}
    files = {"fdc_tools.json": json.dumps(tools), "a.plan": f"count {literal}\ncount 3\n"}
    found = findings(lint(files, "a.plan"), "FDC304")
    assert [item.message for item in found] == [f"`n` takes a number from 1, found `{literal}`"]


@pytest.mark.parametrize(("value", "fails"), [("3", False), (2, False), ("0", True), (True, True), ("x", True)])  # fmt: skip
def test_and_so_is_a_value_of_the_run(value: object, fails: bool) -> None:
    row = {"parameters": [{"name": "n", "kind": "word", "type": "count"}]}
    if fails:
        with pytest.raises(ToolFailure) as failed:
            checked(row, {"n": value})  # type: ignore[arg-type]
        assert failed.value.kind == "type"
    else:
        assert checked(row, {"n": value}) == {"n": int(str(value))}  # type: ignore[arg-type]
