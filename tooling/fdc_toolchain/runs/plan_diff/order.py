"""Finds questions, reads and steps that come after other actions or fewer gates than in another plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ...named_tuples import NamedTuple
from .files import NO_FILE, Paths, meet
from .walked import Done, Loops, Origin, Seen, Walked, told


def asked_otherwise(before: Walked, after: Walked) -> Iterator[str]:
    """Questions and reads that come after other actions than before, and questions before which the user is told less."""
    one, other = _orders(before, after)
    for name, now in after.seen.items():
        then = before.seen.get(name)
        if then is None:
            continue
        if one.name(then) != other.name(now):
            yield f"behind other things, or behind them in another order: {now.shown}"
        if then.asks and not (
            _told_again(_said(before, then, then.said), _said(after, now, now.said))
            and _told_again(_said(before, then, then.heard), _said(after, now, now.heard))
        ):
            yield f"the user is told less before it, or in another order: {now.shown}"


class _Message(NamedTuple):
    """What the user may get before a question: with which texts, in which branches and loops that the question is not in."""

    given: str
    needs: frozenset[str]
    loops: list[str]
    looped: bool


def _said(walked: Walked, ask: Seen, until: int) -> list[_Message]:
    ways = walked.branches - ask.gates
    never = {walked.opposite[way] for way in ask.gates if way in walked.opposite}
    return [
        _Message(step.given, step.gates & ways, _others(step, ask), bool(step.loops))
        for step in walked.said[:until]
        if not step.gates & never
    ]


def _others(step: Done, place: Done | Seen) -> list[str]:
    """The gates of the loops that are around a step and not around a place: another loop over the same is another one."""
    return [gate for number, gate in step.loops if (number, gate) not in place.loops]


def _told_again(before: list[_Message], after: list[_Message]) -> bool:
    """Whether each message comes again, in the same order, and wherever it came before."""
    left = iter(after)
    return all(any(_as_often(one, now) for now in left) for one in before)


def _as_often(one: _Message, now: _Message) -> bool:
    alike = one.given == now.given and now.needs <= one.needs
    return alike and (now.loops == one.loops or not now.looped)


def followed_otherwise(before: Walked, after: Walked) -> Iterator[str]:
    """Steps that follow what they read, after other actions than before."""
    one, other = _orders(before, after)
    known: dict[Origin, set[Origin]] = {}
    for step in before.steps:
        if follows := _follows(step):
            known.setdefault(step.what, set()).add(one.name(step, follows[0]))
    for step in after.steps:
        follows = _follows(step)
        if follows and step.what in known and other.name(step, follows[0]) not in known[step.what]:
            yield f"behind other things, which it may follow: {step.shown}"


def _follows(step: Done) -> tuple[Paths] | None:
    """The files that a step follows; None: no file."""
    if step.found:
        return (None,)
    return None if step.reads == NO_FILE else (step.reads,)


def found_otherwise(before: Walked, after: Walked) -> Iterator[str]:
    """Changes that only the old plan makes, where it looks later, as the new one does; other texts, where a step acts on them."""
    contents, kept = {step.given for step in before.steps}, {step.given for step in after.steps}
    follows = any(step.found for step in after.steps)
    for place, step in enumerate(after.acted):
        if step.given not in contents and (follows or _met(place, step, after.steps)):
            yield f"other text, which a later step may follow: {step.shown}"
    again = {step.what for step in after.steps}
    looks = [step for step in before.steps if step.what in again]
    seen = [now for name, now in before.seen.items() if name in after.seen]
    for place, step in enumerate(before.acted):
        if step.given in kept or step.changes == NO_FILE:
            continue
        if follows or _met(place, step, looks) or _met(place, step, seen):
            yield f"a later step may find what this one changed: {step.shown}"


def _met(place: int, step: Done, looks: Iterable[Done | Seen]) -> bool:
    """Whether one of them looks, after the step at a place or in the next round, at a file that the step changes."""
    return any(look.until > place and meet(step.changes, look.reads) for look in looks)


def unguarded(before: list[Done], after: list[Done]) -> Iterable[str]:
    """Steps behind fewer gates than before; for a new step, than those that it replaces."""
    known: dict[str, list[frozenset[str]]] = {}
    same: dict[str, list[frozenset[str]]] = {}
    for step in before:
        known.setdefault(step.given, []).append(step.gates)
        same.setdefault(step.what, []).append(step.gates)
    now = Counter(step.given for step in after)
    gone = frozenset(
        gate for step in before if step.acts and not now[step.given] for gate in step.gates
    )
    unused = {given: list(gates) for given, gates in known.items()}
    for step in sorted(after, key=lambda step: len(step.gates)):
        if step.given in known:
            left = unused[step.given]
            fitting = next((gates for gates in left if gates <= step.gates), None)
            if fitting is not None:
                left.remove(fitting)
            elif left or not any(gates <= step.gates for gates in known[step.given]):
                yield f"behind fewer gates: {step.shown}"
            continue
        elsewhere = step.stores and same.get(step.what)
        if (
            step.acts
            and not gone <= step.gates
            or elsewhere
            and not any(gates <= step.gates for gates in elsewhere)
        ):
            yield f"behind fewer gates than what it replaces: {step.shown}"


class _Order:
    """Names for the actions before a place, with the branches that do not contain the place."""

    def __init__(self, walked: Walked, steps: list[Done]) -> None:
        self.walked = walked
        self.kept = {id(step) for step in steps}
        self.known: dict[tuple[frozenset[str], Paths, Loops], list[Origin]] = {}

    def name(self, place: Done | Seen, reads: Paths = None) -> Origin:
        """The name at the place, and at the end of the loops around it, for what follows these files."""
        behind = place.gates & self.walked.branches
        key = behind, reads, place.loops
        if key not in self.known:
            names = self.known[key] = [told()]
            for step in self.walked.acted:
                ways = sorted(step.gates & self.walked.branches - behind)
                kept = id(step) in self.kept and (reads is None or meet(step.changes, reads))
                if kept:
                    names.append(told(names[-1], step.given, ways, _others(step, place)))
                else:
                    names.append(names[-1])
        names = self.known[key]
        return told(names[place.place], names[place.until])


def _orders(before: Walked, after: Walked) -> tuple[_Order, _Order]:
    """Without actions that only one plan has; these are reported themselves."""
    whats, givens = {step.what for step in before.acted}, {step.given for step in after.acted}
    return (
        _Order(before, [step for step in before.acted if step.given in givens]),
        _Order(after, [step for step in after.acted if step.what in whats]),
    )
