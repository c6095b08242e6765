"""Steps that fail on a file, and what has put the file where it was: by entry state, made when somebody asks for a state.

A plan's own files begin in one state each, so most of what a table could hold is never looked at.
"""

from __future__ import annotations

from ....diagnostics.span import Span
from ....named_tuples import NamedTuple, new_tuple

STATES = 9

STATES_IN: list[tuple[int, ...]] = [()]
"""By mask: the numbers of the states in it."""
for _state in range(STATES):
    STATES_IN += [(*states, _state) for states in STATES_IN]


class Cause(NamedTuple):
    """A step that may have put a file where it is: a tool's access, or `command`."""

    access: str
    step: Span
    outer: Span
    """Where the judged plan's text leads to it."""


class Group(NamedTuple):
    """Causes to which one place of the judged plan's text leads: a step of its own, or all those of a call."""

    steps: frozenset[tuple[str, Span]]
    outer: Span


Causes = int
"""A set of groups: a bit for each, by its number in the table of the analysis. They are few, however many steps a call hides."""


class CauseTable:
    """The groups of one analysis, each with a number. A long plan has many sets of many causes, which are joined all the time."""

    __slots__ = ("groups", "_numbers", "_steps")

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self._numbers: dict[Group, int] = {}
        self._steps: dict[Causes, frozenset[tuple[str, Span]]] = {}

    def only(self, group: Group) -> Causes:
        """The set of this group alone."""
        number = self._numbers.setdefault(group, len(self.groups))
        if number == len(self.groups):
            self.groups.append(group)
        return 1 << number

    def caused(self, access: str, step: Span) -> Causes:
        """The one cause that a step of the judged plan's own text is."""
        return self.only(Group(frozenset(((access, step),)), step))

    def of(self, causes: Causes) -> list[Group]:
        """The groups of a set, in the order of their numbers."""
        found = []
        while causes:
            low = causes & -causes
            causes ^= low
            found.append(self.groups[low.bit_length() - 1])
        return found

    def steps(self, causes: Causes) -> frozenset[tuple[str, Span]]:
        """The steps in all groups of a set. Every call of a plan asks for those of the plan."""
        found = self._steps.get(causes)
        if found is None:
            rest, steps = causes, []
            while rest:
                low = rest & -rest
                rest ^= low
                steps.append(self.groups[low.bit_length() - 1].steps)
            found = self._steps[causes] = steps[0].union(*steps[1:])
        return found

    def each(self, causes: Causes) -> list[Cause]:
        """The causes, one by one."""
        return [
            Cause(access, step, group.outer)
            for group in self.of(causes)
            for access, step in group.steps
        ]


class Moves:
    """Causes as they are at one call: those of all steps behind it are one group there. Many failures have the same causes."""

    __slots__ = ("source", "target", "outer", "_known")

    def __init__(self, source: CauseTable, target: CauseTable, outer: Span) -> None:
        self.source = source
        self.target = target
        self.outer = outer
        self._known: dict[Causes, Causes] = {}

    def of(self, causes: Causes) -> Causes:
        """The causes where the call stands."""
        found = self._known.get(causes)
        if found is None:
            group = new_tuple(Group, (self.source.steps(causes), self.outer))
            found = self._known[causes] = self.target.only(group)
        return found

    def one_by_one(self, causes: Causes) -> Causes:
        """The same, each group for itself."""
        found = 0
        for group in self.source.of(causes):
            found |= self.target.only(new_tuple(Group, (group.steps, self.outer)))
        return found


class Failure(NamedTuple):
    """A step that fails: what it wanted, where it stands, and where the judged plan's text leads to it.

    `kind`: `error`, or what is assumed instead: `made` or `kept` (by the commands in `causes`), `distinct` (from the
    paths of the steps in `causes`), `unknown` (whether the file is there).
    """

    access: str
    step: Span
    outer: Span
    kind: str = "error"
    causes: Causes = 0


Failures = frozenset[Failure]
_NONE: Failures = frozenset()


class AllFailures:
    """What fails, by entry state (`[state]`). `harmless`: a bit for each state that `has_error` found nothing for."""

    __slots__ = ("harmless", "known")

    def __init__(self) -> None:
        self.known: dict[int, Failures] = {}
        self.harmless = 0

    def __getitem__(self, state: int) -> Failures:
        found = self.known.get(state)
        if found is None:
            found = self.known[state] = self.made(state)
        return found

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        return _NONE


NOWHERE = AllFailures()


class FromAnywhere(AllFailures):
    """The same failures from every entry state."""

    __slots__ = ("failures",)

    def __init__(self, failures: Failures) -> None:
        self.known, self.harmless = {}, 0
        self.failures = failures

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        return self.failures


