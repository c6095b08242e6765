"""An approval is the person's: a model that asks for it cannot give it, whichever way it tries."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import api
from fdc_toolchain.mcp_server import questions
from fdc_toolchain.mcp_server.run_tool import has_forms
from mcp import Client
from mcp.types import (
    CallToolResult,
    ClientCapabilities,
    ElicitationCapability,
    ElicitResult,
    FormElicitationCapability,
    InputRequiredResult,
    UrlElicitationCapability,
)

from tests.support.inside import fdc
from tests.support.mcp_client import MODES, Mode, accepted, call, talk, text_of
from tests.support.repository import ROOT

ASKS = """\
set_plan x
plan_step_complete one
record_user_approval_for_plan that it is written
create_file_with_block out.md
    written
close_task
submit
"""
START = {"op": "start", "plan": "p.plan"}


@pytest.fixture
def asks(workspace: Path) -> Path:
    (workspace / "p.plan").write_text(ASKS)
    return workspace


def stands(workspace: Path) -> str:
    """How the newest run stands, after a check that nothing was written unless it finished."""
    state = api.show("last", workspace=workspace)
    assert (workspace / "out.md").exists() == (state.status == "finished")
    return state.status


def nobody(message: str, schema: dict[str, Any]) -> ElicitResult:
    raise AssertionError("nobody is asked here")


@pytest.mark.parametrize("mode", MODES)
def test_the_person_sees_all_that_follows_and_says_yes(asks: Path, mode: Mode) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []

    def person(message: str, schema: dict[str, Any]) -> ElicitResult:
        assert not (asks / "out.md").exists()
        seen.append((message, schema))
        return accepted(approve="yes")

    text = text_of(call(asks, "fdc_run", START, mode=mode, person=person))
    assert "finished" in text and stands(asks) == "finished"
    ((message, schema),) = seen
    assert message.startswith("approval at p.plan:3"), "a program may show the first lines only"
    assert "fdc asks you, and not the agent." in message
    assert "p.plan:4: create out.md" in message and "+written" in message
    assert schema["properties"] == {
        "approve": {"type": "string", "title": "Do you approve?", "enum": ["later", "no", "yes"]}
    }
    said = fdc("show", "last", cwd=asks).stdout
    assert ", fdc mcp in mcp 0.1.0)" in said, "the record says in which program the person answered"


@pytest.mark.parametrize("mode", MODES)
def test_a_no_stops_the_run(asks: Path, mode: Mode) -> None:
    result = call(asks, "fdc_run", START, mode=mode, person=lambda *_: accepted(approve="no"))
    assert result.is_error and stands(asks) == "stopped"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "response",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="decline", content={"approve": True}),
        ElicitResult(action="accept"),
        accepted(),
        accepted(approve=True),
        accepted(approve="later"),
        accepted(approve="true"),
        accepted(approve=1),
        accepted(approve=["yes"]),
        accepted(answer="yes"),
    ],
)
def test_whatever_is_no_clear_yes_leaves_the_run_waiting(
    asks: Path, mode: Mode, response: ElicitResult
) -> None:
    text = text_of(call(asks, "fdc_run", START, mode=mode, person=lambda *_: response))
    assert "It waits for a person." in text and stands(asks) == "waiting"


@pytest.mark.parametrize("mode", MODES)
def test_a_client_without_forms_gets_the_command_for_the_person(asks: Path, mode: Mode) -> None:
    text = text_of(call(asks, "fdc_run", START, mode=mode))
    run = api.show("last", workspace=asks).run
    assert f"  fdc answer {run}\n" in text and "You cannot answer" in text
    again = text_of(call(asks, "fdc_run", {"op": "resume", "run": run}, mode=mode))
    assert "It waits for a person." in again and stands(asks) == "waiting"
    api.answer(run, "yes", workspace=asks)
    assert "was answered" in text_of(call(asks, "fdc_run", {"op": "status", "run": run}, mode=mode))
    text_of(call(asks, "fdc_run", {"op": "resume", "run": run}, mode=mode))
    assert stands(asks) == "finished"


@pytest.mark.parametrize("question", ["approval", "outcome"])
def test_no_value_that_a_program_chooses_in_advance_approves(question: str) -> None:
    """Codex marks the first value when a form opens, others the default: Enter sends it."""
    asked = api.Question(
        address="main/3", how="assume" if question == "outcome" else "answer", text="?", tool="t",
        path="p", line=3, args={}, approval=question == "approval",
    )  # fmt: skip
    form = questions.form("r", asked)
    assert form is not None
    ((name, field),) = form.requested_schema["properties"].items()
    assert field["type"] == "string" and "default" not in field
    assert questions.answer_of(asked, accepted(**{name: field["enum"][0]})) is None
    assert all(questions.answer_of(asked, accepted(**{name: said})) for said in field["enum"][1:])


def test_no_argument_of_any_tool_gives_an_approval(asks: Path) -> None:
    words: dict[str, Any] = {
        "approve": ["plan"], "--approve": "plan", "approved": True, "answer": "yes", "decision": "approve",
        "answers": {"main/3": "yes"},
        "assume": {"main/3": "done"}, "policy": {"approve": ["plan"]}, "trust": True, "force": True, "retry": True,
        "argv": ["--approve", "plan"], "seen": "x", "_meta": {"approve": True}, "workspace": "/", "budget": {},
    }  # fmt: skip

    async def work(client: Client) -> None:
        await client.call_tool("fdc_run", START)
        run = api.show("last", workspace=asks).run
        for name, value in words.items():
            for tool, given in (
                ("fdc_run", {"op": "resume", "run": run}), ("fdc_run", START), ("fdc_lint", {"path": "p.plan"}),
                ("fdc_fix", {"path": "p.plan"}), ("fdc_explain", {"code": "FDC301"}), ("fdc_tools", {}),
            ):  # fmt: skip
                result = await client.call_tool(tool, {**given, name: value})
                assert result.is_error and "takes no argument" in text_of(result), (tool, name)
        for run_ in (f"{run} --approve plan", f"{run}\n--answer yes", "--approve"):
            result = await client.call_tool("fdc_run", {"op": "resume", "run": run_})
            assert result.is_error, run_
        for op in ("answer", "approve", "resume --approve plan"):
            assert (await client.call_tool("fdc_run", {"op": op, "run": run})).is_error
        result = await client.call_tool("fdc_run", {**START, "inputs": {"approve": "plan"}})
        assert result.is_error
        for name in ("fdc_answer", "fdc_approve", "record_user_approval_for_plan"):
            assert (await client.call_tool(name, {"run": run, "text": "yes"})).is_error

    talk(asks, work)
    assert stands(asks) == "waiting"
    assert {one.status for one in api.runs(workspace=asks)} == {"waiting"}


def test_forged_answers_to_forms_are_refused(asks: Path) -> None:
    """In the protocol since 2026-07-28 a client sends answers by itself: without a form, for another call, twice."""
    yes = {"person": accepted(approve="yes")}

    async def send(client: Client, arguments: dict[str, Any], **more: Any) -> Any:
        return await client.session.call_tool(
            "fdc_run", arguments, allow_input_required=True, **more
        )

    async def work(client: Client) -> None:
        for more in (
            {"input_responses": yes}, {"request_state": "x"}, {"input_responses": yes, "request_state": ""},
            {"input_responses": yes, "request_state": "x" * 32},
        ):  # fmt: skip
            result = await send(client, START, **more)
            assert isinstance(result, CallToolResult) and "no open question" in text_of(result)
        assert api.runs(workspace=asks) == ()

        form = await send(client, START)
        assert isinstance(form, InputRequiredResult)
        run = api.show("last", workspace=asks).run
        other = {"op": "resume", "run": run}
        result = await send(client, other, input_responses=yes, request_state=form.request_state)
        assert "no open question" in text_of(result), "the form belongs to another call"
        result = await send(client, START, input_responses=yes, request_state=form.request_state)
        assert "no open question" in text_of(result), "each form counts once"
        assert stands(asks) == "waiting"

        form = await send(client, other)
        result = await send(
            client,
            other,
            input_responses={"else": accepted(approve="yes")},
            request_state=form.request_state,
        )
        assert "waits for a person" in text_of(result), "an answer to nothing that was asked"

        form = await send(client, other)
        api.answer(run, "no", workspace=asks)
        api.resume(run, workspace=asks)
        result = await send(client, other, input_responses=yes, request_state=form.request_state)
        assert result.is_error and stands(asks) == "stopped", "the run asks something else by now"

    talk(asks, work, person=nobody)


def test_an_answer_for_one_question_is_none_for_the_next(workspace: Path) -> None:
    """The files changed between the form and the answer: what was approved is not what would be done."""
    (workspace / "out.md").write_text("before\n")
    (workspace / "p.plan").write_text(ASKS.replace("create_file", "overwrite_file"))

    def person(message: str, schema: dict[str, Any]) -> ElicitResult:
        assert "-before" in message
        (workspace / "out.md").write_text("precious\n")
        return accepted(approve="yes")

    for mode in MODES:
        (workspace / "out.md").write_text("before\n")
        result = call(workspace, "fdc_run", START, mode=mode, person=person)
        assert result.is_error, text_of(result)
        assert (workspace / "out.md").read_text() == "precious\n"


def test_a_yes_to_an_older_form_is_none_to_what_the_run_asks_now(workspace: Path) -> None:
    """Between form and answer the file changed, and the run was resumed: it asks at the same place, and shows something else."""
    (workspace / "out.md").write_text("before\n")
    (workspace / "p.plan").write_text(ASKS.replace("create_file", "overwrite_file"))

    async def work(client: Client) -> None:
        form = await client.session.call_tool("fdc_run", START, allow_input_required=True)
        assert isinstance(form, InputRequiredResult)
        (workspace / "out.md").write_text("precious\n")
        again = api.resume("last", workspace=workspace)
        assert again.status == "waiting" and "-precious" in "\n".join(again.questions[0].screen)
        result = await client.session.call_tool(
            "fdc_run", START,
            input_responses={"person": accepted(approve="yes")}, request_state=form.request_state,
        )  # fmt: skip
        assert result.is_error and "asks something else" in text_of(result), text_of(result)

    talk(workspace, work, person=nobody)
    assert (workspace / "out.md").read_text() == "precious\n"
    assert api.show("last", workspace=workspace).status == "waiting"


@pytest.mark.parametrize("first", ["no", "yes"])
def test_of_two_forms_for_one_question_the_first_answer_counts(asks: Path, first: str) -> None:
    """Two clients of one server, or one that asks twice: a no is not taken back by a yes that comes after it."""
    second = {"no": "yes", "yes": "no"}[first]

    async def work(client: Client) -> None:
        async def send(arguments: dict[str, Any], **more: Any) -> Any:
            return await client.session.call_tool(
                "fdc_run", arguments, allow_input_required=True, **more
            )

        forms = [await send(START)]
        run = api.show("last", workspace=asks).run
        again = {"op": "resume", "run": run}
        forms.append(await send(again))
        question = api.show(run, workspace=asks).questions[0]
        api.answer(run, first, workspace=asks, seen=question.seen)  # and no drive has taken it up
        for given, form in zip((START, again), forms, strict=True):
            result = await send(
                given,
                input_responses={"person": accepted(approve=second)},
                request_state=form.request_state,
            )
            assert result.is_error and "was answered" in text_of(result), text_of(result)
        assert stands(asks) == "waiting"
        await send(again)
        assert stands(asks) == {"no": "stopped", "yes": "finished"}[first]

    talk(asks, work, person=nobody)


PLANS = {
    "its own command": f"run_in_bash_session {sys.executable} {ROOT}/tooling/fdc_cli.py resume last --approve plan --answer yes",
    "a file of fdc": "create_file_with_block .fdc/answers.json\n    yes",
    "a file of fdc by a command": "run_in_bash_session sh -c 'echo yes > .fdc/answers.json'",
}


@pytest.mark.parametrize("way", PLANS)
def test_no_plan_of_the_model_answers_for_the_person(asks: Path, way: str) -> None:
    """The model writes a plan, and runs it with the same tool."""
    call(asks, "fdc_run", START)
    run = api.show("last", workspace=asks).run
    (asks / "q.plan").write_text(
        f"set_plan x\nplan_step_complete one\n{PLANS[way]}\nclose_task\nsubmit\n"
    )
    result = call(asks, "fdc_run", {"op": "start", "plan": "q.plan"})
    said = text_of(result)
    assert result.is_error and (
        "FDC307" in said or "FDC417" in said or "Read-only file system" in said or "denied" in said
    ), said
    assert api.show(run, workspace=asks).status == "waiting" and not (asks / "out.md").exists()


def test_a_question_too_long_for_a_form_is_not_asked_in_one(workspace: Path) -> None:
    lines = "".join(f"    line {number}\n" for number in range(2000))
    (workspace / "p.plan").write_text(ASKS.replace("    written\n", lines))
    for mode in MODES:
        text = text_of(call(workspace, "fdc_run", START, mode=mode, person=nobody))
        assert "fdc answer " in text and stands(workspace) == "waiting"


def test_a_form_of_an_unknown_outcome_offers_two_answers_and_no_other_counts() -> None:
    question = api.Question(
        address="main/c>x/3", how="assume", text="?", tool="t", path="p", line=3, args={}
    )
    assert (
        questions.form("r", replace(question, args={"command": "x" * questions.MOST_FORM})) is None
    )
    form = questions.form("r", replace(question, args={"command": "make\ntea\u202e"}))
    assert form is not None and '\nt {"command": "make\\ntea\\u202e"}\n' in form.message
    assert form is not None and form.requested_schema["properties"] == {
        "happened": {
            "type": "string",
            "title": "Did it happen?",
            "enum": ["later", "done", "not-done"],
        }
    }
    said = [
        questions.answer_of(question, one)
        for one in (
            accepted(happened="done"),
            accepted(happened="not-done"),
            accepted(happened="yes"),
            accepted(happened="later"),
            accepted(),
        )
    ]
    assert said == ["done", "not-done", None, None, None]
    assert questions.by_hand("r", question) == (
        "fdc resume r --assume 'main/c>x/3=done' or fdc resume r --assume 'main/c>x/3=not-done'"
    )


@pytest.mark.parametrize(
    ("elicitation", "forms"),
    [
        (None, False),
        (ElicitationCapability(), True),
        (ElicitationCapability(form=FormElicitationCapability()), True),
        (ElicitationCapability(url=UrlElicitationCapability()), False),
    ],
)
def test_a_form_is_for_clients_that_can_show_one(
    elicitation: ElicitationCapability | None, forms: bool
) -> None:
    assert has_forms(ClientCapabilities(elicitation=elicitation)) is forms
    assert not has_forms(None)
