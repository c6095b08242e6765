"""Every run of a small program, by enumeration: the judge of what a certificate's checker says yes to.

It knows programs (`program.model`) and nothing of the checker. Sets of runs are built from the inside out: each condition goes
both ways unless the engine's own evaluation of constants says otherwise, loops over files run up to `FILES` times, the branches
of a fork in every order of their steps, and inside of a fork a branch may stop at every place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from fdc_toolchain.engine import rules
from fdc_toolchain.engine.events import Perform
from fdc_toolchain.engine.values import Unusable, holds

FILES = 3
"""How often a loop over files without `max` runs at most."""

VALUES = ("a.md", "d/b.md")
"""What an argument may be that depends on the run."""

MOST_STACK = 10
MOST_RUNS = 1500
MOST_STEPS = 9
_NONE: frozenset[str] = frozenset()


class TooMany(Exception):
    """The program has more runs than are worth enumerating."""


class Broken(Exception):
    """Some run does what no proved program does; the message says what."""


class Event(NamedTuple):
    """A step of a run: what the automaton at work reads of it, and what rules see."""

    symbol: str | None
    tool: str
    action: str | None
    args: tuple[tuple[str, str], ...]
    cycles: tuple[str, ...]


Trace = tuple[Event, ...]


class Way(NamedTuple):
    """One way through a body: its steps, the names bound afterwards, whether it came to the end."""

    trace: Trace
    names: frozenset[str]
    ended: bool


class Place(NamedTuple):
    """Where a body stands: its plan, the automata at work around it, the depth of the stack, whether it is in a fork."""

    key: str
    cycles: tuple[str, ...]
    governed: str | None
    depth: int
    forked: bool


def longest(program: dict[str, Any], claimed: set[int]) -> int:
    """The number of steps of the longest run. Raises Broken for a run that breaks an automaton, one of the `claimed` rules (by
    number), the limit of the stack, or that uses a name which nothing has bound. Raises TooMany."""
    found = Runs(program).plan(program["root"], (), None, 1, False)
    for trace, ended in found:
        _keeps_rules(program, claimed, trace, ended)
    return max((len(trace) for trace, _ in found), default=0)


def _keeps_rules(program: dict[str, Any], claimed: set[int], trace: Trace, ended: bool) -> None:
    if not claimed:
        return
    watched = rules.monitors(program)
    for event in trace:
        effect = Perform("", "tool", event.tool, dict(event.args), "", "pure", "", 1, False, ())
        seen = rules.noticed(
            watched, program["tools"][event.tool], effect, event.action, event.cycles
        )
        for monitor, value, letter in seen:
            after = monitor.after(value, letter)
            if after < 0 and watched.index(monitor) in claimed:
                raise Broken(f"{monitor.name} is broken by {event.tool}")
            monitor.at[value] = after
    for number in claimed if ended else ():
        if watched[number].unmet() is not None:
            raise Broken(f"{watched[number].name} is not kept at the end")


class Runs:
    """The runs of one program."""

    def __init__(self, program: dict[str, Any]) -> None:
        self.program = program
        self.known: dict[Any, set[tuple[Trace, bool]]] = {}

    def plan(
        self,
        key: str,
        cycles: tuple[str, ...],
        governed: str | None,
        depth: int,
        forked: bool,
        given: frozenset[str] = _NONE,
    ) -> set[tuple[Trace, bool]]:
        """The runs of a plan, as its caller's automaton reads them, and whether each comes to its end."""
        if depth > MOST_STACK:
            raise Broken(f"{key} is called at depth {depth}")
        known = (key, cycles, governed, depth, forked, given)
        if known in self.known:
            return self.known[known]
        plan = self.program["plans"][key]
        own = plan["automaton"]
        inner = cycles if own is None else (*cycles, own)
        names = {
            "run",
            *given,
            *(
                param["name"]
                for param in plan["params"]
                if param["default"] is not None or depth == 1
            ),
        }
        place = Place(key, inner, governed if own is None else own, depth, forked)
        ways = {(way.trace, way.ended) for way in self.body(place, plan["body"], frozenset(names))}
        if own is not None:
            for trace, ended in ways:
                self.accepted(own, trace, ended)
            ways = {
                (tuple(event._replace(symbol=None) for event in trace), ended)
                for trace, ended in ways
            }
        self.known[known] = ways
        return ways

    def accepted(self, name: str, trace: Trace, ended: bool) -> None:
        automaton = self.program["automata"][name]
        state = automaton["start"]
        for event in trace:
            if event.symbol is not None:
                after = automaton["transitions"].get(state, {}).get(event.symbol)
                if after is None:
                    raise Broken(f"{name} refuses {event.symbol} in {state}")
                state = after
        if ended and state not in automaton["accept"]:
            raise Broken(f"{name} does not accept in {state}")

    def body(self, place: Place, nodes: list[Any], names: frozenset[str]) -> set[Way]:
        ways = {Way((), names, True)}
        if place.forked:
            ways.add(Way((), names, False))
        for node in nodes:
            after = {way for way in ways if not way.ended}
            for way in ways - after:
                for more in self.node(place, node, way.names):
                    after.add(Way(way.trace + more.trace, more.names, more.ended))
                    if place.forked and more.ended:
                        after.add(Way(way.trace + more.trace, more.names, False))
            ways = after
            if len(ways) > MOST_RUNS or any(len(way.trace) > MOST_STEPS for way in ways):
                raise TooMany
        return ways

    def node(self, place: Place, node: dict[str, Any], names: frozenset[str]) -> Iterator[Way]:
        op = node["op"]
        for part in ("glob", "in", "cond", "value"):
            uses(node.get(part), names)
        for template in node.get("args", {}).values():
            uses(template, names)
        bound = names | ({node["bind"]} if node.get("bind") else set())
        if op == "step":
            for args in arguments(node["args"]):
                symbol = node["action"] if place.governed is not None else None
                yield Way(
                    (Event(symbol, node["tool"], node["action"], args, place.cycles),), bound, True
                )
        elif op == "call":
            given = frozenset(node["args"])
            for trace, ended in self.plan(
                node["plan"], place.cycles, place.governed, place.depth + 1, place.forked, given
            ):
                yield Way(trace, bound, ended)
        elif op == "if":
            for verdict in verdicts(node["cond"]):
                if verdict is None:
                    yield Way((), names, False)
                else:
                    yield from self.body(place, node["then" if verdict else "else"], names)
        elif op == "require":
            for verdict in verdicts(node["cond"]):
                yield Way((), names, verdict is True)
        elif op in ("skip", "yield"):
            yield Way((), bound, True)
        elif op == "iterate":
            yield from self.turns(place, node, names)
        elif op == "fork":
            for trace, ended in self.branches(place, node, names):
                yield Way(trace, bound, ended)
        else:
            most = FILES if node["max"] is None else min(node["max"], FILES + 1)
            own = {node.get("name"), node.get("alias")} - {None}
            some = {Way((), names, True)}
            for turn in range(most + 1):
                yield from (
                    Way(way.trace, bound if way.ended else names, way.ended) for way in some
                )
                if turn < most:
                    some = self.round(place, node["body"], {way for way in some if way.ended}, own)

    def round(self, place: Place, body: list[Any], ways: set[Way], own: set[str]) -> set[Way]:
        after = {
            Way(way.trace + more.trace, more.names, more.ended)
            for way in ways
            for more in self.body(place, body, way.names | own)
        }
        if len(after) > MOST_RUNS:
            raise TooMany
        return after

    def turns(self, place: Place, node: dict[str, Any], names: frozenset[str]) -> Iterator[Way]:
        some = {Way((), names, True)}
        for turn in range(node["max"]):
            some = self.round(place, node["body"], some, set())
            yield from (way for way in some if not way.ended)
            some = {way for way in some if way.ended}
            found = {False} if node["until"] is None else verdicts(node["until"])
            for way in some:
                uses(node["until"], way.names)
                if True in found or (turn + 1 == node["max"] and False in found):
                    yield way
                if None in found:
                    yield way._replace(ended=False)
            if False not in found:
                return

    def branches(
        self, place: Place, node: dict[str, Any], names: frozenset[str]
    ) -> set[tuple[Trace, bool]]:
        inside = place._replace(forked=True)
        branch = {
            (way.trace, way.ended)
            for way in self.body(inside, node["body"], names | {node["name"]})
        }
        found: set[tuple[Trace, bool]] = {((), True)}
        some = found
        for _ in range(min(node["max"], FILES)):
            some = {
                (one, ended and more)
                for left, ended in some
                for right, more in branch
                for one in shuffles(left, right)
            }
            found = found | some
            if len(found) > MOST_RUNS:
                raise TooMany
        keeps = node.get("keep") == "failures"
        return {(trace, ended or keeps) for trace, ended in found}


