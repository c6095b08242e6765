"""No sockets but loopback, no live model, no change of the machine, the part of long tests, the `workspace` fixture."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.support import machine, network, profiles

profiles.load()

# Whoever starts the tests in the background, or with nohup, has them ignore signals, and their children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and thousands of tests stay to the end: the garbage collector does not look at them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 10, 10)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the long tests that are not in the part that was asked for."""
    part, first = profiles.LONG_PART, profiles.seed()
    out = {
        one
        for one in items
        if one.get_closest_marker("long") and not profiles.in_part(one.nodeid, part, first)
    }
    if out:
        config.hook.pytest_deselected(items=list(out))
        items[:] = [one for one in items if one not in out]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A connection that leaves this machine is an error of the test."""
    if not request.node.get_closest_marker("live"):
        network.forbid(monkeypatch)


@pytest.fixture(scope="session")
def session_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of this worker, with its key: nobody's own is read or written."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of this test run. Workers share it, as the commands of a user do: what takes seconds to read is read once."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own
    (shared / "fdc-cache").mkdir(exist_ok=True)
    return shared / "fdc-cache"


@pytest.fixture(autouse=True)
def no_live_model(
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    session_cache: Path,
    session_state: Path,
) -> None:
    """No key, address or setting of the person at the keyboard reaches the code under test or its children."""
    if not request.node.get_closest_marker("live"):
        for name in list(os.environ):
            if name.startswith(
                ("ANTHROPIC_", "OPENAI_", "FDC_", "BRAVE_", "TAVILY_", "EXA_", "DDGS_")
            ):
                monkeypatch.delenv(name)
    monkeypatch.setenv("FDC_CACHE_DIR", str(session_cache))
    monkeypatch.setenv("XDG_STATE_HOME", str(session_state))  # the key that seals runs


@pytest.fixture(scope="session")
def guarded_machine() -> Iterator[machine.Guarded]:
    """What would install packages, or run as another user, is replaced by programs that say that they were called."""
    with machine.guarded() as found:
        yield found


@pytest.fixture(autouse=True)
def no_change_of_the_machine(guarded_machine: machine.Guarded) -> Iterator[None]:
    """A test that calls one of them fails, whatever else it finds."""
    yield
    told = guarded_machine.told()
    assert not told, f"a test may not change this machine, and this one called: {told}"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace, which is the working directory of the test."""
    folder = tmp_path / "workspace"
    (folder / "knowledge_core").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder
