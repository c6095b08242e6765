"""Steps that fail on a file, and what has put the file where it was: by entry state, made when somebody asks for a state.

A plan's own files begin in one state each, so most of what a table could hold is never looked at.
"""

from __future__ import annotations

from typing import NamedTuple

from ....diagnostics.span import Span

STATES = 8

STATES_IN = [
    tuple(state for state in range(STATES) if mask >> state & 1) for mask in range(1 << STATES)
]
"""By mask: the numbers of the states in it."""


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


Causes = frozenset[Group]
"""Few groups, however many steps are behind a call."""


def caused(access: str, step: Span) -> Causes:
    """The one cause that a step of the judged plan's own text is."""
    return frozenset((Group(frozenset(((access, step),)), step),))


def each_cause(causes: Causes) -> list[Cause]:
    """The causes, one by one."""
    return [Cause(access, step, group.outer) for group in causes for access, step in group.steps]


class Failure(NamedTuple):
    """A step that fails: what it wanted, where it stands, and where the judged plan's text leads to it.

    `kind`: `error`, or what is assumed instead: `made` or `kept` (by the commands in `causes`), `distinct` (from the
    paths of the steps in `causes`), `unknown` (whether the file is there).
    """

    access: str
    step: Span
    outer: Span
    kind: str = "error"
    causes: Causes = frozenset()


Failures = frozenset[Failure]
_NONE: Failures = frozenset()


class AllFailures:
    """What fails, by entry state (`[state]`)."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[int, Failures] = {}

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
        self.known = {}
        self.failures = failures

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        return self.failures


class OfStep(AllFailures):
    """What fails of one step; `why`: the kinds of its failures, by entry state."""

    __slots__ = ("access", "span", "why")

    def __init__(self, access: str, span: Span, why: tuple[str, ...]) -> None:
        self.known = {}
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
        self.known = {}
        self.first = first
        self.exits = exits
        self.tail = tail
        self.second = second

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        return _gathered(self, state)


class Either(AllFailures):
    """What fails in one or in the other."""

    __slots__ = ("one", "other")

    def __init__(self, one: AllFailures, other: AllFailures) -> None:
        self.known = {}
        self.one = one
        self.other = other

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        return _gathered(self, state)


class Moved(AllFailures):
    """What fails in `inner`, at the call `outer`; `causes`: those that are moved there already."""

    __slots__ = ("inner", "outer", "causes")

    def __init__(self, inner: AllFailures, outer: Span, causes: dict[Causes, Causes]) -> None:
        self.known = {}
        self.inner = inner
        self.outer = outer
        self.causes = causes

    def made(self, state: int) -> Failures:
        """The failures from an entry state."""
        failures = self.inner[state]
        return _at(failures, self.outer, self.causes) if failures else failures


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


def blamed(failures: Failures, causes: Causes) -> Failures:
    """The failures, with what has put the file where it was."""
    if not causes:
        return failures
    return frozenset(
        [Failure(*item[:4], item.causes | causes if item.causes else causes) for item in failures]
    )


def _at(failures: Failures, outer: Span, known: dict[Causes, Causes]) -> Failures:
    """The failures where the call stands: one for each step behind it, with all its causes."""
    found: dict[tuple[str, Span, str], Causes] = {}
    for access, step, _, kind, causes in failures:
        key = access, step, kind
        found[key] = found[key] | causes if key in found else causes
    return frozenset([
        Failure(access, step, outer, kind, causes_at(causes, outer, known) if causes else causes)
        for (access, step, kind), causes in found.items()
    ])  # fmt: skip


def causes_at(causes: Causes, outer: Span, known: dict[Causes, Causes]) -> Causes:
    """The causes where the call stands. Many failures have the same ones."""
    found = known.get(causes)
    if found is None:
        found = known[causes] = frozenset(
            (Group(frozenset().union(*[group.steps for group in causes]), outer),)
        )
    return found
