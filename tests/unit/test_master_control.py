"""The master controller as a library, on the real world: real lint, real engine, real journal, real commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.agent.host import files
from fdc_toolchain.agent.host.real_world import LocalWorld
from fdc_toolchain.agent.retrospect import untaught
from fdc_toolchain.agent.state import AgentState, StepResult
from fdc_toolchain.cli.scripts.master_control import MasterControlGraph
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.tasks.activity import ValidationError, task_id_of
from fdc_toolchain.tasks.unfilled import unfilled
from fdc_toolchain.workspace import globs

from tests.support.agents import PLAN, finish, graph, lines, log, oriented
from tests.support.repository import ROOT

FSM = json.loads((ROOT / "tooling" / "fsm.json").read_text("utf-8"))
KEYS = [
    "task", "plan_path", "plan_stack", "messages", "orientation_complete", "vm_capability_report", "research_findings",
    "draft_postmortem_path", "final_report", "error",
]  # fmt: skip


@pytest.fixture
def home(workspace: Path) -> Path:
    return oriented(workspace)


def own_fsm(home: Path, change: Any) -> str:
    data = json.loads(json.dumps(FSM))
    change(data)
    (home / "own.json").write_text(json.dumps(data))
    return "own.json"


# The automaton


def test_the_automaton_is_data(home: Path) -> None:
    """FDC-01, FDC-86: another file, another trigger; nothing here is edited."""
    one = graph(home)
    assert (FSM, "START") == (one.fsm, one.current_state)
    assert "orientation_succeeded" == one.get_trigger("ORIENTING", "PLANNING")

    def renamed(data: dict[str, Any]) -> None:
        for row in data["transitions"]:
            row["trigger"] = f"my_{row['trigger']}"

    one = graph(home, fsm=own_fsm(home, renamed))
    state = AgentState("T-1")
    assert "my_orientation_succeeded" == one.do_orientation(state, None)
    assert "my_plan_op" == one.do_planning(state, PLAN.format(""), None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "does not exist"),
        ("{", "own.json:1"),
        ('{"states": []}', "own.json"),
        ("[]", "own.json:1"),
    ],
)
def test_a_wrong_automaton_is_refused_with_its_path(home: Path, text: str | None, why: str) -> None:
    """FDC-01."""
    if text is not None:
        (home / "own.json").write_text(text)
    with pytest.raises(ValueError, match=r"own\.json") as refused:
        graph(home, fsm="own.json")
    assert why in str(refused.value)


def test_a_trigger_that_is_none_or_ambiguous_is_an_error_that_names_both(home: Path) -> None:
    """FDC-87."""
    with pytest.raises(ValueError, match="`FINALIZING` to `finalization_failed`"):
        graph(home).get_trigger("FINALIZING", "finalization_failed")

    def twice(data: dict[str, Any]) -> None:
        data["transitions"].append({"source": "PLANNING", "dest": "ERROR", "trigger": "another"})

    with pytest.raises(ValueError, match="ambiguous: `planning_failed`, `another`"):
        graph(home, fsm=own_fsm(home, twice)).get_trigger("PLANNING", "ERROR")


def test_a_way_that_the_automaton_does_not_have_is_an_error_of_the_task_and_no_exception(
    home: Path,
) -> None:
    """FDC-01: without the transition to research, the request is refused."""

    def less(data: dict[str, Any]) -> None:
        data["transitions"] = [
            row for row in data["transitions"] if row["trigger"] != "research_requested"
        ]

    state = AgentState("T-1")
    assert "planning_failed" == graph(home, fsm=own_fsm(home, less)).do_planning(
        state, "research tea", None
    )
    assert "no transition from `PLANNING` to `RESEARCHING`" in str(state.error)


# Orientation


def test_orientation_does_what_it_says(home: Path) -> None:
    """FDC-02, FDC-62, FDC-88, T-24: the cascade ran, TASK_START is logged, documents and the last post-mortem were read."""
    (home / "notes.md").write_text("Tea.\n")
    (home / "paper.pdf").write_bytes(b"%PDF-1.4")
    (home / "postmortems").mkdir()
    (home / "postmortems" / "2026-01-01-old.md").write_text(
        "- **Task ID:** `old`\nWe forgot the tests.\n"
    )
    state = AgentState("T-1")
    assert "orientation_succeeded" == graph(home).do_orientation(
        state, log(home), {"list_files": lambda: ["a.py", "b.py"]}
    )
    assert state.orientation_complete and "[PASS] write, read and delete" in str(
        state.vm_capability_report
    )
    said = " ".join(message["content"] for message in state.messages)
    assert "a.py, b.py" in said and "We forgot the tests." in said
    assert ["TASK_START", "INFO"] == [item["action"]["type"] for item in lines(home)]
    details = lines(home, "INFO")[-1]["action"]["details"]
    assert 2 == details["documents"] and ["paper.pdf"] == [path for path, _ in details["skipped"]]


def test_more_files_than_fdc_lists_do_not_stop_a_task(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository with the packages of npm in it has hundreds of thousands."""
    monkeypatch.setattr(globs, "MAX_FILES", 3)
    for number in range(4):
        (home / f"{number}.md").write_text("Tea.\n")
    state = AgentState("T-1")
    assert "orientation_succeeded" == graph(home).do_orientation(state, log(home), None)
    assert "The workspace has more files than fdc lists." in str(state.messages)
    assert lines(home, "INFO")[-1]["action"]["details"]["files"] is None


