"""`fdc agent --model`: a model plans, codes and repairs, over real HTTP (issue 4)."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.tools.model.prices import price

from tests.cli.test_agent import PLAN
from tests.cli.test_prompts import GOOD, JUDGE, PROMPT, SCHEMA, world
from tests.support import process
from tests.support.agents import UNTAUGHT, planned
from tests.support.background import fdc_started, wait_for
from tests.support.inside import fdc
from tests.support.messages_api import Item, fault, held, messages_api, reply
from tests.support.openai_api import openai_api
from tests.support.repository import ROOT

pytestmark = pytest.mark.skipif(not find_spec("anthropic"), reason="the client is not installed")
"""Where no model is asked it is not imported: every worker collects this file."""


BAD = PLAN.replace("hello", "{nobody}")


@pytest.fixture
def home(workspace: Path) -> Path:
    shutil.copy(ROOT / "knowledge_core" / "agent_meta.json", workspace / "knowledge_core")
    return workspace


def agent(
    home: Path, *words: str, script: list[Item], start: Any = fdc, **environment: str
) -> tuple[int, str, str, list[str]]:
    with messages_api(script) as server:
        done = start(
            "agent",
            *UNTAUGHT,
            *words,
            "--network",
            "off",
            cwd=home,
            env={**world(server, home), **environment},
        )
    assert "Traceback" not in done.stderr
    return (
        done.returncode,
        done.stdout,
        done.stderr,
        [request["messages"][0]["content"] for request in server.requests],
    )


def test_a_model_plans_and_findings_go_back_to_it(home: Path) -> None:
    script = [reply(planned(BAD)), reply(planned(PLAN))]
    code, out, err, asked = agent(home, "Say hello", "--task-id", "T-1", script=script)
    assert (0, "") == (code, err), out
    assert (
        "claude-sonnet-5 plans" in out
        and "\nhello\n" in out
        and out.endswith("task T-1: AWAITING_SUBMISSION\n")
    )
    first, second = asked
    assert (
        "Say hello" in first and "create_file_with_block PATH" in first and "reset_all" not in first
    )
    assert "`nobody`" in second


def test_a_planner_behind_a_server_that_knows_grammars_is_held_to_one(home: Path) -> None:
    """As `fdc draft` asks it; what is wrong with a version goes back all the same."""
    pytest.importorskip("openai")
    first_line = "# FSM: tooling/fdc_fsm.json\n"
    with openai_api("llama", [first_line + BAD, first_line + PLAN]) as server:
        asked = {"FDC_MODEL": "m", "OPENAI_BASE_URL": server.address, "HOME": str(home)}
        words = ("Say hello", "--task-id", "T-1", *UNTAUGHT, "--network", "off")
        done = fdc("agent", *words, cwd=home, env=asked)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "m plans\n" in done.stdout and done.stdout.endswith("task T-1: AWAITING_SUBMISSION\n")
    first, second = server.bodies
    assert first["grammar"].startswith("%llguidance {}\nstart: ")
    assert first_line.strip() in first["grammar"]
    assert "response_format" not in first and "{nobody}" in second["messages"][0]["content"]


def test_a_planner_that_no_grammar_holds_is_held_to_a_strict_schema_of_lines(home: Path) -> None:
    """By both APIs, over real HTTP: a word that is neither a tool nor a statement is no reply, and is asked for again."""
    unknown = planned(PLAN.replace("message_user", "mesage_user"))
    script = [reply(unknown), reply(planned(BAD)), reply(planned(PLAN))]
    words = ("Say hello", "--task-id", "T-1", *UNTAUGHT, "--network", "off")
    with messages_api(script) as server:
        done = fdc("agent", *words, cwd=home, env=world(server, home))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert len(server.requests) == 3
    schemas = [request["output_config"]["format"]["schema"] for request in server.requests]
    pytest.importorskip("openai")
    shutil.rmtree(home / ".fdc")
    with openai_api("plain", [planned(BAD), planned(PLAN)]) as other:
        asked = {"FDC_MODEL": "m", "OPENAI_BASE_URL": other.address, "HOME": str(home)}
        done = fdc("agent", *words[:2], "T-2", *words[3:], cwd=home, env=asked)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert all(body["response_format"]["json_schema"]["strict"] for body in other.bodies)
    schemas += [body["response_format"]["json_schema"]["schema"] for body in other.bodies]
    for schema in schemas:
        lines = schema["properties"]["lines"]["items"]
        words_of_lines = lines["properties"]["word"]["enum"]
        assert lines["additionalProperties"] is False
        assert {"message_user", "if", "research"} <= {*words_of_lines}
        assert "mesage_user" not in words_of_lines


def test_a_model_that_cannot_be_asked_leaves_a_task_that_goes_on(home: Path) -> None:
    code, out, err, _ = agent(home, "Say hello", "--task-id", "T-1", script=[fault(401)])
    assert (5, "") == (
        code,
        err,
    ) and "the planner is not available now: the model's server does not accept the key" in out
    assert "task T-1: PLANNING; `fdc agent --resume T-1` goes on" in out
    code, out, err, _ = agent(home, "--resume", "T-1", script=[reply(planned(PLAN))])
    assert code == 0 and out.endswith("task T-1: AWAITING_SUBMISSION\n")


def test_nonsense_costs_a_planner_an_attempt_and_not_the_task(home: Path) -> None:
    """fdc asks once more for the form; then the reply counts as a version, and the next request has the reason."""
    script = [reply("no"), reply("I am sorry."), reply(planned(PLAN))]
    code, out, err, asked = agent(home, "Say hello", "--task-id", "T-1", script=script)
    assert (0, "") == (code, err), out
    assert "it is not JSON" in asked[2] and "it is not JSON" not in asked[0]


def test_a_model_that_answers_nonsense_ends_in_error_with_the_reason(home: Path) -> None:
    words = ("Say hello", "--task-id", "T-1", "--attempts", "1")
    code, out, err, _ = agent(home, *words, script=[reply("no"), reply("no")])
    assert (1, "") == (code, err) and "bug" not in out
    assert (
        "error: the planner: the model's reply does not have the requested form: it is not JSON"
        in out
    )


@pytest.mark.long
def test_a_model_codes_and_repairs_until_the_tests_pass(home: Path) -> None:
    """GENERATING_CODE, RUNNING_TESTS and DEBUGGING do real work (FDC-92)."""
    (home / "fdc.toml").write_text(
        'test_command = "python3 -B test_it.py"\n[models]\ndebugger = "claude-opus-5"\n'
    )
    (home / "it.py").write_text("def double(x):\n    return x\n")
    (home / "test_it.py").write_text(
        "from it import double\nassert double(2) == 4, 'not doubled'\n"
    )
    plan = PLAN.replace("message_user hello", "generate_code it.py Double it.")
    edit = "<<<<<<< SEARCH\n    return {}\n=======\n    return {}\n>>>>>>> REPLACE"
    wrong = {"edits": [{"path": "it.py", "diff": edit.format("x", "x + 1")}]}
    right = {"edits": [{"path": "it.py", "diff": edit.format("x + 1", "x * 2")}]}
    script = [reply(planned(plan)), *(reply(json.dumps(one)) for one in (wrong, right))]
    code, out, err, asked = agent(
        home, "Double", "--task-id", "T-1", script=script, start=process.fdc
    )
    assert (0, "") == (code, err), out
    assert (home / "it.py").read_text() == "def double(x):\n    return x * 2\n"
    assert "not doubled" in asked[2]


def judging(home: Path, budget: str = "") -> str:
    """A tool that is a prompt, and a plan that asks it."""
    (home / "prompts").mkdir()
    (home / "prompts" / "judge.md").write_text(PROMPT)
    (home / "prompts" / "judge.json").write_text(json.dumps(SCHEMA))
    (home / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"judge": JUDGE}})
    )
    return budget + PLAN.replace(
        "message_user hello", "found <- judge tea\nmessage_user grade {found.grade}"
    )


def test_the_model_of_the_command_line_answers_the_plan_s_prompts_too(home: Path) -> None:
    plan = judging(home)
    script = [reply(planned(plan)), GOOD]
    words = ("Grade tea", "--task-id", "T-1", "--model", "claude-sonnet-5")
    code, out, err, asked = agent(home, *words, script=script, FDC_MODEL="")
    assert (0, "") == (code, err), out
    assert "\ngrade 7\n" in out and len(asked) == 2 and "tea" in asked[1]


def test_a_plan_s_budget_of_money_holds_in_a_task_and_more_of_it_goes_on(home: Path) -> None:
    """A run cannot pass its budget, the user who begins it; what is used up ends no task for good."""
    plan = judging(home, "budget money 0.001\n")
    code, out, err, asked = agent(
        home, "Grade tea", "--task-id", "T-1", script=[reply(planned(plan))]
    )
    assert (5, "", 1) == (code, err, len(asked)), out
    assert (
        "the budget of 0.001 money is used up before `judge`" in out
        and "task T-1: EXECUTING" in out
    )
    run = json.loads(fdc("runs", "--format", "json", cwd=home).stdout)["runs"][0]["run"]
    assert f"`fdc resume {run} --budget MEASURE=NUMBER`" in out
    with messages_api([GOOD]) as server:
        done = fdc("resume", run, "--budget", "money=1", cwd=home, env=world(server, home))
    assert done.returncode == 0, done
    code, out, _, asked = agent(home, "--resume", "T-1", script=[])
    assert (0, []) == (code, asked) and out.endswith("task T-1: AWAITING_SUBMISSION\n")


def test_a_budget_that_cannot_be_kept_to_is_a_finding_about_the_plan(home: Path) -> None:
    plan = judging(home, "budget money 1\n")
    code, out, _, asked = agent(
        home,
        "Grade tea",
        "--task-id",
        "T-1",
        "--model",
        "nobody-knows-1",
        script=[reply(planned(plan))],
    )
    assert (
        (1, 1) == (code, len(asked))
        and "the price of `nobody-knows-1` is not in" in out
        and "bug" not in out
    )


def test_a_task_s_budget_is_over_its_runs_and_all_that_its_controller_asks(home: Path) -> None:
    """Planner and plan share it; used up, the task waits, and more of it goes on (FDC-92, issue 4 "Bounded")."""
    plan = (
        judging(home)
        .replace("found <-", "first <- judge milk\nfound <-")
        .replace("{found", "{first.grade} {found")
    )
    script = [reply(planned(plan)), GOOD, GOOD]
    words = ("Grade tea", "--task-id", "T-1", "--budget", "model_calls=3")
    code, out, err, asked = agent(home, *words, script=script)
    assert (5, "", 2) == (code, err, len(asked)), out  # one is left, and a judge may need two
    assert (
        "the budget of 2 model_calls is used up before `judge`" in out
        and "task T-1: EXECUTING" in out
    )
    code, out, _, asked = agent(home, "--resume", "T-1", "--budget", "model_calls=4", script=[GOOD])
    assert (0, 1) == (code, len(asked)) and "\ngrade 7 7\n" in out, out


def test_a_planner_that_has_used_the_budget_up_is_not_asked_again(home: Path) -> None:
    script = [reply(planned(BAD))] * 9
    code, out, err, asked = agent(
        home, "Say hello", "--task-id", "T-1", "--budget", "model_calls=2", script=script
    )
    assert (5, "", 2) == (code, err, len(asked))
    assert (
        "the task's budget of 2 model_calls is used up; `fdc agent --resume T-1 --budget model_calls=NUMBER`"
        in out
    )
    good = [reply(planned(PLAN))]
    assert 0 == agent(home, "--resume", "T-1", "--budget", "model_calls=3", script=good)[0]


def test_no_answer_is_longer_than_the_task_s_money_allows(home: Path) -> None:
    script = [reply(planned(PLAN), tokens=(100, 20))]
    with messages_api(script) as server:
        words = (
            "agent",
            *UNTAUGHT,
            "Say hello",
            "--task-id",
            "T-1",
            "--budget",
            "money=0.05",
            "--network",
            "off",
        )
        done = fdc(*words, cwd=home, env=world(server, home))
    assert done.returncode == 0, done.stdout
    cost = price("claude-sonnet-5", {"output": server.requests[0]["max_tokens"]})
    assert cost is not None and cost < 0.05
    kept = json.loads((home / ".fdc/agents/T-1/purse.json").read_text())
    assert {"model_calls": 1, "tokens": 120} == {
        one: kept["spent"][one] for one in ("model_calls", "tokens")
    }
    assert 0 < kept["spent"]["money"] < 0.01 and kept["pending"] == {}


def test_what_a_killed_controller_had_set_aside_counts(home: Path) -> None:
    """SIGKILL while the planner is asked: it is unknown what that cost, so what was set aside is spent."""
    with messages_api([held("late")]) as server:
        words = (
            "agent",
            *UNTAUGHT,
            "Say hello",
            "--task-id",
            "T-1",
            "--budget",
            "model_calls=3",
            "--network",
            "off",
        )
        with fdc_started(*words, cwd=home, env=world(server, home)) as process_:
            wait_for(lambda: server.requests)
            process_.kill()
        server.release.set()
    code, out, _, asked = agent(
        home, "--resume", "T-1", script=[reply("no"), reply("no")], start=process.fdc
    )
    # One call is left: its reply does not fit and costs an attempt; for another the task waits.
    assert (5, 1) == (code, len(asked)) and "is used up" in out, out
    assert (
        3 == json.loads((home / ".fdc/agents/T-1/purse.json").read_text())["spent"]["model_calls"]
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--budget", "steps=3"], "a task's budget limits"),
        (["--budget", "money=1", "--model", "unheard-of"], "the price of"),
    ],
)
def test_a_task_s_budget_that_cannot_be_kept_to_is_one_sentence(
    home: Path, words: list[str], why: str
) -> None:
    code, out, err, asked = agent(home, "Say hello", *words, script=[])
    assert (2, "", []) == (code, out, asked) and why in err


def test_research_under_a_budget_asks_no_model(home: Path) -> None:
    """It is made in a process of its own, whose questions no one could count: there it quotes."""
    (home / "notes.md").write_text("Green tea is brewed at 80 degrees.\n")
    script = [
        reply(planned("research how hot is green tea")),
        reply(planned(PLAN)),
    ]
    code, out, _, asked = agent(
        home, "Say hello", "--task-id", "T-1", "--budget", "model_calls=2", script=script
    )
    assert (0, 2) == (code, len(asked)), out
    assert "80 degrees" in asked[1]


@pytest.mark.parametrize(
    ("refuses", "form"), [("", "a strict schema"), ("output_config", "a schema in words")]
)
def test_a_draft_by_the_messages_api_follows_the_schema_of_lines(
    home: Path, refuses: str, form: str
) -> None:
    """Findings go back; where the server refuses the schema, the words of the question hold the model."""
    with messages_api([reply(planned(BAD)), reply(planned(PLAN))]) as server:
        server.refuses = refuses
        words = ("draft", "Say hello", "--model", "claude-sonnet-5", "-o", "made.plan")
        done = fdc(*words, cwd=home, env=world(server, home))
    assert done.returncode == 0, done.stderr
    assert f"version 2 of at most 4, held by {form}: model_calls 2" in done.stdout + done.stderr
    assert "`nobody`" in server.requests[-1]["messages"][0]["content"]
    assert (home / "made.plan").read_text().endswith(PLAN)
