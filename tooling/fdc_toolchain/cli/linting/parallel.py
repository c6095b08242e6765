"""Divides work among forked processes: `fdc lint --jobs`."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Result = TypeVar("Result")


LEAST = 32
"""Minimum number of plans per process: with fewer, starting a process costs more than it saves."""


def processes(asked: object) -> int:
    """The value of `--jobs`. Default: one per processor that this process may use."""
    if asked is not None:
        return int(str(asked))
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # Linux only
        return os.cpu_count() or 1


def shares(keys: Sequence[str], jobs: int) -> list[Sequence[str]]:
    """Divides the keys into at most `jobs` parts of similar size, each of at least `LEAST` keys if there are several."""
    count = min(jobs, len(keys) // LEAST)
    if count < 2 or not hasattr(os, "fork") or len(sys._current_frames()) > 1:
        return [keys]
    return [keys[number::count] for number in range(count)]


def each(
    work: Callable[[Sequence[str]], list[Result]], parts: Sequence[Sequence[str]]
) -> list[Result]:
    """Calls `work` for each part in a separate process; yields the results in the order of the parts.

    `work` returns values that `marshal` supports. If a process cannot start, fails or is killed, its part yields nothing:
    the caller then repeats the part in this process, where a failure has a message.
    """
    started = []
    for part in parts:
        begin, end = os.pipe()
        try:
            process = os.fork()
        except OSError:  # the limit of processes or memory is reached
            os.close(begin)
            os.close(end)
            break
        if not process:
            _child(work, part, end)
        os.close(end)
        started.append((process, begin))
    out: list[Result] = []
    for process, begin in started:
        with open(begin, "rb") as pipe:
            data = pipe.read()
        if os.waitpid(process, 0)[1] == 0:
            out += marshal.loads(data)
    return out


def _child(work: Callable[[Sequence[str]], list[Result]], part: Sequence[str], end: int) -> None:
    """The process of one part: writes its results and always ends."""
    code = 1
    try:
        data = marshal.dumps(work(part))
        with open(end, "wb") as pipe:
            pipe.write(data)
        code = 0
    except BaseException:  # the parent repeats the part and reports the failure
        pass
    finally:
        os._exit(code)