def raising() -> list[str]:
    raise RuntimeError("no disk")


@pytest.mark.parametrize("tools", [None, {}, {"other": list}, {"list_files": raising}])
def test_orientation_needs_no_tools(home: Path, tools: Any) -> None:
    """FDC-88, T-20, T-22: it is logged, in a line that follows the schema, and goes on."""
    state = AgentState("T-1")
    assert "orientation_succeeded" == graph(home).do_orientation(state, log(home), tools)
    assert any("knowledge_core/agent_meta.json" in message["content"] for message in state.messages)
    assert 3 == len(lines(home))


def test_an_orientation_that_fails_plans_nothing(workspace: Path) -> None:
    """FDC-02, FDC-08."""
    state, asked = AgentState("T-1"), []
    one = graph(workspace)
    assert "ERROR" == one.run(state, None, plan=lambda _: asked.append(1) or "x")
    assert (
        [] == asked
        and "L1 self-awareness failed" in str(state.error)
        and not state.orientation_complete
    )


# Planning


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ("", "the plan is empty"),
        ("  \n\n", "the plan is empty"),
        ("set_plan x\nsubmit\n", "FDC4"),
        (PLAN.format("read_file absent.txt\n"), "does not exist"),
        (PLAN.format("call_plan gone.plan\n"), "gone.plan"),
        (PLAN.format("reset_all\n"), "reset_all"),
        ("param topic\n" + PLAN.format(""), "needs `topic`"),
    ],
)
def test_a_plan_that_is_not_proved_is_never_executed(home: Path, plan: str, why: str) -> None:
    """FDC-03, FDC-04, FDC-39, T-24: ERROR, the findings are stored, no run exists."""
    state = AgentState("T-1")
    one = graph(home)
    assert "ERROR" == finish(one, state, home, plan)
    assert why in str(state.error)
    assert not (home / ".fdc" / "runs.sqlite").exists()
    assert None is one.get_current_step(state)
    assert "FAILURE" == lines(home, "PLAN_UPDATE")[-1]["outcome"]["status"]


def test_planning_pushes_the_plan(home: Path) -> None:
    """FDC-89."""
    state = AgentState("T-1")
    assert "plan_op" == graph(home).do_planning(state, PLAN.format(""), None)
    assert ("plan.txt", [("plan.txt", 0, 4)]) == (
        state.plan_path,
        [tuple(row) for row in state.plan_stack],
    )


# Execution, steps performed by the user who holds the library

NESTED = PLAN.format("call_plan sub.plan\nhello_world end\n")


def nested(home: Path) -> None:
    (home / "sub.plan").write_text("hello_world one\nhello_world two\n")


