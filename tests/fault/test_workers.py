"""Three workers, one database, and everything that can happen to a worker (issue 4, "Many machines"; FDC-16).

The plan's tools write to a witness file, so that what really happened can be held against what is on record.
"""

from __future__ import annotations

import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.exits import Refused
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.journal.sqlite import ENGINE
from fdc_toolchain.runs.workers import dispatch, remote

from tests.support import background, fleet, process, profiles
from tests.support.background import wait_for
from tests.support.database import Workers, database, ended, needs_database, rows
from tests.support.fleet import HELD, begun, is_over, key, on_sqlite, outcomes, whole, witnessed
from tests.support.nursery import Nursery
from tests.support.process import fdc
from tests.support.repository import ROOT

pytestmark = [needs_database, pytest.mark.long]

BRANCHES = 60 if profiles.SOAK else 24
STEPS = 8 + 2 * BRANCHES
MANY = 300
"""Branches that no machine ends before somebody has cancelled their run."""


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


@pytest.fixture
def deeds(workspace: Path) -> Path:
    return fleet.laid_out(workspace)


JOBS = 4
PATIENCE = 5


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 22))]
)
def test_workers_that_die_freeze_and_lose_their_locks_lose_nothing(
    deeds: Path, url: str, seed: int
) -> None:
    """Failure tests 1, 4 and 5.

    Two runs of many branches; SIGKILL three times, SIGSTOP with a late SIGCONT, a lock session dropped.
    """
    expected = on_sqlite(deeds, "big.plan", f"count={BRANCHES}")
    (deeds / "witness.log").write_text("")
    rng = random.Random(seed)
    blows = ["kill", "freeze", "kill", "drop", "kill"]
    rng.shuffle(blows)
    runs = [begun(deeds, url, "big.plan", f"count={BRANCHES}") for _ in range(2)]
    moments = sorted(rng.uniform(0.03, 0.8) * len(runs) * STEPS for _ in blows)
    struck = lost = 0
    frozen = None
    options = ("--jobs", str(JOBS), "--pieces", "1", "--patience", str(PATIENCE))
    with Workers(url, deeds, *options, DEED_SECONDS="0.05") as workers:
        workers.start(3)
        deadline = time.monotonic() + 3 * background.PATIENCE
        while not is_over(url, *runs):
            assert time.monotonic() < deadline, (workers.log(), rows(url, "SELECT name, status, epoch FROM fdc.run"),
                rows(url, "SELECT workflow_uuid, status, executor_id, output FROM dbos.workflow_status"))  # fmt: skip
            time.sleep(0.02)
            for name in [
                name for name, process in workers.living.items() if process.poll() is not None
            ]:
                # On a machine that is busy enough, a worker is silent for too long by itself.
                assert 3 == workers.living.pop(name).returncode, workers.log()
                lost += 1
                workers.start()
            [(records,)] = rows(url, "SELECT count(*) FROM fdc.record WHERE kind='outcome'")
            sessions = {
                name: session[0] for name in workers.living if (session := workers.session(name))
            }
            if moments and records >= moments[0] and sessions:
                moments.pop(0)
                name, blow = rng.choice(sorted(sessions)), blows.pop(0)
                struck += 1
                if blow == "kill":  # or it was silent for too long a moment before
                    assert ended(workers.send(name, signal.SIGKILL)) in (-signal.SIGKILL, 3)
                elif blow == "freeze":
                    frozen = (name, workers.send(name, signal.SIGSTOP))
                else:
                    process = workers.living.pop(name)
                    rows(url, "SELECT pg_terminate_backend(%s)", sessions[name])
                    assert 3 == ended(process)
                workers.start()
            # They write the same files, so one is driven after the other: the first may end before a blow for the second.
            if moments and (moments[0] < 0.9 * STEPS or any(is_over(url, name) for name in runs)):
                (deeds / HELD).write_text("")
            else:
                (deeds / HELD).unlink(missing_ok=True)
        assert (5, []) == (struck, blows), "the runs were over before every blow had fallen"
        if frozen is not None:
            name, process = frozen
            wait_for(lambda: not workers.connected(name))
            process.send_signal(signal.SIGCONT)
            assert 3 == ended(process)
    for name in runs:
        whole(deeds, url, name, expected)
    happened = witnessed(deeds)
    assert {
        f"{name}:{address}" for name in runs for address, tool, *_ in expected if tool == "deed"
    } == set(happened)
    # What was under way in a worker that was lost may happen again; nothing else does.
    assert sum(happened.values()) - len(happened) <= (struck + lost) * 3 * JOBS
    assert "no runs match" in fdc("runs", "--database", url, "--stalled", cwd=deeds).stdout


