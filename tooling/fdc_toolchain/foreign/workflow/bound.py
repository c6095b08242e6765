"""The bound of one script: a formula, or the line that there is none for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .evaluate import Evaluation
from .formula import Formula, TooLarge
from .script import NotBounded, Script
from .values import Cost, Size

if TYPE_CHECKING:
    from tree_sitter import Node


class Bound(NamedTuple):
    """What one run of a script can start at most.

    `cost` is None where that cannot be bounded; `unbounded` are the loops without an end, `unknown` the place that
    could not be followed. `fans`: where agents are started for each item of a list that nothing limits. `groups`: where
    many are started at one place, with how many; `sessions`: agents without a model.
    """

    script: Script
    cost: Cost | None
    sizes: dict[str, Size]
    unbounded: list[tuple[Node, str]]
    unknown: tuple[Node, str] | None
    fans: list[tuple[Node, Formula]]
    groups: list[tuple[Node, Formula]]
    sessions: list[Node]

    @property
    def why(self) -> tuple[Node, str]:
        """Where and why there is no bound."""
        return (self.unbounded or [self.unknown or (self.script.root, "unknown")])[0]


def bound_of(text: str, path: str) -> Bound | NotBounded:
    """The bound of a script. Raises NotJavaScript. What cannot even be read as a tree is a NotBounded."""
    try:
        script = Script(text, path)
    except NotBounded as refused:
        return refused
    cost: Cost | None = None
    unknown: tuple[Node, str] | None = None
    try:
        evaluation = Evaluation(script)
    except NotBounded as refused:
        return Bound(script, None, {}, [], (refused.node, refused.reason), [], [], [])
    try:
        cost = evaluation.whole()
    except NotBounded as refused:
        unknown = refused.node, refused.reason
    except TooLarge:
        unknown = script.root, "the formula has too many parts, or too large a number"
    except RecursionError:
        unknown = script.root, "the script is nested too deeply to be followed"
    unbounded = [*evaluation.unbounded.values()]
    if unbounded:
        cost = None
    fans, groups = [*evaluation.fans.values()], [*evaluation.groups.values()]
    sessions = [*evaluation.sessions.values()]
    return Bound(script, cost, evaluation.sizes, unbounded, unknown, fans, groups, sessions)
