"""Pieces: some branches of a fork as a run of their own, so that another machine can drive them.

A piece has the program and the inputs of its run. It begins where the run stood when all of the
fork's branches were about to start, which is the run's first so many records, and its own records
follow those. Driven, it is the whole run in which every other branch stands still: `keep` takes
what they want out of sight. In the end its records move into the run (`PgStore.take_in`), which is
folded as if it had made them itself. What a piece left undone, the run does.

A run with a budget or with rules between branches is not taken apart: both speak about all branches
at once, and a piece sees only its own.
"""

from __future__ import annotations

from ...engine.state import RunState, Strand
from ...named_tuples import NamedTuple

LEAST = 8
"""Minimum number of branches of a part."""


class Fork(NamedTuple):
    """A fork of the root's strand, at its address, and the branches of it that have not ended."""

    address: str
    branches: list[int]


def fork_of(state: RunState) -> Fork | None:
    """The fork whose branches several machines can drive now, because no other step is running. Fast if there is none."""
    if (
        len(state.pending) < 2 * LEAST
        or state.ended
        or state.budget
        or state.metered
        or state.rules
    ):
        return None
    if state.running or state.dangling or state.parked:
        return None
    address = ""
    numbers = set()
    for want in state.pending.values():
        if want.begun:
            return None
        found = _branch(want.strand)
        if found is None or (address and found[0] != address):
            return None
        address = found[0]
        numbers.add(found[1])
    return Fork(address, sorted(numbers)) if len(numbers) >= 2 * LEAST else None


def shares(fork: Fork, most: int) -> list[list[int]]:
    """The branches in at most so many shares of about one size, neighbours together; none where one share is enough."""
    count = min(most, len(fork.branches) // LEAST)
    if count < 2:
        return []
    size, more = divmod(len(fork.branches), count)
    out, at = [], 0
    for number in range(count):
        end = at + size + (number < more)
        out.append(fork.branches[at:end])
        at = end
    return out


def keep(state: RunState, address: str, branches: list[int]) -> None:
    """Takes everything out of sight that is not wanted by these branches of the fork at `address`."""
    mine = {(address, number) for number in branches}
    for place in (state.pending, state.dangling, state.running, state.parked):
        for where in [where for where, want in place.items() if _branch(want.strand) not in mine]:
            del place[where]


def is_done(state: RunState) -> bool:
    """Whether everything that `keep` kept is done."""
    return not (state.pending or state.dangling or state.running or state.parked)


def origin(run: str, records: int, address: str, branches: list[int]) -> dict[str, object]:
    """What the row of a piece says of where it comes from."""
    return {"run": run, "address": address, "records": records, "branches": branches}


def _branch(strand: Strand) -> tuple[str, int] | None:
    """The outermost fork that a strand is in, and its branch there."""
    join = strand.join
    if join is None:
        return None
    while join.strand.join is not None:
        strand, join = join.strand, join.strand.join
    address, _, number = strand.frames[0].prefix.rpartition("#")
    return address, int(number)
