"""`fdc agent`: runs a whole task: start, orient, plan, lint, execute, post-mortem, lessons, close."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from ...console.options import (
    count_option,
    flag_option,
    format_option,
    number_option,
    root_of,
    text_option,
    workspace_option,
)
from ...exits import Refused, UsageError, WorldError
from .agent_talk import Talk, analysis_of, findings_lines, plan_place, tell

if TYPE_CHECKING:
    from ...agent.host.budget import Purse
    from ...agent.host.real_world import LocalWorld
    from ...agent.master_control import MasterControlGraph
    from ...agent.state import AgentState
    from ...tools.model.http_model import HttpModel

_ALIAS = {"FINALIZING": "FINALIZING (POST_MORTEM)"}
"""The protocol's names of states, in addition to those of the automaton (C-04)."""


@click.command(
    epilog="Exit codes: 0 ready for submission, 1 the task failed, 2 wrong usage, "
    "3 the environment failed, 4 a bug of fdc, 5 waiting for a person, 130 interrupted."
)
@click.argument("task", required=False)
@text_option("--task-id", "ID", "The task's id in the log. [default: made from TASK]")
@text_option(
    "--resume", "ID", "Continue a stopped task (the first characters of its id are enough)."
)
@flag_option("--reorient", "With --resume: leave ERROR and start again at orientation.")
@text_option("--approve", "SHA256", "With --resume: approve the waiting text, which you have read.")
@text_option(
    "--decline", "SHA256", "With --resume: decline the waiting text and return it to its author."
)
@text_option("--plan plan_file", "FILE", "The file of the plan.", default="plan.txt")
@number_option(
    "--wait",
    0,
    None,
    "How long to wait for each version of the plan, and for answers.",
    default=0.0,
)
@count_option("--attempts", 1, 50, "Maximum number of versions of the plan.", default=5)
@text_option(
    "--model",
    "NAME",
    "The model that plans and codes (else FDC_MODEL; none: the person who writes the files).",
)
@text_option(
    "--budget budgets",
    "MEASURE=N",
    "The budget of the whole task for models: model_calls, tokens, money.",
    many=True,
)
@click.option(
    "--analysis",
    type=click.Path(dir_okay=False),
    help="A text for the post-mortem: its sections, or its summary.",
)
@text_option("--nothing-learned", "WHY", "Close the task without a lesson, with a reason.")
@text_option("--fsm", "FILE", "The automaton of the task's life.", default="tooling/fsm.json")
@text_option(
    "--network",
    "HOST:PORT",
    "The address that the network probe connects to; `off` skips the probe.",
)
@flag_option("-q --quiet", "Show only messages of the plan and the outcome.")
@format_option
@workspace_option
def command(
    task: str | None,
    task_id: str | None,
    resume: str | None,
    reorient: bool,
    approve: str | None,
    decline: str | None,
    plan_file: str,
    wait: float,
    attempts: int,
    model: str | None,
    budgets: tuple[str, ...],
    analysis: str | None,
    nothing_learned: str | None,
    fsm: str,
    network: str | None,
    quiet: bool,
    form: str,
    workspace: str | None,
) -> int:
    """Take TASK from orientation to submission, as the automaton in tooling/fsm.json prescribes.

    A model writes the plan, or a person writes it to plan.txt. fdc lints it as soon as it
    exists, writes findings to plan.findings.txt, and waits for the next version. A proved plan runs
    durably. `fdc agent --resume ID` continues after any interruption, including kill -9.

    A plan or code that its author wrote after seeing text from outside (such as web pages) waits until a person
    approves exactly that text: exit code 5, then `--resume ID --approve SHA256`.
    """
    from ...agent.host import files
    from ...agent.host.real_world import LocalWorld
    from ...agent.orchestrator import FsmError
    from ...runs.cost.models import model_for
    from ...workspace.operator import Operator
    from ...workspace.run_folders import Lock

    root = root_of(workspace)
    if (task is None) == (resume is None):
        raise UsageError("give either a TASK, or --resume ID")
    if reorient and resume is None:
        raise UsageError("--reorient needs --resume ID")
    if (approve or decline) is not None and (
        resume is None or reorient or None not in (approve, decline)
    ):
        raise UsageError("use --approve SHA256 or --decline SHA256, not both, and with --resume ID")
    talk = Talk(quiet, form)
    budget = _budget(budgets)
    operator = Operator.of_environment(model=model)
    world = LocalWorld(root, show=talk.steps, network=network, operator=operator)
    asked = model_for(root, operator.model)
    text = analysis_of(analysis, nothing_learned)
    try:
        named = _named(root, task, task_id) if resume is None else _resumed(root, resume)
        lock = Lock(files.made(root, named))
        holder = lock.take()
        if holder is not None:
            raise WorldError(
                f"the task `{named}` is already driven by {holder}; a task has one controller at a time"
            )
        try:
            world.purse = _purse(world, named, budget, asked)
            graph, state = _opened(world, fsm, named, task, reorient, asked)
            if approve is not None or decline is not None:
                _decided(graph, state, world, str(approve or decline), approve is not None, talk)
            return _go(
                graph, state, world, plan_place(root, plan_file), wait, attempts, text, talk, asked
            )
        finally:
            lock.release()
            if asked is not None:
                asked.close()
    except FsmError as wrong:
        raise UsageError(str(wrong)) from wrong
    except ValueError as wrong:
        raise WorldError(str(wrong)) from wrong


