"""A time limit for a complete answer; the SDKs limit only the wait for each part."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from .wire import Hear, Passing, whole

if TYPE_CHECKING:
    import httpx2

_T = TypeVar("_T")
_CAME: ContextVar[Callable[[], None]] = ContextVar("_CAME")
"""What a piece of an answer calls, whether it has text or not. Raises Passing where it comes too late."""


def in_time(seconds: float, hear: Hear | None, work: Callable[[Hear], _T]) -> _T:
    """What `work` gives, which tells the text as it comes. Raises Passing where it takes longer: then it is left to itself,
    unheard, and ends with the next piece that a `watched` client gets."""
    end = time.monotonic() + seconds
    left = threading.Event()
    late = f"it did not complete its answer in {seconds:g} seconds"

    def came() -> None:
        if left.is_set() or time.monotonic() > end:
            raise Passing(late)

    def tell(text: str) -> None:
        came()
        if hear is not None:
            hear(whole(text))

    done: SimpleQueue[tuple[_T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        _CAME.set(came)
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


def watched(client: httpx2.Client) -> None:
    """Makes the answers that a client gets within `in_time` end where they are late, at any piece of them."""
    import httpx2

    class Pieces(httpx2.SyncByteStream):
        def __init__(self, stream: httpx2.SyncByteStream) -> None:
            self.stream = stream

        def __iter__(self) -> Iterator[bytes]:
            came = _CAME.get(None)
            for piece in self.stream:
                if came is not None:
                    came()
                yield piece

        def close(self) -> None:
            self.stream.close()

    def answered(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = Pieces(response.stream)

    client.event_hooks = {"response": [answered]}
