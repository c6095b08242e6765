"""The one loop: decide, write down, perform, fold; again until the run ends or cannot go on.

What came back and what is announced next go into the journal in one commit, before the next
effect starts; branches that come back together share it. A lone effect runs on the driving
thread, so that a journaled step costs little more than its commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..program.model import Program
from .decide import decide
from .events import (
    Ask,
    Finish,
    Outcome,
    Perform,
    Performs,
    Question,
    Record,
    Settle,
    Stop,
    outcome_body,
)
from .fold import LOST, apply, came_back, launch, park, redo
from .pool import Pool
from .ports import (
    Cancelled,
    Clock,
    Fenced,
    Interrupted,
    InterruptedHere,
    Journal,
    Progress,
    Tools,
    Waiting,
    WorldFailed,
)
from .state import RunState

_new = tuple.__new__

ROOM = 8
"""Effects that may run at once, unless the caller says otherwise."""

GRACE = 5.0
"""Seconds that running effects get to return when the controller has to stop."""

KILLED = 1.0
"""Seconds that they get afterwards, when their processes are killed."""

EVERY = "*"
"""As an address in `assume`: every effect with an unknown outcome that has no entry of its own."""

STOPPED = "stopped"
"""As an address in `assume`: every effect that fdc itself stopped before it ended, if it may begin again (`begins_again`)."""

Assumption = Outcome | Literal["done", "not-done"]
"""What a person found out: that it happened, with its outcome; that it happened (`done`); or that it did not."""


class Ending(NamedTuple):
    """How driving ended. Only `finished` and `stopped` end the run itself; the others can be resumed.

    `waiting`: a person must answer `questions`. `broken`: the environment failed, `message` says how.
    """

    status: Literal["finished", "stopped", "waiting", "broken"]
    stop: Stop | None = None
    result: Any = None
    questions: tuple[Question, ...] = ()
    message: str = ""


@dataclass(slots=True)
class Ports:
    """The world as one run sees it. `halted`, where there is one, is asked before every step."""

    journal: Journal
    tools: Tools
    clock: Clock
    progress: Progress
    halted: Callable[[], bool] | None = None


def drive(
    program: Program,
    state: RunState,
    ports: Ports,
    *,
    room: int = ROOM,
    assume: dict[str, Assumption] | None = None,
) -> Ending:
    """Drives a folded run until it ends or cannot go on.

    `assume` says, by address, what a person found out about effects whose outcome is unknown.
    Raises Fenced when the run was taken over, Cancelled when it was halted, and passes on what
    interrupts it (KeyboardInterrupt and the like) after writing down what had come back; the run can then be resumed.
    """
    return _Driver(program, state, ports, room, assume or {}).run()


class _Driver:
    def __init__(
        self,
        program: Program,
        state: RunState,
        ports: Ports,
        room: int,
        assume: dict[str, Assumption],
    ) -> None:
        self.program = program
        self.state = state
        self.ports = ports
        self.room = room
        self.assume = assume
        self.base = state.elapsed - ports.clock.seconds()
        self.unwritten: list[Record] = []
        self.unseen: list[tuple[Perform, Outcome, float]] = []
        self.pool: Pool[Perform, tuple[Outcome, float]] | None = None
        self.broken = ""

    def run(self) -> Ending:
        try:
            return self._loop()
        except WorldFailed as failed:  # the journal cannot be written: nothing else may start
            self._leave()
            return Ending("broken", message=str(failed))
        except BaseException:
            self._leave()
            raise
        finally:
            if self.pool is not None:
                self.pool.close()

    def _loop(self) -> Ending:
        state = self.state
        halted = self.ports.halted
        while True:
            if (state.budget and "seconds" in state.budget) or "seconds" in state.metered:
                state.elapsed = self._now()
            if self.broken:
                return self._give_up()
            if halted is not None and halted():
                raise Cancelled("the run was halted")
            decision = decide(self.program, state, self.room - len(state.running))
            if type(decision) is Performs:
                self._start(decision.effects)
            elif isinstance(decision, Finish):
                self._write()
                return Ending(
                    "stopped" if decision.stop else "finished", decision.stop, decision.result
                )
            elif isinstance(decision, Settle):
                self._write()
                self._settle(decision.effect)
            elif isinstance(decision, Ask):
                self._write()
                return Ending("waiting", questions=tuple(decision.questions))
            else:
                self._write()
                self._collect(None)

    def _now(self) -> float:
        """Seconds for which the run was driven. If the clock is set back, the value stays the same."""
        now = _rounded(self.base + self.ports.clock.seconds())
        if now < self.state.elapsed:
            self.base += self.state.elapsed - now
            return self.state.elapsed
        return now

    # Starting

    def _start(self, effects: list[Perform]) -> None:
        for effect in effects:
            if effect.paid or effect.effect == "once":
                body = {} if effect.after is None else {"after": effect.after}
                self._record("intent", effect, body)
        try:
            self._write()
        except (Fenced, WorldFailed):
            raise
        except BaseException:  # a signal: none of the effects has begun
            for effect in effects:
                self._interrupted(effect, False)
            raise
        state, begun = self.state, self.ports.progress.begun
        alone = len(effects) == 1 and not state.running
        for effect in effects:
            launch(state, effect.address)
            begun(effect)
        if alone:
            effect = effects[0]
            came: tuple[Outcome, float] | BaseException
            try:
                came = self._perform(effect)
            except (Waiting, WorldFailed) as raised:
                came = raised
            except (Interrupted, InterruptedHere) as raised:
                self._interrupted(effect, raised.begun)
                raise
            self._came_back(effect, came)
            return
        if self.pool is None:
            self.pool = Pool(self._perform, self.room)
        self.pool.submit(effects)

    def _perform(self, effect: Perform) -> tuple[Outcome, float]:
        seconds = self.ports.clock.seconds
        started = seconds()
        outcome = self.ports.tools.perform(effect)
        took = seconds() - started
        return outcome, _rounded(took) if took > 0 else 0.0

    # Coming back

    def _collect(self, timeout: float | None) -> bool:
        assert self.pool is not None  # effects that run while the driver waits are in the pool
        results = self.pool.collect(timeout)
        raised: BaseException | None = None
        for effect, result in results:
            if isinstance(result, BaseException) and not isinstance(result, (Waiting, WorldFailed)):
                if isinstance(result, Interrupted):
                    self._interrupted(effect, result.begun)
                raised = raised or result
            else:
                self._came_back(effect, result)
        if raised is not None:
            raise raised
        return bool(results)

    def _came_back(self, effect: Perform, result: tuple[Outcome, float] | BaseException) -> None:
        if type(result) is tuple:
            outcome, took = result
            self._outcome(effect, outcome, took)
        elif isinstance(result, Waiting):
            park(self.state, effect.address, str(result), shows=result.shows)
        elif isinstance(result, WorldFailed):
            park(self.state, effect.address, str(result))
            self.broken = self.broken or str(result)

    def _interrupted(self, effect: Perform, begun: bool) -> None:
        """The controller has ended the effect: for a `once` effect this is recorded."""
        if effect.once:
            self._record("interrupted", effect, {"begun": begun})

    def _record(self, kind: str, effect: Perform, body: dict[str, Any]) -> None:
        record = Record(
            kind, effect.address, effect.turn, effect.tool, effect.request, self._now(), body
        )
        self.unwritten.append(record)
        apply(self.state, record)

    def _outcome(self, effect: Perform, outcome: Outcome, took: float) -> None:
        address, at, body = effect.address, self._now(), outcome_body(outcome, took)
        columns = ("outcome", address, effect.turn, effect.tool, effect.request, at, body)
        self.unwritten.append(_new(Record, columns))  # half the time of `Record(...)`
        self.unseen.append((effect, outcome, took))
        came_back(self.state, address, at, body)

    def _write(self) -> None:
        if not self.unwritten:
            return
        self.ports.journal.append(self.unwritten)
        self.unwritten = []
        seen, self.unseen = self.unseen, []
        for effect, outcome, took in seen:
            self.ports.progress.done(effect, outcome, took)

    # Effects that a lost controller left without an outcome

    def _settle(self, effect: Perform) -> None:
        if not effect.once:
            redo(self.state, effect.address, LOST)
            return
        if self.state.dangling[effect.address].interrupted is False:
            redo(self.state, effect.address, "it was interrupted before it had begun")
            return
        verdict = self.ports.tools.probe(effect)
        row = self.state.program["tools"].get(effect.tool)
        if self.state.dangling[effect.address].interrupted and row and "creates" in row:
            verdict = "unknown"  # what a stopped command left there may be half of it
        if isinstance(verdict, Outcome):
            notes = {**(verdict.notes or {}), "settled": "probed: it had happened"}
            self._outcome(effect, verdict._replace(notes=notes), 0.0)
        elif verdict == "not-done":
            redo(self.state, effect.address, "probed: it had not happened")
        elif verdict == "repeat":
            redo(self.state, effect.address, "its declaration says that it may be repeated")
        else:
            self._assume(effect)

    def _assume(self, effect: Perform) -> None:
        known = self.assume.get(effect.address, self.assume.get(EVERY))
        stopped = bool(self.state.dangling[effect.address].interrupted)
        again = stopped and begins_again(self.state.program["tools"].get(effect.tool))
        if known == "done" and not effect.bound:
            known = Outcome()
        if isinstance(known, Outcome):
            outcome = known._replace(notes={"settled": "a person said that it had happened"})
            self._outcome(effect, outcome, 0.0)
        elif known == "not-done":
            redo(self.state, effect.address, "a person said that it had not happened")
        elif again and STOPPED in self.assume:
            redo(self.state, effect.address, "fdc had stopped it before it ended")
        else:
            question = "it was started, and it is unknown whether it happened"
            if stopped:
                question = "fdc stopped it before it ended; what it had done by then is done"
            if again:
                question += "; resuming the run begins it again"
            if effect.bound:
                question += "; the plan keeps its result, so an answer that it happened must include the result"
            park(self.state, effect.address, question, "assume")

    # Leaving early

    def _give_up(self) -> Ending:
        """The environment failed: running effects may return, nothing else starts."""
        while self.pool is not None and self.pool.open:
            self._collect(None)
        self._write()
        return Ending("broken", message=self.broken)

    def _leave(self) -> None:
        """Interrupted: what returns in time is recorded, the rest is settled on resume."""
        try:
            for seconds in (GRACE, KILLED):
                self.ports.tools.cancel()
                self._last(self.ports.clock.seconds() + seconds)
            self._write()
        except Exception:
            # The caller gets the error that interrupted the run; a resume settles what is missing.
            pass
        finally:
            self.ports.tools.cancel()

    def _last(self, deadline: float) -> None:
        """Records what returns until then."""
        while self.pool is not None and self.pool.open:
            left = deadline - self.ports.clock.seconds()
            if left <= 0:
                break
            for effect, result in self.pool.collect(left):
                if isinstance(result, Interrupted):
                    self._interrupted(effect, result.begun)
                elif not isinstance(result, BaseException):
                    self._came_back(effect, result)


def begins_again(row: Mapping[str, object] | None) -> bool:
    """Whether a step that fdc itself stopped begins again when a person continues its run. `row`: its tool's declaration."""
    return row is None or (row.get("repeatable") is not False and not row.get("cost"))


def _rounded(seconds: float) -> float:
    """To the microsecond: the shorter a number, the less its record costs. (`round` costs five times as much.)"""
    return int(seconds * 1e6 + 0.5) / 1e6