def _budget(pairs: tuple[str, ...]) -> dict[str, float]:
    """The budget limits of a task. Raises UsageError."""
    from ...agent.host.budget import MEASURES
    from ...console.run_options import budget_of

    found = budget_of(pairs)
    wrong = [measure for measure in found if measure not in MEASURES]
    if wrong:
        raise UsageError(
            f"a task's budget limits {', '.join(MEASURES)}; {wrong[0]} must be set in the plan: `budget {wrong[0]} N`"
        )
    return found


def _purse(
    world: LocalWorld, task_id: str, budget: dict[str, float], asked: HttpModel | None
) -> Purse:
    """The task's budget. Raises UsageError for a money budget that cannot be enforced."""
    from ...agent.host.budget import Purse
    from ...runs.cost import pricing

    purse = Purse(world.root, task_id, {}, world.used)
    if asked is not None and "money" in {**purse.budget, **budget}:
        pricing.listed(sorted({choice.model for choice in asked.choices()}))
    return Purse(world.root, task_id, budget, world.used) if budget else purse


def _named(root: str, task: str | None, task_id: str | None) -> str:
    """The id of a new task. Raises UsageError for an invalid id, or the id of another task."""
    from ...agent.host import files
    from ...tasks.activity import task_fault, task_id_of

    if not (task or "").strip():
        raise UsageError("the task is empty")
    named = task_id_of(str(task)) if task_id is None else task_id
    fault = task_fault(named)
    if fault:
        raise UsageError(fault)
    record = files.load(root, named)
    if record is not None:
        state = record.get("state")
        goes_on = f"is in the state {state}; continue it with `fdc agent --resume {named}`"
        what = "is finished" if state == "AWAITING_SUBMISSION" else goes_on
        raise UsageError(f"the task `{named}` {what}; choose another id with --task-id ID")
    return named


