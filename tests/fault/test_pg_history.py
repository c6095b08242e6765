"""Failure test 11 on many machines: clients of a database answer, cancel, fork and follow runs while they and the workers are
killed, and a checker looks at what they heard (issue 4, "Many machines"; FDC-31, FDC-39).

As `test_history.py`, with what is different in a database: whoever is killed may have left something in the queue, so
what they asked for happens at any later moment, or never; and an answer that a worker has taken is carried out soon.
"""

from __future__ import annotations

import json
import random
import signal
import threading
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fdc_toolchain.engine.replay import replay
from fdc_toolchain.journal.postgres import PgStore

from tests.support import fleet
from tests.support.background import wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.history import History, Operation, explains, told
from tests.support.nursery import Done, Nursery

PLAN = """set_plan History
plan_step_complete begun
tea <- request_user_input Which tea?
deed poured-{tea}
size <- request_user_input How much?
deed served-{size}
close_task
submit
"""
QUESTIONS = ("main/3", "main/5")
OVER = ("finished", "cancelled")
NOT_NOW = ("has no question", "has no question at", "has continued since", "is under way")
READY = (
    "dbos",
    "psycopg",
    "sqlalchemy",
    "fdc_toolchain.runs.workers.remote",
    "fdc_toolchain.runs.workers.dispatch",
)


class Run(NamedTuple):
    """A run as its clients can know it. `taken`: an answer that a worker has, and that is not on record yet."""

    status: str = "open"
    answered: tuple[str, ...] = ()
    taken: str | None = None


def after(run: Run, one: Operation) -> Iterator[Run]:
    """How a run can stand after an operation that was answered so; workers may have gone on before it."""
    what, *more = one.asked
    for now in _gone_on(run):
        yield from _after(now, what, one.heard, *more)


def _gone_on(run: Run) -> Iterator[Run]:
    yield run
    if run.status == "open" and run.taken is not None:
        answered = (*run.answered, run.taken)
        yield Run("finished" if len(answered) == len(QUESTIONS) else "open", answered)


def _after(run: Run, what: str, heard: Any, *more: Any) -> Iterator[Run]:
    if heard is None or heard == ("not now",):
        yield run
    if what == "answer" and heard in (None, ("taken",)):
        number, text = more
        if run.status == "open" and run.taken is None and len(run.answered) == number:
            yield run._replace(taken=text)
    elif what == "cancel" and heard in (None, ("cancelled",)):
        if run.status != "finished":
            yield Run("cancelled", run.answered)
    elif what in ("cancel", "look", "follow") and heard is not None and heard[0] in OVER:
        if run.status == heard[0]:
            yield run
    elif what in ("look", "follow") and heard is not None and heard[0] == "open":
        if run.status == "open" and (
            len(heard) == 1 or (run.taken is None and heard[1] == QUESTIONS[len(run.answered)])
        ):
            yield run
    elif what == "fork" and heard == ("forked",):
        if len(run.answered) >= 1:
            yield run
    elif what == "final" and heard == (run.status, run.answered):
        yield run


