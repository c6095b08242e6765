"""The one place where runs meet the world: compiles plans, builds the adapters, drives, and puts the end on record.

    program = compile_or_refuse("plans/x.plan", root)
    name = begin(root, program, "plans/x.plan", {"topic": "tea"}, {})
    ended = drive_run(root, name, progress("text", False, style(), True))
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from .exits import Refused, UsageError, WorldError
from .progress import Quiet

if TYPE_CHECKING:
    from ..effects.journal import RunRow, Store
    from ..effects.operator import Operator
    from ..effects.run_log import RunLog
    from ..engine.drive import Assumption, Ending
    from ..engine.events import Perform, Record
    from ..engine.ports import Tools
    from ..engine.state import RunState
    from ..knowledge.activity import Task


@dataclass(slots=True)
class Ended:
    """How driving a run ended: `status` as in the journal, and all that there is to say about it."""

    run: str
    plan: str
    status: str
    stop: dict[str, Any] | None = None
    result: Any = None
    questions: list[dict[str, Any]] = field(default_factory=list)
    message: str = ""
    steps: int = 0
    seconds: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)
    simulated: bool = False


def compile_or_refuse(plan: str, root: str) -> dict[str, Any] | None:
    """The program of a plan (a path, or a registered name) that was proved; findings go to stderr.

    Returns None where the plan has errors. Raises UsageError where there is no such plan, or
    where the settings are wrong.
    """
    from ..check import check, key_of, program_of
    from ..report.render import render
    from ..resolve.link import Linker
    from ..resolve.settings import SettingsError, read_settings
    from ..text.suggest import did_you_mean
    from .terminal import style

    try:
        linker = Linker(root, read_settings(root))
    except SettingsError as wrong:
        raise UsageError(str(wrong)) from wrong
    key = key_of(plan, root) if os.path.isfile(plan) else linker.resolve(plan)[0]
    if key is None:
        hint = did_you_mean(plan, linker.callable_names())
        none = f"there is no plan `{plan}`, neither a file nor a registered name"
        raise UsageError(none + (f"; {hint}" if hint else ""))
    checked = check(linker, [key])
    errors = [item for item in checked.diagnostics if item.severity == "error"]
    if errors:
        text = render("text", errors, checked.sources, style=style(), files_checked=1)
        click.echo(text, nl=False, err=True)
        return None
    return program_of(checked)


def given_for(program: dict[str, Any], pairs: Mapping[str, str]) -> dict[str, str]:
    """The root plan's inputs. Raises UsageError for one that it does not take, or one that is missing."""
    from ..text.suggest import did_you_mean

    params = {param["name"]: param for param in program["plans"][program["root"]]["params"]}
    for name in pairs:
        if name not in params:
            hint = did_you_mean(name, params)
            known = f"it takes {', '.join(f'`{one}`' for one in params)}" if params else "it takes none"
            raise UsageError(f"the plan has no parameter `{name}`; {hint or known}")
    missing = [name for name, param in params.items() if param.get("default") is None and name not in pairs]
    if missing:
        raise UsageError(f"the plan needs {', '.join(f'`{name}=VALUE`' for name in missing)}")
    return dict(pairs)


def task_for(root: str, asked: str | None) -> Task | None:
    """The task whose log a new run's steps go into: the one asked for, else the one that was started last and is open.

    Returns None where no task is open. Raises UsageError where the one asked for is not open, WorldError
    where the log cannot be read.
    """
    from ..effects import activity_log
    from ..knowledge.activity import open_tasks

    try:
        found = open_tasks(activity_log.content(root))
    except OSError as failed:
        raise WorldError(f"the activity log cannot be read: {(failed.strerror or str(failed)).lower()}") from failed
    if asked is None:
        return found[-1] if found else None
    for task in found:
        if task.id == asked:
            return task
    raise UsageError(f"the task `{asked}` is not open here; `fdc start --task-id ID` begins one")


