"""The runs of a task in the journal of its workspace: creates, drives and reads them within the task's budget."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from ...exits import Exit, WorldError
from ...runs.observer import Observer
from ..world import Driven
from .tool_context import opened, tools_of

if TYPE_CHECKING:
    from ...engine.events import Outcome, Perform, Record
    from ...program.model import Program
    from ...workspace.operator import Operator
    from ..stepping import OpenRun
    from .budget import Purse


def create(
    root: str,
    run: str,
    program: Program,
    plan: str,
    task_id: str,
    purse: Purse | None,
    operator: Operator | None,
    given: Mapping[str, str],
) -> bool:
    """Records a run of a task. False if a run of that name exists for another program.

    Raises ValueError where the budget is one of money, and cannot be kept to, and where the program has no certificate
    that holds (`runs.certified`).
    """
    from ...program.codec import encode
    from ...runs import run_driver
    from ...runs.certified import certified, put_on_record
    from ...runs.cost import pricing
    from ...runs.cost.ceilings import least
    from ...workspace import run_folders

    ceilings = {} if purse is None else least(program, purse.left(run))
    try:
        proved = certified(program, plan, root)
        rates = pricing.settle(root, program, ceilings, operator)
    except Exit as wrong:
        raise ValueError(str(wrong)) from wrong
    run_folders.folder(root)
    task = _task(root, task_id)
    inputs: dict[str, Any] = {
        "given": dict(given),
        "builtin": {"run": f"runs/{run}"},
        "budget": ceilings,
    }
    if purse is not None:
        purse.begin(run)
    if rates is not None:
        inputs["model"] = rates
    if task is not None:
        inputs["task"] = task
    with closing(run_driver.writing(root)) as store:
        row = store.run(run)
        if row is not None:
            return encode(store.program(row)) == encode(program)
        put_on_record(store, proved, run, inputs)
        return True


def drive(
    root: str,
    run: str,
    answers: Mapping[str, str],
    show: Observer,
    operator: Operator | None,
    purse: Purse | None,
) -> Driven:
    """Drives a run as far as it can go, with the remaining budget of its task. Raises WorldFailed."""
    from ...engine.ports import WorldFailed
    from ...runs import run_driver

    budget = _changed(root, run, purse)
    try:
        ended = run_driver.drive_run(
            root, run, show, answers=dict(answers), operator=operator, budget=budget
        )
    except WorldError as failed:
        return Driven("broken", str(failed))
    except Exit as refused:
        raise WorldFailed(str(refused)) from refused
    stop = ended.stop
    where = (
        ""
        if stop is None
        else f"{stop['path']}:{stop['line']}"
        if stop["line"]
        else str(stop["path"])
    )
    why = ended.message if stop is None else f"{stop['kind']}: {stop['message']}"
    status: Any = ended.status
    kind = "" if stop is None else str(stop["kind"])
    return Driven(
        status,
        why,
        where,
        tuple(ended.questions),
        ended.steps,
        ended.seconds,
        ended.result,
        kind,
    )


def take(root: str, run: str) -> OpenRun:
    """Takes over a run whose steps the caller performs.

    Raises LookupError where the run does not exist, WorldFailed where somebody drives it.
    """
    from ...engine.events import Record
    from ...engine.ports import WorldFailed
    from ...program.write_set import write_set
    from ...runs import run_driver
    from ...runs.records.claims import taken
    from ...workspace import run_folders
    from ..stepping import OpenRun

    with ExitStack() as held:
        lock = run_folders.Lock(run_folders.run_folder(root, run))
        holder = lock.take()
        if holder is not None:
            raise WorldFailed(
                f"the run {run} is being driven by {holder}; a run has one controller at a time"
            )
        held.callback(lock.release)
        store = run_driver.writing(root)
        held.callback(store.close)
        row = store.run(run)
        if row is None:
            raise LookupError(f"no run `{run}` exists in this workspace")
        program, records = store.program(row), store.records(row)
        held.callback(taken(root, run, write_set(program, row.inputs)).release)
        journal = store.claim(row)
        at = max((record.at for record in records), default=0.0)
        session = Record(
            "session",
            "",
            journal.epoch,
            "",
            "",
            at,
            {"pid": os.getpid(), "began": round(time.time(), 3)},
        )
        journal.append([session])
        release = held.pop_all().close

    def perform(effect: Perform) -> Outcome:
        with opened(root, run) as context:
            return tools_of(program, context).perform(effect)

    def finish(status: str, ending: dict[str, Any]) -> None:
        journal.close_run(status, ending, time.time())

    return OpenRun(program, row.inputs, [*records, session], journal, perform, finish, release)


def peek(root: str, run: str) -> tuple[Program, dict[str, object], Sequence[Record]]:
    """The program, the inputs and the records of a run. Raises LookupError where the run does not exist."""
    from ...runs import run_driver

    with run_driver.reading(root) as store:
        row = None if store is None else store.run(run)
        if store is None or row is None:
            raise LookupError(f"no run `{run}` exists in this workspace")
        return store.program(row), row.inputs, store.records(row)


def used(root: str, run: str) -> dict[str, float]:
    """What a run of the task has spent, including the reservation of a step that a lost controller began."""
    from ...engine.fold import fold

    try:
        state = fold(*peek(root, run))
    except LookupError:
        return {}  # a controller was lost before it was on record
    return {
        one: state.spent.get(one, 0.0) + state.reserved.get(one, 0.0)
        for one in {*state.spent, *state.reserved}
    }


def _changed(root: str, run: str, purse: Purse | None) -> dict[str, float]:
    """The ceilings of a run that are other ones by now, because the controller asked too, or there is more budget."""
    from ...engine.fold import fold
    from ...runs.cost.ceilings import changed

    if purse is None or not purse.budget:
        return {}
    return changed(fold(*peek(root, run)), purse.left(run))


def _task(root: str, task_id: str) -> dict[str, Any] | None:
    from ...tasks import activity_log
    from ...tasks.activity import open_tasks

    found = [task for task in open_tasks(activity_log.content(root)) if task.id == task_id]
    return found[-1]._asdict() if found else None
