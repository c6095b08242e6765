"""The automaton of a rule, and one walk over the runs of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...automata import declare
from ...linking.graph import Instance
from ...linking.protocol_rules.obligation import Obligation
from ...named_tuples import NamedTuple
from ..solver.words import Machine, Summaries

if TYPE_CHECKING:
    from ..solver.counterexample import Search
    from ..solver.trace import Leaf


def machine_of(rule: Obligation) -> Machine:
    """The automaton that a plan's run must not lead into its sink, nor leave outside of its accepting states."""
    made = rule.machine
    return Machine(rule.id, rule.states, _Table(made), 0, made.accept, rule.id)


STOP = "stop"
"""What a `require` contributes to the word of a rule that a run which stops there must keep."""


class _Table(dict[str, list[int]]):
    """The rows by letter; `STOP` refuses where the rule is not kept."""

    def __init__(self, made: declare.Template) -> None:
        super().__init__({str(letter): row for letter, row in made.table.items()})
        self[STOP] = [
            state if made.accept >> state & 1 else -1 for state in range(len(made.states))
        ]


class Case(NamedTuple):
    """One walk over a root's runs: the words, their shortest paths, where they start, and what the walk is about.

    `assumed`: which arguments, made of what the run is given, are that (`per_value`); the walks about one thing
    come one after the other, for each way in which they may be. `doubt` is where one of those arguments stands.
    """

    words: Summaries
    search: Search
    root: Instance
    starts: tuple[int, ...]
    about: str
    assumed: frozenset[str] = frozenset()
    doubt: Leaf | None = None
