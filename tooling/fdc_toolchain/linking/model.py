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
from ..text.slots import Fields, Record, own
from .arguments.bind import Bound

BUILT_IN = {"run": "the folder of the run"}
"""Names that every plan has."""


class Act(Fields):
    """A step whose tool is known."""

    step: tree.Step
    bound: Bound


class Invoke(Fields):
    """A call. `key` is the callee's (None: it was not found, which was reported)."""

    call: tree.Call
    key: str | None
    name: str
    arguments: dict[str, Value]
    depth: int | None
    number: int


class Loop(Fields):
    """`kind`: each, for, fork or iterate. The body runs `least` to `most` times (None: as often as files match).

    `least` is 0 or 1. `exact`: a run that comes to the loop's end has made `most` rounds, no fewer.
    `keeps`: a branch (of a fork) may stop anywhere, and the run goes on.
    """

    node: tree.ForEach | tree.For | tree.Iterate
    kind: str
    name: str | None
    alias: str | None
    over: Value | None
    least: int
    most: int | None
    until: Condition | None
    body: list[Node]
    keeps: bool = False
    exact: bool = False


class Choice(Fields):
    """`if`. `known` is the condition's value where it is a constant, else None."""

    node: tree.If
    condition: Condition | None
    known: bool | None
    then: list[Node]
    orelse: list[Node]


class Gate(Fields):
    """`require`. `known` is the condition's value where it is a constant, else None."""

    node: tree.Require
    condition: Condition | None
    why: str
    known: bool | None = None


class Collect(Fields):
    """`yield`; `value` is None where it is malformed."""

    node: tree.Yield
    value: Value | None


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

    key: str
    text: str
    plan: tree.Plan | None
    name: str = ""
    automaton: Automaton | None = None
    stated: Span | None = None
    part: Span | None = own(lambda: None)
    continues: Automaton | None = own(lambda: None)
    params: dict[str, Param] = own(dict)
    packs: dict[str, Span | None] = own(dict)
    budget: dict[str, tuple[float, Span]] = own(dict)
    allow: dict[str, list[Value]] = own(dict)
    body: list[Node] = own(list)
    calls: list[Invoke] = own(list)
    acts: list[Act] = own(list)
    """The names of results, one for each place that binds one; the names of loops."""
    results: list[str] = own(list)
    loops: set[str] = own(set)
    diagnostics: list[Diagnostic] = own(list)
    reads: tuple[str, ...] = ()
    """The keys of its automata."""
    asked: frozenset[str] = frozenset()
    """Every key that was read or sought while it was linked, itself included."""

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
