"""Runs commands in turns and compares them: paired ratios of wall and CPU time, as a median with spread.

Single runs on a shared machine move by a factor of two. So nothing here compares two averages:
each round runs every command once, in an order of its own, and only figures of the same round
are divided. The median of those ratios is the result, with its 10th and 90th percentile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple


class Sample(NamedTuple):
    """What one run took, in seconds; `cpu` is user and system time of the process and its children."""

    wall: float
    cpu: float


class Spread(NamedTuple):
    """A median, the percentiles around it and the number of values that it is of."""

    median: float
    p10: float
    p90: float
    count: int

    def text(self, digits: int = 2) -> str:
        """`1.24 (1.18 to 1.31)`."""
        return f"{self.median:.{digits}f} ({self.p10:.{digits}f} to {self.p90:.{digits}f})"


@dataclass(frozen=True)
class Command:
    """One contender. `before` prepares each run and is not timed; `exits` are the codes that it may end with."""

    argv: Sequence[str | Path]
    cwd: Path
    exits: tuple[int, ...] = (0,)
    before: Callable[[], None] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    pinned: bool = False


class Unexpected(Exception):
    """A contender did not end as it must; what it measured would mean nothing."""


def spread(values: Sequence[float]) -> Spread:
    """The median and the 10th and 90th percentile of at least one value."""
    ranked = sorted(values)
    last = len(ranked) - 1

    def at(share: float) -> float:
        below = int(last * share)
        above = min(below + 1, last)
        return ranked[below] + (ranked[above] - ranked[below]) * (last * share - below)

    return Spread(at(0.5), at(0.1), at(0.9), len(ranked))


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what would change how Python starts or what tools print."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "FDC_", "GIT_", "RUFF_"))
    }
    env.pop("VIRTUAL_ENV", None)
    return {**env, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", **extra}


def pin(argv: Sequence[str | Path]) -> list[str | Path]:
    """The command held to one CPU, where the machine can do that."""
    taskset = shutil.which("taskset")
    return [taskset, "-c", str(min(os.sched_getaffinity(0))), *argv] if taskset else list(argv)


def run(command: Command, env: Mapping[str, str]) -> Sample:
    """Runs a command to its end. Raises Unexpected for an exit code that is not one of `exits`."""
    if command.before is not None:
        command.before()
    argv = pin(command.argv) if command.pinned else list(command.argv)
    before = time.perf_counter()
    process = subprocess.Popen(
        argv,
        cwd=command.cwd,
        env={**env, **command.env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - before
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in command.exits:
        shown = " ".join(str(part) for part in argv[:6])
        raise Unexpected(f"`{shown}` ended with {process.returncode} in {command.cwd}")
    return Sample(wall, usage.ru_utime + usage.ru_stime)


def interleave(
    commands: Mapping[str, Command],
    rounds: int,
    env: Mapping[str, str],
    *,
    seed: int = 1,
    warm_up: bool = True,
) -> dict[str, list[Sample]]:
    """`rounds` samples of each command; the first round of all is not counted, unless `warm_up` is false."""
    rng = Random(seed)
    found: dict[str, list[Sample]] = {name: [] for name in commands}
    for number in range(rounds + warm_up):
        order = list(commands)
        rng.shuffle(order)
        for name in order:
            sample = run(commands[name], env)
            if number >= warm_up:
                found[name].append(sample)
    return found


def ratio(
    above: Sequence[Sample], below: Sequence[Sample], *, cpu: bool = False, scale: float = 1.0
) -> Spread:
    """`above` divided by `below`, round by round; `scale` for contenders that did unequal work."""
    kind = 1 if cpu else 0
    return spread([scale * a[kind] / max(b[kind], 1e-9) for a, b in zip(above, below, strict=True)])


def milliseconds(samples: Sequence[Sample], *, cpu: bool = False) -> Spread:
    """The samples themselves, in milliseconds."""
    return spread([1000 * sample[1 if cpu else 0] for sample in samples])


def load() -> float:
    """How many processes wanted to run, over the last minute."""
    return os.getloadavg()[0]


def cores() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0))
