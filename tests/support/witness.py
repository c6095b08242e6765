"""An external witness of effects: what really happened, whatever the journal says."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from fdc_toolchain.engine.events import Outcome, Perform
from fdc_toolchain.program.codec import canonical


class Witness:
    """Tools for `programs.everything`, deterministic by address; every effect is written down when it happens.

    `happened` survives the controller. Probes answer from it when `probing`.
    """

    def __init__(self, probing: bool = False) -> None:
        self.happened: list[tuple[str, str, str]] = []
        self.probing = probing
        self._lock = threading.Lock()

    def perform(self, effect: Perform) -> Outcome:
        """Does it: the deed and the note of it are one."""
        with self._lock:
            self.happened.append((effect.address, effect.effect, canonical(effect.args)))
        return Outcome(self.answer(effect))

    def answer(self, effect: Perform) -> Any:
        """What the effect brings: fixed by what was asked and where."""
        if effect.kind == "files":
            return ["a.txt", "b.txt"]
        if effect.tool == "even":
            return int(effect.args["args"][0]) % 2 == 0
        if effect.tool == "enough":
            return effect.args["args"][0] == "turn at main/6[3]/1"
        if effect.args.get("what") == "items":
            return ["1", "2", "3"]
        if effect.args.get("what") == "turn":
            return f"turn at {effect.address}"
        return {
            "tool": effect.tool,
            "name": f"{effect.tool} at {effect.address}",
            "args": effect.args,
        }

    def probe(self, effect: Perform) -> Any:
        """Whether it happened, for those who may know."""
        if not self.probing:
            return "unknown"
        return Outcome(self.answer(effect)) if self.times(effect.address) else "not-done"

    def times(self, address: str) -> int:
        """How often the effect at an address happened."""
        return sum(1 for at, _, _ in self.happened if at == address)

    def repeated(self, kind: str) -> list[str]:
        """The addresses of effects of a class that happened more than once."""
        counts = Counter(at for at, effect, _ in self.happened if effect == kind)
        return sorted(at for at, number in counts.items() if number > 1)

    def cancel(self) -> None:
        """Nothing to break off."""
