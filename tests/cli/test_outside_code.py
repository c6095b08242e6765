"""What a plan is made of or looks at may be from outside: behind a link, as a file is gone, or in a call of a list of tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.check import compile_plan
from fdc_toolchain.engine.events import Perform
from fdc_toolchain.linking.project.outside_files import Row
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.outside_table import Book, as_proved

from tests.support.inside import fdc

ROW = {
    "summary": "",
    "action": "read_op",
    "effect": "read",
    "trust": "workspace",
    "parameters": [],
    "result": "text",
}
TOOLS = {
    "code": {**ROW, "run": {"python": "own:code"}},
    "script": {**ROW, "access": {"read": ["own.py"]}, "run": {"command": ["python3", "own.py"]}},
}
PLAN = "set_plan x\nplan_step_complete y\n{}close_task\nsubmit\n"


def _codes(workspace: Path, steps: str) -> list[str]:
    (workspace / "a.plan").write_text(PLAN.format(steps))
    done = fdc("lint", "a.plan", "--format", "json", cwd=workspace)
    found = [item["code"] for item in json.loads(done.stdout)["diagnostics"]]
    assert (compile_plan(str(workspace / "a.plan"), str(workspace))[0] is None) is bool(found)
    return found


@pytest.fixture
def place(workspace: Path) -> Path:
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "t", "tools": TOOLS})
    )
    (workspace / "own.py").write_text("def code(): return ''\n")
    (workspace / "mail").mkdir()
    (workspace / "mail/x.plan").write_text("hello_world\n")
    (workspace / "mail/own.py").write_text("def code(): return ''\n")
    return workspace


@pytest.mark.parametrize(
    ("link", "to", "steps"),
    [
        ("x.plan", "mail/x.plan", "call_plan x.plan\n"),
        ("letters", "mail", "call_plan letters/x.plan\n"),
        ("own.py", "mail/own.py", "x <- script\nmessage_user {x}\n"),
    ],
)
def test_a_link_to_text_from_outside_is_no_code(
    place: Path, link: str, to: str, steps: str
) -> None:
    (place / link).unlink(missing_ok=True)
    (place / link).symlink_to(to)
    assert _codes(place, steps) == []
    (place / "fdc.toml").write_text('untrusted = ["mail/**"]\n')
    assert _codes(place, steps) == ["FDC474"]


def test_text_from_outside_chooses_no_module_by_what_is_gone(place: Path) -> None:
    steps = "x <- code\nmessage_user {x}\n"
    assert _codes(place, steps) == []
    row = Row("own/__init__.py", "", True, "20260101-000000-aaaa", "main/1", "b.plan", 1)._asdict()
    del row["since"], row["steps"]
    Book(str(place)).append([row])
    assert _codes(place, steps) == ["FDC474"]
    assert _codes(place, "list_files mail\n") == []


PATH = {"name": "path", "kind": "path", "access": "create"}
CALLS = {"parameters": [{"name": "call", "kind": "word"}], "run": {"one_of": ["read_lines"]}}


@pytest.mark.parametrize(
    ("row", "args", "kept"),
    [
        (CALLS, {"call": {"tool": "read_lines", "args": {"path": "a.md"}}}, False),
        ({"parameters": [PATH]}, {"path": "a.md"}, True),
    ],
)
def test_a_call_and_a_kept_failure_look_at_what_another_run_removed_meanwhile(
    row: dict[str, object], args: dict[str, object], kept: bool
) -> None:
    removed = {"a.md": Row("a.md", "", True, "run", "main/1", "a.plan", 1)}
    effect = Perform("main/1", "tool", "t", args, "", "idempotent", "a", 1, alone=kept)
    with pytest.raises(ToolFailure, match="is gone because text from outside chose so"):
        as_proved(removed, effect, {**ROW, **row})
