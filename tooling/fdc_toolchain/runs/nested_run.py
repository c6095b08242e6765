"""Nested runs: a plan that runs as a separate run within a step of another run (`tools.context.Nested`).

A nested run is recorded, resumed, shown and replayed like any other, in the journal of its outer run. Its name is
derived from the outer run and the step, so that a step that is repeated after a crash continues the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NoReturn

from ..named_tuples import NamedTuple
from ..program.causes import LARGER
from .observer import Observer, Silent

if TYPE_CHECKING:
    from ..engine.drive import Assumption
    from ..journal.sqlite import RunRow, Store
    from ..program.model import Program
    from ..tools.context import Context, Nested, NestedPlan
    from ..workspace.operator import Operator
    from .records.run_outcome import Ended


class Driver(NamedTuple):
    """What drives the run within, which is that of the outer one: its journal, opened anew, and what takes a run as far as
    it goes (`run_driver.drive_run`, `workers.worker_drive.drive_within`). It is handed in, since it drives the outer run too."""

    journal: Callable[[], Store]
    drive: Callable[..., Ended]

    def told(self, assume: Mapping[str, Assumption]) -> Driver:
        """The same, with what a person said about all lost steps of the outer run: nested runs are meant, too."""
        from ..engine.drive import EVERY, STOPPED

        every = {about: assume[about] for about in (EVERY, STOPPED) if about in assume}
        return self._replace(drive=partial(self.drive, assume=every))


_USED = ("model_calls", "tokens", "money")


def nested_in(
    root: str,
    show: Observer,
    operator: Operator,
    driver: Driver,
    shown: Mapping[str, Mapping[str, object]],
) -> Nested:
    """Drives plans within steps of runs in a workspace. `shown`: what the outer run's questions showed."""

    def perform(plan: NestedPlan, context: Context) -> Any:
        from ..engine.events import Outcome
        from ..engine.ports import Cancelled, WorldFailed
        from ..exits import Exit, NotGranted, Refused, UsageError
        from ..tools import intent_files
        from ..workspace.failure import ToolFailure

        mark = intent_files.read(context.run_folder, context.key) or {}
        name = mark.get("run")  # an older fdc with random names may have begun it
        if not isinstance(name, str):
            mark = {"run": (name := name_within(context.key))}
        notes: dict[str, Any] = {"run": name}
        answers: dict[str, str] = {}
        try:
            with _open(driver) as store:
                raised = _put(store, root, name, plan, context, operator, bool(mark.get("begun")))
            if not mark.get("begun"):
                mark["begun"] = True
                intent_files.write(context.run_folder, context.key, mark)
            asked = shown.get(context.key.partition(":")[2], {}).get("within") or mark.get("asks")
            if isinstance(asked, dict):
                with _open(driver) as store:
                    answers = _answered(store.run(name), asked, context)
            watching = _Inner(show)
            ended = driver.drive(
                root, name, watching, operator=operator, within=context.run, budget=raised,
                answers=answers, shell_seconds=context.shell_seconds,
            )  # fmt: skip
        except NotGranted as lacks:
            raise ToolFailure("unavailable", str(lacks), {}, notes) from lacks
        except (Refused, UsageError, ToolFailure) as refused:
            kind = refused.kind if isinstance(refused, ToolFailure) else "plan"
            if kind == "plan" and _labelled(root):
                kind = "outside"
            raise ToolFailure(kind, str(refused), {}, notes) from refused
        except WorldFailed:
            raise
        except Exit as failed:
            raise WorldFailed(str(failed)) from failed
        if context.cancelled.is_set() or ended.status == "interrupted":
            raise Cancelled("the nested run was interrupted")
        if ended.status == "broken":
            raise WorldFailed(f"the nested run {name}: {ended.message}")
        if ended.status == "waiting":
            with _open(driver) as store:
                _wait(store.run(name), ended, mark, context)
        with _open(driver) as store:
            notes |= _brought(store, root, name)
        declared: Any = context.tool.get("cost") or {}
        usage = {one: ended.spent.get(one, 0.0) for one in (*_USED, *({"steps"} & declared.keys()))}
        if ended.status != "finished":
            kind = "outside" if "trust" in notes else "plan"
            if kind == "plan" and plan.budget is None and _of_budget(ended):
                own = _states_it(driver, ended, context)
                kind = "stated" if own else "spent"  # else the budget is the outer run's
            said = f"the nested run {name} {_stopped(ended, notes)}{_helps(kind, ended, context)}"
            raise ToolFailure(kind, said, usage, notes)
        return Outcome(ended.result, None, usage, notes)

    return perform