def begin(
    root: str,
    program: dict[str, Any],
    plan: str,
    given: Mapping[str, str],
    budget: Mapping[str, float],
    task: Task | None = None,
    operator: Operator | None = None,
    simulate: dict[str, Any] | None = None,
) -> str:
    """Puts a new run on record, nothing of which has happened; returns its name. Raises WorldError.

    Raises UsageError for a budget that cannot be kept to (`money.settle`). `simulate` is a script
    (`effects.simulate`): nothing of such a run is ever performed.
    Where a `task` is given, every step of the run, resumed or not, gets a line in that task's log (FDC-68).
    """
    from ..effects import runs, trust
    from ..engine.ports import WorldFailed
    from . import money

    rates = money.settle(root, program, budget, operator)
    try:
        runs.folder(root)
        name = runs.RunIds().run_id()
        inputs = {"given": dict(given), "builtin": {"run": f"runs/{name}"}, "budget": dict(budget)}
        if rates is not None:
            inputs["model"] = rates
        if simulate is not None:
            inputs["simulate"] = simulate
        if task is not None:
            inputs["task"] = task._asdict()
        store = writing(root)
        try:
            store.create(name, plan, program, inputs, time.time())
        finally:
            store.close()
    except WorldFailed as failed:
        raise WorldError(str(failed)) from failed
    if not trust.lasts():
        said = f"fdc: {trust.key_path()} cannot be written, so nobody will know that run {name} is yours: "
        click.echo(said + "`fdc resume` will want --trust", err=True)
    return name


def drive_run(
    root: str,
    name: str,
    show: Quiet,
    *,
    answers: Mapping[str, str] | None = None,
    assume: Mapping[str, Assumption] | None = None,
    budget: Mapping[str, float] | None = None,
    retry: bool = False,
    jobs: int = 8,
    shell_seconds: float | None = None,
    operator: Operator | None = None,
    trusted: bool = False,
    force: bool = False,
) -> Ended:
    """Takes a run as far as it goes and puts the end on record. An interruption is an end too (`interrupted`).

    `trusted`: the user vouches for a run that is not sealed by their key. `force`: a cancelled run
    goes on. Raises Refused where one of them is needed, WorldError where the run is driven by
    somebody else, or where its record cannot be read or is damaged.
    """
    from ..effects import runs
    from ..effects.journal import Untrusted
    from ..engine.ports import Fenced, WorldFailed
    from . import money

    lock = None
    store = None
    try:
        lock = runs.Lock(runs.run_folder(root, name))
        holder = lock.take()
        if holder is not None:
            raise WorldError(f"the run {name} is being driven by {holder}; one controller at a time")
        store = writing(root)
        row = store.run(name)
        if row is None:
            raise UsageError(f"there is no run `{name}` here")
        known(row)
        if not force and (row.status == "cancelled" or runs.cancel_asked(root, name)):
            hint = "`fdc resume --force` goes on with it all the same, `fdc fork` begins a new one"
            raise Refused(f"the run {name} was cancelled; {hint}")
        if "model" in row.inputs:
            money.check(root, store, row, budget or {}, operator)
        runs.forget_cancel(root, name)
        changes = {"budget": dict(budget or {}), "retry": retry, "trusted": trusted}
        return _drive(store, row, root, show, dict(answers or {}), dict(assume or {}), changes, jobs, shell_seconds, operator)
    except Untrusted as whose:
        raise Refused(untrusted(name, str(whose))) from whose
    except Fenced as fenced:
        raise WorldError(f"the run {name}: {fenced}; this one has stopped") from fenced
    except WorldFailed as failed:
        raise WorldError(str(failed)) from failed
    finally:
        if store is not None:
            store.close()
        if lock is not None:
            lock.release()
        show.close()


