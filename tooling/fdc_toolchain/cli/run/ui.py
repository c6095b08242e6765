"""`fdc ui`: a local web page over all runs."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from ...exits import CLEAN, Exit, WorldError
from ...packs.pages import module_of
from ...runs.interrupt import interruptible
from ..shared.run_options import database_option, is_terminal, root_of

if TYPE_CHECKING:
    from ...journal.postgres import PgStore
    from ...journal.sqlite import RunRow, Store
    from ...packs.model import Page
    from ...report.run_page import Run
    from ...runs.records.answers import Open
    from ...server.port import Ask, Row
    from ...server.web import Server

_WATCHED = 50
_FRESH = 0.4
_QUICK = 1.0
_OPENED = 60.0
"""Seconds in which a browser that is opened has to come."""
_PRINTED = 300.0
"""Seconds in which an address that was printed has to be opened."""
_WHO = "if you did not open it before, somebody else did: end this with Ctrl-C"


@click.command(
    epilog="Exit codes: 0 ended by Ctrl-C, 2 wrong usage, 3 the port is taken.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port; otherwise any that is free.",
)
@click.option("--no-open", is_flag=True, help="Only print the address.")
@database_option
@click.option(
    "--workspace",
    metavar="DIR",
    help="The workspace; the nearest one above the current folder otherwise.",
)
def command(port: int, no_open: bool, database: str | None, workspace: str | None) -> int:
    """Show all runs of the workspace, or of a database, in a browser, live: reports, questions and approvals to answer, resume.

    It listens on this machine only. Each address that it prints lets in one browser, once, within five minutes; at a terminal,
    Enter prints another. Runs that it resumes are
    processes of their own, with the environment of this one: they go on when it ends. Runs of a database go on with
    its workers, and an answer makes them.
    """
    from ...server.web import Server

    root = root_of(workspace)
    served = Database(root, database) if database else Workspace(root)
    try:
        server = Server(
            served, port, lambda sentence: click.echo(f"fdc ui: {sentence}; {_WHO}", err=True)
        )
    except OSError as failed:
        if failed.errno == errno.EADDRINUSE:
            raise WorldError(
                f"port {port} is in use; name another, or leave `--port` out"
            ) from failed
        raise WorldError(f"port {port}: {(failed.strerror or str(failed)).lower()}") from failed
    terminal = is_terminal() and sys.stdin.isatty()
    click.echo(
        f"fdc ui: {server.address(_PRINTED)}\n{'Enter prints another address, ' if terminal else ''}Ctrl-C ends it"
    )
    sys.stdout.flush()
    if terminal:
        threading.Thread(target=_print_more, args=(server,), daemon=True).start()
    with tempfile.TemporaryDirectory(
        prefix="fdc-ui-", dir=_private(), ignore_cleanup_errors=True
    ) as folder:
        if not no_open:
            _open(server, folder)
        try:
            with interruptible():
                server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            click.echo("", err=True)
        finally:
            server.server_close()
    return CLEAN


def _print_more(server: Server) -> None:
    """A new address for each Enter at the terminal: for another browser, or for one that was opened too late."""
    for _ in sys.stdin:
        click.echo(f"fdc ui: {server.address(_PRINTED)}")
        sys.stdout.flush()


def _private() -> str | None:
    """Where a file of this session may lie; None for the system's folder for such files."""
    found = os.environ.get("XDG_RUNTIME_DIR", "")
    return found if os.path.isdir(found) and os.access(found, os.W_OK | os.X_OK) else None


def _open(server: Server, folder: str) -> None:
    """Opens a browser that has a window; one in the terminal would take it away.

    Everybody on this machine can read the command lines of processes. So the browser is started with a file of the user's
    own, which leads to an address that lets in once; the file goes when it was used or is too old.
    """
    if not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"
    ):
        return
    path = os.path.join(folder, "open.html")
    code = server.guard.code(_OPENED)
    url = f"http://127.0.0.1:{server.server_port}/?code={code}"
    page = f'<!doctype html><title>fdc</title><meta http-equiv="refresh" content="0; url={url}"><a href="{url}">fdc ui</a>\n'
    with open(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600),
        "w",
        encoding="ascii",
    ) as file:
        file.write(page)

    def forget() -> None:
        while server.guard.waits(code) and not server.over.wait(0.2):
            pass
        try:
            os.unlink(path)
        except OSError:
            return  # it went with its folder

    import webbrowser

    for work in (
        lambda: webbrowser.open(f"file://{quote(path)}"),
        forget,
    ):  # some browsers are waited for until they end
        threading.Thread(target=work, daemon=True).start()