def _resumed(root: str, prefix: str) -> str:
    from ...agent.host import files
    from ...tasks.activity import safe_id

    ids = [str(record.get("task_id")) for record in files.known(root)]
    found = [prefix] if prefix in ids else [one for one in ids if one.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join((found or ids)[:8])
    if found:
        raise UsageError(f"{len(found)} tasks begin with `{prefix}`: {listed}")
    start = safe_id(prefix)[:60]
    for folder, wrong in files.damaged(root).items():
        if start and folder.startswith(start):
            raise WorldError(
                f"{wrong}; restore a copy of it, or give the task again with another --task-id"
            )
    raise UsageError(
        f"no task begins with `{prefix}`"
        + (f"; there are {listed}" if ids else "; there are none here")
    )


def _opened(
    world: LocalWorld,
    fsm: str,
    named: str,
    task: str | None,
    reorient: bool,
    asked: HttpModel | None,
) -> tuple[MasterControlGraph, AgentState]:
    from ...agent.host.model import AskedModel
    from ...agent.host.people import PersonModel
    from ...agent.master_control import MasterControlGraph
    from ...agent.state import AgentState

    model = PersonModel(world.root, named) if asked is None else AskedModel(asked, world.purse)
    graph = MasterControlGraph(fsm, world=world, model=model)
    if task is not None:
        return graph, AgentState(task, task_id=named)
    state = graph.load(named)
    if state is None:
        raise UsageError(f"no task `{named}` exists in this workspace")
    if reorient:
        if graph.current_state != "ERROR":
            raise UsageError(
                f"the task `{named}` is in the state {graph.current_state}; --reorient works in ERROR only"
            )
        graph.reorient(state)
    return graph, state


def _decided(
    graph: MasterControlGraph,
    state: AgentState,
    world: LocalWorld,
    name: str,
    approved: bool,
    talk: Talk,
) -> None:
    """Records a person's decision about the waiting text. Raises Refused if no text waits, or a different one."""
    from ...runs.records.questions import user

    try:
        about = graph.decide(state, name, user(), world.logger(), approved=approved)
    except ValueError as wrong:
        raise Refused(str(wrong)) from wrong
    talk.line(f"{'approved' if approved else 'declined'}: the {about['kind']} {about['sha256']}")


def _go(
    graph: MasterControlGraph,
    state: AgentState,
    world: LocalWorld,
    plan_file: str,
    wait: float,
    attempts: int,
    analysis: str | None,
    talk: Talk,
    asked: HttpModel | None,
) -> int:
    from ...agent.host.left_plan import left_by
    from ...agent.plan_source import ModelPlanner, PlanFile
    from ...agent.planning import PLAN

    talk.line(f"task {state.task_id}: {graph.current_state}")

    def moved(source: str, trigger: str, dest: str) -> None:
        talk.line(f"{_ALIAS.get(source, source)} -> {_ALIAS.get(dest, dest)}  ({trigger})")
        if source == "AWAITING_RESULT" and dest == "PLANNING":
            for line in findings_lines(state.research_findings):
                talk.line(line)

    plan: PlanFile | ModelPlanner
    held = None
    if asked is None:
        plan = PlanFile(
            graph,
            world.root,
            plan_file,
            seconds=wait,
            attempts=attempts,
            told=talk.line,
            pause=time.sleep,
            now=time.monotonic,
            other=lambda sha256: (
                left_by(world.root, PLAN, sha256, state.task_id)
                if plan_file == PLAN
                else None  # a plan that was named is meant
            ),
        )
    else:
        from ...agent.host.model import AskedModel, PlanForm, tools_of
        from ...draft.drafting import grammar_of, plan_rows
        from ...draft.lines import schema_of, text_of
        from ...draft.served import served
        from ...linking.link import Linker
        from ...workspace.confirmed_settings import settings_of

        talk.line(f"{asked.choice('planner').model} plans")
        linker = Linker(world.root, settings_of(world.root))
        held = served(world.root, asked.choice("planner").model, grammar_of(linker))
        names = [tool.name for tool in plan_rows(linker, linker.settings.fsm)]
        form = PlanForm(schema_of(names, linker.settings.fsm, research=True), text_of)
        planner = AskedModel(held or asked, world.purse, form)
        name = f"the model {asked.choice('planner').model}"
        plan = ModelPlanner(
            graph,
            planner,
            world.root,
            plan_file,
            attempts=attempts,
            tools=tools_of(world.root),
            name=name,
        )
    deadline = time.monotonic() + wait
    try:
        while True:
            graph.run(state, world.logger(), plan=plan, analysis=lambda _: analysis, moved=moved)
            awaited = graph.current_state == "GENERATING_CODE"  # an answer that an agent writes
            if (
                graph.finished
                or not awaited
                or graph.why_waiting != "answer"
                or time.monotonic() >= deadline
            ):
                break
            time.sleep(0.2)
    except KeyboardInterrupt:
        graph.why_waiting, graph.waiting = "interrupted", "interrupted"
    finally:
        graph.close()
        if held is not None:
            held.close()
    return tell(graph, state, talk)