def test_a_run_shows_the_same_from_many_machines(deeds: Path, url: str) -> None:
    """Failure test 7: words, result, exit code and the verified record are those of `fdc run` without a database."""
    here = fdc("run", "-q", "big.plan", "count=16", cwd=deeds)
    expected = on_sqlite(deeds, "big.plan", "count=16")
    with Workers(url, deeds) as workers:
        workers.start(2)
        wait_for(lambda: workers.connected("w1") and workers.connected("w2"))
        there = fdc("run", "--database", url, "-q", "big.plan", "count=16", cwd=deeds)
        [line] = [line for line in here.stdout.splitlines() if "finished" in line]
        assert (0, "") == (there.returncode, there.stderr)
        assert ["off we go", line.split(",")[0]] == [
            part.split(",")[0] for part in there.stdout.splitlines()
        ]
        [name] = [row[0] for row in rows(url, "SELECT name FROM fdc.run")]
        whole(deeds, url, name, expected)
        assert 0 == fdc("verify", name, "--database", url, cwd=deeds).returncode
        assert "whole, sealed by your key" in fdc("show", name, "--database", url, cwd=deeds).stdout
        # A question goes to the caller for the run, and the answer to whatever worker is there.
        asked = fdc("run", "--database", url, "ask.plan", cwd=deeds)
        assert 5 == asked.returncode and "question: Which tea?" in asked.stdout
        answered = fdc("resume", "last", "--database", url, "--answer", "green", cwd=deeds)
        assert 0 == answered.returncode and "deed green" in answered.stdout, answered
        with Nursery(deeds, deeds.parent / "said", ready=("dbos", "psycopg")) as nursery:
            looked_at(deeds, url, name, nursery)
        # The same delivery twice, and two at once, are one run.
        sender = dispatch.Sender(url)
        name = begun(deeds, url, "big.plan", "count=10")
        forged = sender.send(name, {"again": True, "budget": {"steps": 1}})
        again = [forged, *(sender.send(name, {}) for _ in range(3))]
        wait_for(
            lambda: is_over(url, name) and all(sender.outcome(one) is not None for one in again)
        )
        assert "not sealed by the key" in str(sender.outcome(forged))
        sender.close()
        whole(deeds, url, name, on_sqlite(deeds, "big.plan", "count=10"))
        assert {1} == {
            count for one, count in witnessed(deeds, "start").items() if one.startswith(name)
        } | {1}
        assert 21 == sum(
            count for one, count in witnessed(deeds, "start").items() if one.startswith(name)
        )
        # Asked to end, a worker hands over what it drives.
        assert 0 == ended(workers.send("w1", signal.SIGTERM))
        assert 0 == ended(workers.send("w2", signal.SIGINT))


