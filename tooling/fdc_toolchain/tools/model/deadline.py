"""A time limit for a complete answer; the SDKs limit only the wait for each part."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import TypeVar

from .wire import Hear, Passing

_T = TypeVar("_T")


def in_time(seconds: float, hear: Hear | None, work: Callable[[Hear], _T]) -> _T:
    """What `work` gives, which tells the text as it comes. Raises Passing where it takes longer: then it is left to itself,
    unheard, and ends with the next piece that comes."""
    end = time.monotonic() + seconds
    left = threading.Event()
    late = f"it did not complete its answer in {seconds:g} seconds"

    def tell(text: str) -> None:
        if left.is_set() or time.monotonic() > end:
            raise Passing(late)
        if hear is not None:
            hear(text)

    done: SimpleQueue[tuple[_T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(tell), None))
        except BaseException as failed:
            done.put((None, failed))

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    try:
        # a piece that comes too late says by itself that it does, with what was heard before it
        value, failed = done.get(timeout=seconds + min(1.0, seconds))
    except Empty:
        raise Passing(late) from None
    finally:
        left.set()
    if failed is not None:
        raise failed
    return value  # type: ignore[return-value]
