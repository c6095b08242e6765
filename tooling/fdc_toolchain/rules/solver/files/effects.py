"""The effect on one file: tables from the state before to the states after, with the steps that fail in between.

A file is absent, present, or it is unknown (a computed path that the plan has not settled yet). An absent or
present one may be in doubt: a command ran that may have changed it, or a step whose path may have been this one.
What fails only because of such a doubt is not wrong certainly: it is what the proof must assume. Tables compose,
so a plan is looked at once, however often it is called.
"""

from __future__ import annotations

from ....diagnostics.span import Span
from ....named_tuples import NamedTuple, new_tuple
from .failures import (
    NOWHERE,
    STATES,
    STATES_IN,
    After,
    AllFailures,
    Causes,
    CauseTable,
    Either,
    Failures,
    FromAnywhere,
    Moved,
    Moves,
    OfStep,
    blamed,
)

ABSENT, PRESENT, UNKNOWN, MADE, KEPT = 1, 2, 4, 8, 16
"""`MADE`: absent, unless a command has made it. `KEPT`: present, unless a command has removed it."""
FREE, BOTH, LEFT = 32, 64, 128
"""`FREE`: absent, unless a value that is unknown was this path. `BOTH`: absent, unless that or a command was so.
`LEFT`: present, unless a value that is unknown was this path."""
FOLDER = 256
"""A folder: a step went through it. What deletes files, or makes them, leaves it."""

Exits = tuple[int, ...]


class Effect(NamedTuple):
    """What happens to one path: exit states and failures by entry state (in the order of the states above).

    `uses`: bits, USES where a step names the path as one of a file, and WRITES where it changes the file.
    `tail`: the steps that may have put the file where it is afterwards.
    """

    exits: Exits
    failures: AllFailures
    uses: int
    tail: Causes = 0


USES, WRITES = 1, 3

_NONE: Failures = frozenset()
SAME = Effect(tuple(1 << state for state in range(STATES)), NOWHERE, 0)

THERE: Exits = (PRESENT,) * STATES
"""The interned tuple, so that `is` compares."""
GONE: Exits = (ABSENT,) * STATES


def _changed(**to: int) -> Exits:
    names = ("absent", "present", "unknown", "made", "kept", "free", "both", "left", "folder")
    return tuple(to.get(name, 1 << number) for number, name in enumerate(names))


SHELL = _changed(absent=MADE, present=KEPT, free=BOTH, left=LEFT | KEPT, folder=UNKNOWN)
"""The effect of a command that may change the file in any way."""

PASSED = tuple(UNKNOWN if state in (1, 4, 7) else FOLDER for state in range(STATES))
"""The same after a step that uses the path as one of a folder: what fails for that, because it is present, is said once."""

CREATES, DELETES, BY_CHANCE, PERHAPS, CERTAINLY = 1, 2, 2, 16, 32
"""Bits of what a step, or a body, may do to a file that it does not name: creates or deletes it (shifted by
`BY_CHANCE` where only a value that is unknown makes it so), runs a command on some runs or on all."""
COMMANDS, EDITS = PERHAPS | CERTAINLY, 64
"""The bits of commands; and another bit: changes what is in a file, and not whether it is there."""

_OPERATIONS: dict[int, Exits] = {
    CREATES: _changed(
        absent=ABSENT | PRESENT, made=MADE | PRESENT, free=FREE | PRESENT, both=BOTH | PRESENT
    ),
    DELETES: _changed(present=PRESENT | ABSENT, kept=KEPT | ABSENT, left=LEFT | ABSENT),
    CREATES << BY_CHANCE: _changed(absent=FREE, made=BOTH),
    DELETES << BY_CHANCE: _changed(present=LEFT, kept=KEPT | LEFT),
}

_LOOKS = ("error", "", "unknown", "made", "kept", "error", "made", "distinct", "")
_NEEDS = (*_LOOKS[:-1], "error")
_WANTS_FREE = (
    "",
    "error",
    "unknown",
    "kept",
    "error",
    "distinct",
    "kept distinct",
    "error",
    "error",
)

_TABLE = {
    # access: exits from every entry, and by entry why it fails
    "read": (THERE, _NEEDS, USES),
    "edit": (THERE, _NEEDS, WRITES),
    "write": (THERE, ("", "", "unknown", "", "", "", "", "", "error"), WRITES),
    "list": (THERE, _LOOKS, USES),
    "match": (SAME.exits, ("", "", "unknown", "", "", "", "", "", ""), USES),
    "create": (THERE, _WANTS_FREE, WRITES),
    "delete": (GONE, _NEEDS, WRITES),
    "same": (THERE, ("error",) * STATES, WRITES),
    "through": (PASSED, ("", "error", "", "", "error", "", "", "error", ""), 0),
}
"""`same`: a file is to have the name that it has. `list`: a folder or file is looked through; `match`: files that a
glob names, which may be none. `through`: a step uses the path as one of a folder, which a file is not, whatever else might
have changed that."""
CHANGES = {"create": CREATES, "write": CREATES, "delete": DELETES}
COMPUTED = {**CHANGES, "edit": EDITS}
"""The bits of what a step does to a path that is computed. An edit counts for the branches of forks only."""


def only_passes(effect: Effect) -> bool:
    """True where steps only use the path as one of a folder."""
    return not effect.uses


_TABLES = {
    False: {
        name: (row[0], row[1][:2] + ("",) * (STATES - 2), row[2]) for name, row in _TABLE.items()
    },
    True: _TABLE,
}


