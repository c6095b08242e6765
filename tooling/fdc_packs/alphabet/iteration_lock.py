"""The lock of an iteration as a value: who holds it, how it is written, whether its process still lives (ALPH-03)."""

from __future__ import annotations

import json
from typing import NamedTuple

LOCK = ".iteration_lock"


class Lock(NamedTuple):
    """What `.iteration_lock` says. `pid` and `began` name the process; `run` the run whose iteration it is."""

    iteration: int
    started: str
    phase: str
    status: str
    checkpoint: str
    pid: int
    began: str
    run: str


def began(pid: int) -> str:
    """When a process began, as the kernel says it: a number that is used again names another process; empty for none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return ""
    return "" if fields[0] in ("Z", "X") else fields[19]


def holder(lock: Lock) -> str:
    """One sentence that says who holds a lock."""
    if began(lock.pid) != lock.began:
        where = f"{lock.phase}, {lock.checkpoint}"
        return f"iteration {lock.iteration} was interrupted ({where}); `fdc alphabet run` goes on or goes back"
    return f"iteration {lock.iteration} is under way since {lock.started} in process {lock.pid} ({lock.phase}, {lock.checkpoint})"


def lock_text(lock: Lock) -> bytes:
    """A lock as its file has it."""
    lines = [f"  {key}: {json.dumps(value)}" for key, value in lock._asdict().items()]
    return "\n".join(["iteration_lock:", *lines, ""]).encode()


def lock_of(data: bytes) -> Lock:
    """The lock that a file holds. Raises ValueError for one that cannot be read."""
    import yaml

    try:
        value = yaml.safe_load(data)["iteration_lock"]
        started = value["started"]
        started = started if isinstance(started, str) else started.strftime("%Y-%m-%dT%H:%M:%SZ")
        return Lock(
            int(value["iteration"]), started, str(value["phase"]), str(value["status"]), str(value["checkpoint"]),
            int(value["pid"]), str(value["began"]), str(value["run"]),
        )  # fmt: skip
    except (
        yaml.YAMLError,
        UnicodeDecodeError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
    ) as wrong:
        raise ValueError(f"{LOCK} cannot be read: {type(wrong).__name__}") from wrong