def looked_at(deeds: Path, url: str, finished: str, nursery: Nursery) -> None:
    """`answer`, `replay`, `diff`, `report` and `fork` know runs in a database as they know those on a file."""

    def there(code: int, *arguments: str) -> str:
        done = nursery.run(*arguments, "--database", url)
        assert (code, "") == (done.code, done.err if code == 0 else ""), done
        return done.out + done.err

    assert "follows from its record" in there(0, "replay", finished)
    there(0, "report", finished, "-o", "there.html")
    page = (deeds / "there.html").read_text()
    assert "big.plan" in page and "sealed by your key" in page
    asked = there(0, "run", "--detach", "-q", "ask.plan").strip()
    wait_for(lambda: is_over(url, asked))
    assert "answer with: fdc answer" in there(5, "answer", asked)
    assert "continues" in there(0, "answer", asked, "green")
    wait_for(lambda: ("finished",) in rows(url, "SELECT status FROM fdc.run WHERE name=%s", asked))
    assert "has no question" in there(1, "answer", asked, "black")
    fork = there(0, "fork", "-q", f"{asked}@main/3").strip()
    wait_for(lambda: is_over(url, fork))
    assert "only in one" in there(1, "diff", asked, fork)
    store = PgStore(url, key(deeds))
    row = store.run(fork)
    assert row is not None
    assert "continues" in there(0, "answer", fork, "green")
    wait_for(lambda: ("finished",) in rows(url, "SELECT status FROM fdc.run WHERE name=%s", fork))
    assert "the same steps" in there(0, "diff", asked, fork)
    # Who answers what they saw before somebody else did is told so.
    with pytest.raises(Refused, match="has continued since"):
        remote.answer(url, str(deeds), row, "main/3", "black", "test")
    assert ((), "ours") == store.check(row.id)[::2]
    store.close()


def test_the_watchdog_finds_what_no_queue_knows_of(deeds: Path, url: str) -> None:
    """Failure tests 6 and 14.

    A client that died between record and queue; a run of another key; one of a newer fdc; a cut of every connection.
    """
    name = begun(deeds, url, "big.plan", "count=30")
    rows(url, "DELETE FROM dbos.workflow_status RETURNING 1")
    foreign = begun(deeds, url, "big.plan", "count=1")
    newer = begun(deeds, url, "big.plan", "count=2")
    store = PgStore(url, b"another key, of 32 bytes, really")
    row = store.run(foreign)
    assert row is not None
    store.claim(row, trust=True)
    store.close()
    rows(url, "UPDATE fdc.run SET engine=%s WHERE name=%s RETURNING 1", ENGINE + 1, newer)
    listed = fdc("runs", "--database", url, "--stalled", cwd=deeds).stdout
    assert all(one in listed for one in (name, foreign, newer))
    with Workers(url, deeds, DEED_SECONDS="0.1") as workers:
        workers.start(2)
        wait_for(lambda: rows(url, "SELECT 1 FROM fdc.record WHERE tool='deed'"))
        # As after a restart of the server: every connection is gone, and so is every worker.
        rows(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                  "WHERE datname=current_database() AND pid<>pg_backend_pid()")  # fmt: skip
        assert [3, 3] == [ended(workers.living.pop(one)) for one in ("w1", "w2")]
        workers.start(2)
        wait_for(lambda: is_over(url, name))
        followed = fdc("resume", foreign, "--database", url, cwd=deeds)
        assert 1 == followed.returncode and "not sealed by the key" in followed.stderr, followed
        # Cancelled in the middle of a fork that is shared out: no step of it is begun any more.
        (deeds / HELD).write_text("")
        long = begun(deeds, url, "big.plan", f"count={MANY}")
        wait_for(lambda: rows(url, "SELECT 1 FROM fdc.run WHERE parent IS NOT NULL"))
        cancelled = fdc(
            "cancel", long, "--database", url, "--wait", str(background.PATIENCE), cwd=deeds
        )
        (deeds / HELD).unlink()
        assert (0, f"run {long} is cancelled\n") == (cancelled.returncode, cancelled.stdout), (
            cancelled
        )
        store = PgStore(url, key(deeds))
        row = store.run(long)
        assert (
            row is not None
            and ((), "ours") == store.check(row.id)[::2]
            and [] == store.pieces(row.id)
        )
        assert 0 < len(outcomes(store, row)) < 8 + 2 * MANY
        store.close()
        assert 1 == fdc("resume", long, "--database", url, cwd=deeds).returncode
        sender = dispatch.Sender(url)
        wait_for(lambda: any("cannot read" in str(one.output) for one in sender.deliveries(newer)))
        sender.close()
    whole(deeds, url, name, on_sqlite(deeds, "big.plan", "count=30"))
    listed = fdc("runs", "--database", url, "--stalled", cwd=deeds).stdout
    assert name not in listed and foreign in listed and newer in listed
    # No one goes on delivering what every worker refuses.
    assert (
        rows(
            url,
            "SELECT count(*) FROM dbos.workflow_status WHERE workflow_uuid LIKE %s",
            f"{newer}:%",
        )[0][0]
        <= 3
    )