class World:
    """The clients' commands, and one history for each run."""

    def __init__(self, nursery: Nursery) -> None:
        self.nursery = nursery
        self.histories: dict[str, History] = {}
        self.parents: dict[str, str] = {}
        self.deaths = 0

    def begin(self) -> None:
        done = self.nursery.run("run", "--detach", "-q", "h.plan")
        assert (0, "") == (done.code, done.err), done
        self.histories[done.out.strip()] = History()

    def call(self, kill_after: float | None, *arguments: str) -> Done | None:
        """None where the command was killed, or left its request in the queue."""
        done = self.nursery.run(*arguments, kill_after=kill_after)
        if done.killed:
            self.deaths += 1
            return None
        said = done.out + done.err
        assert (
            done.code in (0, 1, 2, 3, 5)
            and "Traceback" not in said
            and "bug" not in said
            and "damaged" not in said
        ), done
        return (
            None
            if done.code == 3
            or "a worker has not taken it yet" in said
            or "no worker drives the run" in said
            else done
        )

    def answer(
        self, client: str, run: str, kill_after: float | None, number: int, text: str
    ) -> None:
        with self.histories[run].operation(client, "answer", number, text) as heard:
            done = self.call(kill_after, "answer", run, QUESTIONS[number], text)
            if done is not None:
                assert done.code == 0 or any(words in done.err for words in NOT_NOW), done
                heard(("taken",) if done.code == 0 else ("not now",))

    def cancel(self, client: str, run: str, kill_after: float | None) -> None:
        with self.histories[run].operation(client, "cancel") as heard:
            done = self.call(kill_after, "cancel", run)
            if done is not None:
                assert done.code == 0 or "(finished)" in done.err, done
                heard(("finished",) if done.code else ("cancelled",))

    def follow(self, client: str, run: str, kill_after: float | None) -> None:
        with self.histories[run].operation(client, "follow") as heard:
            done = self.call(kill_after, "resume", run, "--format", "json")
            if done is not None and "was cancelled" in done.err:
                heard(("cancelled",))
            elif done is not None:
                end = json.loads(done.out)
                heard(
                    ("open", end["questions"][0]["address"])
                    if end["status"] == "waiting"
                    else (end["status"],)
                )

    def fork(self, client: str, run: str, kill_after: float | None) -> None:
        with self.histories[run].operation(client, "fork") as heard:
            done = self.call(kill_after, "fork", "-q", f"{run}@main/4")
            if done is not None:
                assert (
                    done.code == 0
                    or "has no step at" in done.err
                    or "is not the next step" in done.err
                ), done
                heard(("forked",) if done.code == 0 else ("not now",))
        if done is not None and done.code == 0:
            name = done.out.split()[0]
            self.parents[name] = run
            self.histories[name] = History()

    def look(self, client: str, run: str) -> str:
        with self.histories[run].operation(client, "look") as heard:
            done = self.nursery.run("runs", "--format", "json")
            assert (0, "") == (done.code, done.err), done
            [status] = [one["status"] for one in json.loads(done.out)["runs"] if one["run"] == run]
            heard((status if status in OVER else "open",))
        return str(status)


def client(world: World, name: str, seed: int, count: int, errors: list[BaseException]) -> None:
    """One client: so many operations, by chance."""
    chance = random.Random(seed)
    try:
        for number in range(count):
            run = chance.choice(list(world.histories))
            kill = chance.uniform(0.01, 0.5) if chance.random() < 0.3 else None
            forks = 1 if len(world.histories) < 5 else 0
            what = chance.choices(
                ("answer", "follow", "look", "fork", "cancel"), (6, 2, 1, forks, 0.6)
            )[0]
            if what == "answer":
                world.answer(name, run, kill, chance.choice((0, 0, 1)), f"{name}-{number}")
            elif what == "follow":
                world.follow(name, run, kill)
            elif what == "look":
                world.look(name, run)
            elif what == "fork":
                world.fork(name, run, kill)
            else:
                world.cancel(name, run, kill)
    except BaseException as raised:
        errors.append(raised)