def _put(
    store: Store,
    root: str,
    name: str,
    plan: NestedPlan,
    context: Context,
    operator: Operator,
    begun: bool,
) -> dict[str, float]:
    """Records the run, unless it exists; returns the limits of an existing one that have changed.

    `begun`: it was recorded before. If its record was deleted since, it is not started again.
    """
    from ..engine.events import Mismatch
    from ..engine.fold import fold
    from ..engine.ports import WorldFailed
    from ..program.codec import ProgramError
    from ..program.model import MAX_STACK
    from ..workspace.failure import ToolFailure
    from .certified import certified, put_on_record
    from .cost import pricing
    from .cost.ceilings import changed, least
    from .create_run import granted
    from .records import identity

    ceilings = dict(plan.budget if plan.budget is not None else context.left())
    row = store.run(name)
    if row is not None:
        try:
            state = fold(store.program(row), row.inputs, store.records(row))
        except (ProgramError, Mismatch) as wrong:
            raise WorldFailed(f"the nested run {name} cannot continue: {wrong}") from wrong
        if "seconds" in ceilings:
            ceilings["seconds"] += state.elapsed
        return changed(state, ceilings)
    if begun:
        raise ToolFailure(
            "plan", f"the record of the nested run {name} was deleted, so it cannot continue"
        )
    outer = store.run(context.run)
    depth = 1 if outer is None else int(outer.inputs.get("depth", 1)) + 1
    if depth > MAX_STACK:
        raise ToolFailure("plan", f"nested runs are {depth} deep; the maximum is {MAX_STACK}")
    program = plan.program()
    proved = certified(program, f"runs/{context.run}/{plan.path}", root)
    if plan.inside and _outside(program, proved.parts["data"], "result"):
        raise ToolFailure(
            "plan",
            "the plan yields text from outside: run it without binding its result, or do not yield such text",
        )
    budget = least(program, ceilings)
    rates = pricing.settle(root, program, budget, operator)
    granted(root, program, operator, f"the nested run {name} cannot begin")
    inputs: dict[str, Any] = {
        "given": dict(plan.given),
        "builtin": {"run": plan.folder or f"runs/{name}"},
        "budget": budget,
        "depth": depth,
        "within": context.run,
    }
    if context.grants:
        inputs["grants"] = list(context.grants)
    if rates is not None:
        inputs["model"] = rates
    if outer is not None:
        inputs |= identity.here(root, outer.inputs)
    put_on_record(store, proved, name, inputs)
    return {}


def name_within(key: str) -> str:
    """The name of the nested run of the step `RUN:ADDRESS`: the second in which the outer one began, and a
    digest."""
    run = key.partition(":")[0]
    return run[: run.rfind("-") + 1] + blake2b(key.encode(), digest_size=6).hexdigest()


@contextmanager
def _open(driver: Driver) -> Iterator[Store]:
    with closing(driver.journal()) as store:
        yield store


def _outside(program: Program, proof: Any, part: str) -> bool:
    """Whether the root plan's result or failure may be text from outside, according to its certificate."""
    return any(
        fact.split(" ")[0] == "untrusted"
        for row in (proof or {}).get("rows", ())
        if row["plan"] == program["root"]
        for fact in row["gives"][part]
    )


def _brought(store: Store, root: str, name: str) -> dict[str, Any]:
    """Notes for the outer run's record about the nested run: text from outside, use of the network."""
    from ..workspace.outside_table import met

    row = store.run(name)
    if row is None:
        return {"trust": "untrusted"}
    program, records = store.program(row), store.records(row)
    network = any((record.body.get("notes") or {}).get("network") for record in records)
    return {
        **({"trust": "untrusted"} if met(root, program, records) else {}),
        **({"network": True} if network else {}),
    }


