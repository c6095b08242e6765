"""Calls about runs of a workspace: begin, drive, answer, show. Every call opens and closes what it needs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Literal

from ..errors import InvalidInput, RunRefused, calling
from ..plan_calls import Path, checked, proved, root_of, text_of
from ..values import JSON, Done, Policy, Question, RunResult, RunState, RunStatus, RunSummary
from .recorded import question_of, questions_of, steps_of, stop_of
from .watching import Watcher, bridge

if TYPE_CHECKING:
    from ...engine.drive import Assumption
    from ...journal.sqlite import RunRow, Store
    from ...runs.records.answers import Open
    from ...runs.records.run_outcome import Ended
    from ...workspace.operator import Operator

Assume = Literal["done", "not-done"] | Done
_NO_INPUTS: Mapping[str, str] = {}
_NO_BUDGET: Mapping[str, float] = {}
_NOTHING_KNOWN: Mapping[str, Assume] = {}


def begin(
    plan: Path,
    *,
    workspace: Path,
    inputs: Mapping[str, str] = _NO_INPUTS,
    budget: Mapping[str, float] = _NO_BUDGET,
    task: str | None = None,
    policy: Policy | None = None,
    wait: bool = False,
    at_once: bool = False,
) -> str:
    """Proves a plan and records a new run of it; returns the run's name. No step runs before `drive`.

    `inputs` are the plan's parameters; `budget` are ceilings by measure; `task` is the open task whose log the steps go into
    (None: the one that was started last, if any). `policy` None: as the environment says, like the command line.
    `wait`: runs that may write the same paths do not lead to a refusal; `drive` waits for them then.
    `at_once`: if the first `drive` raises RunBusy, because such a run began meanwhile, the run is removed from the record.
    Raises NotFound, InvalidInput, PlanRefused, NotGranted, RunBusy, WorldTrouble.
    """
    with calling():
        from ...check import program_of
        from ...runs import create_run

        _outside("begin a run")
        root = root_of(workspace)
        proved_plan = proved(checked(root, plan, None, {}, True))
        program = program_of(proved_plan)
        parameters = create_run.given_for(
            program, {name: _text(name, inputs[name]) for name in inputs}
        )
        log = create_run.task_for(root, task)
        return create_run.begin(
            root, program, proved_plan.keys[0], parameters, _budget(budget), log, _operator(policy),
            wait=wait or None, embedded=True, at_once=at_once,
        )  # fmt: skip


def drive(
    run: str,
    *,
    workspace: Path,
    policy: Policy | None = None,
    watcher: Watcher | None = None,
    jobs: int = 8,
    command_seconds: float | None = None,
    wait: bool = False,
    leave: Event | None = None,
) -> RunResult:
    """Drives a run to its end, or to a question that is not answered.

    `run`: its name, the beginning of it, or `last`. `jobs`: branches at once; `command_seconds`: the most that a command may
    take. The signals of the process are left alone: Ctrl-C leaves the run so that it can be resumed, and KeyboardInterrupt
    is raised. `leave`: another thread sets it to interrupt the run, which can be resumed.
    Raises NotFound, InvalidInput, RunRefused, NotGranted, RunBusy, WorldTrouble.
    """
    return resume(
        run, workspace=workspace, policy=policy, watcher=watcher, jobs=jobs, command_seconds=command_seconds,
        wait=wait, leave=leave,
    )  # fmt: skip


def resume(
    run: str,
    *,
    workspace: Path,
    answers: Mapping[str, str] = _NO_INPUTS,
    assume: Mapping[str, Assume] = _NOTHING_KNOWN,
    budget: Mapping[str, float] = _NO_BUDGET,
    retry: bool = False,
    trust: bool = False,
    force: bool = False,
    policy: Policy | None = None,
    watcher: Watcher | None = None,
    jobs: int = 8,
    command_seconds: float | None = None,
    wait: bool = False,
    leave: Event | None = None,
) -> RunResult:
    """Continues a run where it stopped; recorded steps do not run again. Otherwise as `drive`.

    `answers` and `assume` are by the address of a question; answers are kept first, as by `answer`.
    `budget`: new ceilings; `retry`: failed steps are tried again; `trust`: a run goes on that was not begun by this user on
    this machine; `force`: one that was cancelled does.
    """
    with calling():
        from ...runs import run_driver
        from ...runs.records import questions

        _outside("drive a run")
        root = root_of(workspace)
        if not 1 <= jobs <= 256:
            raise InvalidInput(f"`jobs` is 1 to 256, found {jobs}")
        if command_seconds is not None and not command_seconds >= 0.1:
            raise InvalidInput(f"`command_seconds` is at least 0.1, found {command_seconds}")
        with run_driver.reading(root) as store:
            row = run_driver.the_run(store, text_of(run))
            run_driver.known(row)
            assert store is not None  # a run was found in it
            answerable = _answerable(root, store, row, answers)
        open_ = _addresses(row, "assume")
        for address in assume:
            if address not in open_:
                known = f"; it does at {', '.join(open_)}" if open_ else ""
                raise InvalidInput(
                    f"the run {row.name} asks nothing to assume at `{address}`{known}"
                )
        for question, text in answerable:
            questions.give(root, row, question, text, "fdc.api", time.time())
        show = bridge(watcher)
        ended = run_driver.drive_run(
            root, row.name, show,
            assume={at: _assumption(assumed) for at, assumed in assume.items()},
            budget=_budget(budget), retry=retry, trusted=trust, force=force, jobs=jobs, shell_seconds=command_seconds,
            operator=_operator(policy), seen=row.epoch, wait=wait or None, leave=leave or Event(),
        )  # fmt: skip
        return _result(root, ended, tuple(show.wrote), tuple(show.said))


def answer(
    run: str,
    text: str,
    *,
    workspace: Path,
    address: str | None = None,
    seen: str | None = None,
    through: str = "fdc.api",
) -> Question:
    """Stores an answer for a waiting run, which uses it when it is resumed; returns the question with it.

    `address`: which question, where there are several. `seen`: the `seen` of the question that the person was shown; where
    it is another one by now, or has an answer, nothing is kept. Without `seen` an answer that was not used yet
    is replaced. `through`: the program in which the person
    answered; the record keeps it beside the user's name. Raises NotFound, InvalidInput (the text cannot
    be the answer), RunRefused.
    """
    with calling():
        from ...runs.records import open_journal, questions

        _outside("answer a run")
        root = root_of(workspace)
        _text("text", text)
        _text("through", through)
        with open_journal.reading(root) as store:
            row = open_journal.the_run(store, text_of(run))
            open_journal.known(row)
            assert store is not None  # a run was found in it
            open_questions = questions.questions(root, store, row)
            status = open_journal.status_of(root, row)
        if not open_questions:
            raise questions.none_open(row, status)
        chosen = questions.chosen(row, open_questions, address, text)
        if seen is not None and questions.name_of(row, chosen) != seen:
            raise RunRefused(
                f"the run {row.name} asks something else at {chosen.effect.address} by now; look at it again"
            )
        over = None if seen is None else ()
        questions.give(root, row, chosen, text, through, time.time(), over=over)
        return question_of(row, chosen._replace(given=text))


def cancel(run: str, *, workspace: Path, seconds: float = 30.0) -> None:
    """Ends a run for good, also one that is being driven: it stops before its next step, and its commands are killed.

    `seconds`: how long who drives it gets to stop; then RunBusy is raised, and it stops all the same. Raises NotFound,
    RunRefused (the run is over), WorldTrouble.
    """
    with calling():
        from ...runs import cancel_run

        _outside("cancel a run")
        cancel_run.cancel(root_of(workspace), text_of(run), seconds)


def show(run: str, *, workspace: Path) -> RunState:
    """A run from its record: its status, every step, and its questions. Raises NotFound, WorldTrouble."""
    with calling():
        from ...runs.records import open_journal
        from ...runs.records.followed import followed

        root = root_of(workspace)
        with open_journal.reading(root) as store:
            row = open_journal.the_run(store, text_of(run))
            open_journal.known(row)
            assert store is not None  # a run was found in it
            replayed = followed(store.program(row), row, store.records(row))
            record = store.check(row.id)
            open_questions = () if record.faults or record.older else questions_of(root, store, row)
        ending = row.ending or {}
        return RunState(
            run=row.name,
            plan=row.plan,
            status=_status(root, row),
            program=row.digest,
            inputs=dict(row.inputs.get("given", {})),
            started=row.started,
            steps=steps_of(replayed.rows),
            questions=open_questions,
            stop=stop_of(ending.get("stop")),
            message=str(ending.get("message", "")),
            result=replayed.state.result if replayed.state.ended else None,
            spent=dict(ending.get("spent", {})),
            whole=not record.faults and not record.older,
            seal=record.signature,
        )


def runs(*, workspace: Path, status: RunStatus | None = None) -> tuple[RunSummary, ...]:
    """The runs of a workspace, the oldest first; `status`: only runs with this status. Raises WorldTrouble."""
    with calling():
        from ...runs.records.open_journal import reading

        root = root_of(workspace)
        with reading(root) as store:
            summaries = tuple(
                RunSummary(
                    run=row.name,
                    plan=row.plan,
                    status=_status(root, row),
                    started=row.started,
                    steps=store.count(row),
                    seconds=(row.ending or {}).get("seconds"),
                )
                for row in (store.runs() if store is not None else ())
                if store is not None
            )
        return tuple(item for item in summaries if status in (None, item.status))


def _outside(action: str) -> None:
    """Raises RunRefused in a command of a run, which may do none of this (FDC-37)."""
    inside = os.environ.get("FDC_RUN")
    if inside:
        raise RunRefused(
            f"a command of the run {inside} may not {action}; a plan calls another with `call_plan`"
        )


def _operator(policy: Policy | None) -> Operator:
    from ...workspace.operator import APPROVALS, Operator

    if policy is None:
        return Operator.of_environment()
    return Operator(
        unsandboxed=policy.unsandboxed,
        network=policy.network,
        model=policy.model,
        approved=tuple(APPROVALS[name] for name in policy.approve),
        web=policy.web,
        private=tuple(host.lower() for host in policy.private_hosts),
        weak=policy.weak_sandbox,
    )


def _budget(budget: Mapping[str, float]) -> dict[str, float]:
    from ...engine.decide import MEASURES

    for measure, most in budget.items():
        if measure not in MEASURES:
            raise InvalidInput(
                f"`{measure}` is not a measure; `budget` takes {', '.join(MEASURES)}"
            )
        if not 0 <= most < 1e18:
            raise InvalidInput(f"the budget of `{measure}` cannot be {most}")
        if measure == "seconds" and not most:
            raise InvalidInput("a budget of 0 seconds is used up before the first step")
    return {measure: int(most) if most == int(most) else most for measure, most in budget.items()}


def _text(name: str, text: str) -> str:
    try:
        text_of(text).encode("utf-8")
    except UnicodeEncodeError as wrong:
        raise InvalidInput(f"the value of `{name}` is not UTF-8 text") from wrong
    return text


def _assumption(assumed: Assume) -> Assumption:
    from ...engine.events import Outcome

    return Outcome(assumed.result) if isinstance(assumed, Done) else assumed


def _addresses(row: RunRow, how: str) -> list[str]:
    """The addresses of a waiting run's questions of one kind."""
    stored = (row.ending or {}).get("questions", ()) if row.status == "waiting" else ()
    return [question["address"] for question in stored if question["how"] == how]


