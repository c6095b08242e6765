"""A time limit for a complete answer; the SDKs limit only the wait for each part."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from ...text.whole import whole
from .wire import Hear, Passing

if TYPE_CHECKING:
    import httpx2

_T = TypeVar("_T")
_CAME: ContextVar[Callable[[], None]] = ContextVar("_CAME")
"""What a piece of an answer calls, whether it has text or not. Raises Passing where it comes too late."""


def in_time(seconds: float, hear: Hear | None, work: Callable[[Hear], _T]) -> _T:
    """What `work` gives, which tells the text as it comes. Raises Passing where it takes longer: then it is left to itself,
    unheard, and ends with the next bytes that a `watched` client gets."""
    end = time.monotonic() + seconds
    left, cut = threading.Event(), threading.Event()
    late = f"it did not complete its answer in {seconds:g} seconds"

    def came() -> None:
        if left.is_set() or time.monotonic() > end:
            cut.set()
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
        if cut.is_set():
            raise Passing(late) from None
        raise failed
    return value  # type: ignore[return-value]


def watched(client: httpx2.Client) -> None:
    """Makes the answers that a client gets within `in_time` end where they are late, at any bytes of them: headers, too."""
    for transport in {client._transport, *client._mounts.values()}:
        pool = getattr(transport, "_pool", None)
        backend = getattr(pool, "_network_backend", None)
        if pool is not None and backend is not None:
            pool._network_backend = _Lines(backend)


class _Lines:
    """What opens the lines of a client: another one's, which are watched."""

    def __init__(self, opens: Any) -> None:
        self._opens = opens

    def connect_tcp(self, *where: Any, **how: Any) -> _Line:
        return _Line(self._opens.connect_tcp(*where, **how))

    def connect_unix_socket(self, *where: Any, **how: Any) -> _Line:
        return _Line(self._opens.connect_unix_socket(*where, **how))

    def sleep(self, seconds: float) -> None:
        self._opens.sleep(seconds)


class _Line:
    def __init__(self, line: Any) -> None:
        self._line = line

    def read(self, most: int, timeout: float | None = None) -> bytes:
        data: bytes = self._line.read(most, timeout)
        came = _CAME.get(None)
        if came is not None:
            came()
        return data

    def write(self, data: bytes, timeout: float | None = None) -> None:
        self._line.write(data, timeout)

    def close(self) -> None:
        self._line.close()

    def start_tls(self, *what: Any, **how: Any) -> _Line:
        return _Line(self._line.start_tls(*what, **how))

    def get_extra_info(self, name: str) -> object:
        found: object = self._line.get_extra_info(name)
        return found
