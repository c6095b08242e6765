"""GENERATING_CODE, RUNNING_TESTS and DEBUGGING: patches are applied and the configured test command really runs (FDC-92)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.agent.code_plan import KEY
from fdc_toolchain.agent.model_port import ModelFailed, ModelWaiting
from fdc_toolchain.agent.state import AgentState
from fdc_toolchain.console.progress import step_line
from fdc_toolchain.engine.events import Outcome, Perform
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.workspace.run_folders import journal_path

from tests.support.agents import PLAN, finish, graph, lines, log, oriented


@pytest.fixture
def home(workspace: Path) -> Path:
    return oriented(workspace)


TEST = "import unittest, own\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(2, own.two())\n"
CODE = PLAN.format("generate_code own.py two() returns 2\nhello_world after\n")
WRONG = {"edits": [{"path": "own.py", "content": "def two():\n    return 1\n"}]}
RIGHT = {
    "edits": [
        {
            "path": "own.py",
            "diff": "<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE",
        }
    ]
}


def tested(
    home: Path, attempts: int = 3, command: str = "python3 -B -m unittest -q own_test"
) -> None:
    (home / "fdc.toml").write_text(f'test-command = "{command}"\ndebug-attempts = {attempts}\n')
    (home / "own_test.py").write_text(TEST)


@pytest.mark.slow
def test_code_is_written_tested_repaired_and_tested_again(home: Path) -> None:
    """FDC-92, T-23: the test command really runs; what failed is in the next request."""
    tested(home)
    one, state, moves = graph(home, WRONG, RIGHT), AgentState("T-1"), []
    end = finish(one, state, home, CODE, moved=lambda source, trigger, dest: moves.append(trigger))
    assert ("AWAITING_SUBMISSION", None) == (end, state.error)
    assert [
        "begin_task", "orientation_succeeded", "plan_op",
        "code_generation_requested", "code_generation_completed", "tests_failed", "debugging_completed",
        "code_generation_requested", "code_generation_completed", "tests_passed",
        "all_steps_completed", "finalization_succeeded",
    ] == moves  # fmt: skip
    assert "    return 2\n" in (home / "own.py").read_text()
    model: Any = one._model
    assert ["coder", "debugger"] == [role for role, _ in model.asked]
    request = model.asked[1][1][-1]["content"]
    assert "AssertionError: 2 != 1" in request and "return 1" in request
    ran = [item for item in lines(home, "TOOL_EXEC") if "command" in item["action"]["details"]]
    assert [("FAILURE", 1), ("SUCCESS", 0)] == [
        (item["outcome"]["status"], item["action"]["details"]["exit_code"]) for item in ran
    ]


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [0, 1])
def test_debugging_is_bounded(home: Path, attempts: int) -> None:
    """FDC-92: then ERROR, with the reason; the step is on record as failed, and nothing after it ran."""
    tested(home, attempts)
    again = {"edits": []}
    one, state = graph(home, WRONG, again, again), AgentState("T-1")
    assert "ERROR" == finish(one, state, home, CODE)
    assert "the tests failed with exit code 1" in str(state.error)
    model: Any = one._model
    assert attempts + 1 == len(model.asked)
    steps = [
        item
        for item in lines(home)
        if item["action"]["details"].get("tool") in ("generate_code", "hello_world")
    ]
    assert [("generate_code", "FAILURE")] == [
        (i["action"]["details"]["tool"], i["outcome"]["status"]) for i in steps
    ]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ({"path": "own.py", "diff": "Sorry, I cannot help."}, "own.py"),
        ({"path": "../own.py", "content": "x"}, ".."),
        ({"path": "other.py", "content": "x"}, "`other.py` is not among the files that may change"),
        ({"path": "own.py", "content": "x"}, "`own.py` exists"),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(
    home: Path, edit: dict[str, str], why: str
) -> None:
    """FDC-85, FDC-92, T-40."""
    tested(home, 0, "true")
    (home / "own.py").write_text("y = 1\n")
    state = AgentState("T-1")
    assert "ERROR" == finish(graph(home, {"edits": [edit]}), state, home, CODE)
    assert why in str(state.error)
    assert "y = 1\n" == (home / "own.py").read_text() and not (home / "other.py").exists()


@pytest.mark.parametrize(
    ("command", "reply", "why"),
    [
        ("", {"edits": []}, "no test command is configured"),
        ("true", ModelFailed("refused by its provider"), "refused by its provider"),
    ],
)
def test_code_that_nothing_can_show_to_work_is_a_failure(
    home: Path, command: str, reply: Any, why: str
) -> None:
    """FDC-92: never a pass that was not seen; what repeating cannot help is not repeated."""
    tested(home, 3, command)
    state = AgentState("T-1")
    one = graph(home, reply)
    assert "ERROR" == finish(one, state, home, CODE)
    model: Any = one._model
    assert why in str(state.error) and 1 == len(model.asked)


def test_a_reply_that_is_no_patch_costs_an_attempt_and_no_test_is_said_to_have_run(
    home: Path,
) -> None:
    """FDC-92: the next one is told what was wrong, and repairs it."""
    tested(home, 1, "true")
    one, state = graph(home, {"edit": []}, {"edits": []}), AgentState("T-1")
    assert "AWAITING_SUBMISSION" == finish(one, state, home, CODE), state.error
    model: Any = one._model
    assert ["coder", "debugger"] == [role for role, _ in model.asked]
    assert "does not follow its schema" in model.asked[1][1][-1]["content"]
    details = [item["action"]["details"] for item in lines(home, "TOOL_EXEC")]
    assert [2] == [one["attempt"] for one in details if "command" in one]
    assert "code.test" not in [one.get("tool") for one in details]


def test_replies_that_are_no_patches_end_with_the_attempts(home: Path) -> None:
    tested(home, 1, "true")
    state = AgentState("T-1")
    assert "ERROR" == finish(graph(home, {"edit": []}, {"edit": []}), state, home, CODE)
    assert "does not follow its schema" in str(state.error)
    assert not [item for item in lines(home) if "command" in item["action"]["details"]]


def test_tests_that_hang_are_ended(home: Path) -> None:
    """FDC-92."""
    tested(home, 0, "sleep 60")
    with (home / "fdc.toml").open("a") as file:
        file.write("test-seconds = 1\n")
    state = AgentState("T-1")
    assert "ERROR" == finish(graph(home, {"edits": []}), state, home, CODE)
    assert "took longer than 1 s" in str(state.error)


def test_nobody_answers_and_the_state_waits(home: Path) -> None:
    tested(home)
    one, state = graph(home, ModelWaiting("the coder sleeps")), AgentState("T-1")
    assert ("GENERATING_CODE", "the coder sleeps") == (finish(one, state, home, CODE), one.waiting)
    assert None is state.error


def test_the_handlers_of_code_work_without_a_plan(home: Path) -> None:
    """FDC-92: as the seed calls them, one by one; T-22: every line of theirs follows the schema."""
    tested(home, 1, "false")
    one, state = graph(home, {"edits": []}, {"edits": []}), AgentState("T-1")
    one.do_orientation(state, log(home))
    assert "code_generation_completed" == one.do_generating_code(state, log(home))
    assert "tests_failed" == one.do_running_tests(state, log(home))
    assert "debugging_completed" == one.do_debugging(state, log(home))
    tested(home, 1, "true")
    assert "code_generation_completed" == one.do_generating_code(state, log(home))
    assert "tests_passed" == one.do_running_tests(state, log(home))
    assert lines(home)


@pytest.mark.parametrize("stood", ["GENERATING_CODE", "RUNNING_TESTS", "DEBUGGING"])
def test_code_that_fdc_0_1_0_had_begun_goes_on(home: Path, stood: str) -> None:
    """Its notes had no run: the code is asked for anew, and a patch that it had applied is tested."""
    tested(home, command="grep -q 'return 2' own.py")
    one, state = graph(home, ModelWaiting("the coder sleeps")), AgentState("T-1")
    assert "GENERATING_CODE" == finish(one, state, home, CODE)
    one.notes(state)["code"] = {
        "address": one.notes(state)["code"]["address"], "files": "own.py", "what": "two() returns 2", "attempts": 1,
        "report": "it failed", "failure": "the tests failed", "tests": "a text", "final": False,
    }  # fmt: skip
    one.current_state = stood
    one.save(state)
    right = {"edits": [{"path": "own.py", "content": "def two():\n    return 2\n"}]}
    if stood == "RUNNING_TESTS":
        (home / "own.py").write_text(right["edits"][0]["content"])
    two = graph(home, right)
    known = two.load("T-1")
    assert known is not None
    assert "AWAITING_SUBMISSION" == finish(two, known, home, CODE), known.error
    assert (0 if stood == "RUNNING_TESTS" else 1) == len(two._model.asked)  # type: ignore[attr-defined]


def test_a_run_that_writes_code_is_on_record(home: Path) -> None:
    """Whoever looks at it later sees each patch, and what the tests said to it."""
    tested(home, command="grep -q 'return 2' own.py")
    state = AgentState("T-1")
    assert "AWAITING_SUBMISSION" == finish(graph(home, WRONG, RIGHT), state, home, CODE)
    store = Store(journal_path(str(home)))
    try:
        [row] = [row for row in store.runs() if row.plan == KEY]
        done = [one.tool for one in store.records(row) if one.kind == "outcome"]
        assert "finished" == row.status
        assert ["code.write", "code.apply", "code.test"] * 2 == [
            name for name in done if name.startswith("code.")
        ]
    finally:
        store.close()


def test_a_patch_that_does_not_apply_is_shown_as_failed(home: Path) -> None:
    """The plan gets the failure as a value and goes on; `ok code.apply` would say that the file was changed."""
    tested(home, command="grep -q 'return 2' own.py")
    (home / "own.py").write_text("def two():\n    return 1\n")
    sections = "<<<<<<< SEARCH\nno such line\n=======\nx\n>>>>>>> REPLACE\n"
    first = {"edits": [{"path": "own.py", "diff": sections}]}
    assert "AWAITING_SUBMISSION" == finish(graph(home, first, RIGHT), AgentState("T-1"), home, CODE)
    store = Store(journal_path(str(home)))
    try:
        [row] = [row for row in store.runs() if row.plan == KEY]
        done = [one for one in store.records(row) if one.kind == "outcome"]
        shown = []
        for one in done:
            if one.tool == "code.apply":
                effect = Perform(one.address, "tool", one.tool, {}, "", "idempotent", KEY, 1)
                shown.append(step_line(effect, Outcome(one.body["value"]), 0.0))
    finally:
        store.close()
    assert ["failed", "ok"] == [line.split()[0] for line in shown]
    assert "the patch does not apply" in shown[0]
