"""A real PostgreSQL, for tests that need one: the server that FDC_TEST_DATABASE names (`.ci/postgres start FOLDER`)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.runs.workers import dispatch
from fdc_toolchain.runs.workers.liveness import EXECUTOR_LOCKS, number

from .background import PATIENCE, fdc_started

SERVER = os.environ.get("FDC_TEST_DATABASE", "")
needs_database = pytest.mark.skipif(
    not SERVER, reason="FDC_TEST_DATABASE names no PostgreSQL (.ci/postgres starts one)"
)
_made: list[str] = []


def _named(name: str) -> str:
    return urlunsplit(urlsplit(SERVER)._replace(path=f"/{name}"))


def _template() -> str:
    """A database with every table, made once: migrations take longer than most tests."""
    name = f"fdc_template_{os.getpid()}"
    if name not in _made:
        with psycopg.connect(SERVER, autocommit=True) as pg:
            pg.execute(f"CREATE DATABASE {name}")
        dispatch.prepare(_named(name))
        PgStore(_named(name)).close()
        _made.append(name)
    return name


@contextmanager
def database(*, empty: bool = False) -> Iterator[str]:
    """The URL of a new database with every table, or with none, which is gone afterwards."""
    template = "template0" if empty else _template()
    name = f"fdc_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(SERVER, autocommit=True) as pg:
        pg.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield _named(name)
    finally:
        with psycopg.connect(SERVER, autocommit=True) as pg:
            pg.execute(f"DROP DATABASE {name} WITH (FORCE)")


def rows(url: str, query: str, *values: Any) -> list[Any]:
    """What a query finds."""
    with psycopg.connect(url, autocommit=True) as pg:
        return pg.execute(query, values).fetchall()  # type: ignore[arg-type]


class Workers:
    """Worker processes of one database and one workspace; dead and cleared away afterwards, whatever the test does."""

    def __init__(self, url: str, workspace: Path, *options: str, **env: str) -> None:
        self.url, self.workspace, self.options = url, workspace, options
        self.env = {"FDC_DATABASE": url, **env}
        self._stack = ExitStack()
        self._log = self._stack.enter_context((workspace.parent / "workers.log").open("ab"))
        self.living: dict[str, subprocess.Popen[str]] = {}
        self.count = 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def start(self, count: int = 1, **options: Any) -> None:
        """Starts so many more (`options` as `fdc_started` takes them)."""
        for _ in range(count):
            self.count += 1
            name = f"w{self.count}"
            self.living[name] = self._stack.enter_context(
                fdc_started("worker", "--name", name, *self.options, cwd=self.workspace, env=self.env,
                            stdout=subprocess.DEVNULL, stderr=self._log, **options)
            )  # fmt: skip

    def connected(self, name: str) -> bool:
        """Whether a worker has its lock session."""
        return bool(self.session(name))

    def session(self, name: str) -> list[int]:
        """The server's process of a worker's lock session."""
        found = rows(
            self.url, "SELECT pid FROM pg_locks WHERE locktype='advisory' AND classid=%s AND objid=%s AND granted "
            "AND database=(SELECT oid FROM pg_database WHERE datname=current_database())", EXECUTOR_LOCKS, number(name),
        )  # fmt: skip
        return [row[0] for row in found]

    def send(self, name: str, signal: int) -> subprocess.Popen[str]:
        """A signal for one of them, which does not count as living any more."""
        process = self.living.pop(name)
        process.send_signal(signal)
        return process

    def log(self) -> str:
        """What they all said."""
        return (self.workspace.parent / "workers.log").read_text("utf-8", "replace")


def ended(process: subprocess.Popen[str]) -> int:
    """The exit code of a process that is about to end."""
    return process.wait(timeout=PATIENCE)