def _drive(
    store: Store,
    row: RunRow,
    root: str,
    show: Quiet,
    answers: dict[str, str],
    assume: dict[str, Assumption],
    changes: dict[str, Any],
    jobs: int,
    shell_seconds: float | None,
    operator: Operator | None,
) -> Ended:
    from ..effects import answers as kept
    from ..effects import runs
    from ..effects.run_log import Watched
    from ..effects.simulate import SimulatedTools
    from ..effects.tools import LocalTools
    from ..engine.drive import Ending, Ports, drive
    from ..engine.events import Mismatch, Record
    from ..engine.fold import fold
    from ..engine.ports import Cancelled, WorldFailed
    from ..program.codec import ProgramError
    from .bench import bench_for
    from .interrupt import interruptible
    from .spanning import spanned

    try:
        journal = store.claim(row, trust=changes["trusted"])
        program = store.program(row)
        records = journal.records
        driven = max((record.at for record in records), default=0.0)
        who = {"pid": os.getpid(), "began": round(time.time(), 3)}
        fresh = [Record("session", "", journal.epoch, "", "", driven, who)]
        if changes["budget"]:
            fresh.append(Record("budget", "", journal.epoch, "", "", driven, {"budget": changes["budget"]}))
        if changes["retry"]:
            fresh += [Record("retry", old.address, old.turn, "", "", driven, {}) for old in failures(records)]
        journal.append(fresh)
        rows: list[tuple[Record, Perform | None]] = []
        state = fold(program, row.inputs, [*records, *fresh], lambda record, effect: rows.append((record, effect)))
        ready = kept.taken(root, row, state, records, store.key)
        log = _run_log(root, row, program, rows)
    except (ProgramError, Mismatch) as wrong:
        raise WorldError(f"the run {row.name} cannot go on: {wrong}") from wrong
    bench = bench_for(root, row.name, show, answers, shell_seconds, operator, ready)
    tools: Tools = LocalTools(program, bench)
    if "simulate" in row.inputs:
        tools = SimulatedTools(row.inputs["simulate"], bench.root)
    show.watch(state)
    signals = False
    watch = runs.CancelWatch(root, row.name, lambda: _halt(tools.cancel, signals))
    progress, traced = spanned(show if log is None else Watched(show, log), row)
    ports = Ports(journal, tools, Monotonic(), progress, watch.asked.is_set)
    try:
        with interruptible() as signals:
            watch.start()
            try:
                ending = drive(program, state, ports, room=jobs, assume=assume)
            finally:
                watch.stop()
        ended = _ended(row, ending, state)
    except (KeyboardInterrupt, Cancelled):
        if state.ended:  # it was over before anybody interrupted
            last = Ending("stopped" if state.stop else "finished", state.stop, state.result)
            ended = _ended(row, last, state)
        else:
            status = "cancelled" if watch.asked.is_set() else "interrupted"
            ended = left(row, status, state)
    finally:
        bench.close()
    try:
        if log is not None:
            log.close()
    except WorldFailed as failed:  # what is not logged is logged on resume, so the run must be resumable
        ended.status, ended.message = "broken", str(failed)
    if ended.status == "cancelled":
        journal.append([cancelled(journal.epoch, state.elapsed)])
    record_end(journal, ended)
    traced(ended)
    kept.forget(root, row, [address for address in ready if kept.wanted(state, address) is None])
    runs.forget_cancel(root, row.name)
    return ended


def _run_log(
    root: str, row: RunRow, program: dict[str, Any], rows: list[tuple[Record, Perform | None]]
) -> RunLog | None:
    """The log of a run that belongs to a task, with the lines that a lost controller left unwritten."""
    from ..effects.run_log import RunLog
    from ..knowledge.activity import Task

    task = row.inputs.get("task")
    if task is None:
        return None
    log = RunLog(root, row.name, program, Task(task["id"], task["session"]))
    log.catch_up(rows)
    return log


def _ended(row: RunRow, ending: Ending, state: RunState) -> Ended:
    questions = [
        {"address": q.effect.address, "tool": q.effect.tool, "text": q.text, "how": q.how,
         "path": q.effect.path, "line": q.effect.line, "args": q.effect.args, "bound": q.effect.bound}
        for q in ending.questions
    ]  # fmt: skip
    stop = None if ending.stop is None else ending.stop._asdict()
    spent = {measure: number for measure, number in state.spent.items() if number}
    return Ended(
        row.name, row.plan, ending.status, stop, ending.result, questions, ending.message, state.steps,
        round(state.elapsed, 3), spent, simulated="simulate" in row.inputs,
    )  # fmt: skip


def left(row: RunRow, status: str, state: RunState) -> Ended:
    """The end of a run that was left in the middle."""
    from ..engine.drive import Ending

    ended = _ended(row, Ending("broken"), state)
    ended.status = status
    return ended


