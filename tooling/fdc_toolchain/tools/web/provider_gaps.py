"""The pauses between questions to a search provider, and how long one is left alone that asks for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from .turns import Turns


class Gaps(Turns):
    """Keeps a distance between two questions to the same provider, and leaves alone who asks for it, over all runs of
    this process."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(clock, pause)
        self._until: dict[str, float] = {}

    def rest(self, name: str, seconds: float) -> None:
        """The provider is not to be asked for so long."""
        self._until[name] = self._clock() + seconds

    def resting(self, name: str) -> float:
        """Seconds for which the provider is still to be left alone."""
        return self._until.get(name, 0.0) - self._clock() if name in self._until else 0.0
