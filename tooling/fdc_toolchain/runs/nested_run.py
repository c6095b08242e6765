"""A plan as a run of its own within a step of another run (`tools.context.Nested`).

The run within is recorded, resumed, shown and replayed like any other, in the journal of the run that it is within. Its name
follows from that run and the step, so that the same step, done again after a crash, goes on with the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NoReturn

from ..named_tuples import NamedTuple
from .observer import Observer, Silent

if TYPE_CHECKING:
    from ..journal.sqlite import RunRow, Store
    from ..tools.context import Context, Nested, NestedPlan
    from ..workspace.operator import Operator
    from .records.run_outcome import Ended


class Driver(NamedTuple):
    """What drives the run within, which is that of the outer one: its journal, opened anew, and what takes a run as far as
    it goes (`run_driver.drive_run`, `workers.worker_drive.drive_within`). It is handed in, since it drives the outer run too."""

    journal: Callable[[], Store]
    drive: Callable[..., Ended]


_USED = ("model_calls", "tokens", "money")


def nested_in(
    root: str,
    show: Observer,
    operator: Operator,
    driver: Driver,
    shown: Mapping[str, Mapping[str, Any]],
) -> Nested:
    """What drives plans within steps of runs in a workspace. `shown`: what the questions showed that the outer run waited for."""

    def perform(plan: NestedPlan, context: Context) -> Any:
        from ..engine.events import Outcome
        from ..engine.ports import Cancelled, WorldFailed
        from ..exits import Exit, NotGranted, Refused, UsageError
        from ..tools import intent_files
        from ..workspace.failure import ToolFailure

        mark = intent_files.read(context.run_folder, context.key) or {}
        name = mark.get("run")  # an fdc that gave them names by chance may have begun it
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
            if asked:
                with _open(driver) as store:
                    answers = _answered(store.run(name), asked, context)
            watching = _Inner(show)
            ended = driver.drive(
                root, name, watching, operator=operator, within=context.run, budget=raised,
                answers=answers, shell_seconds=context.shell_seconds,
            )  # fmt: skip
        except NotGranted as lacks:
            raise ToolFailure("unavailable", str(lacks), {}, notes) from lacks
        except (Refused, UsageError) as refused:
            raise ToolFailure("plan", str(refused), {}, notes) from refused
        except Exit as failed:
            raise WorldFailed(str(failed)) from failed
        if context.cancelled.is_set() or ended.status == "interrupted":
            raise Cancelled("the run within is left in the middle")
        if ended.status == "broken":
            raise WorldFailed(f"the run {name} within: {ended.message}")
        if ended.status == "waiting":
            with _open(driver) as store:
                _wait(store.run(name), ended, mark, context)
        with _open(driver) as store:
            notes |= _brought(store, root, name)
        declared: Any = context.tool.get("cost") or {}
        usage = {one: ended.spent.get(one, 0.0) for one in (*_USED, *({"steps"} & declared.keys()))}
        if ended.status != "finished":
            raise ToolFailure(
                "plan", f"the run {name} within {_stopped(ended, notes)}", usage, notes
            )
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
    """Puts the run on record, unless it is; returns the ceilings of one that is there which are others by now.

    `begun`: it was on record. What it did then is not done again where somebody has taken its record away.
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
            raise WorldFailed(f"the run {name} within cannot continue: {wrong}") from wrong
        if "seconds" in ceilings:
            ceilings["seconds"] += state.elapsed
        return changed(state, ceilings)
    if begun:
        raise ToolFailure(
            "plan", f"the run {name} within has no record any more, so it cannot continue"
        )
    outer = store.run(context.run)
    depth = 1 if outer is None else int(outer.inputs.get("depth", 1)) + 1
    if depth > MAX_STACK:
        raise ToolFailure(
            "plan", f"plans run within each other are {depth} deep; {MAX_STACK} is the most"
        )
    program = plan.program()
    proved = certified(program, f"runs/{context.run}/{plan.path}", root)
    if plan.inside and _outside(program, proved.parts["data"], "result"):
        raise ToolFailure(
            "plan",
            "the plan yields text from outside: run it without a name for its result, or yield no such text",
        )
    budget = least(program, ceilings)
    rates = pricing.settle(root, program, budget, operator)
    granted(root, program, operator, f"the run {name} within does not begin")
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
    """The name of the run within the step `RUN:ADDRESS`: the second in which the outer one began, and what tells it from all
    others."""
    run = key.partition(":")[0]
    return run[: run.rfind("-") + 1] + blake2b(key.encode(), digest_size=6).hexdigest()


@contextmanager
def _open(driver: Driver) -> Iterator[Store]:
    store = driver.journal()
    try:
        yield store
    finally:
        store.close()


def _outside(program: Mapping[str, Any], proof: Any, part: str) -> bool:
    """Whether the result of the root plan, or why it fails, may be text from outside, as its certificate says."""
    return any(
        fact.split(" ")[0] == "untrusted"
        for row in (proof or {}).get("rows", ())
        if row["plan"] == program["root"]
        for fact in row["gives"][part]
    )


def _brought(store: Store, root: str, name: str) -> dict[str, Any]:
    """What the outer run's record says of what the run within looked at: text from outside, the network."""
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


def _stopped(ended: Ended, notes: Mapping[str, Any]) -> str:
    """How the run within ended, in words that are not text from outside."""
    stop = ended.stop
    if stop is None:
        return f"was {ended.status}"
    if notes.keys() & {"trust", "network"}:
        return f"stopped at {stop['path']}:{stop['line']}; `fdc show {ended.run}` says why"
    return f"stopped: {stop['message']}"


def _answered(row: RunRow | None, asks: Mapping[str, Any], context: Context) -> dict[str, str]:
    """The answer that lies ready for the question that the outer run put, where the run within still asks it."""
    if row is None or row.status != "waiting" or row.epoch != asks.get("epoch"):
        return {}
    given = context.given() if "address" in asks else None
    return {} if given is None else {str(asks["address"]): given}


def _wait(row: RunRow | None, ended: Ended, mark: dict[str, Any], context: Context) -> NoReturn:
    """Puts what the run within asks first as a question of the outer run. Raises Waiting.

    What is shown names the run and its state: an answer that was given to another question counts for nothing.
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
            f"the run {name} within waits until somebody finds out what happened at {at}{others}, and says so: "
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
        f"the run {name} within asks at {asked['address']}{more}: {asked['text']}",
        {"rows": rows, "within": asks},
    )


class _Inner(Silent):
    """Shows what the run within says, and asks what it asks, where the outer one does."""

    def __init__(self, outer: Observer) -> None:
        super().__init__()
        self._outer = outer

    def say(self, text: str) -> None:
        """Port `Progress`."""
        self._outer.say(text)

    def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
        """As `Observer`."""
        return self._outer.ask(question, above)