def _answerable(
    root: str, store: Store, row: RunRow, answers: Mapping[str, str]
) -> list[tuple[Open, str]]:
    """The questions that the answers are for. Raises where one is for no question, or cannot be its answer."""
    from ...runs.records import open_journal, questions

    if not answers:
        return []
    open_questions = questions.questions(root, store, row)
    if not open_questions:
        raise questions.none_open(row, open_journal.status_of(root, row))
    return [
        (questions.chosen(row, open_questions, address, _text(address, text)), text)
        for address, text in answers.items()
    ]


def _status(root: str, row: RunRow) -> RunStatus:
    from ...runs.records.open_journal import status_of

    status: RunStatus = status_of(root, row)  # type: ignore[assignment]
    return status


def _result(root: str, ended: Ended, wrote: tuple[str, ...], said: tuple[str, ...]) -> RunResult:
    """How driving ended, with its questions from the record."""
    from ...runs.records import open_journal

    open_questions: tuple[Question, ...] = ()
    if ended.questions:
        with open_journal.reading(root) as store:
            row = None if store is None else store.run(ended.run)
            if store is not None and row is not None:
                open_questions = questions_of(root, store, row)
    status: RunStatus = ended.status  # type: ignore[assignment]
    result: JSON = ended.result
    return RunResult(
        run=ended.run,
        plan=ended.plan,
        status=status,
        result=result,
        stop=stop_of(ended.stop),
        questions=open_questions,
        message=ended.message,
        steps=ended.steps,
        seconds=ended.seconds,
        spent=dict(ended.spent),
        wrote=wrote,
        said=said,
        kept=tuple(stop for stop in map(stop_of, ended.kept) if stop is not None),
    )
