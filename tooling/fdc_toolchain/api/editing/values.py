"""The parts of a plan that an editor shows: frozen classes of plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..values import Call, CheckResult, Span

SymbolKind: TypeAlias = Literal["parameter", "result", "loop", "file"]
TokenKind: TypeAlias = Literal["keyword", "tool", "name", "comment", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A name of a plan: where it is bound and where it is read, without braces.

    `kind`: a parameter, the result of a step, the name of a loop, or the file of a `for_each_file` (`file1`, `file2`), which
    nothing in the text binds by name.
    """

    name: str
    kind: SymbolKind
    bound: tuple[Span, ...]
    read: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A part of one line and its kind. `name`: a name that the plan binds; `plan`: the name of a plan that is called."""

    line: int
    column: int
    length: int
    kind: TokenKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStates:
    """The states in which the plan's automaton can be before and after the statement of a line. `refused`: it may refuse it."""

    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The automaton of a plan. `steps`: by action and state, the next state; what is not there is refused."""

    name: str
    start: tuple[str, ...]
    accept: tuple[str, ...]
    steps: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A call: the call as `CheckResult.calls` has it, the place of the name, and by argument the place of its key."""

    call: Call
    name: Span
    keys: dict[str, Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """A plan as an editor shows it, without the lines that have errors.

    `parameters`: those that the plan declares, with their defaults. `actions`: by line, the action of the step.
    `machine`: None where no automaton governs the plan.
    """

    result: CheckResult
    parameters: dict[str, str | None]
    symbols: tuple[Symbol, ...]
    calls: tuple[CallSite, ...]
    tokens: tuple[Token, ...]
    states: tuple[StepStates, ...]
    machine: Machine | None
    actions: dict[int, str]

    def before(self, line: int) -> tuple[str, ...]:
        """The states in which a statement on that line would begin, by the text above it."""
        states: tuple[str, ...] = () if self.machine is None else self.machine.start
        for step in self.states:
            if step.line == line:
                return step.before
            if step.line > line:
                break
            states = step.after
        return states