def _halt(cancel: Callable[[], None], signals: bool) -> None:
    """Makes the controller of this process leave: its commands die, and whoever waits at a prompt wakes."""
    cancel()
    if signals:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def cancelled(epoch: int, at: float) -> Record:
    """The record of a run's cancellation."""
    from ..engine.events import Record

    return Record("cancel", "", epoch, "", "", at, {"pid": os.getpid(), "began": round(time.time(), 3)})


def record_end(journal: Any, ended: Ended) -> None:
    """Puts on record how driving ended. Raises WorldFailed where that is the end of the run itself."""
    from ..engine.ports import WorldFailed
    from ..engine.replay import digest

    said = {
        "stop": ended.stop, "message": ended.message, "steps": ended.steps, "seconds": ended.seconds,
        "spent": ended.spent, "questions": ended.questions,
        "result": digest(ended.result),
    }  # fmt: skip
    try:
        journal.close_run(ended.status, said, time.time())
    except WorldFailed:
        if ended.status in ("finished", "stopped", "cancelled"):
            raise
        # A world that fails is what this end says anyway; the records up to here are safe.


def failures(records: list[Any]) -> list[Any]:
    """The failed outcomes that nobody has had tried again yet."""
    retried = {(record.address, record.turn) for record in records if record.kind == "retry"}
    return [
        record
        for record in records
        if record.kind == "outcome" and "failed" in record.body and (record.address, record.turn) not in retried
    ]


class Monotonic:
    """The machine's clock that only grows (port `engine.ports.Clock`)."""

    def seconds(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()


@contextmanager
def reading(root: str) -> Iterator[Store | None]:
    """The journal of a workspace, to be looked at only; None where no run was ever made. Raises WorldError."""
    from ..effects import journal, runs, trust
    from ..effects.schema import Empty, Older
    from ..engine.ports import WorldFailed

    path = runs.journal_path(root)
    if not os.path.exists(path):
        yield None
        return
    try:
        key = trust.key(root, make=False)
        try:
            store = journal.Store(path, key, readonly=True)
        except Older:
            journal.Store(path).close()
            store = journal.Store(path, key, readonly=True)
        except Empty:
            yield None
            return
        try:
            yield store
        finally:
            store.close()
    except WorldFailed as failed:
        raise WorldError(str(failed)) from failed


def the_run(store: Store | None, prefix: str) -> RunRow:
    """The one run whose name begins so; `last` is the newest. Raises UsageError where there is none, or several."""
    found = [] if store is None else store.runs()[-1:] if prefix == "last" else store.runs(prefix)
    exact = [row for row in found if row.name == prefix]
    if len(exact) == 1 or len(found) == 1:
        return (exact or found)[0]
    if not found:
        raise UsageError(f"no run begins with `{prefix}`; `fdc runs` lists them")
    names = ", ".join(row.name for row in found[:6])
    raise UsageError(f"{len(found)} runs begin with `{prefix}`: {names}{' ...' if len(found) > 6 else ''}")


def status_of(root: str, row: RunRow) -> str:
    """The status to show: a run whose controller is gone was interrupted, whatever it last wrote."""
    from ..effects import runs

    if row.status == "running" and not runs.is_driven(root, row.name):
        return "interrupted"
    return row.status


def writing(root: str) -> Store:
    """The journal of a workspace, to be written. Raises WorldFailed."""
    from ..effects import journal, runs, trust

    return journal.Store(runs.journal_path(root), trust.key(root, make=True))


def untrusted(name: str, signature: str) -> str:
    """Why a run is not gone on with, and what to do."""
    who = "nobody has sealed it" if signature == "none" else "its seal is not of your key"
    return (
        f"the run {name} was not begun by you on this machine ({who}); it may do anything that its plan says: "
        f"look at it with `fdc show {name}`, and go on with --trust if you want that"
    )


def known(row: RunRow) -> None:
    """Raises WorldError for a run whose records this fdc cannot read."""
    from ..effects.journal import ENGINE

    if row.engine != ENGINE:
        what = f"an fdc whose records this one cannot read (engine {row.engine}, this is {ENGINE})"
        raise WorldError(f"the run {row.name} was made by {what}")
