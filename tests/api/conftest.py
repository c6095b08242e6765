"""Every test of the API runs in a process in which nothing may change and nothing may be printed."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.plans import CLEAN
from tests.support.workspaces import ASKS, made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made(tmp_path / "home", clean_plan=CLEAN, asks_plan=ASKS)


def process_state() -> dict[str, object]:
    """What every part of a process shares."""
    umask = os.umask(0o22)
    os.umask(umask)
    environment = {name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {
        "working folder": os.getcwd(),
        "environment": environment,
        "recursion": sys.getrecursionlimit(),
        "import path": [*sys.path],
        "umask": umask,
        "signals": [
            signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        ],
        "warnings": [*warnings.filters],
        "logging": logging.root.level,
        # Python keeps a dummy of a thread that has ended, until another one has its number.
        "threads": {
            one for one in threading.enumerate() if not isinstance(one, threading._DummyThread)
        },
    }


@pytest.fixture(autouse=True)
def nothing_changes(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Whatever is called: nothing is printed, and the process is as it was."""
    before = process_state()
    yield
    assert before == process_state()
    assert ("", "") == tuple(capfd.readouterr())
