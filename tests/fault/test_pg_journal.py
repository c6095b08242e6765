"""The journal in PostgreSQL means what the journal on a file means, also while several controllers want it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from fdc_toolchain.engine.drive import Ending, Ports, drive
from fdc_toolchain.engine.events import Perform, Record
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.ports import Fenced, WorldFailed
from fdc_toolchain.exits import UsageError
from fdc_toolchain.journal.postgres import PgStore, connect, shown
from fdc_toolchain.journal.run_journal import BLOB_OVER, RunJournal
from fdc_toolchain.journal.sqlite import RunRow, Store, Untrusted
from fdc_toolchain.program.model import Program
from fdc_toolchain.runs.workers import fork_shards
from fdc_toolchain.testing import Crash, CrashPoint, FakeClock, FunctionTools, Silence

from tests.support.background import PATIENCE
from tests.support.database import database, needs_database, rows
from tests.support.programs import everything, generated, program, step

pytestmark = needs_database
KEY = b"k" * 32
GIVEN = {"given": {"list": ["1", "2", "3"]}}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with database() as found:
        with psycopg.connect(
            found, autocommit=True
        ) as pg:  # what is asked here does not depend on the disk
            pg.execute(f"ALTER DATABASE {urlsplit(found).path[1:]} SET synchronous_commit=off")
        yield found


@pytest.fixture
def store(url: str) -> Iterator[PgStore]:
    with closing(PgStore(url, KEY)) as found:
        rows(url, "WITH a AS (DELETE FROM fdc.run), b AS (DELETE FROM fdc.record) SELECT 1")
        yield found


def outcome(address: str, value: Any = "v") -> Record:
    return Record("outcome", address, 1, "read", "r", 0.25, {"took": 0.001, "value": value})


def begun(store: Store, name: str, made: Program | None = None, **more: Any) -> RunRow:
    store.create(name, "p.plan", made or program(step("read", text="a")), GIVEN, 5.5, **more)
    row = store.run(name)
    assert row is not None
    return row


def tools(point: CrashPoint | None = None) -> Any:
    def answer(effect: Perform) -> Any:
        if effect.args.get("what") == "items":
            return ["1", "2", "3"]
        return {"tool": effect.tool, "name": effect.args.get("of", "x")}

    found: dict[str, Any] = dict.fromkeys(("read", "put", "fire", "note"), answer)
    found |= {
        "for_each_file": lambda effect: ["a.txt", "b.txt"],
        "even": lambda effect: len(str(effect.args)) % 2 == 0,
        "enough": lambda effect: True,
    }
    works = FunctionTools(found)
    return works if point is None else point.tools(works)


def driven(store: Store, row: RunRow, point: CrashPoint | None = None) -> Ending:
    journal = store.claim(row)
    made = store.program(row)
    state = fold(made, row.inputs, journal.records)
    writes: Any = journal if point is None else point.journal(journal)
    ending = drive(made, state, Ports(writes, tools(point), FakeClock(), Silence()), room=1)
    journal.close_run(ending.status, {"stop": None, "steps": state.steps}, 9.5)
    return ending


def test_the_same_run_has_the_same_bytes_in_both_journals(store: PgStore, tmp_path: Path) -> None:
    """Same rows, same links, same seals: whoever can check one can check the other (FDC-31)."""
    with closing(Store(str(tmp_path / "runs.sqlite"), KEY)) as file:
        for number, made in enumerate(
            [everything(), *(generated(seed) for seed in (3, 5, 8, 13, 21))]
        ):
            ending = [driven(one, begun(one, f"r{number}", made)) for one in (store, file)]
            assert ending[0] == ending[1]
            names = {name: number for number, name in store.numbers().items()}
            assert store.numbers() == file.numbers()
            assert store._chained(names[f"r{number}"]) == file._chained(names[f"r{number}"])
            assert store._owner(names[f"r{number}"]) == file._owner(names[f"r{number}"])
            assert ((), "ours") == store.check(names[f"r{number}"])[::2]


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_a_controller_that_dies_at_any_moment_leaves_a_run_that_goes_on(
    store: PgStore, every: int
) -> None:
    """Failure test 2: before and after appends and effects: same end, same outcomes, no recorded effect performed again."""
    made = everything()
    count = CrashPoint()
    expected = driven(store, begun(store, "whole", made), count)
    row = store.run("whole")
    assert row is not None
    recorded = {(one.kind, one.address): one.body.get("value") for one in store.records(row)}
    moments = range(1, len(count.moments) + 1, every)
    assert len(moments) > 5
    for moment in moments:
        row, point = begun(store, f"at-{moment}", made), CrashPoint(moment)
        with pytest.raises(Crash):
            driven(store, row, point)
        journal = store.claim(row)
        state = fold(made, row.inputs, journal.records)
        works = tools()
        works.probe = lambda effect: "not-done"
        known = {one.address for one in journal.records if one.kind == "outcome"}
        ending = drive(made, state, Ports(journal, works, FakeClock(), Silence()), room=1)
        assert (expected.status, expected.result) == (ending.status, ending.result), point.moments[
            -1
        ]
        after = store.records(row)
        assert recorded == {(one.kind, one.address): one.body.get("value") for one in after}
        assert not known & {effect.address for effect in works.calls}


def test_who_takes_over_reads_all_that_the_one_before_wrote(store: PgStore, url: str) -> None:
    """Sixteen controllers, each writing as fast as it can until the next one fences it: nothing lost, nothing late."""
    row = begun(store, "busy")
    written: list[int] = []
    taken: list[int] = []
    wrong: list[str] = []
    ready = [threading.Event() for _ in range(17)]

    def control(turn: int) -> None:
        with closing(PgStore(url, KEY)) as own:
            ready[turn].wait(PATIENCE)
            journal = own.claim(row)
            taken.append(len(journal.records))
            if taken[-1] < sum(written[:turn]):
                wrong.append(f"{turn} read {taken[-1]}")
            done = 0
            try:
                for number in range(10_000):
                    journal.append([outcome(f"main/{turn}/{number}")])
                    done += 1
                    if done == 5:
                        ready[turn + 1].set()
                    if turn == 15 and done == 20:
                        break
            except Fenced:
                pass
            finally:
                ready[turn + 1].set()
            written.append(done)

    ready[0].set()
    threads = [threading.Thread(target=control, args=(turn,)) for turn in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert [] == wrong and 16 == len(written)
    found = store.records(row)
    assert sum(written) == len(found) == len({one.address for one in found})
    # The order of the records is that of the takers: no record of a fenced one lies behind those of its successor.
    turns = [int(one.address.split("/")[1]) for one in found]
    assert turns == sorted(turns)
    assert () == store.check(row.id).faults


def test_a_piece_moves_into_its_run_whole_or_not_at_all(store: PgStore, url: str) -> None:
    row = begun(store, "run")
    journal = store.claim(row)
    journal.append([outcome("main/1")])
    piece = begun(
        store, "run~1", origin=fork_shards.origin("run", 1, "main/2", [1, 2]), parent=row.id
    )
    part = store.claim(piece)
    part.append(
        [
            Record("session", "", 1, "", "", 0.3, {}),
            Record("intent", "main/2#1/1", 1, "fire", "r", 0.3, {}),
        ]
    )
    part.append([outcome("main/2#1/1", "x" * (BLOB_OVER + 1))])
    assert ["run"] == [one.name for one in store.runs()] and [piece.id] == [
        one.id for one in store.pieces(row.id)
    ]
    with closing(PgStore(url, KEY)) as other:
        newer = other.claim(row)
        with pytest.raises(Fenced):
            store.take_in(journal, piece)
        assert 3 == len(store.records(piece)) and 1 == len(store.records(row))
        assert 2 == other.take_in(newer, piece)
    with pytest.raises(Fenced):
        part.append([outcome("main/2#2/1")])
    with pytest.raises(Fenced):
        store.take_in(newer, piece)
    with pytest.raises(
        Fenced, match="the run is gone"
    ):  # a worker that was about to begin it lives on
        store.claim(piece)
    with pytest.raises(Fenced, match="the run is gone"):
        store.check(piece.id)
    kinds = [(one.kind, one.address) for one in store.records(row)]
    assert [("outcome", "main/1"), ("intent", "main/2#1/1"), ("outcome", "main/2#1/1")] == kinds
    assert ((), "ours") == store.check(row.id)[::2]
    assert [] == store.pieces(row.id) and 0 == store.strays()


@pytest.mark.parametrize("change", [
    "UPDATE fdc.record SET body = replace(body, 'v', 'w') WHERE address = 'main/2'",
    "UPDATE fdc.record SET tool = 'write' WHERE address = 'main/2'",
    "UPDATE fdc.record SET at = at + 0.5 WHERE address = 'main/2'",
    "DELETE FROM fdc.record WHERE address = 'main/2'",
    "DELETE FROM fdc.record WHERE address = 'main/3'",
    "UPDATE fdc.run SET status = 'stopped'",
    "UPDATE fdc.run SET plan = 'q.plan'",
    "UPDATE fdc.blob SET bytes = bytes || '\\x20'::bytea",
])  # fmt: skip
def test_what_was_changed_is_found(store: PgStore, url: str, change: str) -> None:
    row = begun(store, "a")
    journal = store.claim(row)
    for number in (1, 2, 3):
        journal.append([outcome(f"main/{number}")])
    journal.close_run("finished", {}, 9.5)
    assert ((), 3, "ours") == store.check(row.id)[:3]
    with psycopg.connect(url, autocommit=True) as pg:
        pg.execute(change)  # type: ignore[arg-type]
    assert store.check(row.id).faults
    rows(url, "WITH a AS (DELETE FROM fdc.blob) SELECT 1")
    with closing(PgStore(url, b"o" * 32)) as other:
        foreign = begun(other, "b")
    with pytest.raises(Untrusted):
        store.claim(foreign)


@contextmanager
def proxied(url: str) -> Iterator[tuple[str, threading.Event]]:
    """The database behind a line that, once the event is set, carries questions and no more answers."""
    target = urlsplit(url)
    cut = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    lines: list[socket.socket] = []

    def carry(source: socket.socket, sink: socket.socket, answers: bool) -> None:
        try:
            while data := source.recv(65536):
                if answers and cut.is_set():
                    break
                sink.sendall(data)
        except OSError:
            pass
        for line in (source, sink) if answers else ():
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        try:
            while True:
                client, _ = listening.accept()
                server = socket.create_connection((target.hostname, target.port))
                lines.extend((client, server))
                threading.Thread(target=carry, args=(client, server, False), daemon=True).start()
                threading.Thread(target=carry, args=(server, client, True), daemon=True).start()
        except OSError:
            pass

    threading.Thread(target=accept, daemon=True).start()
    place = f"{target.username}:{target.password}@127.0.0.1:{listening.getsockname()[1]}"
    try:
        yield urlunsplit(target._replace(netloc=place)), cut
    finally:
        listening.close()
        for line in lines:
            line.close()


def test_a_commit_whose_answer_was_lost_is_adopted(store: PgStore, url: str) -> None:
    """Failure test 6: the connection breaks after the server committed: the writer cannot know, the next one reads it."""
    row = begun(store, "cut")
    with proxied(f"{url}?sslmode=disable") as (far, cut), closing(PgStore(far, KEY)) as own:
        journal = own.claim(row)
        journal.append([outcome("main/1")])
        cut.set()
        with pytest.raises(WorldFailed):
            journal.append([outcome("main/2")])
        assert own.lost
    addresses = {one.address for one in store.claim(row).records}
    assert {"main/1", "main/2"} == addresses
    assert () == store.check(row.id).faults


def test_a_server_that_ends_the_session_loses_nothing_that_was_said(
    store: PgStore, url: str
) -> None:
    with closing(PgStore(url, KEY)) as own:
        journal: RunJournal = own.claim(begun(store, "ended"))
        journal.append([outcome("main/1")])
        rows(url, "SELECT pg_terminate_backend(%s)", own._pg.info.backend_pid)
        with pytest.raises(WorldFailed, match=r"postgresql://127\.0\.0\.1"):
            journal.append([outcome("main/2"), outcome("main/3")])
        assert own.lost
    row = store.run("ended")
    assert row is not None
    assert ["main/1"] == [one.address for one in store.claim(row).records]


def test_what_is_said_of_a_database_has_no_password(url: str) -> None:
    password = urlsplit(url).password or "none"
    assert password not in shown(url)
    for wrong in (
        url.replace("postgresql:", "mysql:"),
        url.replace(f":{urlsplit(url).port}", ":1"),
    ):
        with pytest.raises((UsageError, WorldFailed)) as said:
            connect(wrong)
        assert password not in str(said.value) and "\n" not in str(said.value)


@pytest.mark.soak
def test_a_long_run_stays_as_cheap_as_it_began(store: PgStore, url: str) -> None:
    """Failure test 15.

    A hundred thousand outcomes: bytes for each stay the same, and taking the run over costs time in proportion.
    """
    row = begun(store, "long")
    journal = store.claim(row)
    bytes_each, seconds_each = [], []
    for upto in range(1, 11):
        for batch in range(100):
            first = ((upto - 1) * 100 + batch) * 100
            journal.append([outcome(f"main/{first + number}") for number in range(100)])
        [(size,)] = rows(url, "SELECT pg_total_relation_size('fdc.record')")
        bytes_each.append(size / (upto * 10_000))
        started = time.perf_counter()
        journal = store.claim(row)
        seconds_each.append((time.perf_counter() - started) / (upto * 10_000))
        assert upto * 10_000 == len(journal.records)
    assert bytes_each[-1] < 1.15 * bytes_each[1], bytes_each
    assert seconds_each[-1] < 3 * min(seconds_each), seconds_each
