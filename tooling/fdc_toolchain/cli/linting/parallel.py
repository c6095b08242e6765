"""Work divided among processes that are copies of this one: `fdc lint --jobs`."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

LEAST = 32
"""Plans that a process must have to itself: fewer are proved sooner than a process starts."""


def processes(asked: object) -> int:
    """What `--jobs` asks for; one for each processor that this process may use where it is not given."""
    if asked is not None:
        return int(str(asked))
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux says
        return os.cpu_count() or 1


def shares(keys: Sequence[str], jobs: int) -> list[Sequence[str]]:
    """The keys in at most `jobs` parts of nearly the same size, none below `LEAST` keys; one part where nothing is divided."""
    count = min(jobs, len(keys) // LEAST)
    if count < 2 or not hasattr(os, "fork") or len(sys._current_frames()) > 1:
        return [keys]
    return [keys[number::count] for number in range(count)]


def each(
    work: Callable[[Sequence[str]], list[tuple[Any, ...]]], parts: Sequence[Sequence[str]]
) -> list[tuple[Any, ...]]:
    """What `work` returns for each part, each in a process of its own, in the order of the parts.

    `work` returns what `marshal` can write. A part whose process cannot be started, fails or is killed gives nothing:
    the caller does it again here, where the failure has a message.
    """
    started = []
    for part in parts:
        begin, end = os.pipe()
        try:
            process = os.fork()
        except OSError:  # no more processes, or no memory for one
            os.close(begin)
            os.close(end)
            break
        if not process:
            _child(work, part, end)
        os.close(end)
        started.append((process, begin))
    out: list[tuple[Any, ...]] = []
    for process, begin in started:
        with open(begin, "rb") as pipe:
            data = pipe.read()
        if os.waitpid(process, 0)[1] == 0:
            out += marshal.loads(data)
    return out


def _child(
    work: Callable[[Sequence[str]], list[tuple[Any, ...]]], part: Sequence[str], end: int
) -> None:
    """The process of one part: writes its results and ends, whatever happens."""
    code = 1
    try:
        data = marshal.dumps(work(part))
        with open(end, "wb") as pipe:
            pipe.write(data)
        code = 0
    except BaseException:  # the parent repeats the part, and says what is wrong
        pass
    finally:
        os._exit(code)
