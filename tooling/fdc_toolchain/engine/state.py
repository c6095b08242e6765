"""The state of a run: strands of execution, what they want, and what has been spent.

A strand is a stack of frames; a run starts as one, a fork adds one per branch. Every strand that
has not ended stands at an effect. One owner keeps a state up to date (`fold.apply`); `decide`
only reads it. Nothing here is ever stored: fold the journal and it is there again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..program.model import Automaton, Condition, Grant, Instruction, Program
from .events import Mark, Perform, Question, Stop
from .files.released import Released
from .files.shared_files import Branches
from .rules import Monitor, Noticed


@dataclass(slots=True)
class Cycle:
    """An automaton at work: its declaration and the state that the steps so far have led to."""

    name: str
    automaton: Automaton
    state: str

    def after(self, state: str, symbol: str) -> str | None:
        """The state that `symbol` leads to from `state`, or None where the automaton refuses it."""
        row = self.automaton["transitions"].get(state)
        return None if row is None else row.get(symbol)


@dataclass(slots=True)
class Meter:
    """The budget of a called plan at work in one call of it, with what the call has used. `began`: the run's seconds then."""

    plan: str
    budget: dict[str, float]
    began: float
    spent: dict[str, float] = field(default_factory=dict)
    reserved: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Scope:
    """One call of a plan: its names, the automaton that governs it (the caller's, for a fragment), what it may touch."""

    plan_id: str
    path: str
    names: dict[str, object]
    cycle: Cycle | None
    owns_cycle: bool
    depth: int
    grants: tuple[Grant, ...] = ()
    cycles: tuple[str, ...] = ()
    """The automata at work, from the root's to the one that governs this call."""
    meters: tuple[Meter, ...] = ()
    """Those of the plans on the stack that state a budget, without the root's, which is the run's."""
    result: Any = None


@dataclass(slots=True)
class Loop:
    """A loop that is being run. `hidden` holds what its names meant before it, to be put back.

    `asked` says what this round has asked models (how often, and a sum of the requests, so that the order in
    which branches come does not matter), `before` the same of the last round, `same` how many rounds were so.
    """

    op: str
    address: str
    line: int
    items: Sequence[Any]
    names: tuple[str, ...]
    hidden: dict[str, object]
    until: Condition | None = None
    at: int = 0
    collected: list[Any] | None = None
    asked: tuple[int, int] = (0, 0)
    before: tuple[int, int] = (0, 0)
    same: int = 0


@dataclass(slots=True)
class Frame:
    """A block that is being run: `at` is the index of its instruction under way."""

    block: list[Instruction]
    prefix: str
    scope: Scope
    at: int = 0
    loop: Loop | None = None
    opens_scope: bool = False


@dataclass(slots=True)
class Join:
    """Where the branches of a fork come together, in the order of the input.

    `keeps`: a branch that stops is only a record among what the others yielded.
    """

    strand: Strand
    bind: str | None
    branches: list[Strand]
    open: int
    items: list[Any] = field(default_factory=list)
    keeps: bool = False


@dataclass(slots=True)
class Strand:
    """One line of execution. Of a branch, `join` says where it ends and `collected` what it yielded.

    `alone`: it is in a branch of a fork that keeps failures, so that what stops it does not stop the run.
    `released`: what the last approval before it showed. `branches`: the forks around it whose files are compared.
    """

    frames: list[Frame]
    join: Join | None = None
    collected: list[Any] | None = None
    answers: list[Any] = field(default_factory=list)
    stop: Stop | None = None
    alone: bool = False
    released: Released | None = None
    branches: Branches = ()


@dataclass(slots=True)
class Want:
    """An effect that a strand stands at, and what has become of it. `held`: its cost is reserved, as `holds` says.

    `counted`, of a step that may use all that is left: what it said so far that it used, over all its attempts.

    `interrupted`, of one whose controller has ended it itself: whether it had begun.
    """

    effect: Perform
    strand: Strand
    action: str | None = None
    cost: dict[str, Any] | None = None
    noticed: Noticed = ()
    begun: bool = False
    held: bool = False
    turns: int = 0
    question: Question | None = None
    interrupted: bool | None = None
    holds: dict[str, float] = field(default_factory=dict)
    counted: dict[str, float] = field(default_factory=dict)

    @property
    def meters(self) -> tuple[Meter, ...]:
        """The budgets of called plans that it counts for."""
        return self.strand.frames[-1].scope.meters


@dataclass(slots=True)
class RunState:
    """All that is known of a run. `given` are the root plan's inputs, `builtin` names that every plan has.

    The four dictionaries are keyed by address and disjoint. `pending`: may start. `dangling`:
    announced, and its controller is gone. `running`: started by this controller. `parked`: waits
    for a person. `rate` is the most that a token of a prompt's answer costs; `overrun`: a step has
    used more than had been reserved for it, and the budget was not raised since.
    """

    program: Program
    given: dict[str, Any]
    builtin: dict[str, Any]
    budget: dict[str, float]
    """The run's own meter is this state itself: `budget`, `spent` and `reserved`."""
    rules: tuple[Monitor, ...] = ()
    pending: dict[str, Want] = field(default_factory=dict)
    dangling: dict[str, Want] = field(default_factory=dict)
    running: dict[str, Want] = field(default_factory=dict)
    parked: dict[str, Want] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    reserved: dict[str, float] = field(default_factory=dict)
    rate: float = 0.0
    grants: tuple[Grant, ...] = ()
    """What the run itself may touch, of one that is driven within a step of another run."""
    literal: dict[int, tuple[dict[str, Any], str]] = field(default_factory=dict)
    """Arguments and request of steps whose arguments are constant, by the `id()` of their instruction."""
    approving: frozenset[str] = frozenset()
    """The tools that ask for an approval."""
    metered: frozenset[str] = frozenset()
    """The measures that plans which the program calls have a budget of."""
    assumed_distinct: frozenset[tuple[str | int, ...]] = frozenset()
    """The places (plan, line) of forks whose branches must name different files, as the proof assumes."""
    overrun: Stop | None = None
    elapsed: float = 0.0
    steps: int = 0
    records: int = 0
    ended: bool = False
    stop: Stop | None = None
    kept: list[Stop] = field(default_factory=list)
    """Why branches stopped whose failures were kept, in the order in which they did."""
    result: Any = None
    marks: list[Mark] | None = None
    """Places that the run passed without an effect, for views; None where they are not kept."""

    def take(self, address: str) -> Want | None:
        """Removes the effect at an address from the four dictionaries, and returns it; None if it is in none."""
        return (
            self.running.pop(address, None)
            or self.pending.pop(address, None)
            or self.dangling.pop(address, None)
            or self.parked.pop(address, None)
        )

    def taken(self, address: str) -> Want:
        """Like `take`, for an address that must be in one of them. Raises KeyError."""
        want = self.take(address)
        if want is None:
            raise KeyError(address)
        return want
