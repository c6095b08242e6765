"""The DECLARE templates as small deterministic automata (issue 3, *Rules that bite*).

What a machine reads at each step is a letter: the set of those of the rule's events `a`, `b` and `c` that
the step is, as a bit mask (a 1, b 2, c 4; 0 is any other step). So a step may be several events at once;
the templates mean what their formulas in linear temporal logic on finite traces say of it. `F` and `U` hold
at the step itself: a step that is both `a` and `b` answers itself under `response` and opens for itself under
`precedence`. Inside one step of `fresh` comes a before c before b, inside one of `held` b before a before c.

Every table is minimal: -1 stands for the sink, from which no continuation is accepted, so that what breaks
a rule is noticed at the first step after which nothing can repair it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ..named_tuples import NamedTuple

A, B, C = 1, 2, 4

SINK = -1


class Template(NamedTuple):
    """A compiled template. `table[letter][state]` is the next state or -1; it starts in state 0.

    The names of the states have `{a}` where the event's own name goes. Bit n of `accept` is set where state n
    accepts. `letters` are the events that it reads; a run without any of those in `wakes` cannot break it
    (0: every run can).
    """

    name: str
    letters: int
    states: tuple[str, ...]
    accept: int
    table: dict[int, list[int]]
    wakes: int


Step = Callable[[int, bool, bool, bool], int]


def _last(state: int, a: bool, b: bool, c: bool) -> int:
    return int(a)


def _init(state: int, a: bool, b: bool, c: bool) -> int:
    return 1 if state or a else SINK


def _choice(state: int, a: bool, b: bool, c: bool) -> int:
    return 1 if state or a or b else 0


def _exclusive_choice(state: int, a: bool, b: bool, c: bool) -> int:
    seen = state | a | b << 1
    return seen if seen < 3 else SINK


def _responded_existence(state: int, a: bool, b: bool, c: bool) -> int:
    return 2 if b or state == 2 else 1 if a or state == 1 else 0


def _coexistence(state: int, a: bool, b: bool, c: bool) -> int:
    return state | a | b << 1


def _response(state: int, a: bool, b: bool, c: bool) -> int:
    return 0 if b else 1 if a else state


def _precedence(state: int, a: bool, b: bool, c: bool) -> int:
    return 1 if a or state else SINK if b else 0


def _succession(state: int, a: bool, b: bool, c: bool) -> int:
    if state == 0 and b and not a:
        return SINK
    return 2 if b else 1 if a else state


def _alternate_response(state: int, a: bool, b: bool, c: bool) -> int:
    if state == 0 or b:
        return int(a)
    return SINK if a else 1


def _alternate_precedence(state: int, a: bool, b: bool, c: bool) -> int:
    if b:
        return 0 if a or state else SINK
    return 1 if a else state


def _alternate_succession(state: int, a: bool, b: bool, c: bool) -> int:
    if not a and not b:
        return state
    if a and b:
        return SINK
    return 1 - state if bool(state) == b else SINK


def _chain_response(state: int, a: bool, b: bool, c: bool) -> int:
    return SINK if state and not b else int(a)


def _chain_precedence(state: int, a: bool, b: bool, c: bool) -> int:
    return SINK if b and not state else int(a)


def _chain_succession(state: int, a: bool, b: bool, c: bool) -> int:
    return int(a) if bool(state) == b else SINK


def _not_succession(state: int, a: bool, b: bool, c: bool) -> int:
    return SINK if b and (a or state) else int(a or state)


def _not_chain_succession(state: int, a: bool, b: bool, c: bool) -> int:
    return SINK if b and state else int(a)


def _fresh(state: int, a: bool, b: bool, c: bool) -> int:
    if c and state and not a:
        return SINK
    return 1 if b else 0 if a else state


def _held(state: int, a: bool, b: bool, c: bool) -> int:
    inside = bool(state) or b
    return SINK if a and not inside else int(inside and not c)


def _existence(n: int) -> Step:
    return lambda state, a, b, c: min(state + a, n)


def _absence(n: int) -> Step:
    return lambda state, a, b, c: state + a if state + a < n else SINK


def _exactly(n: int) -> Step:
    return lambda state, a, b, c: state + a if state + a <= n else SINK


class _Row(NamedTuple):
    step: Step
    letters: int
    states: tuple[str, ...]
    accept: int
    wakes: int


_ROWS: dict[str, _Row] = {
    "init": _Row(_init, A, ("before the first step", "begun"), 0b10, 0),
    "last": _Row(_last, A, ("not last", "last"), 0b10, 0),
    "choice": _Row(_choice, A | B, ("neither yet", "chosen"), 0b10, 0),
    "exclusive_choice": _Row(
        _exclusive_choice, A | B, ("neither yet", "{a} chosen", "{b} chosen"), 0b110, 0
    ),
    "responded_existence": _Row(
        _responded_existence, A | B, ("no {a}", "{b} is owed", "{b} has been"), 0b101, A
    ),
    "coexistence": _Row(
        _coexistence, A | B, ("neither", "{b} is owed", "{a} is owed", "both"), 0b1001, A | B
    ),
    "response": _Row(_response, A | B, ("nothing owed", "{b} is owed"), 0b1, A),
    "precedence": _Row(_precedence, A | B, ("no {a} yet", "{a} has been"), 0b11, B),
    "succession": _Row(
        _succession, A | B, ("no {a} yet", "{b} is owed", "nothing owed"), 0b101, A | B
    ),
    "alternate_response": _Row(_alternate_response, A | B, ("nothing owed", "{b} is owed"), 0b1, A),
    "alternate_precedence": _Row(
        _alternate_precedence, A | B, ("no {a} since {b}", "{a} has been"), 0b11, B
    ),
    "alternate_succession": _Row(
        _alternate_succession, A | B, ("nothing owed", "{b} is owed"), 0b1, A | B
    ),
    "chain_response": _Row(_chain_response, A | B, ("nothing owed", "{b} is next"), 0b1, A),
    "chain_precedence": _Row(
        _chain_precedence, A | B, ("not after {a}", "just after {a}"), 0b11, B
    ),
    "chain_succession": _Row(_chain_succession, A | B, ("nothing owed", "{b} is next"), 0b1, A | B),
    "not_coexistence": _Row(
        _exclusive_choice, A | B, ("neither", "{a} has been", "{b} has been"), 0b111, A | B
    ),
    "not_succession": _Row(_not_succession, A | B, ("no {a} yet", "{a} has been"), 0b11, A),
    "not_chain_succession": _Row(
        _not_chain_succession, A | B, ("not after {a}", "just after {a}"), 0b11, A
    ),
    "fresh": _Row(_fresh, A | B | C, ("fresh", "stale"), 0b11, C),
    "held": _Row(_held, A | B | C, ("closed", "open"), 0b11, A),
}

COUNTED = ("existence", "absence", "exactly")
"""The templates that take a number."""

NAMES: tuple[str, ...] = (*COUNTED, *_ROWS)


@lru_cache(maxsize=256)
def compiled(name: str, n: int = 1) -> Template:
    """The automaton of a template; `n` is used for those in `COUNTED` only. Raises KeyError for an unknown name."""
    if name == "existence":
        row = _Row(_existence(n), A, _counts(n + 1), 1 << n, 0)
    elif name == "absence":
        row = _Row(_absence(n), A, _counts(n), (1 << n) - 1, 0)
    elif name == "exactly":
        row = _Row(_exactly(n), A, _counts(n + 1), 1 << n, 0)
    else:
        row = _ROWS[name]
    table = {
        letter: [
            row.step(state, bool(letter & A), bool(letter & B), bool(letter & C))
            for state in range(len(row.states))
        ]
        for letter in range(row.letters + 1)
    }
    return Template(name, row.letters, row.states, row.accept, table, row.wakes)


def _counts(count: int) -> tuple[str, ...]:
    return tuple(f"{number} so far" for number in range(count))


def at_every_prefix(template: Template) -> Template:
    """The machine that accepts a run when `template` accepts it and each of its prefixes after a step."""
    table = {
        letter: [
            target if target >= 0 and template.accept >> target & 1 else SINK for target in row
        ]
        for letter, row in template.table.items()
    }
    return template._replace(table=table)


def from_first_step(template: Template) -> Template:
    """The machine that accepts what `template` does, and the empty run: a value that never occurs is always accepted."""
    if template.accept & 1:
        return template
    old = len(template.states)  # where the start state goes; one that accepts takes its place
    table = {
        letter: [old if target == 0 else target for target in (*row, row[0])]
        for letter, row in template.table.items()
    }
    states = ("not begun", *template.states[1:], template.states[0])
    return template._replace(states=states, table=table, accept=template.accept | 1)