def shuffles(left: Trace, right: Trace) -> set[Trace]:
    """Every order of two runs at once."""
    if not left or not right:
        return {left + right}
    if len(left) + len(right) > 6:
        raise TooMany
    return {(left[0], *rest) for rest in shuffles(left[1:], right)} | {
        (right[0], *rest) for rest in shuffles(left, right[1:])
    }


def arguments(args: dict[str, list[Any]]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Every way in which the arguments of a step may come out."""
    options = [
        ["".join(part if isinstance(part, str) else value for part in template) for value in VALUES]
        if any(not isinstance(part, str) for part in template) else ["".join(template)]
        for template in args.values()
    ]  # fmt: skip
    for chosen in product(*options):
        yield tuple(zip(args, chosen, strict=True))


def uses(value: Any, names: frozenset[str]) -> None:
    """Raises Broken where a template or a condition reads a name that is not bound."""
    if isinstance(value, list):
        for one in value:
            uses(one, names)
    elif isinstance(value, dict) and "ref" in value:
        if value["ref"][0] not in names:
            raise Broken(f"{value['ref'][0]} is not bound")
    elif isinstance(value, dict):
        uses([one for key, one in value.items() if key != "const"], names)


def verdicts(cond: dict[str, Any]) -> set[bool | None]:
    """How a condition may come out; None: it stops the run."""
    if "not" in cond:
        return {None if one is None else not one for one in verdicts(cond["not"])}
    for key, ends in (("and", False), ("or", True)):
        if key in cond:
            found: set[bool | None] = {not ends}
            for one in cond[key]:
                found = {
                    now if now is ends or now is None else more
                    for now in found
                    for more in verdicts(one)
                }
            return found
    text = json.dumps(cond)
    if '"ref"' in text or '"call"' in text:
        return {True, False}
    try:
        return {holds(cond, {}, [])}
    except Unusable:
        return {None}