def test_trouble_is_said_in_a_sentence(deeds: Path, url: str) -> None:
    """No database, a wrong password, no URL, a name in use: no traceback, no password in what is said."""
    wrong = url.replace(url.split("@")[0].split(":")[-1], "sesame")
    for arguments, code in (
        (("worker",), 2),
        (("worker", "--database", wrong), 3),
        (("run", "--database", wrong, "big.plan", "count=1"), 3),
        (("run", "--database", "postgresql://127.0.0.1:1/none", "big.plan", "count=1"), 3),
        (("runs", "--database", "sqlite:///x"), 2),
    ):
        done = fdc(*arguments, cwd=deeds)
        assert code == done.returncode, (arguments, done)
        assert done.stderr.count("\n") == 1 or code == 2
        assert "sesame" not in done.stderr and "Traceback" not in done.stderr
    with Workers(url, deeds) as workers:
        workers.start()
        wait_for(lambda: workers.connected("w1"))
        second = fdc("worker", "--database", url, "--name", "w1", cwd=deeds)
        assert 3 == second.returncode and "a worker named w1 is already connected" in second.stderr


def test_a_command_that_a_worker_stopped_begins_again_when_somebody_resumes_the_run(
    deeds: Path, url: str
) -> None:
    """Nobody stands before a worker: the one that takes the run over asks, and says what is known."""
    (deeds / "slow.plan").write_text(
        "set_plan x\nplan_step_complete x\nrun_in_bash_session echo x >> log; test -e go || sleep 600\n"
        "close_task\nsubmit\n"
    )
    (deeds / "log").write_text("")
    name = begun(deeds, url, "slow.plan")
    with Workers(url, deeds) as workers:
        workers.start()
        wait_for(lambda: "x\n" == (deeds / "log").read_text())
        assert 0 == ended(workers.send("w1", signal.SIGTERM))
        workers.start()
        wait_for(lambda: is_over(url, name))
        (deeds / "go").write_text("")
        shown = fdc("show", name, "--database", url, cwd=deeds).stdout
        assert (
            "fdc stopped it before it ended" in shown
            and "resuming the run begins it again" in shown
        )
        assert "x\n" == (deeds / "log").read_text()
        done = fdc("resume", name, "--database", url, cwd=deeds)
        assert 0 == done.returncode and "finished" in done.stdout, done
        assert "x\nx\n" == (deeds / "log").read_text()


@pytest.mark.soak
def test_a_server_that_crashes_and_recovers_loses_nothing(deeds: Path) -> None:
    """Failure test 6.

    A server of the test's own ends without a checkpoint, twice, while two runs are driven; its log brings all back.
    """
    outer = Path(tempfile.mkdtemp())
    outer.chmod(0o711)  # the server has a user of its own
    script, folder = str(ROOT / ".ci" / "postgres"), str(outer / "postgres")
    started = process.run([script, "start", folder], cwd=outer)
    if started.returncode:
        pytest.skip(started.stderr)
    url = started.stdout.strip()
    try:
        expected = on_sqlite(deeds, "big.plan", f"count={BRANCHES}")
        runs = [begun(deeds, url, "big.plan", f"count={BRANCHES}") for _ in range(2)]
        with Workers(url, deeds, DEED_SECONDS="0.05") as workers:
            for least in (1, STEPS):
                workers.start(2)
                wait_for(
                    lambda least=least: rows(url, "SELECT count(*) FROM fdc.record")[0][0] > least
                )
                assert 0 == process.run([script, "crash", folder], cwd=outer).returncode
                assert [3, 3] == [ended(workers.living.pop(name)) for name in list(workers.living)]
            workers.start(2)
            wait_for(lambda: is_over(url, *runs))
        for name in runs:
            whole(deeds, url, name, expected)
    finally:
        process.run([script, "stop", folder], cwd=outer)
        shutil.rmtree(outer)
