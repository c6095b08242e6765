"""Failure test 12 of the engines' study: workers of two versions of fdc on one database (issue 4, "Many machines").

What decides and what records mean has a version (`journal.sqlite.ENGINE`; tests/golden/test_journals.py fails when one
changes without the other). Workers of another version (tests/support/another_fdc.py, which really decides otherwise)
must leave a run alone, also when its own worker is dead and when its delivery is lost; and somebody must say so.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.journal.sqlite import ENGINE

from tests.support import fleet
from tests.support.background import wait_for
from tests.support.database import Workers, database, ended, needs_database, rows
from tests.support.process import clean_environment, fdc, run
from tests.support.repository import ROOT

pytestmark = [needs_database, pytest.mark.long]
OTHER = (str(ROOT / "tests" / "support" / "another_fdc.py"), str(ENGINE + 1))


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


def other_fdc(*arguments: str, cwd: Path) -> tuple[int, str]:
    """`fdc ARGUMENTS` of the other version: its exit code, and what it said."""
    import sys

    done = run([sys.executable, *OTHER, *arguments], cwd=cwd, env=clean_environment())
    return done.returncode, done.stdout.strip() + done.stderr.strip()


def drivers(url: str, name: str) -> set[str]:
    """The workers that ever took a run."""
    return {worker for (worker,) in rows(
        url, "SELECT body::json->>'worker' FROM fdc.record JOIN fdc.run ON run=id WHERE kind='session' AND name=%s", name
    )}  # fmt: skip


def test_a_run_waits_for_a_worker_that_decides_as_the_one_that_began_it(
    workspace: Path, url: str
) -> None:
    """Failure test 12."""
    deeds = fleet.laid_out(workspace)
    expected = fleet.on_sqlite(deeds, "big.plan", "count=20")
    (deeds / fleet.HELD).write_text("")
    with Workers(url, deeds, DEED_SECONDS="0.1") as workers:
        workers.start()
        workers.start(program=OTHER)
        wait_for(lambda: workers.connected("w1") and workers.connected("w2"))
        old = fleet.begun(deeds, url, "big.plan", "count=20")
        wait_for(lambda: drivers(url, old))
        assert -signal.SIGKILL == ended(workers.send("w1", signal.SIGKILL))
        (deeds / fleet.HELD).unlink()
        # the two write the same files: the second is driven when no process drives the first
        code, new = other_fdc(
            "run", "--database", url, "--detach", "-q", "big.plan", "count=20", cwd=deeds
        )
        assert 0 == code, new
        rows(
            url,
            "DELETE FROM dbos.workflow_status WHERE application_version=%s RETURNING 1",
            str(ENGINE),
        )  # and lost
        wait_for(lambda: fleet.is_over(url, new))
        wait_for(
            lambda: (
                f"the run {old} waits for a worker of another fdc (engine {ENGINE}" in workers.log()
            )
        )
        wait_for(
            lambda: rows(
                url, "SELECT 1 FROM dbos.workflow_status WHERE workflow_uuid LIKE %s", f"{old}:%"
            )
        )
        before = rows(url, "SELECT epoch, seq, status FROM fdc.run WHERE name=%s", old)
        assert "running" == before[0][2] and {"w1"} == drivers(url, old)
        assert old in other_fdc("runs", "--database", url, "--stalled", cwd=deeds)[1]
        for command in ("resume",):
            code, said = other_fdc(command, old, "--database", url, cwd=deeds)
            assert 3 == code and "cannot read" in said, (command, said)
        assert before == rows(url, "SELECT epoch, seq, status FROM fdc.run WHERE name=%s", old)
        workers.start()
        wait_for(lambda: fleet.is_over(url, old))
    fleet.whole(deeds, url, old, expected)
    assert {"w1", "w3"} == drivers(url, old) and {"w2"} == drivers(url, new)
    taken = set(rows(url, "SELECT application_version, executor_id FROM dbos.workflow_status"))
    assert taken == {(str(ENGINE), "w3"), (str(ENGINE + 1), "w2")}
    # Everything that the other version did really went the other way: taken over, the run would have had two orders.
    store = PgStore(url, fleet.key(deeds))
    orders = [
        [one.address for one in store.records(row) if "#" in one.address] for row in store.runs()
    ]
    store.close()
    assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]


def test_a_database_of_another_form_is_left_alone(workspace: Path, url: str) -> None:
    fleet.laid_out(workspace)
    rows(url, "UPDATE fdc.form SET version=version+1 RETURNING 1")
    for command in (("worker",), ("runs",), ("run", "--detach", "big.plan", "count=1")):
        done = fdc(*command, "--database", url, cwd=workspace)
        assert 3 == done.returncode and done.stderr.count("\n") == 1, done
        assert "its runs were written by another fdc (form 3, this one knows 2)" in done.stderr
