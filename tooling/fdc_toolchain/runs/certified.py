"""The one door through which runs come on record: only a program whose certificate was made and checked passes.

    proved = certified(program, "plans/x.plan", root)
    put_on_record(store, proved, name, inputs)

`tests/repo/test_one_door.py` holds that nothing else begins a run.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..exits import Exit, Refused
from ..linking.link import Linker
from ..linking.project.files import Files
from ..workspace.confirmed_settings import settings_of

if TYPE_CHECKING:
    from ..certificate.forms import Program
    from ..engine.events import Record
    from ..journal.postgres import PgStore
    from ..journal.sqlite import RunRow, Store

_OF_FILES = ("FDC411", "FDC412", "FDC415")
"""Findings that begin with the file that they are about: it is not there, is there, or is not a file."""


class Certified(NamedTuple):
    """A program with the parts of its certificate, which were checked. Only `certified` makes one."""

    program: dict[str, Any]
    plan: str
    parts: dict[str, Any]

    def certificate(self) -> dict[str, Any]:
        """It as `fdc certify` writes it."""
        return {"format": 3, "program": self.parts["control"]["program"], **self.parts}


def certified(
    program: dict[str, Any], plan: str, root: str, *, under_way: bool = False
) -> Certified:
    """A program that was proved, with its certificate, checked; the facts in it are those of the workspace now.

    `under_way`: the run goes on from the middle of another one, so what files were there before the first step is not asked.
    Raises Refused where a file changed since the program was proved, and Exit, for a bug of fdc, where there is none that holds.
    """
    names = _PARTS[:2] if under_way else _PARTS
    parts, wrong = _parts(program, root, names)
    if wrong is not None and wrong.startswith(
        "part `files`"
    ):  # the other parts speak of the program alone
        changed = _changed(program, root)
        if changed is not None:
            raise Refused(f"{changed} changed while it was being checked; run the command again")
        parts, wrong = _parts(program, root, names)  # what changed meanwhile may be as it was
    if wrong is not None:
        raise Exit(
            f"lint proved `{plan}`, and the independent check of its program found: {wrong}; nothing was run. "
            "This is a bug of fdc, please report it"
        )
    return Certified(program, plan, parts)


def put_on_record(
    store: Store,
    proved: Certified,
    name: str,
    inputs: Mapping[str, Any],
    *,
    origin: dict[str, Any] | None = None,
    records: Sequence[Record] = (),
) -> None:
    """Puts a new run on record, nothing of which has happened but the `records` that it takes along. Raises WorldFailed."""
    store.create(
        name, proved.plan, proved.program, dict(inputs), time.time(), origin=origin, records=records
    )


def put_piece(
    store: PgStore, run: RunRow, name: str, inputs: Mapping[str, Any], origin: dict[str, Any]
) -> None:
    """Puts some branches of a run on record, for another worker: the program is the one that the run passed here with."""
    store.create(
        name, run.plan, store.program(run), dict(inputs), time.time(), origin=origin, parent=run.id
    )


_PARTS = ("control", "data", "files")


def _parts(
    program: dict[str, Any], root: str, names: Sequence[str]
) -> tuple[dict[str, Any], str | None]:
    """The parts of a certificate, and what is wrong with one of them."""
    from ..certificate.check import PARTS
    from ..certificate.making import make_control, make_data, make_files
    from ..certificate.plans import Wrong

    parts: dict[str, Any] = {}
    makers: dict[str, Callable[[Program], Mapping[str, object] | None]] = {
        "control": make_control.make, "data": make_data.make, "files": partial(make_files.make, kind=Files(root).kind)
    }  # fmt: skip
    for name in names:
        try:
            parts[name] = makers[name](cast("Program", program))
            found = None if parts[name] is None else PARTS[name](program, parts[name])
        except Wrong as refused:
            found = str(refused)
        if found is not None:
            return parts, f"part `{name}`: {found}"
    return parts, None


def _changed(program: dict[str, Any], root: str) -> str | None:
    """The file whose change made the plan another one than the program that was proved; None: it is proved as it was."""
    from ..certificate.control import digest
    from ..check import check, program_of

    checked = check(Linker(root, settings_of(root, trust=True)), [program["root"]], whole=True)
    wrong = [item for item in checked.diagnostics if item.severity == "error"]
    if not wrong:
        return (
            None
            if digest(program_of(checked)) == digest(program)
            else f"`{program['root']}`, or what it reaches,"
        )
    named = re.search(r"`([^`]+)`", wrong[0].message) if wrong[0].code in _OF_FILES else None
    return f"`{named[1] if named else program['root']}`"
