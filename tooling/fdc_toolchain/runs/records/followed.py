"""Follows a run through its record: every record with its effect, and the final state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exits import WorldError
from ...named_tuples import NamedTuple

if TYPE_CHECKING:
    from ...engine.events import Perform, Record
    from ...engine.state import RunState
    from ...journal.sqlite import RunRow
    from ...program.model import Program

Rows = list[tuple["Record", "Perform | None"]]


class Followed(NamedTuple):
    """Every record with its effect, and the state of the run after the last one."""

    rows: Rows
    state: RunState

    @property
    def kept(self) -> list[dict[str, object]]:
        """The stops of branches whose failures were kept."""
        return [one._asdict() for one in self.state.kept]


def followed(program: Program, row: RunRow, records: list[Record]) -> Followed:
    """Follows the records of a run. Raises WorldError if they do not fit the program."""
    from ...engine.events import Mismatch
    from ...engine.fold import fold

    rows: Rows = []
    try:
        state = fold(
            program,
            row.inputs,
            records,
            lambda record, effect: rows.append((record, effect)),
            marks=True,
        )
    except Mismatch as wrong:
        raise WorldError(f"the run {row.name} cannot be read: {wrong}") from wrong
    return Followed(rows, state)
