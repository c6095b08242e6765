"""The only way to record a new run: requires a program whose certificate was made and checked.

    proved = certified(program, "plans/x.plan", root)
    name = put_new(store, proved, name, inputs)

`tests/repo/test_one_door.py` checks that no other code begins a run.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..engine.ports import NameTaken
from ..exits import Exit, Refused
from ..linking.link import Linker
from ..linking.project.files import Files
from ..named_tuples import NamedTuple
from ..workspace.confirmed_settings import settings_of

if TYPE_CHECKING:
    from ..certificate.forms import Program
    from ..engine.events import Record
    from ..journal.postgres import PgStore
    from ..journal.sqlite import RunRow, Store

_OF_FILES = ("FDC411", "FDC412", "FDC415")
"""Findings that begin with the file that they are about: it is missing, exists, or is not a file."""


class Certified(NamedTuple):
    """A program with the checked parts of its certificate. Only `certified` makes one."""

    program: Program
    plan: str
    parts: dict[str, Any]

    def certificate(self) -> dict[str, object]:
        """The certificate in the format of `fdc certify`."""
        return {"format": 3, "program": self.parts["control"]["program"], **self.parts}


def certified(program: Program, plan: str, root: str, *, under_way: bool = False) -> Certified:
    """A proved program with its checked certificate, whose facts hold in the workspace now.

    `under_way`: the run continues from the middle of another one, so the files before its first step are not checked.
    Raises Refused if a file changed since the program was proved, and Exit (a bug of fdc) if the certificate does not hold.
    """
    names = _PARTS[:2] if under_way else _PARTS
    parts, wrong = _parts(program, root, names)
    if wrong is not None and wrong.startswith(
        "part `files`"
    ):  # the other parts depend on the program only
        changed = _changed(program, root)
        if changed is not None:
            raise Refused(f"{changed} changed while it was being checked; run the command again")
        parts, wrong = _parts(
            program, root, names
        )  # the change may have been undone in the meantime
    if wrong is not None:
        raise Exit(
            f"lint proved `{plan}`, but the independent check of its program found: {wrong}; the run was not started. "
            "This is a bug of fdc, please report it"
        )
    return Certified(program, _recorded_as(program, plan), parts)


def _recorded_as(program: Program, plan: str) -> str:
    """What a run of the plan is called: by its file where the workspace gave a plan of its own the name of a plan of a pack,
    by which that pack knows its runs."""
    from ..packs.index import index

    brought, path = index().plans.get(plan), program["plans"][program["root"]]["path"]
    return plan if brought is None or path == f"fdc:{brought}" else path


def put_on_record(
    store: Store,
    proved: Certified,
    name: str,
    inputs: Mapping[str, object],
    *,
    origin: Mapping[str, object] | None = None,
    records: Sequence[Record] = (),
) -> None:
    """Records a new run, which begins after the given `records`. Raises WorldFailed."""
    store.create(
        name, proved.plan, proved.program, dict(inputs), time.time(), origin=origin, records=records
    )


def put_new(
    store: Store,
    proved: Certified,
    name: str,
    inputs: dict[str, object],
    *,
    origin: Mapping[str, object] | None = None,
    records: Sequence[Record] = (),
) -> str:
    """Records a new run under the name, or under a new one where another run has that; returns its name. Raises WorldFailed."""
    from ..workspace.run_folders import RunIds

    for _ in range(_MOST_NAMES):
        try:
            put_on_record(store, proved, name, inputs, origin=origin, records=records)
            return name
        except NameTaken:
            own = inputs["builtin"] == {"run": f"runs/{name}"}
            name = RunIds().run_id()
            if own:
                inputs["builtin"] = {"run": f"runs/{name}"}
    put_on_record(store, proved, name, inputs, origin=origin, records=records)
    return name


def put_piece(
    store: PgStore,
    run: RunRow,
    name: str,
    inputs: Mapping[str, object],
    origin: Mapping[str, object],
) -> None:
    """Records some branches of a run for another worker, with the certified program of that run."""
    store.create(
        name, run.plan, store.program(run), dict(inputs), time.time(), origin=origin, parent=run.id
    )


_MOST_NAMES = 20
"""So often a new run gets another name: names are told apart by chance."""

_PARTS = ("control", "data", "files")


def _parts(program: Program, root: str, names: Sequence[str]) -> tuple[dict[str, Any], str | None]:
    """The parts of a certificate, and the error in one of them."""
    from ..certificate.check import PARTS
    from ..certificate.making import make_control, make_data, make_files
    from ..certificate.plans import Wrong

    parts: dict[str, Any] = {}
    makers: dict[str, Callable[[Program], Mapping[str, object] | None]] = {
        "control": make_control.make, "data": make_data.make, "files": partial(make_files.make, kind=Files(root).kind)
    }  # fmt: skip
    for name in names:
        try:
            parts[name] = makers[name](program)
            found = None if parts[name] is None else PARTS[name](program, parts[name])
        except Wrong as refused:
            found = str(refused)
        if found is not None:
            return parts, f"part `{name}`: {found}"
    return parts, None


def _changed(program: Program, root: str) -> str | None:
    """The file whose change made the proved program out of date; None: the program is up to date."""
    from ..certificate.control import digest
    from ..check import check, program_of

    checked = check(Linker(root, settings_of(root, trust=True)), [program["root"]], whole=True)
    wrong = [item for item in checked.diagnostics if item.severity == "error"]
    if not wrong:
        return (
            None
            if digest(program_of(checked)) == digest(program)
            else f"`{program['root']}`, or a plan that it calls,"
        )
    named = re.search(r"`([^`]+)`", wrong[0].message) if wrong[0].code in _OF_FILES else None
    return f"`{named[1] if named else program['root']}`"
