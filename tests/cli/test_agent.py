"""`fdc agent` and its old names, as real processes: what the author who writes the plan, or waits for the end, meets."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from fdc_toolchain.agent.host.real_world import LocalWorld
from fdc_toolchain.agent.master_control import MasterControlGraph
from fdc_toolchain.agent.plan_source import ModelPlanner
from fdc_toolchain.agent.prompts import prompt
from fdc_toolchain.agent.state import AgentState
from fdc_toolchain.agent.world import Policy, Polled
from fdc_toolchain.testing import ScriptedModel

from tests.support.agents import UNTAUGHT, taught
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.process import clean_environment, fdc, run
from tests.support.repository import ROOT

PLAN = "set_plan x\nplan_step_complete y\nmessage_user hello\nclose_task\nsubmit\n"
BAD = PLAN.replace("message_user", "mesage_user")


@pytest.fixture
def home(workspace: Path) -> Path:
    shutil.copy(ROOT / "knowledge_core" / "agent_meta.json", workspace / "knowledge_core")
    return workspace


def agent(home: Path, *words: str, **options: Any) -> tuple[int, str, str]:
    done = fdc("agent", *words, *UNTAUGHT, "--network", "off", cwd=home, **options)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_a_task_from_its_first_line_to_its_last(home: Path) -> None:
    """FDC-02 to FDC-06: each transition is a line, the end says where the post-mortem is."""
    (home / "plan.txt").write_text(PLAN)
    code, out, err = agent(home, "Say hello", "--task-id", "T-1")
    assert (0, "") == (code, err), out
    assert [
        "START -> ORIENTING  (begin_task)", "ORIENTING -> PLANNING  (orientation_succeeded)",
        "PLANNING -> EXECUTING  (plan_op)", "EXECUTING -> FINALIZING (POST_MORTEM)  (all_steps_completed)",
        "FINALIZING (POST_MORTEM) -> AWAITING_SUBMISSION  (finalization_succeeded)",
    ] == [line for line in out.splitlines() if "->" in line]  # fmt: skip
    assert "\nhello\n" in out and "post-mortem: postmortems/" in out
    assert out.endswith("task T-1: AWAITING_SUBMISSION\n")
    code, _, err = agent(home, "Say hello", "--task-id", "T-1")
    assert 2 == code and "is finished" in err
    code, out, _ = agent(home, "--resume", "T-1", "--format", "json")
    assert (0, "AWAITING_SUBMISSION", None) == (
        code,
        json.loads(out)["state"],
        json.loads(out)["error"],
    )


def test_in_a_new_repository_a_task_ends_beside_another_that_somebody_started(
    tmp_path: Path,
) -> None:
    """Issue 15: `fdc start` and `fdc agent` work after `fdc init`; each ends its own task."""
    assert 0 == fdc("init", cwd=tmp_path).returncode
    assert 0 == fdc("start", "--task-id", "MINE", "--network", "off", cwd=tmp_path).returncode
    (tmp_path / "plan.txt").write_text(PLAN)
    code, out, err = agent(tmp_path, "Say hello", "--task-id", "T-1")
    assert (0, "") == (code, err), out
    log = (tmp_path / "logs" / "activity.log.jsonl").read_text().splitlines()
    assert ["T-1"] == [
        row["task"]["id"] for row in map(json.loads, log) if row["action"]["type"] == "TASK_END"
    ]


def test_a_plan_that_is_refused_is_repaired(home: Path) -> None:
    """FDC-04: findings go to a file, the next version is awaited, over several lives of the controller."""
    assert (5, True) == ((end := agent(home, "Say hello"))[0], "waiting for plan.txt" in end[1])
    (home / "plan.txt").write_text(BAD)
    code, out, _ = agent(home, "--resume", "say-hello")
    assert 5 == code and "did you mean `message_user`" in out and "4 more tries" in out
    findings = (home / "plan.findings.txt").read_text()
    assert "plan.txt:3:1" in findings and "did you mean `message_user`" in findings
    assert "waiting for a new version" in agent(home, "--resume", "say")[1]
    (home / "plan.txt").write_text(PLAN)
    assert 0 == agent(home, "--resume", "say")[0]
    assert not (home / "plan.findings.txt").exists()
    [page] = (home / "postmortems").iterdir()
    assert "1 version of the plan was refused" in page.read_text()


def test_a_plan_that_stays_wrong_ends_in_error_and_nothing_ran(home: Path) -> None:
    """FDC-04, C-12: bounded; the way out of ERROR has to be asked for."""
    (home / "plan.txt").write_text(BAD)
    code, out, _ = agent(home, "T-1", "--attempts", "1")
    assert 1 == code and "PLANNING -> ERROR  (planning_failed)" in out and "mesage_user" in out
    assert not (home / ".fdc" / "runs.sqlite").exists()
    (home / "plan.txt").write_text(PLAN)
    code, out, _ = agent(home, "--resume", "T-1")
    assert 1 == code and " -> " not in out and "start again with" in out
    code, out, _ = agent(home, "--resume", "T-1", "--reorient")
    assert 0 == code and "task T-1: ORIENTING" in out


@pytest.mark.slow
def test_a_plan_that_comes_later_is_waited_for(home: Path) -> None:
    """FDC-03."""
    with fdc_started(
        "agent",
        "T-1",
        *UNTAUGHT,
        "--wait",
        str(PATIENCE),
        "--network",
        "off",
        "--plan",
        "my.plan",
        cwd=home,
    ) as process:
        wait_for(lambda: (home / ".fdc/agents/T-1/state.json").exists()
                 and json.loads((home / ".fdc/agents/T-1/state.json").read_text())["state"] == "PLANNING")  # fmt: skip
        (home / "my.plan").write_text(BAD)
        wait_for((home / "my.findings.txt").exists)
        (home / "my.plan").write_text(PLAN)
        out, err = process.communicate(timeout=PATIENCE)
    assert (0, "") == (process.returncode, err), out


@pytest.mark.slow
def test_research_that_is_asked_for_comes_home(home: Path) -> None:
    """FDC-54, FDC-57, FDC-90: `research TOPIC` in the place of a plan; the report is logged with its path."""
    (home / "notes.md").write_text("Green tea is brewed at 80 degrees.\n")
    (home / "plan.txt").write_text("# first\nresearch how hot is green tea\n")
    code, out, _ = agent(home, "T-1")
    assert (
        5 == code
        and "AWAITING_RESULT -> PLANNING  (result_ready)" in out
        and "waiting for plan.txt" in out
    )
    record = json.loads((home / ".fdc/agents/T-1/state.json").read_text())
    findings = record["agent"]["research_findings"]
    assert (True, "research/how-hot-is-green-tea.md") == (findings["answered"], findings["report"])
    assert ["Green tea is brewed at 80 degrees. [notes.md:1]"] == findings["answer"]
    entries = [
        json.loads(line) for line in (home / "logs/activity.log.jsonl").read_text().splitlines()
    ]
    reports = [
        item["action"]["details"]["path"]
        for item in entries
        if item["action"]["type"] == "RESEARCH_REPORT"
    ]
    assert {"research/how-hot-is-green-tea.md"} == set(reports)
    (home / "plan.txt").write_text(PLAN)
    assert 0 == agent(home, "--resume", "T-1")[0]


def researching(home: Path, world: LocalWorld) -> tuple[str, AgentState, MasterControlGraph]:
    graph = MasterControlGraph(world=world, model=ScriptedModel([]))
    state = AgentState("T-1")
    plans = ["research how hot is green tea\n"]
    end = graph.run(state, world.logger(), plan=lambda _: plans.pop() if plans else None)
    return end, state, graph


@pytest.mark.slow
def test_research_that_fails_is_an_error_with_its_code_and_words(home: Path) -> None:
    """FDC-90, T-23: `research` is not a folder, so the report cannot be written, and the process says so."""
    (home / "notes.md").write_text("Green tea is brewed at 80 degrees.\n")
    (home / "research").write_text("in the way")
    end, state, _ = researching(home, LocalWorld(str(home), network="off"))
    assert (
        "ERROR" == end and "exit code 1" in str(state.error) and "`research" in str(state.error)
    ), state.error


@pytest.mark.slow
def test_whoever_asks_for_research_again_and_again_is_stopped(home: Path) -> None:
    """FDC-35, FDC-54: the loop between planning and research has a bound."""
    (home / "notes.md").write_text("Tea is hot.\n")
    world = Sparing(str(home), network="off")
    graph, state = MasterControlGraph(world=world, model=ScriptedModel([])), AgentState("T-1")
    assert "ERROR" == graph.run(
        state, world.logger(), plan=lambda _: "research how hot is green tea\n"
    )
    assert "1 research requests were made" in str(state.error)


class Failing(LocalWorld):
    """The first piece of research fails; no process is started."""

    def launch(self, task_id: str, name: str, question: str, web: bool = True) -> None:
        self.names = [*getattr(self, "names", ()), name]

    def poll(self, task_id: str, name: str) -> Polled:
        if name == self.names[0]:
            return Polled(False, 3, "", "no space left")
        found = {"status": "stopped", "stop": "require", "question": "how hot", "answer": [], "held": 0,
                 "why": "nothing says so", "findings": [], "trust": "workspace"}  # fmt: skip
        return Polled(False, 1, json.dumps(found), "")


def test_research_works_again_after_it_failed_once(home: Path) -> None:
    """FDC-54, FDC-90: another piece is begun under a name of its own, and its findings come home."""
    world = Failing(str(home), network="off")
    end, state, graph = researching(home, world)
    assert "ERROR" == end and "no space left" in str(state.error)
    graph.reorient(state)
    asked = ["research how hot\n"]
    end = graph.run(state, world.logger(), plan=lambda _: asked.pop() if asked else None)
    assert ("PLANNING", ["research-1", "research-2"]) == (end, world.names), state.error
    assert "how hot" == state.research_findings["question"]


class Killing(LocalWorld):
    """The machine kills the process before anybody looks."""

    def launch(self, task_id: str, name: str, question: str, web: bool = True) -> None:
        super().launch(task_id, name, question, web)
        super().kill(task_id, name)
        wait_for(lambda: not super(Killing, self).poll(task_id, name).running)


class Sparing(LocalWorld):
    """Research may be made once."""

    def policy(self) -> Policy:
        return super().policy()._replace(research_most=1)


class Impatient(LocalWorld):
    """Research may take no time at all."""

    def policy(self) -> Policy:
        return super().policy()._replace(research_seconds=0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "why"), [(Killing, "died without an exit code"), (Impatient, "took longer than 0 s")]
)
def test_research_that_dies_or_never_ends_is_an_error(
    home: Path, world: type[LocalWorld], why: str
) -> None:
    """FDC-90."""
    end, state, _ = researching(home, world(str(home), network="off"))
    assert "ERROR" == end and why in str(state.error)


def test_research_without_an_answer_is_a_result_and_says_so(home: Path) -> None:
    """FDC-90: nothing is made up."""
    (home / "notes.md").write_text("Tea is hot.\n")
    (home / "plan.txt").write_text("research zebra stripes\n")
    assert 5 == agent(home, "T-1")[0]
    findings = json.loads((home / ".fdc/agents/T-1/state.json").read_text())["agent"][
        "research_findings"
    ]
    assert (False, [], None) == (
        findings["answered"],
        findings["answer"],
        findings["report"],
    ) and findings["why"]


def test_a_question_of_the_plan_is_told_with_what_answers_it(home: Path) -> None:
    (home / "plan.txt").write_text(
        PLAN.replace("message_user hello", "request_user_input which colour?")
    )
    code, out, _ = agent(home, "T-1")
    assert 5 == code and "which colour?" in out and "task T-1: EXECUTING" in out
    [run_] = json.loads(fdc("runs", "--format", "json", cwd=home).stdout)["runs"]
    assert f"`fdc resume {run_['run']}`" in out
    assert 0 == fdc("resume", run_["run"], "--answer", "blue", cwd=home).returncode
    assert 0 == agent(home, "--resume", "T-1")[0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "give either a TASK, or --resume ID"),
        (["x", "--resume", "y"], "give either"),
        (["  "], "the task is empty"),
        (["x", "--task-id", "a`b"], "task id"),
        (["x", "--reorient"], "needs --resume"),
        (["--resume", "gone"], "no task begins with `gone`"),
        (["x", "--fsm", "gone.json"], "gone.json does not exist"),
        (["x", "--plan", "../plan.txt"], "is not a path of a plan"),
        (["x", "--analysis", "gone.md"], "`gone.md` does not exist"),
    ],
)
def test_wrong_usage_is_one_sentence(home: Path, words: list[str], why: str) -> None:
    code, out, err = agent(home, *words)
    assert (2, "") == (code, out) and why in err
    assert not (home / "logs").exists()


def test_a_damaged_state_is_said_and_left_alone(home: Path) -> None:
    agent(home, "T-1")
    path = home / ".fdc" / "agents" / "T-1" / "state.json"
    path.write_text(
        '{"task_id": "T-1", "state": "PLANNING", "format": 1, "control": {}, "agent": 3}'
    )
    code, _, err = agent(home, "--resume", "T-1")
    assert 3 == code and "the agent's state is not a JSON object" in err
    for text in ("{", "{}", '{"task_id": "T-1"}'):
        path.write_text(text)
        for words in (["T-1"], ["--resume", "T-1"], ["--resume", "T"]):
            code, _, err = agent(home, *words)
            assert 3 == code and "state.json is damaged" in err and text == path.read_text(), err
    assert 2 == agent(home, "--resume", "X")[0]


def test_the_automaton_of_a_task_may_be_yaml(home: Path) -> None:
    held = json.loads((ROOT / "tooling" / "fsm.json").read_text())
    (home / "life.yaml").write_text(yaml.safe_dump(held))
    code, out, err = agent(home, "Brew tea", "--task-id", "T-1", "--fsm", "life.yaml")
    assert 5 == code and "START -> ORIENTING  (begin_task)" in out + err


def test_the_seeds_name_is_importable_and_runs(home: Path) -> None:
    """FDC-86: `from master_control import MasterControlGraph`, and the script."""
    code = (
        "from master_control import MasterControlGraph, AgentState\n"
        "graph = MasterControlGraph()\n"
        "print(graph.current_state, graph.fsm['initial_state'], graph.get_trigger('PLANNING', 'EXECUTING'))\n"
    )
    env = clean_environment({"PYTHONPATH": str(ROOT / "tooling")})
    done = run([sys.executable, "-c", code], cwd=home, env=env)
    assert ("START START plan_op\n", "") == (done.stdout, done.stderr)
    (home / "plan.txt").write_text(PLAN)
    script = ROOT / "tooling" / "master_control.py"
    assert (
        0
        == run([sys.executable, script, "T-1", *UNTAUGHT, "--network", "off"], cwd=home).returncode
    )


def test_a_plan_may_not_start_the_controller(home: Path) -> None:
    """FDC-37."""
    for words in (
        "fdc agent x",
        "python3 tooling/fdc_cli.py agent x",
        "python3 tooling/master_control.py x",
    ):
        (home / "p.plan").write_text(
            PLAN.replace("message_user hello", f"run_in_bash_session {words}")
        )
        done = fdc("lint", "p.plan", cwd=home)
        assert (1, True) == (done.returncode, "isallowed recursive call" in done.stdout), (
            done.stdout
        )


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        (["--target", "local_filesystem", "--scope", "file", "--path", "a.txt"], 0, "text\n\n", ""),
        (
            ["--target", "local_filesystem", "--scope", "directory", "--path", "docs"],
            0,
            "docs/b.txt\n",
            "",
        ),
        (
            ["--target", "local_filesystem", "--scope", "file"],
            1,
            "",
            "Error: 'path' not specified for local_filesystem file.",
        ),
        (
            ["--target", "external_web", "--scope", "narrow"],
            1,
            "",
            "Error: 'query' not specified for external_web narrow.",
        ),
        (["--target", "moon"], 1, "", "do not map to a recognized research protocol."),
        (
            ["--target", "local_filesystem", "--scope", "file", "--path", "gone.txt"],
            1,
            "",
            "Error: ",
        ),
        (["--target", "local_filesystem", "--scope", "file", "--path", "../x"], 1, "", "Error: "),
        (
            ["--target", "external_web", "--scope", "narrow", "--query", "tea"],
            1,
            "",
            "Error: the web is not allowed",
        ),
    ],
)
def test_research_by_constraints_reads_what_is_there(
    home: Path, words: list[str], code: int, out: str, err: str
) -> None:
    """FDC-56, T-25: real files, and a sentence for what cannot be had."""
    (home / "a.txt").write_text("text\n")
    (home / "docs").mkdir()
    (home / "docs" / "b.txt").write_text("b")
    done = run([sys.executable, ROOT / "tooling" / "research.py", *words], cwd=home)
    assert (
        (code, out) == (done.returncode, done.stdout)
        and err in done.stderr
        and "Traceback" not in done.stderr
    )
    assert not (home / ".fdc").exists()


def test_a_model_plans_and_repairs_its_plan(home: Path) -> None:
    """FDC-03, FDC-04: its findings go back to it; it may ask for research first."""
    world = LocalWorld(str(home), network="off")
    model = ScriptedModel([{"plan": BAD}, {"plan": PLAN}])
    graph, state = MasterControlGraph(world=world, model=model), AgentState("Say hello")
    plan = ModelPlanner(
        graph, model, str(home), "plan.txt", attempts=3, tools=("message_user TEXT",)
    )
    assert "AWAITING_SUBMISSION" == graph.run(state, world.logger(), plan=plan, analysis=taught), (
        state.error
    )
    first, second = (messages[-1]["content"] for _, messages in model.asked)
    assert "Say hello" in first and "refused" not in first
    assert "mesage_user" in second and "did you mean `message_user`" in second


def test_every_variable_of_every_prompt_is_filled() -> None:
    """A variable that no one gives is an error, and so the callers give all."""
    from jinja2 import UndefinedError

    for name in ("coder", "planner"):
        with pytest.raises(UndefinedError):
            prompt(name)
    assert "SEARCH" in prompt("coder_rules") and "{{" not in prompt("coder_rules")
