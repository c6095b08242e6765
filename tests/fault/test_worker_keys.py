"""Workers of one database with different keys: a run gets to the one that has its key (issue 4, "Many machines"; FDC-16)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.runs.workers import dispatch, remote
from fdc_toolchain.runs.workers.liveness import number

from tests.support import fleet
from tests.support.background import PATIENCE, wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.fleet import begun, is_over

pytestmark = [needs_database, pytest.mark.long]


def _said(url: str, run: str) -> list[dict[str, object]]:
    """What the run's deliveries ended with, the first one first."""
    sender = dispatch.Sender(url)
    try:
        known = sorted(sender.deliveries(run), key=lambda one: one.created_at or 0)
        return [one.output for one in known if isinstance(one.output, dict)]
    finally:
        sender.close()


def test_what_a_worker_of_another_key_cannot_take_goes_to_one_that_can(workspace: Path) -> None:
    """Refused while no one has the key; begun as soon as somebody has; answers find their way, too."""
    fleet.laid_out(workspace)
    elsewhere = workspace.parent / "other-state"
    with (
        database() as url,
        Workers(url, workspace, XDG_STATE_HOME=str(elsewhere)) as others,
        Workers(url, workspace) as ours,
    ):
        others.start()
        first = begun(workspace, url, "ask.plan")
        wait_for(lambda: any("refused" in one for one in _said(url, first)))
        [refused, *_] = _said(url, first)
        assert [number("w1")] == refused["by"] and "not sealed by the key of the worker w1" in str(
            refused["refused"]
        )
        ours.count = 1  # the names of workers are the database's
        ours.start()
        wait_for(lambda: is_over(url, first))
        runs = [first, begun(workspace, url, "ask.plan")]
        wait_for(lambda: is_over(url, *runs))
        store = PgStore(url, fleet.key(workspace))
        for name in runs:
            row = store.run(name)
            assert row is not None and row.status == "waiting"
            assert remote.answer(url, str(workspace), row, "main/3", "green", "test", PATIENCE)
        store.close()
        wait_for(
            lambda: rows(url, "SELECT count(*) FROM fdc.run WHERE status='finished'") == [(2,)]
        )
        sessions = rows(url, "SELECT body FROM fdc.record WHERE kind='session'")
        assert sessions and all('"worker":"w2"' in one[0] for one in sessions)
    assert all(1 == count for count in fleet.witnessed(workspace).values()) and 2 == len(
        fleet.witnessed(workspace)
    )


def test_offers_are_bounded() -> None:
    """Whoever is left is asked, each once where chance allows it, and never more than OFFERS times."""

    class Queue(dispatch.Sender):
        def __init__(self) -> None:
            self.sent: list[str] = []

        def deliveries(self, run: str) -> list[object]:
            return []

        def send(
            self,
            run: str,
            asked: dict[str, object],
            *,
            piece: bool = False,
            delivery: str = "",
            engine: int = 1,
        ) -> str:
            self.sent.append(delivery)
            return delivery

    queue, delivery = Queue(), "r:1"
    for turn in range(1, dispatch.OFFERS + 1):
        said = queue.offer_again("r", {}, delivery, "why", 7, {7, 8}, piece=False)
        delivery = queue.sent[-1]
        assert ({"offered": turn, "by": [7]}, f"r:1/{turn}") == (said, delivery)
    assert {"refused": "why", "by": [7, 8]} == queue.offer_again(
        "r", {}, delivery, "why", 7, {7, 8}, piece=False
    )
    assert {"refused": "why", "by": [7]} == queue.offer_again(
        "r", {}, "r:1", "why", 7, {7}, piece=False
    )
    assert dispatch.OFFERS == len(queue.sent)


def test_a_run_goes_to_a_worker_whose_machine_gives_what_it_needs(
    workspace: Path, tmp_path: Path
) -> None:
    """A program that the run's command names is on the PATH of one worker only: the other one records nothing."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "steep").write_text("#!/bin/sh\necho steeped\n")
    (programs / "steep").chmod(0o755)
    body = [
        "set_plan Tea",
        "plan_step_complete ready",
        "run_in_bash_session steep",
        "close_task",
        "submit",
    ]
    (workspace / "tea.plan").write_text("\n".join(body) + "\n")
    path = os.environ["PATH"]
    with (
        database() as url,
        Workers(url, workspace) as bare,
        Workers(url, workspace, PATH=f"{programs}:{path}") as able,
    ):
        bare.start()
        run = begun(workspace, url, "tea.plan")
        wait_for(lambda: any("refused" in one for one in _said(url, run)))
        assert "the program `steep`, which a command names" in str(_said(url, run)[0]["refused"])
        assert rows(url, "SELECT count(*) FROM fdc.record") == [(0,)]
        able.count = 1
        able.start()
        wait_for(lambda: is_over(url, run))
        assert rows(url, "SELECT status FROM fdc.run") == [("finished",)]