def test_steps_are_handed_out_and_the_stack_goes_with_them(home: Path) -> None:
    """FDC-29, FDC-38, FDC-91: push, run, pop, and the parent goes on with the step after the call."""
    nested(home)
    one, state, seen = graph(home), AgentState("T-1"), []
    one.do_planning(state, NESTED, None)
    trigger = None
    while (step := one.get_current_step(state)) is not None:
        trigger = one.do_execution(state, f"did {step.tool_name}", log(home))
        seen.append(
            (
                step.address,
                [(row.plan_path, row.current_step, row.plan_length) for row in state.plan_stack],
            )
        )
    one.close()
    assert "all_steps_completed" == trigger and [] == state.plan_stack
    assert [
        ("main/1", [("plan.txt", 1, 6)]),
        ("main/2", [("plan.txt", 2, 6), ("sub.plan", 0, 2)]),
        ("main/3>sub.plan/1", [("plan.txt", 2, 6), ("sub.plan", 1, 2)]),
        ("main/3>sub.plan/2", [("plan.txt", 3, 6)]),
        ("main/4", [("plan.txt", 4, 6)]),
        ("main/5", [("plan.txt", 5, 6)]),
        ("main/6", []),
    ] == seen
    logged = lines(home, "TOOL_EXEC")
    assert [address for address, _ in seen] == [item["task"]["plan_step"] for item in logged]
    assert ["plan.txt", "sub.plan"] == [
        row["plan_path"] for row in logged[2]["context"]["plan_execution_stack"]
    ]


@pytest.mark.parametrize("at", range(7))
def test_a_state_that_was_saved_goes_on_at_the_same_step(home: Path, at: int) -> None:
    """FDC-105: exactly its keys, and a controller of its own goes on."""
    nested(home)
    one, state = graph(home), AgentState("T-1")
    one.do_planning(state, NESTED, None)
    for _ in range(at):
        one.do_execution(state, "done", None)
    before = one.get_current_step(state)
    saved = json.dumps(state.to_json())
    one.close()
    assert KEYS == list(json.loads(saved))
    assert ["plan_path", "current_step", "plan_length"] == list(json.loads(saved)["plan_stack"][0])
    other, again = graph(home), AgentState.from_json(json.loads(saved))
    assert again == state
    assert before == other.get_current_step(again)
    for _ in range(7 - at):
        trigger = other.do_execution(again, "done", None)
    assert ("all_steps_completed", None) == (trigger, other.get_current_step(again))
    other.close()


@pytest.mark.parametrize(
    "result",
    [
        StepResult(error="no such host"), RuntimeError("no such host"), {"status": "FAILURE", "message": "no such host"},
        {"error": "no such host"}, {"status": "failed", "error": "no such host"},
    ],
)  # fmt: skip
def test_a_step_that_failed_is_recorded_as_a_failure(home: Path, result: Any) -> None:
    """FDC-05, T-23."""
    one, state = graph(home), AgentState("T-1")
    one.do_planning(state, PLAN.format("hello_world x\n"), None)
    assert "step_op" == one.do_execution(state, "fine", log(home))
    assert "execution_failed" == one.do_execution(state, result, log(home))
    assert "no such host" in str(state.error)
    assert [("SUCCESS", "main/1"), ("FAILURE", "main/2")] == [
        (item["outcome"]["status"], item["task"]["plan_step"]) for item in lines(home, "TOOL_EXEC")
    ]


def test_what_a_step_brought_is_what_the_plan_goes_on_with(home: Path) -> None:
    """FDC-91, T-23: conditions and loops see the real results; there is one interpreter."""
    plan = PLAN.format(
        'found <- hello_world x\nif found == "yes"\n    hello_world {found}\nelse\n    hello_world no\n'
    )
    one, state, said = graph(home), AgentState("T-1"), []
    assert "plan_op" == one.do_planning(state, plan, None), state.error
    while (step := one.get_current_step(state)) is not None:
        said.append(step.args.get("text"))
        one.do_execution(state, "yes", None)
    one.close()
    assert "yes" in said and "no" not in said


def test_a_gate_that_does_not_hold_ends_the_task_in_error(home: Path) -> None:
    state = AgentState("T-1")
    assert "ERROR" == finish(
        graph(home), state, home, PLAN.format('x <- hello_world a\nrequire x == "b" else "not b"\n')
    )
    assert "not b" in str(state.error)