def _labelled(root: str) -> bool:
    """Whether a proof here may rest on text from outside in files, or on what such text chose of them."""
    from ..linking.project.files import Files
    from ..linking.project.outside_files import active

    try:
        return bool(active(Files(root)))
    except OSError:
        return True


def _of_budget(ended: Ended) -> bool:
    return ended.stop is not None and ended.stop["cause"]["kind"] == "budget"


def _states_it(driver: Driver, ended: Ended, context: Context) -> bool:
    """Whether the budget that ended a nested run is one that a plan in it states, not what the outer run left it."""
    assert ended.stop is not None
    cause = ended.stop["cause"]
    if "of" in cause:
        return bool(cause["of"] == "plan")
    measure = cause.get("measure", "")
    with _open(driver) as store:
        row = store.run(ended.run)
        own = {} if row is None else store.program(row)["budget"]
    return measure in own and own[measure] <= context.left().get(measure, own[measure])


def _helps(kind: str, ended: Ended, context: Context) -> str:
    """What a person can do about a budget that a plan within states itself."""
    if (
        kind != "stated"
        or ended.stop is None
        or ended.stop["kind"] not in ("budget", "plan_budget")
    ):
        return ""
    if ended.stop["kind"] == "plan_budget":
        return f"; {LARGER}"
    larger = f"--budget {ended.stop['cause']['measure']}=NUMBER"
    return f"; `fdc resume {ended.run} {larger}` raises it, then `fdc resume {context.run} --retry` continues"


def _stopped(ended: Ended, notes: Mapping[str, Any]) -> str:
    """How the nested run ended, without text from outside."""
    stop = ended.stop
    if stop is None:
        return f"was {ended.status}"
    if notes.keys() & {"trust", "network"}:
        return f"stopped at {stop['path']}:{stop['line']}; `fdc show {ended.run}` says why"
    return f"stopped: {stop['message']}"


def _answered(row: RunRow | None, asks: Mapping[str, Any], context: Context) -> dict[str, str]:
    """The stored answer to the outer run's question, if the nested run still asks it."""
    if row is None or row.status != "waiting" or row.epoch != asks.get("epoch"):
        return {}
    given = context.given() if "address" in asks else None
    return {} if given is None else {str(asks["address"]): given}


def _wait(row: RunRow | None, ended: Ended, mark: dict[str, Any], context: Context) -> NoReturn:
    """Asks the nested run's first question as a question of the outer run. Raises Waiting.

    The question shows the run and its state, so that an answer to another question is not used.
    """
    from ..engine.ports import Waiting
    from ..tools import intent_files

    name = ended.run
    asks: dict[str, Any] = {"run": name, "epoch": None if row is None else row.epoch}
    unsettled = [one for one in ended.questions if one["how"] != "answer"]
    if unsettled:
        at = unsettled[0]["address"]
        done = f"'{at}=done:RESULT'" if unsettled[0]["bound"] else f"{at}=done"
        others = f" (and at {len(unsettled) - 1} more)" if len(unsettled) > 1 else ""
        raise Waiting(
            f"the nested run {name} waits for a person to find out what happened at {at}{others}: "
            f"`fdc resume {name} --assume {done}` (or `{at}=not-done`); then `fdc resume {context.run}`",
            {"rows": [], "within": asks},
        )
    asked = ended.questions[0]
    asks["address"] = asked["address"]
    intent_files.write(context.run_folder, context.key, {**mark, "asks": asks})
    more = f" (and {len(ended.questions) - 1} more)" if len(ended.questions) > 1 else ""
    step = {key: asked[key] for key in ("line",)} | {
        "plan": f"{name}: {asked['path']}", "what": "step", "text": asked["tool"],
    }  # fmt: skip
    rows = [step, *(asked.get("shows") or {}).get("rows", ())]
    raise Waiting(
        f"the nested run {name} asks at {asked['address']}{more}: {asked['text']}",
        {"rows": rows, "within": asks},
    )


class _Inner(Silent):
    """Shows the messages and questions of the nested run in the place of the outer one."""

    def __init__(self, outer: Observer) -> None:
        super().__init__()
        self._outer = outer

    def say(self, text: str) -> None:
        """Port `Progress`."""
        self._outer.say(text)

    def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
        """As `Observer`."""
        return self._outer.ask(question, above)
