"""What an expression of a script stands for, as far as agents are concerned, and what evaluating it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...named_tuples import NamedTuple
from .formula import ONE, ZERO, Formula

if TYPE_CHECKING:
    from tree_sitter import Node

    from .script import Declared, Script
    from .uses import Uses


class Env:
    """One activation of a function: what its names stand for."""

    __slots__ = ("function", "outer", "values")

    def __init__(self, function: int, outer: Env | None) -> None:
        self.function = function
        self.outer = outer
        self.values: dict[Declared, Value | None] = {}

    def home(self, declared: Declared) -> Env:
        """The activation in which a name lives."""
        here: Env = self
        while here.function != declared.function and here.outer is not None:
            here = here.outer
        return here


class Function(NamedTuple):
    """A function of the script with what it closes over; `native` is the runtime's name of one of its own."""

    node: Node | None
    env: Env | None
    native: str = ""


class Value(NamedTuple):
    """`functions`: which it may be. `element`: what its items may be; `size`: at most so many, None where unknown.

    `number`: at most its value, where it is a number that is known.
    """

    functions: tuple[Function, ...] = ()
    element: Value | None = None
    size: Formula | None = None
    number: Formula | None = None

    def either(self, other: Value) -> Value:
        """What is one of the two."""
        if self == other:
            return self
        element = self.element or other.element
        if self.element is not None and other.element is not None:
            element = self.element.either(other.element)
        more = tuple(item for item in other.functions if item not in self.functions)
        size = _either(self.size, other.size)
        return Value(self.functions + more, element, size, _either(self.number, other.number))


def _either(one: Formula | None, two: Formula | None) -> Formula | None:
    return one.either(two) if one is not None and two is not None else None


DATA = Value()
"""What starts no agent whatever is done with it."""
ABSENT = Value((), None, ZERO, ZERO)
"""`undefined`, for a parameter that a call gives nothing: no loop goes round for it."""


class Cost(NamedTuple):
    """At most so many agents, so many of which each waits for another, and so many of each model."""

    agents: Formula = ZERO
    rounds: Formula = ZERO
    models: tuple[tuple[str, Formula], ...] = ()

    def __add__(self, other: Cost) -> Cost:  # type: ignore[override]
        if not other.agents:
            return self
        models = dict(self.models)
        for name, number in other.models:
            models[name] = models.get(name, ZERO) + number
        return Cost(self.agents + other.agents, self.rounds + other.rounds, tuple(models.items()))

    def either(self, other: Cost) -> Cost:
        """At least what each of the two costs."""
        models = dict(self.models)
        for name, number in other.models:
            models[name] = models.get(name, ZERO).either(number)
        agents, rounds = self.agents.either(other.agents), self.rounds.either(other.rounds)
        return Cost(agents, rounds, tuple(models.items()))

    def times(self, factor: Formula, *, together: bool = False) -> Cost:
        """So many times; `together`: none of them waits for another."""
        if not self.agents:
            return self
        models = tuple((name, number * factor) for name, number in self.models)
        return Cost(self.agents * factor, self.rounds if together else self.rounds * factor, models)


FREE = Cost()


def one_agent(model: str) -> Cost:
    """What one agent costs."""
    return Cost(ONE, ONE, ((model, ONE),))


class Size(NamedTuple):
    """A size in the formula. `kind`: `items` of a list, `value` of an expression, or `rounds` of a loop."""

    name: str
    kind: str
    node: Node
    places: dict[tuple[int, int, str], Node]
    """Where the script uses it, as stretches of its bytes, and as what."""


class Follower(Protocol):
    """What follows a script, for the parts that know about loops and calls."""

    script: Script
    uses: Uses

    def evaluate(self, node: Node, env: Env) -> tuple[Cost, Value]: ...
    def cost(self, node: Node, env: Env) -> Cost: ...
    def block(self, node: Node, env: Env) -> Cost: ...
    def pattern(self, node: Node, env: Env) -> Cost: ...
    def escape(self, value: Value, node: Node) -> None: ...
    def starts(self, value: Value) -> bool: ...
    def calls(self, value: Value, values: list[Value], at: Node) -> tuple[Cost, Value]: ...
    def size(self, node: Node, value: Value) -> Formula: ...
    def unknown(self, node: Node, kind: str) -> Formula: ...
    def multiplied(
        self, node: Node, each: Cost, most: Formula | None, *, together: bool = False
    ) -> Cost: ...
    def note_session(self, node: Node) -> None: ...


def as_item(follower: Follower, value: Value) -> Value:
    """A value as an item of a list: its size counts only where nothing can change it there."""
    return value if follower.uses.only_names_grow else value._replace(size=None)