def test_without_a_plan_there_is_no_step(home: Path) -> None:
    one, state = graph(home), AgentState("T-1")
    assert None is one.get_current_step(state)
    assert "execution_failed" == one.do_execution(state, "x", None)
    assert "no plan is on the stack" == state.error


# The whole loop


def test_a_run_as_documented_ends_before_submission(home: Path) -> None:
    """FDC-06, T-20: no tools are given, and the task is done; its post-mortem is filled in."""
    nested(home)
    state, moves = AgentState("T-1"), []
    one = graph(home)
    end = finish(one, state, home, NESTED, moved=lambda source, trigger, dest: moves.append(dest))
    assert ("AWAITING_SUBMISSION", None) == (end, state.error)
    assert ["ORIENTING", "PLANNING", "EXECUTING", "FINALIZING", "AWAITING_SUBMISSION"] == moves
    page = (home / str(state.draft_postmortem_path)).read_text("utf-8")
    assert [] == unfilled(page) and "Not analysed" in page
    # `close_task` ends the task; finalizing finds it ended, and adds what is its own.
    types = [item["action"]["type"] for item in lines(home)]
    assert ["TASK_END", "TOOL_EXEC", "TOOL_EXEC", "INFO", "POST_MORTEM"] == types[
        -5:
    ] and 1 == types.count("TASK_END")
    assert 7 == len([item for item in lines(home) if item["task"]["plan_step"] is not None])


def test_error_is_final_until_somebody_reorients(home: Path) -> None:
    """C-12."""
    state = AgentState("T-1")
    one = graph(home)
    assert (
        "ERROR"
        == finish(one, state, home, "nonsense\n")
        == finish(one, state, home, PLAN.format(""))
    )
    one.reorient(state)
    assert ("ORIENTING", None) == (one.current_state, state.error)
    assert "AWAITING_SUBMISSION" == finish(one, state, home, PLAN.format(""))
    with pytest.raises(ValueError, match="no transition"):
        MasterControlGraph(
            own_fsm(home, lambda data: data["transitions"].pop()), root=str(home), network="off"
        ).reorient(state)


# Finalizing


