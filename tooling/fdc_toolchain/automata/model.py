"""A finite automaton as a value, with the tables that make stepping it cheap.

An automaton governs a plan: its symbols are the action types of steps. It is deterministic and
partial: a missing transition means that the step is refused. Nothing here changes after
`build`; the dictionaries are read-only by agreement, because the prover looks into them in its
innermost loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..named_tuples import NamedTuple
from ..text.slots import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..certificate import forms


class Move(NamedTuple):
    """One move of a run: the symbol read, the state before, the state after (None: refused)."""

    symbol: str
    source: str
    target: str | None


class Automaton(Record):
    """A deterministic automaton. Make one with `build`, which fills the derived fields.

    `transitions` has a row for every state, in the order of `states`. `table[symbol][n]` is the
    number of the state that state number n goes to, or -1. Bit n of `accept_mask` is set when
    state number n accepts.
    """

    __slots__ = (
        "name",
        "path",
        "states",
        "alphabet",
        "start",
        "accept",
        "transitions",
        "index",
        "table",
        "accept_mask",
        "start_index",
    )

    name: str
    path: str
    states: tuple[str, ...]
    alphabet: tuple[str, ...]
    start: str
    accept: frozenset[str]
    transitions: dict[str, dict[str, str]]
    index: dict[str, int]
    table: dict[str, list[int]]
    accept_mask: int
    start_index: int

    def __init__(
        self,
        name: str,
        path: str,
        states: tuple[str, ...],
        alphabet: tuple[str, ...],
        start: str,
        accept: frozenset[str],
        transitions: dict[str, dict[str, str]],
        index: dict[str, int],
        table: dict[str, list[int]],
        accept_mask: int,
        start_index: int,
    ) -> None:
        for part, value in zip(
            self.__slots__,
            (
                name,
                path,
                states,
                alphabet,
                start,
                accept,
                transitions,
                index,
                table,
                accept_mask,
                start_index,
            ),
            strict=True,
        ):
            object.__setattr__(self, part, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an automaton does not change; `{name}` cannot be set")

    def __hash__(self) -> int:
        return hash((self.name, self.path, self.states, self.start))

    def step(self, state: str, symbol: str) -> str | None:
        """The state after `symbol` in `state`, or None where there is none (or no such state)."""
        row = self.transitions.get(state)
        return None if row is None else row.get(symbol)

    def trace(self, symbols: Iterable[str], state: str | None = None) -> Iterator[Move]:
        """Each move of the run over `symbols` from `state` (the start state); a refused one is the last."""
        current = self.start if state is None else state
        for symbol in symbols:
            after = self.step(current, symbol)
            yield Move(symbol, current, after)
            if after is None:
                return
            current = after

    def accepts(self, symbols: Iterable[str]) -> bool:
        """True when the run over `symbols` is never refused and ends in an accepting state (FDC-16)."""
        current: str | None = self.start
        for move in self.trace(symbols):
            current = move.target
        return current in self.accept

    def to_json(self) -> forms.Automaton:
        """The automaton as a program carries it (`program.model`): the same for both written forms."""
        return {
            "states": list(self.states),
            "start": self.start,
            "accept": [state for state in self.states if state in self.accept],
            "transitions": {state: dict(row) for state, row in self.transitions.items()},
        }


def build(
    name: str,
    path: str,
    states: Iterable[str],
    alphabet: Iterable[str],
    start: str,
    accept: Iterable[str],
    transitions: dict[str, dict[str, str]],
) -> Automaton:
    """An automaton from its parts, which must be consistent (`automata.load` checks that)."""
    ordered = tuple(states)
    symbols = tuple(alphabet)
    accepting = frozenset(accept)
    index = {state: number for number, state in enumerate(ordered)}
    table = {symbol: [-1] * len(ordered) for symbol in symbols}
    rows: dict[str, dict[str, str]] = {}
    for number, state in enumerate(ordered):
        row = rows[state] = dict(transitions.get(state, ()))
        for symbol, target in row.items():
            table[symbol][number] = index[target]
    mask = 0
    for state in accepting:
        mask |= 1 << index[state]
    return Automaton(
        name, path, ordered, symbols, start, accepting, rows, index, table, mask, index[start]
    )
