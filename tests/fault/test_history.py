"""Failure test 11 of the engines' study: clients work on the same runs while controllers are killed, and a checker looks at
what they heard (issue 4, "Durable"; FDC-31, FDC-39).

Several clients resume, answer, cancel, fork and look at the same few runs at once, as real processes, many of which are
killed with SIGKILL. The whole history must be explained by some order of its operations, one after the other
(`tests/support/history.py`), under the rules of `after` below. What really happened is in a witness file.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fdc_toolchain.console.progress import Quiet
from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.replay import replay
from fdc_toolchain.exits import Refused
from fdc_toolchain.journal import user_key
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.runs import run_driver
from fdc_toolchain.runs.records import answers as kept
from fdc_toolchain.runs.records import questions
from fdc_toolchain.workspace.run_folders import journal_path

from tests.support.background import PATIENCE
from tests.support.history import History, Operation, explains, told
from tests.support.nursery import Done, Nursery
from tests.support.process import fdc

TOOLS = """
import os, time

def deed(name, idempotency_key):
    handle = os.open("witness.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    time.sleep(0.004)
    os.write(handle, f"{idempotency_key}\\n".encode())
    os.close(handle)
    time.sleep(0.002)
    return {"name": name, "list": ["x", "y", "z"]}
"""
DEED = {
    "summary": "a deed", "action": "step_op", "effect": "once", "trust": "trusted",
    "parameters": [{"name": "name", "kind": "word"}], "result": {"name": "text", "list": "list"},
    "run": {"python": "own_deeds:deed"}, "access": {"write": ["witness.log"]}, "cost": {"model_calls": 1},
}  # fmt: skip
PLAN = """budget model_calls 40
set_plan History
plan_step_complete begun
first <- deed one
tea <- request_user_input Which tea?
deed poured-{tea}
cups <- fork n in {first.list} max 3
    done <- deed cup-{n}
    yield {done.name}
size <- request_user_input How much?
deed served-{size}
record_user_approval_for_plan {tea}
close_task
submit
"""
QUESTIONS = ("main/4", "main/7", "main/9")
FORKS = {"main/3": 0, "main/4": 0, "main/5": 1, "main/7": 1, "main/9": 2}
"""Steps to fork at, and how many questions are answered before each."""
HEARD = {
    "was cancelled": "refused", "one controller at a time": "busy", "until it ends, and so may this one": "busy",
    "has no question that": "no question", "has no question at": "no question",
    "has continued since": "late",
}  # fmt: skip
OVER = ("finished", "stopped", "cancelled")


class Run(NamedTuple):
    """A run as its clients can know it. `wish`: somebody asked for it to be cancelled, and no process drove it then.

    `kept`: the answer that lies ready for the next question.
    """

    status: str = "open"
    answered: tuple[str, ...] = ()
    kept: str | None = None
    wish: bool = False


def ended(run: Run) -> Run:
    """The run when its last question has been answered and all is done."""
    return run._replace(
        status="finished" if run.answered[-1] == "yes" else "stopped", kept=None, wish=False
    )


def after(run: Run, one: Operation) -> Iterator[Run]:
    """The rules: how a run can stand after an operation that was answered so."""
    what, *more = one.asked
    yield from _AFTER[what](run, one.heard, *more)


def _resume(run: Run, heard: Any, said: tuple[int, str] | None) -> Iterator[Run]:
    if heard in (("busy",), ("late",), ("no question",)):
        yield run
    elif heard == ("refused",):
        if run.status == "cancelled":
            yield run
        elif run.wish:  # whoever takes the run up does what a client asked who was killed
            yield Run("cancelled", run.answered)
    elif run.status != "open":
        if heard in (None, (run.status,)):
            yield run
    elif heard is None or not run.wish or heard == ("cancelled",):
        word = said[1] if said is not None and said[0] == len(run.answered) else run.kept
        further = run if word is None else run._replace(answered=(*run.answered, word), kept=None)
        if heard is None or heard == ("cancelled",):
            yield run
            yield further
            if run.wish:
                yield run._replace(status="cancelled", kept=None, wish=False)
                yield further._replace(status="cancelled", kept=None, wish=False)
            if heard is None and len(further.answered) == 3:
                yield ended(further)
        elif heard[0] == "waiting":
            asked = [QUESTIONS.index(address) for address in heard[1]]
            if asked and asked == [len(further.answered)]:
                yield further
            elif not asked:  # something is in doubt, before or after the question
                yield run
                yield further
        elif len(further.answered) == 3 and (ended(further).status,) == heard:
            yield ended(further)


def _cancel(run: Run, heard: Any) -> Iterator[Run]:
    if heard is None:
        yield run
        if run.status == "open":
            yield run._replace(wish=True)
    if heard in (None, ("cancelled",)) and run.status in ("open", "cancelled"):
        yield Run("cancelled", run.answered)
    elif heard == ("over", run.status) and run.status != "open":
        yield run


def _answer(run: Run, heard: Any, number: int, text: str) -> Iterator[Run]:
    if heard is None or heard == ("none",):
        yield run
    if heard in (None, ("kept",)) and run.status == "open" and len(run.answered) == number:
        yield run._replace(kept=text)


def _fork(run: Run, heard: Any, address: str) -> Iterator[Run]:
    if heard != ("forked",) or len(run.answered) >= FORKS[address]:
        yield run


def _look(run: Run, heard: Any) -> Iterator[Run]:
    if heard == run.status or (run.status == "open" and heard not in OVER):
        yield run


def _final(run: Run, heard: Any) -> Iterator[Run]:
    if heard == (run.status, run.answered):
        yield run


_AFTER: dict[str, Callable[..., Iterator[Run]]] = {
    "resume": _resume, "cancel": _cancel, "answer": _answer, "fork": _fork, "look": _look, "final": _final,
}  # fmt: skip


class World:
    """The workspace, its processes, and one history for each run."""

    def __init__(self, workspace: Path, nursery: Nursery) -> None:
        self.workspace, self.nursery = workspace, nursery
        self.histories: dict[str, History] = {}
        self.parents: dict[str, tuple[str, str]] = {}
        self.took: dict[str, float] = {}
        """Seconds that the latest command of each kind took which was not killed."""
        self.deaths = 0

    def begin(self) -> str:
        before = set(self.statuses())
        done = self.nursery.run("run", "p.plan", "-q")
        assert done.code == 5 and "question" in done.out, done
        [name] = set(self.statuses()) - before
        self.histories[name] = History()
        return name

    def statuses(self) -> dict[str, str]:
        done = self.nursery.run("runs", "--format", "json")
        assert (0, "") == (done.code, done.err), done
        return {one["run"]: one["status"] for one in json.loads(done.out)["runs"]}

    def call(self, kill_at: float | None, *arguments: str) -> Done | None:
        """A command of a client; None where it was killed: after that part of the time that such a command takes here."""
        begun = time.monotonic()
        kill_after = None if kill_at is None else kill_at * self.took.get(arguments[0], 0.1)
        done = self.nursery.run(*arguments, kill_after=kill_after)
        if done.killed:
            self.deaths += 1
            return None
        self.took[arguments[0]] = time.monotonic() - begun
        said = done.out + done.err
        assert (
            "Traceback" not in said
            and "bug" not in said
            and "damaged" not in said
            and done.code != 4
        ), (arguments, done)
        return done

    def resume(
        self,
        client: str,
        run: str,
        kill_at: float | None,
        said: tuple[int, str] | None = None,
        *assume: str,
    ) -> Any:
        words = [] if said is None else ["--answer", f"{QUESTIONS[said[0]]}={said[1]}"]
        words += [word for one in assume for word in ("--assume", one)]
        with self.histories[run].operation(client, "resume", said) as heard:
            done = self.call(kill_at, "resume", run, "--format", "json", *words)
            if done is not None:
                heard(self._resumed(done))
        return None if done is None else self._end(done)

    def _end(self, done: Done) -> Any:
        """How a run ended, as the command said; None where it refused to drive the run."""
        said = json.loads(done.out) if done.code in (0, 1, 5) and done.out else {}
        return said if "status" in said else None

    def _resumed(self, done: Done) -> tuple[Any, ...]:
        if (end := self._end(done)) is not None:
            if end["status"] != "waiting":
                return (end["status"],)
            return "waiting", tuple(
                one["address"] for one in end["questions"] if one["how"] == "answer"
            )
        heard = [heard for words, heard in HEARD.items() if words in done.err]
        assert len(heard) == 1, done
        return (heard[0],)

    def cancel(self, client: str, run: str, kill_at: float | None) -> None:
        with self.histories[run].operation(client, "cancel") as heard:
            done = self.call(kill_at, "cancel", run)
            if done is not None:
                over = [status for status in ("finished", "stopped") if f"({status})" in done.err]
                assert done.code == (1 if over else 0), done
                heard(("over", *over) if over else ("cancelled",))

    def answer(self, client: str, run: str, kill_at: float | None, number: int, text: str) -> None:
        with self.histories[run].operation(client, "answer", number, text) as heard:
            done = self.call(kill_at, "answer", run, QUESTIONS[number], text)
            if done is not None:
                assert done.code in (0, 1, 2), done
                closed = "has no question" in done.err or "its question is closed" in done.err
                assert done.code == 0 or closed, done
                heard(("kept",) if done.code == 0 else ("none",))

    def fork(self, client: str, run: str, kill_at: float | None, address: str) -> str:
        with self.histories[run].operation(client, "fork", address) as heard:
            done = self.call(kill_at, "fork", "-q", f"{run}@{address}")
            if done is not None:
                passed = "has no step at" in done.err or "not the next step" in done.err
                assert done.code == 0 or passed, done
                heard(("forked",) if done.code == 0 else ("none",))
        if done is None or done.code != 0:
            return ""
        name = done.out.strip()
        self.parents[name] = (run, address)
        self.histories[name] = History()
        return name

    def look(self, client: str) -> None:
        with_all = [history.operation(client, "look") for history in self.histories.values()]
        names = list(self.histories)
        heards = [one.__enter__() for one in with_all]
        found = self.statuses()
        for name, one, heard in zip(names, with_all, heards, strict=True):
            heard(found[name])
            one.__exit__(None, None, None)

    def witnessed(self) -> Counter[str]:
        try:
            return Counter((self.workspace / "witness.log").read_text("ascii").split())
        except FileNotFoundError:
            return Counter()

    def settle(self, client: str, run: str, kill_at: float | None) -> None:
        """The operator: where something is in doubt, they look at the witness and say what they saw."""
        end = self.resume(client, run, kill_at)
        doubts = [one for one in (end or {}).get("questions", ()) if one["how"] == "assume"]
        if doubts:
            seen = self.witnessed()
            words = []
            for one in doubts:
                brought = json.dumps({"name": one["args"]["name"], "list": ["x", "y", "z"]})
                done = (
                    (f"done:{brought}" if one["bound"] else "done")
                    if seen[f"{run}:{one['address']}"]
                    else "not-done"
                )
                words.append(f"{one['address']}={done}")
            self.resume(client, run, kill_at, None, *words)


def client(world: World, name: str, seed: int, count: int, errors: list[BaseException]) -> None:
    """One client: so many operations, by chance."""
    chance = random.Random(seed)
    try:
        for number in range(count):
            run = chance.choice(list(world.histories))
            kill = chance.uniform(0.1, 1.0) if chance.random() < 0.4 else None
            what = chance.choices(
                ("resume", "say", "answer", "fork", "look", "cancel", "settle"),
                (
                    4,
                    1,
                    6,
                    1 if len(world.histories) < 8 else 0,
                    1,
                    0.5,
                    3 if name == "client-0" else 0,
                ),
            )[0]
            at = chance.choice((0, 0, 1, 1, 2))
            text = f"{name}-{number}" if at < 2 else chance.choice(("yes", "yes", "no"))
            if what == "resume":
                world.resume(name, run, kill)
            elif what == "say":
                world.resume(name, run, kill, (at, text))
            elif what == "answer":
                world.answer(name, run, kill, at, text)
            elif what == "fork":
                world.fork(name, run, kill, chance.choice(list(FORKS)))
            elif what == "look":
                world.look(name)
            elif what == "cancel":
                world.cancel(name, run, kill)
            else:
                world.settle(name, run, kill)
    except BaseException as raised:
        errors.append(raised)


def finish(world: World) -> None:
    """Everything is brought to an end, by one client alone; most runs by answers, some by a cancellation."""
    for run in list(world.histories):
        for turn in range(14):
            world.look("last")
            if world.statuses()[run] in OVER:
                break
            world.settle("last", run, None)
            for number in range(3):
                world.answer("last", run, None, number, "yes" if number == 2 else f"last-{turn}")
        else:
            world.cancel("last", run, None)
        world.look("last")


@pytest.mark.long
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 40))]
)
def test_what_clients_hear_while_controllers_are_killed_has_an_order_that_explains_it(
    workspace: Path, tmp_path: Path, seed: int
) -> None:
    """Failure test 11: one winner each, no lost answer, nothing leaves a terminal state, every `once` effect at most once."""
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"deed": DEED}})
    )
    (workspace / "own_deeds.py").write_text(TOOLS)
    (workspace / "witness.log").write_text(
        ""
    )  # several controllers write it: none of them may think that it made it
    (workspace / "p.plan").write_text(PLAN)
    with Nursery(workspace, tmp_path / "said") as nursery:
        world = World(workspace, nursery)
        for _ in range(3):
            world.begin()
        errors: list[BaseException] = []
        clients = [
            threading.Thread(
                target=client, args=(world, f"client-{number}", seed * 100 + number, 40, errors)
            )
            for number in range(4)
        ]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        if errors:
            raise errors[0]
        finish(world)
    assert world.deaths > 8
    check(world)


def check(world: World) -> None:
    """The histories, the journal and the witness, held against each other."""
    store = Store(journal_path(str(world.workspace)), readonly=True)
    with closing(store):
        rows = {row.name: row for row in store.runs()}
        records = {name: store.records(row) for name, row in rows.items()}
        final = {name: (row.status, answers(records[name])) for name, row in rows.items()}
        happened = world.witnessed()
        assert all(count == 1 for count in happened.values()), happened.most_common(3)
        for name, row in rows.items():
            assert () == store.check(row.id).faults
            assert (
                None
                is replay(
                    store.program(row), row.inputs, records[name], row.status, row.ending
                ).difference
            )
            own = records[name][(row.origin or {"records": 0})["records"] :]
            deeds = {
                f"{name}:{one.address}": one.body
                for one in own
                if one.kind == "outcome" and one.tool == "deed"
            }
            assert {} == {key: body for key, body in deeds.items() if key not in happened}
            assert (row.ending or {"spent": {}})["spent"].get("model_calls", 0) <= 40
    for name, history in world.histories.items():
        status, answered = final[name]
        start = Run()
        if name in world.parents:
            parent, address = world.parents[name]
            start = Run(answered=final[parent][1][: FORKS[address]])
        with history.operation("the end", "final") as heard:
            heard((status, answered))
        assert explains(history.operations, start, after) is not None, told(history.operations)
        stopped_by_others = [
            one
            for one in history.operations
            if one.heard == ("cancelled",) and one.asked[0] == "resume"
        ]
        wishes = [one.begun for one in history.operations if one.asked[0] == "cancel"]
        assert all(min(wishes, default=1e9) < one.ended for one in stopped_by_others)


def answers(records: list[Record]) -> tuple[str, ...]:
    """What the questions were answered with, as the journal has it."""
    found: dict[str, str] = {}
    for one in records:
        if one.kind == "outcome" and one.address in QUESTIONS:
            no = "failed" in one.body
            found[one.address] = (
                ("no" if no else "yes") if one.address == QUESTIONS[2] else one.body["value"]
            )
    return tuple(found[address] for address in QUESTIONS if address in found)


def history(*lines: tuple[float, float, tuple[Any, ...], Any]) -> list[Operation]:
    return [Operation(begun, ended, "c", asked, heard) for begun, ended, asked, heard in lines]


ANSWERED = (1, 2, ("answer", 0, "green"), ("kept",))
WAITS = (3, 4, ("resume", None), ("waiting", ("main/7",)))


@pytest.mark.parametrize("lines, good", [
    ([ANSWERED, WAITS, (5, 6, ("final",), ("open", ("green",)))], True),
    ([ANSWERED, WAITS, (5, 6, ("final",), ("open", ("black",)))], False),
    ([ANSWERED, (3, 4, ("resume", None), ("waiting", ("main/4",)))], False),  # a lost answer
    ([ANSWERED, (3, 4, ("answer", 0, "black"), ("kept",)), (5, 6, *WAITS[2:]), (7, 8, ("final",), ("open", ("green",)))], False),
    ([ANSWERED, (1.5, 4, ("answer", 0, "black"), ("kept",)), (5, 6, *WAITS[2:]), (7, 8, ("final",), ("open", ("green",)))], True),
    ([ANSWERED, (3, 4, ("resume", None), None), (5, 6, *WAITS[2:]), (7, 8, ("final",), ("open", ("green",)))], True),
    ([(1, 2, ("cancel",), ("cancelled",)), (3, 4, ("look",), "waiting")], False),  # out of a terminal state
    ([(1, 5, ("cancel",), ("cancelled",)), (3, 4, ("look",), "waiting")], True),
    ([(1, 2, ("cancel",), None), (3, 4, ("resume", None), ("refused",)), (5, 6, ("look",), "waiting")], False),
    ([(1, 2, ("cancel",), None), (3, 4, ("resume", None), ("refused",)), (5, 6, ("look",), "cancelled")], True),
    ([(1, 2, ("resume", None), ("refused",))], False),  # cancelled by nobody
    ([ANSWERED, (3, 6, ("resume", (1, "two")), ("waiting", ("main/9",)))], False),  # two questions with one word
    ([(1, 4, ("cancel",), ("cancelled",)), (2, 3, ("answer", 0, "x"), ("kept",)), (5, 6, ("final",), ("cancelled", ()))], True),
])  # fmt: skip
def test_the_checker_tells_histories_with_an_order_from_those_without(
    lines: list[Any], good: bool
) -> None:
    """Failure test 11."""
    assert good == (explains(history(*lines), Run(), after) is not None)


SHORT = "set_plan x\nplan_step_complete x\nx <- request_user_input Which?\nmessage_user {x}\nclose_task\nsubmit\n"


def begun(workspace: Path) -> tuple[str, str]:
    (workspace / "p.plan").write_text(SHORT)
    assert 5 == fdc("run", "p.plan", cwd=workspace).returncode
    [one] = json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"]
    return str(workspace), one["run"]


def test_who_answers_what_was_answered_meanwhile_is_told(workspace: Path) -> None:
    """The one that comes too late must not believe that its word counted."""
    root, name = begun(workspace)
    with run_driver.reading(root) as store:
        row = run_driver.the_run(store, name)
        assert store is not None
        [question] = questions.questions(root, store, row)
    assert 0 == fdc("resume", name, "--answer", "green", cwd=workspace).returncode
    with pytest.raises(Refused, match="has continued since"):
        questions.give(root, row, question, "black", "a test", 1.0)
    with pytest.raises(Refused, match="has continued since"):
        run_driver.drive_run(root, name, Quiet(), answers={"main/3": "black"}, seen=row.epoch)
    assert not list(workspace.rglob("answers.json"))


def test_who_takes_a_run_up_waits_for_whoever_is_just_answering(workspace: Path) -> None:
    """An answer that was accepted while the run was being taken over is seen by the one that took it over."""
    root, name = begun(workspace)
    key = user_key.key(root, make=False)
    with run_driver.reading(root) as store:
        row = run_driver.the_run(store, name)
        assert store is not None
        [question] = questions.questions(root, store, row)
        state, records = (
            fold(store.program(row), row.inputs, store.records(row)),
            store.records(row),
        )
    answering, looked = threading.Event(), threading.Event()

    def still() -> bool:
        answering.set()
        looked.wait(0.2)  # the other one cannot look before this ends
        return True

    one = threading.Thread(
        target=kept.give, args=(root, row, question, "green", "a test", 1.0, key, still)
    )
    one.start()
    answering.wait(PATIENCE)
    found = kept.taken(root, row, state, records, key, alone=True)
    looked.set()
    one.join()
    assert ["green"] == [answer.text for answer in found.values()]


def test_a_run_whose_last_controller_died_at_its_end_was_over_before_it_was_cancelled(
    workspace: Path,
) -> None:
    """Cancelled after success: never. And who only looks at a finished run does not take it up again."""
    root, name = begun(workspace)
    assert 0 == fdc("resume", name, "--answer", "green", cwd=workspace).returncode
    with closing(Store(journal_path(root), user_key.key(root, make=False))) as store:
        row = store.run(name)
        assert row is not None
        again = fdc("resume", name, cwd=workspace)
        assert again.returncode == 0 and "finished" in again.stdout and row == store.run(name)
        store.claim(row)  # and dies
    assert "interrupted" in fdc("show", name, cwd=workspace).stdout
    done = fdc("cancel", name, cwd=workspace)
    assert done.returncode == 1 and "ended before it could be cancelled (finished)" in done.stderr
    assert (
        fdc("replay", name, cwd=workspace).returncode
        == fdc("verify", name, cwd=workspace).returncode
        == 0
    )
