"""Failure test 15: a run of a hundred thousand effects on a file stays as cheap as it began (PostgreSQL: test_pg_journal.py)."""

from __future__ import annotations

import gc
import resource
import time
from contextlib import closing
from pathlib import Path

import pytest
from fdc_toolchain.engine.drive import Ports, drive
from fdc_toolchain.engine.events import Outcome, Perform
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.ports import Cancelled
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.testing import FakeClock, Silence

from tests.support.programs import iterate, program, step
from tests.support.reference import Answering

KEY = b"k" * 32


class Brief(Answering):
    """Answers in few bytes, so that what grows is the engine's."""

    def perform(self, effect: Perform) -> Outcome:
        return Outcome("x" * 40)


def resident() -> float:
    """Megabytes of this process that are in memory now."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


@pytest.mark.long
@pytest.mark.parametrize("steps", [4_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_a_long_run_costs_the_same_for_every_step(steps: int, tmp_path: Path) -> None:
    """Failure test 15: memory flat, bytes for a step flat, the time to take it up again in proportion to its length."""
    path = tmp_path / "runs.sqlite"
    legs = 4
    memory, size, seconds = [], [], []
    with closing(Store(str(path), KEY)) as store:
        store._db.execute("PRAGMA synchronous=OFF")  # the disk is not what is measured
        store.create("long", "p.plan", program(iterate(steps, step("put", bind="x"))), {}, 1.0)
        for leg in range(1, legs + 1):
            row = store.run("long")
            assert row is not None
            began = time.process_time()
            journal = store.claim(row)
            state = fold(store.program(row), {}, journal.records)
            seconds.append((time.process_time() - began) / max(1, len(journal.records)))
            journal.records.clear()
            done = state.steps
            before = resident()
            until = done + steps // legs
            try:
                ports = Ports(
                    journal,
                    Brief(),
                    FakeClock(),
                    Silence(),
                    lambda until=until, state=state: state.steps >= until,
                )
                drive(store.program(row), state, ports)
            except Cancelled:
                assert leg < legs or state.ended
            memory.append(resident() - before)
            store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            size.append(path.stat().st_size / (leg * (steps // legs)))
        row = store.run("long")
        assert row is not None and steps == store.count(row) and () == store.check(row.id).faults
    assert all(grown < 4 for grown in memory[1:]), memory
    assert size[-1] < 1.1 * size[1], size
    assert steps < 50_000 or seconds[-1] < 2.5 * min(seconds[1:]), seconds
