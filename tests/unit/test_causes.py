"""Every kind of a stop and of a tool's failure has a cause, and no kind comes without one."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fdc_packs.alphabet.lexicon.wordnet import find
from fdc_toolchain.diagnostics.codes import BY_NAME, CODES
from fdc_toolchain.program.causes import CAUSES, EXPLAINS, FAILURES, ROWS, STOPS, explain
from fdc_toolchain.tools.python_tools import of_pack
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.inside import fdc
from tests.support.repository import PACKAGE


def calls(*names: str, below: str = "") -> set[str]:
    """The literal first arguments of calls of these names in a room of the product, or anywhere in it."""
    found = set()
    for path in (PACKAGE / below).rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in names) else ():
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
                first = node.args[0]
                if (
                    name in names
                    and isinstance(first, ast.Constant)
                    and isinstance(first.value, str)
                ):
                    found.add(first.value)
    return found


def test_every_failure_that_a_tool_can_declare_has_a_cause() -> None:
    found = calls("ToolFailure", "_failed")
    assert len(found) > 30, "the search itself works"
    assert found <= set(FAILURES)


def test_every_stop_of_the_engine_has_a_cause() -> None:
    kinds = calls("Stop", below="engine") | {
        "require",
        "value",
        "failure",
        "bound",
        "stalled",
        "bug",
    }
    assert kinds <= set(STOPS)
    assert set(STOPS.values()) | set(FAILURES.values()) <= {*CAUSES, ""}


def test_what_explains_a_stop_is_an_assumption() -> None:
    known = {row.name for row in CODES.values() if row.severity == "assumption"}
    for rule, kinds in EXPLAINS.items():
        assert kinds <= {*FAILURES, "value"}
        if rule in BY_NAME:
            assert rule in known or rule == "unproved-file"


STOP = {"kind": "failure", "failure": "missing", "path": "a.plan", "line": 4}
ROW = {
    "rule": "kept-file",
    "text": "it stays",
    "path": "a.plan",
    "line": 2,
    "uses": [["a.plan", 2], ["a.plan", 4]],
}


@pytest.mark.parametrize(
    ("rows", "stop", "kind", "rule"),
    [
        ([ROW], STOP, "assumption", "kept-file"),
        ([ROW], {**STOP, "line": 5}, "assumption", "alone"),
        # A command made a link where a later step reads a file.
        (
            [{**ROW, "rule": "unproved-file"}],
            {**STOP, "failure": "path"},
            "assumption",
            "unproved-file",
        ),
        ([], {**STOP, "failure": "encoding"}, "assumption", "form"),
        ([], {**STOP, "failure": "file"}, "assumption", "form"),
        ([], {**STOP, "failure": "protected"}, "assumption", "obeyed"),
        ([], {**STOP, "failure": "type"}, "unproved", None),
        ([], {**STOP, "failure": "type", "core": False}, "unproved", None),
        ([], {**STOP, "failure": "result"}, "unproved", None),
        ([], {**STOP, "failure": "result", "core": False}, "assumption", "rows"),
        ([], {**STOP, "failure": "argument", "core": False}, "assumption", "rows"),
        ([], {**STOP, "failure": "net"}, "world", None),
        ([], {**STOP, "kind": "require", "failure": ""}, "gate", None),
        ([], {**STOP, "kind": "value", "failure": ""}, "unproved", None),
        (None, STOP, "unknown", None),
    ],
)
def test_a_stop_names_the_assumption_that_was_false(
    rows: object, stop: dict, kind: str, rule: str | None
) -> None:
    program = {} if rows is None else {"assumptions": rows}
    found = explain(program, stop)
    assert (found["kind"], found.get("rule")) == (kind, rule)


def test_a_stop_names_all_places_that_may_have_given_the_value() -> None:
    said = explain({"assumptions": [ROW, {**ROW, "line": 3}]}, STOP)
    assert said["text"] == "one of these: it stays (a.plan:2); it stays (a.plan:3)"


def test_a_parameter_of_the_right_form_is_not_blamed_for_what_a_tool_refuses_or_returns() -> None:
    row = {**ROW, "rule": "result-shape", "text": "`most` is a number"}
    refused = explain({"assumptions": [row]}, {**STOP, "failure": "argument", "core": False})
    assert refused["text"] == f"one of these: `most` is a number (a.plan:2); {ROWS}"
    returned = explain({"assumptions": [row]}, {**STOP, "failure": "result", "core": False})
    assert returned == {"kind": "assumption", "rule": "rows", "text": ROWS}


def test_what_a_tool_of_a_workspace_prints_or_is_given_wrongly_has_a_cause(workspace: Path) -> None:
    """A number that JSON cannot say, a failure of a kind that the proof excludes, a value that a program takes for an option, and
    a result or an argument that is not what the row says: none is a bug of fdc or a hole of the proof."""
    rows = {
        "nan": {"run": {"python": "own:nan"}, "parameters": []},
        "declares": {"run": {"python": "own:declares"}, "parameters": []},
        "many": {
            "run": {"command": ["echo", "[]"]}, "result": "number", "parameters": [],
        },
        "sorted": {
            "run": {"command": ["sort", "{path}"]}, "parameters": [{"name": "path", "kind": "word"}],
        },
    }  # fmt: skip
    common = {
        "summary": "x",
        "action": "step_op",
        "effect": "read",
        "trust": "workspace",
        "result": "any",
    }
    tools = {name: {**common, **row} for name, row in rows.items()}
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": tools})
    )
    (workspace / "own.py").write_text(
        "from fdc_toolchain.workspace.failure import ToolFailure\n\n\n"
        "def nan():\n    return float('nan')\n\n\n"
        "def declares():\n    raise ToolFailure('type', 'no tea')\n"
    )
    (workspace / "long.txt").write_text("x" * 200_000)
    for step, cause in (
        ("nan", "world"),
        ("declares", "world"),
        ("o <- append -x\nfor x in {o} max 1\n  sorted {x}", "world"),
        ("many", "rows"),
        *([("consult_lexicon x", "rows")] if find(str(workspace)) else []),
        ("x <- read_file long.txt\nrun_in_bash_session echo {x}", "limit"),
    ):
        (workspace / "a.plan").write_text(
            f"use pack alphabet\nset_plan x\nplan_step_complete x\n{step}\nclose_task\nsubmit\n"
        )
        done = fdc("run", "a.plan", "--format", "json", cwd=workspace)
        assert done.returncode == 1, done.stdout + done.stderr
        stop = json.loads(done.stdout)["stop"]
        assert stop["kind"] == "failure" and "please report" not in done.stdout
        assert cause in (stop["cause"]["kind"], stop["cause"].get("rule"))


def _stated() -> None:
    raise ValueError("there is no tea")


@pytest.mark.parametrize(
    ("called", "kind", "says"),
    [
        (_stated, "argument", "there is no tea"),
        (lambda: int("zz"), "argument", "it cannot use what it is given"),
        (lambda: dict("zz"), "argument", "it cannot use what it is given"),
        (lambda: next(iter(())), "error", "raised StopIteration"),
    ],
)
def test_a_function_of_a_pack_fails_with_a_sentence(
    called: Callable[[], object], kind: str, says: str
) -> None:
    with pytest.raises(ToolFailure) as failed:
        of_pack("brew", called)()
    assert failed.value.kind == kind and says in str(failed.value)
