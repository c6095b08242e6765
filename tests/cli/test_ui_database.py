"""`fdc ui --database`: the runs of a real PostgreSQL in a browser's place, answered through a real worker (issue 4, "Seen")."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fdc_toolchain.runs.records.questions import user

from tests.cli.test_ui import ASKS, Ui, fields
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.fleet import begun
from tests.support.process import fdc

pytestmark = [needs_database, pytest.mark.slow]


@contextmanager
def served(workspace: Path, url: str) -> Iterator[Ui]:
    with fdc_started("ui", "--no-open", cwd=workspace, env={"FDC_DATABASE": url}) as process:
        yield Ui(process, workspace)


def _stamps(page: Ui) -> Iterator[str]:
    """What the stream of events says, line by line."""
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", "/events", headers={"Cookie": page.cookie})
        reply = connection.getresponse()
        while line := reply.readline():
            if line.startswith(b"data: "):
                yield line.decode()


def _stands(url: str, name: str, status: str, question: str = "") -> bool:
    found = rows(url, "SELECT status, ending FROM fdc.run WHERE name=%s", name)
    return found[0][0] == status and question in (found[0][1] or "")


@pytest.mark.long
def test_runs_of_a_database_are_listed_shown_answered_and_approved(workspace: Path) -> None:
    (workspace / "p.plan").write_text(ASKS)
    with database() as url, served(workspace, url) as page:
        password = urlsplit(url).password
        assert password and "no run" in page.get("/").lower()
        name = begun(workspace, url, "p.plan")
        stream = _stamps(page)
        before = next(stream)
        assert name in page.get("/") and "new" in page.get("/")
        woken = page.told(f"/runs/{name}/resume", fields(page.get(f"/runs/{name}")))
        assert "No worker is connected" in woken
        with Workers(url, workspace) as workers:
            workers.start()
            wait_for(lambda: _stands(url, name, "waiting", "Sugar"))
            assert before != next(stream)  # it went on, and the page hears of it
            shown = page.get(f"/runs/{name}")
            assert (
                "Sugar?" in shown
                and "go on with the run then" not in shown
                and ">Resume<" not in shown
            )
            form = fields(shown)
            path = f"/runs/{name}/answer"
            other = page.told(path, {**form, "seen": "0" * 32, "text": "two"})
            assert "does not ask this question" in other
            said = page.told(path, {**form, "text": "two spoons", "go": "on"})
            assert f"A worker has the answer for {form['address']}." in said
            wait_for(lambda: _stands(url, name, "waiting", "record_user_approval_for_plan"))
            shown = page.get(f"/runs/{name}")
            assert "Approve" in shown and "two spoons" in shown
            page.form(path, {**fields(shown), "text": "yes"})
            wait_for(lambda: _stands(url, name, "finished"))
            record = fdc("show", name, cwd=workspace, env={"FDC_DATABASE": url}).stdout
            assert record.count(f"(answered by {user()}, fdc ui)") == 2, record
        pages = [page.get("/"), page.get(f"/runs/{name}"), page.get(f"/runs/{name}/report")]
    assert all("finished" in one and password not in one for one in pages)
    assert "two spoons" == (workspace / "order.txt").read_text().strip()


@pytest.mark.long
def test_a_database_that_is_not_there_is_said_at_once_and_one_that_goes_away_on_the_page(
    workspace: Path,
) -> None:
    done = fdc(
        "ui", "--no-open", "--database", "postgresql://me:sesame@127.0.0.1:1/none", cwd=workspace
    )
    assert (
        3 == done.returncode
        and 1 == done.stderr.count("\n")
        and "sesame" not in done.stderr + done.stdout
    ), done
    with database() as url:
        page = fdc_started("ui", "--no-open", cwd=workspace, env={"FDC_DATABASE": url})
        process = page.__enter__()
        ui = Ui(process, workspace)
        assert 200 == ui.ask("GET", "/").status
    try:
        gone = ui.ask("GET", "/")
        assert (
            409 == gone.status
            and "Traceback" not in gone.text
            and str(urlsplit(url).password) not in gone.text
        )
    finally:
        page.__exit__(None, None, None)
