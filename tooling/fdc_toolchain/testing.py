"""Doubles for tests of plans, tools and the engine; public, so that packs can be tested with them too.

They stand in for the world, never for the engine: `MemoryJournal` for the SQLite journal,
`FakeClock` for time, `FunctionTools` for the tools, `Silence` for the observer, `ScriptedModel` for a model. `CrashPoint`
makes the controller die at one exact moment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from .agent.model_port import Message, ModelFailed, validated
from .engine.drive import ROOM, Assumption, Ending, Ports, drive
from .engine.events import Outcome, Perform, Record
from .engine.fold import fold
from .engine.ports import Fenced, Journal, Tools, Verdict
from .program.codec import canonical
from .program.model import Program


class MemoryJournal:
    """A journal that lives as long as the test. Like the real one it refuses a record that it has."""

    def __init__(self, records: list[Record] | None = None) -> None:
        self.records: list[Record] = list(records or ())
        self.commits: list[int] = []
        self._keys = {(record.address, record.kind, record.turn) for record in self.records}

    def append(self, records: list[Record]) -> None:
        """Keeps all of them, or raises Fenced and keeps none."""
        keys = [(record.address, record.kind, record.turn) for record in records]
        if self._keys.intersection(keys):
            raise Fenced("another controller has written this record")
        for record in records:
            canonical(record.body)  # what the real journal could not write is refused here too
        self._keys.update(keys)
        self.records.extend(records)
        self.commits.append(len(records))


class FakeClock:
    """Time that moves by `tick` at each look, and by `advance`."""

    def __init__(self, now: float = 0.0, tick: float = 0.0) -> None:
        self.now = now
        self.tick = tick

    def seconds(self) -> float:
        """Now."""
        self.now += self.tick
        return self.now

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        self.now += seconds


class FunctionTools:
    """Tools that are functions of the test: each takes the effect and returns a value or an Outcome.

    `calls` lists what was performed, in the order in which it began. `probes` answer for lost
    `once` effects; without one the answer is "unknown".
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[[Perform], object]],
        probes: Mapping[str, Callable[[Perform], Verdict]] | None = None,
    ) -> None:
        self._functions = functions
        self._probes = probes or {}
        self._lock = threading.Lock()
        self.calls: list[Perform] = []

    def perform(self, effect: Perform) -> Outcome:
        """Calls the function of the effect's tool."""
        with self._lock:
            self.calls.append(effect)
        found = self._functions[effect.tool](effect)
        return found if isinstance(found, Outcome) else Outcome(found)

    def probe(self, effect: Perform) -> Verdict:
        """Calls the probe of the effect's tool."""
        probe = self._probes.get(effect.tool)
        return "unknown" if probe is None else probe(effect)

    def cancel(self) -> None:
        """Nothing here can be broken off."""


class ScriptedModel:
    """A model that answers from a list, in order (port `agent.model_port.ModelPort`).

    A reply that is an exception is raised, and one that does not fit the schema fails as a real one's
    would. `asked` keeps the role and the messages of every request.
    """

    def __init__(self, replies: Iterable[object]) -> None:
        self._replies = list(replies)
        self.asked: list[tuple[str, list[Message]]] = []

    def complete(
        self, role: str, messages: Sequence[Message], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """The next reply. Raises ModelFailed where there is none left."""
        self.asked.append((role, list(messages)))
        if not self._replies:
            raise ModelFailed("the script has no more replies")
        reply = self._replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return validated(reply, schema)


class Silence:
    """No one watches; `said` keeps what the plan told its user."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def begun(self, effect: Perform) -> None:
        """Not looked at."""

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Not looked at."""

    def say(self, text: str) -> None:
        """Kept."""
        self.said.append(text)


class Crash(BaseException):
    """The controller is dead from here on."""


class CrashPoint:
    """Kills the controller at the `number`-th moment before or after a journal append or an effect.

    Wrap the ports with `journal` and `tools`. Afterwards every touch of the world raises again:
    the dead do not write. Without a number nothing dies, and `moments` lists what there is to hit.
    """

    def __init__(self, number: int | None = None) -> None:
        self._number = number
        self._lock = threading.Lock()
        self.moments: list[str] = []
        self.fired = False

    def reach(self, moment: str) -> None:
        """One moment of the run."""
        with self._lock:
            self.moments.append(moment)
            self.fired = self.fired or len(self.moments) == self._number
            if self.fired:
                raise Crash(moment)

    def journal(self, inner: Journal) -> Journal:
        """The journal, with a moment before and after every append."""
        return _CrashingJournal(self, inner)

    def tools(self, inner: Tools) -> Tools:
        """The tools, with a moment before and after every effect."""
        return _CrashingTools(self, inner)


class _CrashingJournal:
    def __init__(self, point: CrashPoint, inner: Journal) -> None:
        self._point = point
        self._inner = inner

    def append(self, records: list[Record]) -> None:
        what = ", ".join(f"{record.kind} {record.address}" for record in records)
        self._point.reach(f"before append of {what}")
        self._inner.append(records)
        self._point.reach(f"after append of {what}")


class _CrashingTools:
    def __init__(self, point: CrashPoint, inner: Tools) -> None:
        self._point = point
        self._inner = inner

    def perform(self, effect: Perform) -> Outcome:
        self._point.reach(f"before {effect.tool} at {effect.address}")
        outcome = self._inner.perform(effect)
        self._point.reach(f"after {effect.tool} at {effect.address}")
        return outcome

    def probe(self, effect: Perform) -> Verdict:
        return self._inner.probe(effect)

    def cancel(self) -> None:
        self._inner.cancel()


def run(
    program: Program,
    tools: Tools,
    *,
    inputs: dict[str, object] | None = None,
    journal: MemoryJournal | None = None,
    clock: FakeClock | None = None,
    point: CrashPoint | None = None,
    room: int = ROOM,
    assume: dict[str, Assumption] | None = None,
) -> Ending:
    """Drives a program on doubles; with a journal that has records, from where they end."""
    kept = journal or MemoryJournal()
    state = fold(program, inputs or {}, kept.records)
    writes: Journal = kept if point is None else point.journal(kept)
    works = tools if point is None else point.tools(tools)
    ports = Ports(writes, works, clock or FakeClock(), Silence())
    return drive(program, state, ports, room=room, assume=assume)