def test_a_missing_template_is_a_trigger_and_no_exception(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FDC-93, T-21."""
    from fdc_toolchain.tasks import lifecycle

    absent = {"template": str(home / "absent.j2")}
    monkeypatch.setattr(lifecycle.draft, "__kwdefaults__", absent)
    one, state = graph(home), AgentState("T-1")
    one.do_orientation(state, None)
    assert "finalization_failed" == one.do_finalizing(
        state, untaught("all well", "a test"), log(home)
    )
    assert "absent.j2 does not exist" in str(state.error)
    # The same where the plan's `close_task` would write it first.
    monkeypatch.setattr(lifecycle.close, "__kwdefaults__", absent)
    state = AgentState("T-1")
    assert "ERROR" == finish(graph(home), state, home, PLAN.format(""))
    assert "absent.j2 does not exist" in str(state.error)
    assert [] == lines(home, "TASK_END")


@pytest.mark.parametrize(
    "broken",
    [RuntimeError("x"), WorldFailed("no space left"), OSError(28, "No space left", "p.md")],
)
def test_whatever_fails_in_finalizing_leads_to_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, broken: Exception
) -> None:
    """FDC-93, T-21."""

    def fails(self: Any, postmortem: str) -> list[str]:
        raise broken

    monkeypatch.setattr(LocalWorld, "lessons", fails)
    one, state = graph(home), AgentState("T-1")
    one.do_orientation(state, None)
    assert "finalization_failed" == one.do_finalizing(state, untaught("all well", "a test"), None)
    assert state.error


def test_an_analysis_fills_its_sections_and_its_lessons_are_compiled(home: Path) -> None:
    """FDC-69, FDC-72, FDC-93."""
    analysis = (
        "## Summary\n\nDone.\n\n## 4. Root Cause Analysis\n\nHaste.\n\n## 5. Proposed Corrective Actions\n\n"
        "1. **Lesson:** Read before writing.\n   **Action:** Write a checklist.\n"
    )
    one, state = graph(home), AgentState("T-1")
    one.do_orientation(state, None)
    assert "finalization_succeeded" == one.do_finalizing(state, analysis, None), state.error
    page = (home / str(state.draft_postmortem_path)).read_text("utf-8")
    assert "Haste." in page and "The record shows no failure." in page and [] == unfilled(page)
    [lesson] = [
        json.loads(line)
        for line in (home / "knowledge_core" / "lessons.jsonl").read_text().splitlines()
    ]
    assert ("T-1", "Read before writing.") == (lesson["task_id"], lesson["insight"])
    assert "Read before writing." in str(state.final_report)


def test_a_record_without_an_analysis_waits_for_what_a_person_says_was_learned(home: Path) -> None:
    """T-33, FDC-69: a lesson, or that there was none; the rest is written already, and nothing is logged as done."""
    one, state = graph(home), AgentState("T-1")
    one.do_orientation(state, None)
    assert None is one.do_finalizing(state, None, None) and None is state.error
    path = home / str(state.draft_postmortem_path)
    assert "`--nothing-learned WHY`" in one.waiting and state.draft_postmortem_path in one.waiting
    assert [] == lines(home, "TASK_END") and "Not analysed" in path.read_text("utf-8")
    path.write_text(
        path.read_text("utf-8").replace("[One sentence", "Look first. [").partition("[")[0] + "\n"
    )
    path.write_text(path.read_text("utf-8") + "   **Action:** Write a list.\n")
    assert "finalization_succeeded" == one.do_finalizing(state, None, None), state.error
    assert "Look first." in (home / "knowledge_core" / "lessons.jsonl").read_text()


def test_a_person_may_say_that_nothing_was_learned(home: Path) -> None:
    one, state = graph(home), AgentState("T-1")
    one.do_orientation(state, None)
    said = untaught("Tea was made.", "it was made before")
    assert "finalization_succeeded" == one.do_finalizing(state, said, None), state.error
    page = (home / str(state.draft_postmortem_path)).read_text("utf-8")
    assert "Tea was made." in page and "Nothing was learned: it was made before" in page
    assert not (home / "knowledge_core" / "lessons.jsonl").exists()


# The state and the log


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("error"), lambda d: d.update(extra=1), lambda d: d.update(task=1), lambda d: d.update(error=[]),
        lambda d: d.update(plan_stack=[{"plan_path": "x"}]), lambda d: d.update(plan_stack=3),
        lambda d: d.update(messages=[{"role": 1}]), lambda d: d.update(research_findings=None),
        lambda d: d.update(plan_stack=[{"plan_path": "x", "current_step": "1", "plan_length": 2}]),
    ],
)  # fmt: skip
def test_a_damaged_state_is_refused(change: Any) -> None:
    """FDC-105."""
    data = AgentState("T-1").to_json()
    change(data)
    with pytest.raises(ValueError, match="the agent's state"):
        AgentState.from_json(data)


def test_a_word_is_its_own_id_and_sentences_do_not_share_one() -> None:
    assert "T-1" == task_id_of("T-1")
    ids = [task_id_of(text) for text in ("Fix it", "Fix it!", "fix it", "修 理", " ", "a\nb")]
    assert len(set(ids)) == len(ids)
    assert not any(set(one) - set("abcdefghijklmnopqrstuvwxyz0123456789-") for one in ids)
    folders = [files.folder("", one) for one in ("../../etc", "a/b", "a.b", "ab", "x" * 200)]
    assert len(set(folders)) == len(folders) and not any(".." in one for one in folders)


@pytest.mark.parametrize(
    ("phase", "action"),
    [("Phase 4.1", "INFO"), ("Phase 9", "INFO"), ("4", "INFO"), ("Phase 4", "WARNING")],
)
def test_what_the_schema_does_not_know_is_refused(home: Path, phase: str, action: str) -> None:
    """FDC-107, T-22."""
    with pytest.raises(ValidationError):
        log(home).log(phase, "T-1", None, action, {}, "SUCCESS")
    assert not (home / "logs" / "activity.log.jsonl").exists() or not lines(home)
