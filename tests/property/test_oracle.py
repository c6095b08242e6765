"""Failure test 13 of the engines' study: the same programs by chance on every engine come to the same (FDC-31).

Legs: a reference on asyncio alone (tests/support/reference.py), the engine in memory and on the journal's file, DBOS with
steps and child workflows of its own and nothing of ours (tests/support/native.py), and our journal in PostgreSQL with
DBOS as the dispatcher of two real workers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.drive import Ports, drive
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.state import RunState
from fdc_toolchain.journal import user_key
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.runs.workers.dispatch import Sender
from fdc_toolchain.testing import FakeClock, MemoryJournal, Silence, run

from tests.support.background import wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.process import run as run_process
from tests.support.reference import Answering, Came, made, on_asyncio
from tests.support.repository import ROOT

KEY = b"k" * 32


def came(state: RunState, records: list[Any]) -> Came:
    """What a folded run has come to."""
    assert state.ended
    stop = None if state.stop is None else (state.stop.kind, state.stop.message, state.stop.address)
    outcomes = [(one.address, one.body.get("value")) for one in records if one.kind == "outcome"]
    assert len(outcomes) == len(dict(outcomes))
    return Came(stop, None if stop else state.result, dict(outcomes))


def in_memory(program: dict[str, Any], given: dict[str, Any], room: int) -> Came:
    journal = MemoryJournal()
    run(program, Answering(), inputs={"given": given}, journal=journal, room=room)
    return came(fold(program, {"given": given}, journal.records), journal.records)


def on_file(store: Store, name: str, program: dict[str, Any], given: dict[str, Any]) -> Came:
    store.create(name, "p.plan", program, {"given": given}, 1.0)
    row = store.run(name)
    assert row is not None
    journal = store.claim(row)
    drive(
        program, fold(program, row.inputs, []), Ports(journal, Answering(), FakeClock(), Silence())
    )
    records = store.records(row)
    return came(fold(store.program(row), row.inputs, records), records)


@pytest.mark.parametrize("count", [150, pytest.param(20_000, marks=pytest.mark.soak)])
def test_the_engine_comes_to_what_a_plain_interpreter_comes_to(count: int, tmp_path: Path) -> None:
    """Failure test 13."""
    stops = set()
    with closing(Store(str(tmp_path / "runs.sqlite"), KEY)) as store:
        for seed in range(count):
            program, given = made(seed)
            expected = on_asyncio(program, given)
            if len(expected.outcomes) > 400:
                continue
            stops.add(expected.stop and expected.stop[0])
            assert expected == in_memory(program, given, 1), seed
            assert expected == in_memory(program, given, 4), seed
            if seed % 10 == 0:
                assert expected == on_file(store, f"r{seed}", program, given), seed
    assert {None, "failure", "require", "value", "bound"} <= stops  # every way to end is among them


def chosen(count: int) -> dict[int, Came]:
    """Seeds of programs of a bearable size, most of them with forks, and what they come to."""
    found = {}
    for seed in range(10 * count):
        expected = on_asyncio(*made(seed))
        if 3 < len(expected.outcomes) < 60 and (
            seed % 4 == 0 or any("#" in one for one in expected.outcomes)
        ):
            found[seed] = expected
        if len(found) == count:
            break
    assert len(found) == count
    return found


@pytest.mark.long
@pytest.mark.parametrize("count", [12, pytest.param(150, marks=pytest.mark.soak)])
def test_dbos_by_itself_comes_to_the_same(count: int, tmp_path: Path) -> None:
    """Failure test 13: every effect a DBOS step, every branch a child workflow: an engine that shares nothing with ours."""
    expected = chosen(count)
    script = ROOT / "tests" / "support" / "native.py"
    done = run_process(
        [sys.executable, script, tmp_path / "dbos.sqlite", *map(str, expected)], cwd=ROOT
    )
    assert 0 == done.returncode, done.stderr
    found = {int(seed): one for seed, one in json.loads(done.stdout).items()}
    assert list(expected) == list(found)
    for seed, one in expected.items():
        stop, result, outcomes = found[seed]
        assert one == Came(None if stop is None else tuple(stop), result, outcomes), seed


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


@needs_database
@pytest.mark.slow
@pytest.mark.parametrize("count", [12, pytest.param(150, marks=pytest.mark.soak)])
def test_our_journal_with_dbos_as_dispatcher_comes_to_the_same(
    count: int, url: str, workspace: Path
) -> None:
    """Failure test 13: two real workers whose tools answer as everywhere here, and which take even the smallest forks apart."""
    expected = chosen(count)
    answering = (str(ROOT / "tests" / "support" / "answering_fdc.py"),)
    key = user_key.key(str(workspace), make=True)
    with (
        closing(PgStore(url, key)) as store,
        Workers(url, workspace, "--serve", "unnamed") as workers,
    ):
        workers.start(2, program=answering)
        sender = Sender(url)
        wait_for(lambda: workers.connected("w1") and workers.connected("w2"))
        for seed in expected:
            program, given = made(seed)
            store.create(f"r{seed}", "p.plan", program, {"given": given}, 1.0)
            sender.send(f"r{seed}", {}, delivery=f"r{seed}:first")
        names = [f"r{seed}" for seed in expected]
        over = "SELECT count(*) FROM fdc.run WHERE name = ANY(%s) AND status IN ('finished', 'stopped')"
        wait_for(lambda: rows(url, over, names) == [(count,)])
        assert rows(url, "SELECT 1 FROM dbos.workflow_status WHERE queue_name='fdc-pieces' LIMIT 1")
        sender.close()
        for seed, one in expected.items():
            row = store.run(f"r{seed}")
            assert row is not None and ((), "ours") == store.check(row.id)[::2]
            records = store.records(row)
            assert one == came(fold(store.program(row), row.inputs, records), records), seed