def effect_of(access: str, span: Span, causes: CauseTable, *, doubts: bool = True) -> Effect:
    """What a step does to the file that it names. `doubts` False: no plan has a command or a computed path."""
    exits, why, uses = _TABLES[doubts][access]
    tail = causes.caused(access, span) if access in CHANGES or access == "through" else 0
    return new_tuple(Effect, (exits, OfStep(access, span, why), uses, tail))


def then(first: Effect, second: Effect, moves: Moves | None = None) -> Effect:
    """The effect of one after the other; `moves`: the second is that of a called plan, and is moved to the call."""
    if second is SAME:
        return first
    if first is SAME:
        return second if moves is None else moved(second, moves)
    if (
        first.exits is THERE
        and second.exits[1] == PRESENT
        and not second.failures[1]
        and first.uses >= second.uses
    ):
        return first  # it is there, and stays
    exits, failures, tail = second.exits, first.failures, second.tail
    if moves is not None and tail:
        tail = moves.of(tail)
    if exits is not THERE and exits is not GONE:  # which are the same wherever one comes from
        exits = composed(first.exits, exits)
        tail = first.tail | tail if first.tail else tail
    more = second.failures
    if more is not NOWHERE:
        start = (
            1 if first.exits is THERE else 0 if first.exits is GONE else None
        )  # one state, wherever one comes from
        if start is None or more[start]:
            more = more if moves is None else Moved(more, moves)
            failures = After(failures, first.exits, first.tail, more)
    return new_tuple(Effect, (exits, failures, first.uses | second.uses, tail))


_composed: dict[tuple[Exits, Exits], Exits] = {}


def composed(first: Exits, second: Exits) -> Exits:
    """The exits of one after the other."""
    found = _composed.get((first, second))
    if found is None:
        exits = []
        for middle in first:
            out = 0
            for state in STATES_IN[middle]:
                out |= second[state]
            exits.append(out)
        found = _composed[first, second] = one_of(tuple(exits))
    return found


def one_of(exits: Exits) -> Exits:
    """The exits, as the one tuple that `is` knows."""
    return THERE if exits == THERE else exits


def either(first: Effect, second: Effect) -> Effect:
    """The effect of one or the other."""
    if first is second:
        return first
    exits, failures = first.exits, first.failures
    if exits is not second.exits:
        exits = one_of(tuple([a | b for a, b in zip(exits, second.exits, strict=True)]))
    if failures is NOWHERE:
        failures = second.failures
    elif failures is not second.failures and second.failures is not NOWHERE:
        failures = Either(failures, second.failures)
    uses = first.uses | second.uses
    return new_tuple(Effect, (exits, failures, uses, first.tail | second.tail))


MOST_ROUNDS = 2 * STATES


def repeat(body: Effect, least: int, most: int | None) -> Effect:
    """Between `least` (0 or 1) and `most` times. So many states: so many rounds reach everything that can be reached."""
    if most == 0:
        return SAME
    if body is SAME or most == least:
        return body
    if body.exits is THERE and body.failures is NOWHERE:
        return body if least else either(SAME, body)
    total = body if least else SAME
    turn = total
    for _ in range(MOST_ROUNDS if most is None else min(MOST_ROUNDS, most - least)):
        before, turn = turn, then(turn, body)
        total = either(total, turn)
        if turn.exits == before.exits and turn.tail == before.tail:
            break  # what fails in the next round fails in this one
    return total


_known: dict[tuple[Exits, int], Exits] = {}


def interference(rest: Exits, bits: int) -> Exits:
    """What any number of the operations in `bits` makes of a file, in any order, with commands (`rest`) between them."""
    found = _known.get((rest, bits))
    if found is not None:
        return found
    anyhow = SAME.exits
    for bit, exits in _OPERATIONS.items():
        if bits & bit:
            anyhow = _union(anyhow, exits)
    anyhow = _often(anyhow)
    if bits & (PERHAPS | CERTAINLY):
        rest = composed(rest, SHELL if bits & CERTAINLY else _union(SAME.exits, SHELL))
    out = anyhow
    if rest != SAME.exits:
        once = out = composed(composed(anyhow, rest), anyhow)
        while (more := _union(out, composed(out, once))) != out:
            out = more
    _known[rest, bits] = out = one_of(out)
    return out


def _union(one: Exits, other: Exits) -> Exits:
    return tuple([a | b for a, b in zip(one, other, strict=True)])


def _often(step: Exits) -> Exits:
    out = step
    while (more := _union(out, composed(out, step))) != out:
        out = more
    return out


def moved(effect: Effect, moves: Moves) -> Effect:
    """The effect as the caller sees it: what fails, fails at the call."""
    failures, tail = effect.failures, effect.tail
    if failures is not NOWHERE:
        failures = Moved(failures, moves)
    elif not tail:
        return effect
    tail = moves.of(tail) if tail else tail
    return new_tuple(Effect, (effect.exits, failures, effect.uses, tail))


def settled(effect: Effect, entry: int, causes: Causes = 0) -> Effect:
    """What is left of the effect on a path that begins in one of some states: its failures, from wherever."""
    failures = _NONE
    for state in STATES_IN[entry]:
        if effect.failures[state]:
            failures |= (
                blamed(effect.failures[state], causes) if state != 1 else effect.failures[state]
            )
    return Effect(SAME.exits, FromAnywhere(failures) if failures else NOWHERE, USES)