class OfStep(AllFailures):
    """What fails of one step; `why`: the kinds of its failures, by entry state."""

    __slots__ = ("access", "span", "why")

    def __init__(self, access: str, span: Span, why: tuple[str, ...]) -> None:
        self.known, self.harmless = {}, 0
        self.access = access
        self.span = span
        self.why = why

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        kinds = self.why[state]
        return (
            frozenset([Failure(self.access, self.span, self.span, kind) for kind in kinds.split()])
            if kinds
            else _NONE
        )


class After(AllFailures):
    """What fails in `first`, and then in `second` in the states that `exits` lead to, which `tail` has caused."""

    __slots__ = ("first", "exits", "tail", "second")

    def __init__(
        self, first: AllFailures, exits: tuple[int, ...], tail: Causes, second: AllFailures
    ) -> None:
        self.known, self.harmless = {}, 0
        self.first = first
        self.exits = exits
        self.tail = tail
        self.second = second

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        first = self.first
        if type(first) in (After, Either) and state not in first.known:  # a row, perhaps a long one
            return _gathered(self, state)
        found = first[state]
        for middle in STATES_IN[self.exits[state]]:
            more = self.second[middle]
            if more:
                more = blamed(more, self.tail)
                found = found | more if found else more
        return found


class Either(AllFailures):
    """What fails in one or in the other."""

    __slots__ = ("one", "other")

    def __init__(self, one: AllFailures, other: AllFailures) -> None:
        self.known, self.harmless = {}, 0
        self.one = one
        self.other = other

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        return _gathered(self, state)


class Moved(AllFailures):
    """What fails in `inner`, at the call of `moves`."""

    __slots__ = ("inner", "moves")

    def __init__(self, inner: AllFailures, moves: Moves) -> None:
        self.known, self.harmless = {}, 0
        self.inner = inner
        self.moves = moves

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        failures = self.inner[state]
        return _at(failures, self.moves) if failures else failures


def _gathered(whole: AllFailures, state: int) -> Failures:
    """The failures of a long row of parts from an entry state: without recursion along the row."""
    found: list[Failures] = []
    seen: set[int] = set()
    work = [whole]
    while work:
        one = work.pop()
        known = one.known.get(state)
        if known is None:
            if type(one) is After:
                if id(one) not in seen:
                    seen.add(id(one))
                    for middle in STATES_IN[one.exits[state]]:
                        more = one.second[middle]
                        if more:
                            found.append(blamed(more, one.tail))
                    work.append(one.first)
                continue
            if type(one) is Either:
                if id(one) not in seen:
                    seen.add(id(one))
                    work += (one.one, one.other)
                continue
            known = one[state]
        if known:
            found.append(known)
    return found[0] if len(found) == 1 else _NONE.union(*found)


def has_error(whole: AllFailures, states: int) -> bool:
    """Whether something fails with an error from one of the states in a mask; the failures are not made for that."""
    visited: list[tuple[AllFailures, int]] = []
    work = [(whole, states)]
    while work:
        one, states = work.pop()
        new = states & ~one.harmless
        if not new:
            continue
        kind = type(one)
        if kind is Moved:
            work.append((one.inner, new))  # type: ignore[attr-defined]
        elif kind is After:
            assert isinstance(one, After)
            middle = 0
            for state in STATES_IN[new]:
                middle |= one.exits[state]
            work += ((one.first, new), (one.second, middle))
        elif kind is Either:
            work += ((one.one, new), (one.other, new))  # type: ignore[attr-defined]
        elif any(failure.kind == "error" for state in STATES_IN[new] for failure in one[state]):
            for other, before in visited:  # of these, nothing is known
                other.harmless &= ~before
            return True
        one.harmless |= new  # so that it is looked at once; it is so, if this ends with no error
        visited.append((one, new))
    return False


def blamed(failures: Failures, causes: Causes) -> Failures:
    """The failures, with what has put the file where it was."""
    if not causes:
        return failures
    return frozenset(
        [
            new_tuple(Failure, (access, step, outer, kind, before | causes))
            for access, step, outer, kind, before in failures
        ]
    )


def _at(failures: Failures, moves: Moves) -> Failures:
    """The failures where the call stands: one for each step behind it, with all its causes."""
    (access, step, _, kind, causes), *more = failures
    for other in more:
        if other.step is not step or other.access != access or other.kind != kind:
            break
        causes |= other.causes
    else:  # all are of one step, to which several calls lead
        causes = moves.of(causes) if causes else causes
        return frozenset((new_tuple(Failure, (access, step, moves.outer, kind, causes)),))
    found: dict[tuple[str, Span, str], Causes] = {}
    for access, step, _, kind, causes in failures:
        key = access, step, kind
        found[key] = found[key] | causes if key in found else causes
    outer = moves.outer
    return frozenset([
        new_tuple(Failure, (access, step, outer, kind, moves.of(causes) if causes else causes))
        for (access, step, kind), causes in found.items()
    ])  # fmt: skip