class Workspace:
    """The runs of a workspace for the web page (port `server.port.Runs`). A journal's connection belongs to a thread:
    each call opens its own."""

    goes_on = False
    """Port `Runs`."""

    def __init__(self, root: str) -> None:
        self.workspace = self.title = root
        self._lock = threading.Lock()
        self._stamp = (0.0, "")
        self._children: list[subprocess.Popen[bytes]] = []

    def rows(self, most: int) -> tuple[list[Row], int]:
        """Port `Runs`."""
        from ...runs.workers import remote
        from ...server.port import Row

        with self._reading() as store:
            found = [] if store is None else store.runs()
            out = [
                Row(
                    row.name, row.plan, remote.status_of(store, self.workspace, row),
                    time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(row.started)),
                    0 if store is None else store.count(row), (row.ending or {}).get("seconds"),
                )
                for row in reversed(found[-most:])
            ]  # fmt: skip
        return out, max(0, len(found) - most)

    def page(self, run: str) -> Run | None:
        """Port `Runs`."""
        from .report import seen

        with self._reading() as store:
            row = None if store is None else store.run(run)
            return None if store is None or row is None else seen(self.workspace, store, row)

    def asks(self, run: str) -> list[Ask]:
        """Port `Runs`."""
        from ...report import changes
        from ...runs.records import questions
        from ...server.port import Ask

        with self._reading() as store:
            row = None if store is None else store.run(run)
            if store is None or row is None or self._damaged(store, row):
                return []
            return [
                Ask(
                    one.effect.address, f"{one.effect.path}:{one.effect.line}", one.text, one.approval, _seen(row, one),
                    tuple((name, size, digest, tuple(lines)) for name, size, digest, lines in questions.about(one)), one.given,
                    tuple(changes.lines(one.shows)),
                )
                for one in questions.questions(self.workspace, store, row)
            ]  # fmt: skip

    def answer(self, run: str, address: str, seen: str, text: str) -> str:
        """Port `Runs`."""
        from ...runs.records import questions
        from ...server.port import Trouble

        with self._reading() as store:
            row = None if store is None else store.run(run)
            found = (
                []
                if store is None or row is None
                else questions.questions(self.workspace, store, row)
            )
            for one in found:
                if row is not None and one.effect.address == address and _seen(row, one) == seen:
                    wrong = questions.unfit(one, text)
                    if wrong:
                        raise Trouble(f"Not kept: {wrong}.")
                    return self._given(row, one, text)
        raise Trouble("Not kept: the run does not ask that (any more).")

    def _given(self, row: RunRow, question: Open, text: str) -> str:
        from ...runs.records import questions

        questions.give(self.workspace, row, question, text, "fdc ui", time.time())
        return f"The answer for {question.effect.address} is kept."

    def resume(self, run: str) -> str:
        """Port `Runs`. `fdc resume` in a process of its own; what it says at once, if it will not, is passed on."""
        from ...server.port import Trouble
        from ...workspace import run_folders

        if run_folders.is_driven(self.workspace, run):
            raise Trouble("The run is being driven already.")
        return self._started(
            ["resume", run, "--quiet", "--workspace", self.workspace],
            "The run went on.",
            "The run goes on.",
        )

    def _started(self, arguments: list[str], over: str, under_way: str) -> str:
        """`fdc ARGUMENTS` in a process of its own; what it says at once, if it will not, is passed on."""
        from ...sandbox import python_process
        from ...server.port import Trouble

        with tempfile.TemporaryFile() as file:
            child = subprocess.Popen(
                python_process.fdc(*arguments),
                cwd=self.workspace, env=python_process.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=file, start_new_session=True,
            )  # fmt: skip
            with self._lock:
                self._children = [*(one for one in self._children if one.poll() is None), child]
            try:
                child.wait(timeout=_QUICK)
            except subprocess.TimeoutExpired:
                return under_way
            file.seek(0)
            lines = file.read(65536).decode("utf-8", "replace").strip().splitlines()
        if lines and child.returncode:
            begun = max(
                (at for at, line in enumerate(lines) if line.startswith("fdc: ")),
                default=len(lines) - 1,
            )
            raise Trouble(" ".join(line.strip() for line in lines[begun:]).removeprefix("fdc: "))
        return over

    def records(self, page: Page) -> list[dict[str, Any]]:
        """Port `Runs`."""
        from ...runs.workers import remote

        more = module_of(page).row
        with self._reading() as store:
            rows = [] if store is None else [row for row in store.runs() if row.plan in page.plans]
            return [
                {"id": row.name, "plan": row.plan, "started": row.started, **more(row),
                 "status": remote.status_of(store, self.workspace, row), "seconds": (row.ending or {}).get("seconds")}
                for row in reversed(rows)
            ]  # fmt: skip

    def record(self, page: Page, run: str) -> dict[str, Any] | None:
        """Port `Runs`."""
        with self._reading() as store:
            row = None if store is None else store.run(run)
            if store is None or row is None or row.plan not in page.plans:
                return None
            found: dict[str, Any] = module_of(page).told(store, row)
            return found

    def again(self, page: Page, run: str) -> str:
        """Port `Runs`."""
        from ...server.port import Trouble

        with self._reading() as store:
            row = None if store is None else store.run(run)
            if row is None or row.plan not in page.plans:
                raise Trouble("There is no such run.")
            arguments = module_of(page).again(row)
        return self._started(arguments, f"{page.title} was run again.", f"{page.title} runs again.")

    def stamp(self) -> str:
        """Port `Runs`: the journal's files, the folders of the newest runs, and whether those that run are driven."""
        with self._lock:
            now = time.monotonic()
            if now - self._stamp[0] < _FRESH:
                return self._stamp[1]
            self._stamp = (now, self._look())
            return self._stamp[1]

    def _look(self) -> str:
        from hashlib import blake2b

        from ...workspace import run_folders

        path = run_folders.journal_path(self.workspace)
        parts = [_stat(path), _stat(path + "-wal")]
        below = os.path.join(self.workspace, run_folders.FOLDER, "runs")
        try:
            names = sorted(os.listdir(below))[-_WATCHED:]
        except OSError:
            names = []
        for name in names:
            parts.append(
                f"{_stat(os.path.join(below, name))} {run_folders.is_driven(self.workspace, name)}"
            )
        return blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()

    def _damaged(self, store: Store, row: RunRow) -> bool:
        if row.status != "waiting":
            return False
        checked = store.check(row.id)
        return bool(checked.faults or checked.older)

    @contextmanager
    def _reading(self) -> Iterator[Store | None]:
        from ...engine.ports import WorldFailed
        from ...runs import run_driver
        from ...server.port import Trouble

        try:
            with run_driver.reading(self.workspace) as store:
                yield store
        except (Exit, WorldFailed) as failed:
            raise Trouble(str(failed)) from failed


