"""Creates the run of `fdc fork`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from ...exits import Refused, UsageError, WorldError
from ...named_tuples import NamedTuple

if TYPE_CHECKING:
    from ...engine.events import Record


class Forked(NamedTuple):
    """A new run, and how many records of which other one it took over."""

    name: str
    plan: str
    parent: str
    records: int


def fork(
    root: str,
    run: str,
    address: str,
    given: Mapping[str, str],
    *,
    trusted: bool,
    database: str | None = None,
) -> Forked:
    """Records a new run that begins at a step of another run, which does not change.

    In a database it goes into the queue, too.

    Raises UsageError where the run does not exist or step, Refused where the other run is not the
    user's own or where the changed inputs change what was done before the step, WorldError where
    its record is damaged.
    """
    from ...engine.events import Mismatch
    from ...engine.fold import fold
    from ...engine.ports import WorldFailed
    from ...engine.replay import before, failed_alone
    from ...journal import counter
    from ...program.codec import ProgramError
    from ...workspace import run_folders
    from .. import run_driver
    from ..certified import certified, put_new
    from . import remote

    task = None if database else run_driver.task_for(root, None)
    with remote.reading(database, root) as store:
        row = run_driver.the_run(store, run)
        run_driver.known(row)
        assert store is not None  # a run was found in it
        checked = store.check(row.id)
        if checked.faults:
            raise WorldError(f"the record of the run {row.name} is damaged: {checked.faults[0]}")
        if checked.older:
            raise WorldError(counter.outdated(row.name, checked.older))
        if checked.signature != "ours" and not trusted:
            raise Refused(run_driver.untrusted(row.name, checked.signature))
        try:
            program, records = store.program(row), store.records(row)
        except (ProgramError, WorldFailed) as wrong:
            raise WorldError(f"the run {row.name} cannot be forked: {wrong}") from wrong
    try:
        taken = before(records, address, failed_alone(program, row.inputs, records))
    except Mismatch as wrong:
        raise WorldError(f"the run {row.name} cannot be forked: {wrong}") from wrong
    except KeyError:
        raise UsageError(_no_step(row.name, address, records)) from None
    # The run's folder stays the other one's: what was done lies there, and the records name it.
    inputs = {
        **row.inputs,
        "given": run_driver.given_for(program, {**row.inputs.get("given", {}), **given}),
    }
    inputs.pop("task", None)
    if task is not None:
        inputs["task"] = task._asdict()
    try:
        state = fold(program, inputs, taken)
    except Mismatch as wrong:
        raise Refused(
            f"with these inputs the run {row.name} would have taken another path: {wrong}"
        ) from wrong
    if address not in state.pending:
        raise Refused(
            f"after the records that can be taken over, `{address}` is not the next step of the program"
        )
    proved = certified(program, row.plan, root, under_way=True)
    name = run_folders.RunIds().run_id()
    origin = {"run": row.name, "address": address, "records": len(taken)}
    with closing(remote.writing(database, root)) as writing:
        name = put_new(writing, proved, name, inputs, origin=origin, records=taken)
    if database:
        remote.send(database, name, {}, f"{name}:first", row.engine)
    return Forked(name, row.plan, row.name, len(taken))


def _no_step(run: str, address: str, records: Sequence[Record]) -> str:
    """Why a run cannot be forked at an address. `fdc show` also lists calls, loops and conditions, which are no steps."""
    inner = next(
        (
            one.address
            for one in records
            if one.address.startswith(tuple(address + mark for mark in "#[>./"))
        ),
        None,
    )
    if inner is None:
        return f"the run {run} has no step at `{address}`; `fdc show {run}` lists them"
    return f"`{address}` is no step, it has steps in it; fork the run {run} at one of them: the first is `{inner}`"
