"""Linked plans: the tree with names, tools and calls resolved, for the analyses and for lowering.

Made by `linking.link` in one go; nothing changes afterwards.
"""

from __future__ import annotations

from ..automata.model import Automaton
from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..named_tuples import NamedTuple, new_tuple
from ..syntax import tree
from ..syntax.values import Condition, Value
from ..text.slots import Record
from .arguments.bind import Bound

BUILT_IN = {"run": "the folder of the run"}
"""Names that every plan has."""


class Act:
    """A step whose tool is known."""

    __slots__ = ("step", "bound")

    def __init__(self, step: tree.Step, bound: Bound) -> None:
        self.step = step
        self.bound = bound


class Invoke:
    """A call. `key` is the callee's (None: it was not found, which was reported)."""

    __slots__ = ("call", "key", "name", "arguments", "depth", "number")

    def __init__(
        self,
        call: tree.Call,
        key: str | None,
        name: str,
        arguments: dict[str, Value],
        depth: int | None,
        number: int,
    ) -> None:
        self.call = call
        self.key = key
        self.name = name
        self.arguments = arguments
        self.depth = depth
        self.number = number


class Loop:
    """`kind`: each, for, fork or iterate. The body runs `least` to `most` times (None: as often as files match).

    `least` is 0 or 1. `exact`: a run that comes to the loop's end has made `most` rounds, no fewer.
    `keeps`: a branch (of a fork) may stop anywhere, and the run goes on.
    """

    __slots__ = (
        "node",
        "kind",
        "name",
        "alias",
        "over",
        "least",
        "most",
        "until",
        "body",
        "keeps",
        "exact",
    )

    def __init__(
        self,
        node: tree.ForEach | tree.For | tree.Iterate,
        kind: str,
        name: str | None,
        alias: str | None,
        over: Value | None,
        least: int,
        most: int | None,
        until: Condition | None,
        body: list[Node],
        keeps: bool = False,
        exact: bool = False,
    ) -> None:
        self.node = node
        self.kind = kind
        self.name = name
        self.alias = alias
        self.over = over
        self.least = least
        self.most = most
        self.until = until
        self.body = body
        self.keeps = keeps
        self.exact = exact


class Choice:
    """`if`. `known` is the condition's value where it is a constant, else None."""

    __slots__ = ("node", "condition", "known", "then", "orelse")

    def __init__(
        self,
        node: tree.If,
        condition: Condition | None,
        known: bool | None,
        then: list[Node],
        orelse: list[Node],
    ) -> None:
        self.node = node
        self.condition = condition
        self.known = known
        self.then = then
        self.orelse = orelse


class Gate:
    """`require`. `known` is the condition's value where it is a constant, else None."""

    __slots__ = ("node", "condition", "why", "known")

    def __init__(
        self, node: tree.Require, condition: Condition | None, why: str, known: bool | None = None
    ) -> None:
        self.node = node
        self.condition = condition
        self.why = why
        self.known = known


class Collect:
    """`yield`; `value` is None where it is malformed."""

    __slots__ = ("node", "value")

    def __init__(self, node: tree.Yield, value: Value | None) -> None:
        self.node = node
        self.value = value


Node = Act | Invoke | Loop | Choice | Gate | Collect


class Param(NamedTuple):
    """A declared input; `default` None means that the caller must give it."""

    name: str
    default: str | None
    span: Span


class Unit(Record):
    """One linked plan. `key` names it among units: its path in the workspace, or `fdc:PATH` for a shipped one.

    `automaton` is its own (None: a fragment); `stated` tells whether its text names one at all,
    so that a plan whose automaton is missing is not taken for a fragment. `part` is where the text says that the plan
    is a fragment (`use fragment`), and `continues` the automaton that it names there. `packs` are those that it uses, with the
    place where its text names them. `calls` and `acts` are those of its body, at any depth.
    """

    __slots__ = (
        "key",
        "text",
        "plan",
        "name",
        "automaton",
        "stated",
        "part",
        "continues",
        "params",
        "packs",
        "budget",
        "allow",
        "body",
        "calls",
        "acts",
        "results",
        "loops",
        "diagnostics",
        "reads",
        "asked",
    )

    def __init__(
        self,
        key: str,
        text: str,
        plan: tree.Plan | None,
        name: str = "",
        automaton: Automaton | None = None,
        stated: Span | None = None,
        reads: tuple[str, ...] = (),
        asked: frozenset[str] = frozenset(),
    ) -> None:
        self.key = key
        self.text = text
        self.plan = plan
        self.name = name
        self.automaton = automaton
        self.stated = stated
        self.part: Span | None = None
        self.continues: Automaton | None = None
        self.params: dict[str, Param] = {}
        self.packs: dict[str, Span | None] = {}
        self.budget: dict[str, tuple[float, Span]] = {}
        self.allow: dict[str, list[Value]] = {}
        self.body: list[Node] = []
        self.calls: list[Invoke] = []
        self.acts: list[Act] = []
        # The names of results, one for each place that binds one; the names of loops.
        self.results: list[str] = []
        self.loops: set[str] = set()
        self.diagnostics: list[Diagnostic] = []
        self.reads = reads
        # The keys of its automata.
        self.asked = asked
        # Every key that was read or sought while it was linked, itself included.

    @property
    def names(self) -> set[str]:
        """Every name that something in the plan binds, its parameters and the built-in names included."""
        return {*BUILT_IN, *self.params, *self.results, *self.loops}

    def span(self, node: tree.Statement) -> Span:
        """Where a statement stands."""
        if type(node) is tree.Step:
            line, column = node.line, node.column
            end = max(node.tail_column + len(node.tail), column + 1)
            return new_tuple(Span, (self.key, line, column, line, end))
        return tree.span(self.key, node)

    def at(self, node: tree.Statement, start: int, end: int) -> Span:
        """A stretch of a statement's tail, by offsets."""
        column = node.tail_column  # type: ignore[union-attr]
        line = node.line
        return new_tuple(Span, (self.key, line, column + start, line, column + max(end, start + 1)))