class Database(Workspace):
    """The runs of a database for the web page (port `server.port.Runs`)."""

    goes_on = True

    def __init__(self, root: str, url: str) -> None:
        """Raises WorldError where there is no such database."""
        from ...runs.workers import remote

        super().__init__(root)
        self.url, self.title = url, remote.shown(url)
        self._watching: PgStore | None = None
        with remote.reading(url, root):  # now, where somebody sees it, and not with every page
            pass

    def _given(self, row: RunRow, question: Open, text: str) -> str:
        from ...runs.workers import remote
        from ...server.port import Trouble

        address = question.effect.address
        try:
            taken = remote.answer(self.url, self.workspace, row, address, text)
        except Exit as refused:
            raise Trouble(str(refused)) from refused
        return (
            f"A worker has the answer for {address}."
            if taken
            else f"The answer for {address} waits for a worker."
        )

    def resume(self, run: str) -> str:
        """Port `Runs`."""
        from ...runs.workers import remote
        from ...server.port import Trouble

        with self._reading() as store:
            row = None if store is None else store.run(run)
            if store is None or row is None:
                raise Trouble("There is no such run.")
            if remote.status_of(store, self.workspace, row) == "running":
                raise Trouble("The run is being driven already.")
            try:
                return remote.wake(self.url, self.workspace, row)
            except Exit as refused:
                raise Trouble(str(refused)) from refused

    def _look(self) -> str:
        from ...engine.ports import WorldFailed
        from ...journal.postgres import PgStore

        try:
            if self._watching is None:
                self._watching = PgStore(self.url)
            return self._watching.stamp(_WATCHED)
        except WorldFailed as failed:
            if self._watching is not None:
                self._watching.close()
            self._watching = None
            return str(failed)

    @contextmanager
    def _reading(self) -> Iterator[Store | None]:
        from ...engine.ports import WorldFailed
        from ...runs.workers import remote
        from ...server.port import Trouble

        try:
            with remote.reading(self.url, self.workspace) as store:
                yield store
        except (Exit, WorldFailed) as failed:
            raise Trouble(str(failed)) from failed


def _seen(row: RunRow, question: Open) -> str:
    """What stands for a question exactly as it is shown: the program, the step, its arguments, its turn, what will change."""
    from hashlib import blake2b

    from ...program.codec import canonical
    from ...runs.records.answers import digest

    effect = question.effect
    what = [
        row.name,
        row.digest,
        effect.address,
        effect.request,
        question.outcomes,
        question.text,
        digest(question.shows),
    ]
    return blake2b(canonical(what).encode("ascii"), digest_size=16).hexdigest()


def _stat(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    return f"{found.st_mtime_ns} {found.st_size}"
