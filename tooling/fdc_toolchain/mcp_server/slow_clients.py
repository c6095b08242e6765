"""Closes HTTP connections on which no whole head of a request arrives in time (slowloris): they would take every place."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

SLOW = 10.0
"""Seconds that a head may take, at least; at most twice as many."""


class Hurried(H11Protocol):
    """A connection that is looked at every `SLOW` seconds. It goes on while a request is answered, however long that takes,
    or if a new request came since the last look."""

    _seen: object = None
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to look."""
        super().connection_made(transport)
        self._look = self.loop.call_later(SLOW, self._is_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends it."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def _is_slow(self) -> None:
        request = self.cycle  # the newest one; None before the first
        if request is self._seen and (request is None or request.response_complete):
            self.transport.abort()
            return
        self._seen = request
        self._look = self.loop.call_later(SLOW, self._is_slow)