@pytest.mark.long
@needs_database
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 20))]
)
def test_what_clients_of_a_database_hear_while_all_are_killed_has_an_order(
    workspace: Path, tmp_path: Path, seed: int
) -> None:
    """Failure test 11: one winner each, no lost answer, nothing leaves a terminal state; also with workers killed."""
    fleet.laid_out(workspace)
    (workspace / "h.plan").write_text(PLAN)
    with (
        database() as url,
        Workers(url, workspace) as workers,
        Nursery(workspace, tmp_path / "said", {"FDC_DATABASE": url}, ready=READY) as nursery,
    ):
        world = World(nursery)
        workers.start(2)
        for _ in range(2):
            world.begin()
        errors: list[BaseException] = []
        clients = [
            threading.Thread(
                target=client, args=(world, f"client-{number}", seed * 100 + number, 7, errors)
            )
            for number in range(3)
        ]
        for one in clients:
            one.start()
        for _ in range(2):  # a worker dies when it has just begun something
            before = rows(url, "SELECT count(*) FROM fdc.record")[0][0]
            wait_for(lambda before=before: rows(url, "SELECT count(*) FROM fdc.record")[0][0] > before
                     or not any(one.is_alive() for one in clients))  # fmt: skip
            workers.send(next(iter(workers.living)), signal.SIGKILL)
            workers.start()
        for one in clients:
            one.join()
        assert not errors, errors[0]
        finish(world, url)
        check(world, url, workspace)


def finish(world: World, url: str) -> None:
    """Every run is brought to its end by one client alone."""
    for run in list(world.histories):
        for turn in range(12):
            wait_for(lambda run=run: rows(url, "SELECT 1 FROM fdc.run WHERE name=%s AND status IN "
                                               "('waiting', 'finished', 'cancelled')", run))  # fmt: skip
            if world.look("last", run) in OVER:
                break
            for number in range(len(QUESTIONS)):
                world.answer("last", run, None, number, f"last-{turn}")
        assert world.look("last", run) in OVER


def check(world: World, url: str, workspace: Path) -> None:
    """The histories, the journal and the witness, held against each other."""
    store = PgStore(url, fleet.key(workspace))
    final: dict[str, tuple[str, tuple[str, ...]]] = {}
    for row in store.runs():
        records = store.records(row)
        said = {
            one.address: one.body["value"]
            for one in records
            if one.kind == "outcome" and one.address in QUESTIONS
        }
        final[row.name] = (
            row.status,
            tuple(said[address] for address in QUESTIONS if address in said),
        )
        assert ((), "ours") == store.check(row.id)[::2]
        assert (
            None
            is replay(store.program(row), row.inputs, records, row.status, row.ending).difference
        )
        assert all(count == 1 for count in fleet.outcomes(store, row).values())
    assert 0 == store.strays()
    store.close()
    for name, history in world.histories.items():
        start = Run(answered=final[world.parents[name]][1][:1]) if name in world.parents else Run()
        with history.operation("the end", "final") as heard:
            heard(final[name])
        known = [
            one if one.heard is not None else one._replace(ended=inf) for one in history.operations
        ]
        assert explains(known, start, after) is not None, told(history.operations)


def _history(*lines: tuple[float, float, tuple[Any, ...], Any]) -> list[Operation]:
    return [Operation(begun, ended, "c", asked, heard) for begun, ended, asked, heard in lines]


TAKEN = (1, 2, ("answer", 0, "green"), ("taken",))


@pytest.mark.parametrize("lines, good", [
    ([TAKEN, (3, 4, ("follow",), ("open", "main/5")), (5, 6, ("final",), ("open", ("green",)))], True),
    ([TAKEN, (3, 4, ("follow",), ("open", "main/3"))], False),  # a lost answer
    ([TAKEN, (3, 4, ("answer", 0, "black"), ("taken",))], False),  # two winners
    ([TAKEN, (3, 4, ("answer", 0, "black"), ("not now",)), (5, 6, ("final",), ("open", ("black",)))], False),
    ([(1, inf, ("cancel",), None), (3, 4, ("look",), ("open",)), (5, 6, ("look",), ("cancelled",))], True),
    ([(1, 2, ("cancel",), ("cancelled",)), (3, 4, ("look",), ("open",))], False),  # out of a terminal state
    ([(1, 2, ("look",), ("cancelled",))], False),  # cancelled by nobody
])  # fmt: skip
def test_the_checker_tells_histories_with_an_order_from_those_without(
    lines: list[Any], good: bool
) -> None:
    """Failure test 11."""
    assert good == (explains(_history(*lines), Run(), after) is not None)
