"""Rules for statements and bodies: which may follow each other in which state of the automaton.

`body_Q_R_D` spells one statement or more that lead from state Q to state R, D bodies deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..linking.types import ANY, Type
from ..syntax.language import CONSTRUCTS, STATEMENTS
from .form import (
    ALL, BRANCH, CHOSEN, COLLECTS, INNER, RESULT, STORES, Change, Chars, Form, Guard, Item, Literal, Use, Way, left,
    word,
)  # fmt: skip
from .place import OUTSIDE, Call, Place
from .steps import Steps
from .texts import Texts

_FAR = 1 << 20
_BUDGET = 1_000_000
STORING = "# It may store text from outside, and runs no command.\n"
"""The comment that a plan begins with in which text of models and from outside may go into files."""
_ROUNDS = (2, 1, 1, 1)
"""Digits of how often a loop may run, by depth."""


class Outcome(NamedTuple):
    """What a statement does beside its text: the state after it, the bits that it sets, those that it clears."""

    items: tuple[Item, ...]
    after: str
    bits: int = 0
    gone: int = 0
    guard: Guard = Guard()


class Owes(NamedTuple):
    """What a branch does for the statement around it: names that it binds (bits), and whether it may yield its result."""

    bits: int = 0
    result: bool = False

    def __str__(self) -> str:
        return (f"_o{self.bits:x}" if self.bits else "") + "_y" * self.result


class Bodies:
    """The bodies of one place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.form = Form()
        self.texts = Texts(place, self.form)
        self.steps = Steps(self.texts)
        self.states = {state: number for number, state in enumerate(place.automaton.states)}
        self.slots = list(enumerate(place.slots))
        self.near = self._distances()

    def _distances(self) -> dict[tuple[str, str], int]:
        """The least number of statements, one at least, from a state to another."""
        moves: dict[str, set[str]] = {}
        for state, row in self.place.automaton.transitions.items():
            moves[state] = {to for action, to in row.items() if self.steps.unbound([action], 0) is not None}
            if self.steps.unbound([None], 0) is not None and state not in self.place.ended:
                moves[state].add(state)
            if self.place.free:
                moves[state] |= {to for call in self.place.calls if (to := self._left(call, state)) is not None}
        out: dict[tuple[str, str], int] = {}
        for start in moves:
            ring, count = {start}, 0
            while ring and count <= len(moves):
                count += 1
                ring = {to for state in ring for to in moves[state] if (start, to) not in out}
                out.update({(start, to): count for to in ring})
        return out

    def need(self, state: str, goal: str) -> int:
        """The least number of statements that lead there."""
        return self.near.get((state, goal), _FAR)

    # ---- plans -------------------------------------------------------------------------

    def plan(self) -> Form:
        """The whole form."""
        place, automaton = self.place, self.place.automaton
        begins = automaton.states if place.fragment else (automaton.start,)
        goals = automaton.states if place.fragment else tuple(sorted(automaton.accept))
        first = [
            Way((self.body(state, goal, 0),))
            for state in begins
            for goal in goals
            if self.need(state, goal) <= place.most
        ]
        self.form.put("first", first)
        after = Use("first")
        inputs = [number for number, slot in self.slots if slot.made == "param"]
        for number in reversed(inputs):
            line = word(f"param {place.slots[number].name}")
            given = Change(ALL, 1 << number)
            name = f"head{number}"
            self.texts.put("default", [Way((Chars("a-z0-9", 1, 20),))])
            ways = [
                Way((Use("first"),)),
                Way((*line, Literal("\n"), Use(after.rule, given))),
                Way((*line, Literal(" = "), Use("default"), Literal("\n"), Use(after.rule, given))),
            ]
            self.form.put(name, ways)
            after = Use(name)
        if place.free:
            ways = [Way(word(place.head, after))]
        else:
            budget = Literal(f"{STATEMENTS['budget'].word} steps {_BUDGET}\n")
            stores = (Literal(STORING), budget, Use(after.rule, Change(ALL, STORES)))
            ways = [Way(word(place.head, *stores))] + [Way(word(place.head, budget, after))] * (not place.outside)
        self.form.put("start", ways)
        self.form.entries = [left(place.most) | place.given | RESULT]
        return self.form

    # ---- bodies ------------------------------------------------------------------------

    def body(self, state: str, goal: str, depth: int, change: Change = Change(), owes: Owes = Owes()) -> Use:
        """Statements from a state to another."""
        name = f"body_{self.states[state]}_{self.states[goal]}_{depth}{owes}"
        if name not in self.form.rules:
            self.form.put(name, [])
            self.form.rules[name] += self._ways(state, goal, depth, owes)
        return Use(name, change)

    def _ways(self, state: str, goal: str, depth: int, owes: Owes) -> Iterator[Way]:
        indent = (Literal("  " * depth),) if depth else ()
        for outcome in self._outcomes(state, depth):
            guard, after = outcome.guard, outcome.after
            far = 0 if after == goal else self.need(after, goal)
            if far >= _FAR:
                continue
            clear = guard.clear | (BRANCH if after != state or goal != state else 0)
            one = guard._replace(clear=clear, left=max(guard.left, 1 + far))
            rest = Use(self._rest(after, goal, depth, owes), Change(ALL & ~outcome.gone, outcome.bits))
            yield Way((*indent, *outcome.items, rest), one)

    def _rest(self, state: str, goal: str, depth: int, owes: Owes) -> str:
        """The end of a body, or more statements."""
        name = f"rest_{self.states[state]}_{self.states[goal]}_{depth}{owes}"
        if name not in self.form.rules:
            self.form.put(name, [])
            ways = [Way((), Guard(owes.bits))] if state == goal else []
            least = self.need(state, goal)
            if least < _FAR:
                more = self.body(state, goal, depth, Change(less=True), owes)
                ways.append(Way((more,), Guard(left=1 + least)))
            self.form.rules[name] += ways
        return name

    # ---- statements --------------------------------------------------------------------

    def _outcomes(self, state: str, depth: int) -> Iterator[Outcome]:
        row = self.place.automaton.transitions[state]
        ended = state in self.place.ended
        moves: dict[str, list[str | None]] = {} if ended else {state: [None]}
        for action, to in row.items():
            moves.setdefault(to, []).append(action)
        for after, actions in moves.items():
            plain = self.steps.unbound(actions, depth)
            if plain is not None:
                yield Outcome((plain,), after)
            for number, slot in self.slots:
                given = self.steps.bound(actions, depth, slot)
                if given is not None:
                    yield from self._binding(number, (given,), after)
        yield from self._yields(state)
        yield from self._gates(state)
        if not ended:
            yield from self._calls(state, depth)
        if depth < self.place.depth:
            yield from self._choices(state, depth)
            yield from self._loops(state, depth)

    def _binding(self, number: int, items: tuple[Item, ...], after: str, guard: Guard = Guard()) -> Iterator[Outcome]:
        """`NAME <- ` and what gives it; names of one kind are bound in their order."""
        slot = self.place.slots[number]
        before = self.place.slots[number - 1] if number else None
        bits = guard.bits
        if before is not None and before.made == slot.made == "step" and _stem(before.name) == _stem(slot.name):
            bits |= 1 << number - 1
        line = (Literal(f"{slot.name} <- "), *items)
        yield Outcome(line, after, 1 << number, guard=guard._replace(bits=bits))

    def _yields(self, state: str) -> Iterator[Outcome]:
        line = word(_first("yield"), self.texts.value("any", OUTSIDE), Literal("\n"))
        yield Outcome(line, state, guard=Guard(COLLECTS))
        yield Outcome(line, state, gone=RESULT, guard=Guard(RESULT, COLLECTS))

    def _gates(self, state: str) -> Iterator[Outcome]:
        found = self.texts.condition(OUTSIDE)
        if found is not None:
            why = (Literal(' else "'), Chars("A-Za-z"), Chars("A-Za-z0-9 ,._'-", 0, 80), Literal('"\n'))
            yield Outcome(word(_first("require"), found[0], *why), state, guard=Guard(some=found[1]))

    def _left(self, call: Call, state: str) -> str | None:
        """The state that a call leaves; None where it cannot be called."""
        if call.ends is None:
            return None if state in self.place.ended else state
        return call.ends.get(state)

    def _calls(self, state: str, depth: int) -> Iterator[Outcome]:
        """A plan that is called is given what the plan says, and may do whatever its own text does. Where values are
        followed, one is called outside of loops and branches only."""
        free = self.place.free
        if depth and not free:
            return
        ends: dict[tuple[str, Guard], list[Call]] = {}
        for call in self.place.calls:
            after = self._left(call, state)
            guard = Guard() if free else Guard(STORES if call.outside else 0, STORES if call.acts else 0)
            if after is not None:
                ends.setdefault((after, guard), []).append(call)
        for (after, guard), calls in ends.items():
            # Which plans may be called, and what they leave, is the same for all states of one number.
            name = "call_" + "_".join(str(self.place.calls.index(call)) for call in calls)
            line = self.texts.put(name, [Way((self._call(call), Literal("\n"))) for call in calls])
            if free:
                depth = (Literal(" "), Literal("depth "), self.texts.number(1), Literal("\n"))
                self.form.rules[name] += [Way((self._call(call), *depth)) for call in calls]
            yield Outcome((line,), after, guard=guard)
            for number, slot in self.slots:
                if slot.made in ("call", "any"):
                    yield from self._binding(number, (line,), after, guard)

    def _call(self, call: Call) -> Use:
        """A call with its arguments: in the order of the plan's own parameters, or in any order for a plan's own names."""
        free = self.place.free
        value = self.texts.value("any" if free else "text", OUTSIDE if free else 0)
        names = (*call.required, *call.optional) if free else call.required
        title = f"call{self.place.calls.index(call)}"

        def rule(rest: tuple[str, ...]) -> Use:
            name = f"{title}_{'_'.join(str(names.index(one)) for one in rest)}"
            if name not in self.form.rules:
                self.form.put(name, [])
                ways = [] if set(rest) & set(call.required) else [Way(())]
                for at, one in enumerate(rest):
                    more = rest[:at] + rest[at + 1 :] if free else rest[at + 1 :]
                    ways.append(Way((Literal(" "), Literal(f"{one}="), value, rule(more))))
                    if not free and one in call.required:
                        break
                self.form.put(name, ways)
            return Use(name)

        first = word(_first("call_plan") + call.name, rule(names))
        return self.texts.put(title, [Way(first)])

    def _inside(self, depth: int) -> int:
        """How many statements a body inside of one may have."""
        return self.place.most if self.place.free else max(2, self.place.most >> depth + 1)

    def _enter(self, depth: int, *, bits: int = 0, gone: int = 0) -> Change:
        return Change(INNER & ~gone, bits | left(self._inside(depth)))

    def _choices(self, state: str, depth: int) -> Iterator[Outcome]:
        for level, chosen in ((OUTSIDE - 1, 0), (OUTSIDE, CHOSEN)):
            found = self.texts.condition(level, only=bool(chosen))
            if found is None or chosen and (self.place.free or self.place.small):
                continue
            guard = Guard(some=found[1])
            head = word(_first("if"), found[0], Literal("\n"))
            for goal in self.states:
                if self.need(state, goal) <= self._inside(depth):
                    yield from self._branches(state, goal, depth, head, guard, chosen)

    def _branches(
        self, state: str, goal: str, depth: int, head: tuple[Item, ...], guard: Guard, chosen: int
    ) -> Iterator[Outcome]:
        """An `if` with its body and its `else`. A name that both bind is bound behind it: of a plan's own names, those that
        the plan has bound so."""
        free = self.place.free
        for gone in (RESULT, 0) if free else (RESULT,):
            asked = guard if gone else guard._replace(bits=RESULT)
            for joined in (0, *self.place.joined):
                inner = self._enter(depth, bits=chosen, gone=gone)
                body = self.body(state, goal, depth + 1, inner, Owes(joined, not gone))
                indent = (Literal("  " * depth),) if depth else ()
                orelse = (*head, body, *indent, Literal(_ELSE + "\n"), body)
                yield Outcome(orelse, goal, joined, RESULT & ~gone, asked)
                if not joined and state == goal:
                    yield Outcome((*head, body), goal, 0, RESULT & ~gone, asked)

    def _loops(self, state: str, depth: int) -> Iterator[Outcome]:
        rounds = self.texts.number(_ROUNDS[min(depth, 3)] if not self.place.free else 3)
        yield from self._files(state, depth, rounds)
        yield from self._lists(state, depth, rounds)
        body = self.body(state, state, depth + 1, self._enter(depth, gone=RESULT | COLLECTS))
        if self.need(state, state) > self._inside(depth):
            return
        head = word(_first("iterate") + "max ", rounds)
        yield Outcome((*head, Literal("\n"), body), state)
        found = self.texts.condition(OUTSIDE - 1)
        if found is not None:
            yield Outcome((*head, Literal(" until "), found[0], Literal("\n"), body), state, guard=Guard(some=found[1]))

    def _files(self, state: str, depth: int, rounds: Use) -> Iterator[Outcome]:
        """`for_each_file`: the path is `file1`, in a loop inside `file2`."""
        if self.need(state, state) > self._inside(depth):
            return
        globs: list[Item] = [self.texts.files["glob"]]
        one = self.texts.reference("text", 1)
        if one is not None:
            globs.append(one)
        before = 0
        for number, slot in self.slots:
            if slot.made != "file":
                continue
            bit = 1 << number
            inner = self._enter(depth, bits=bit, gone=RESULT | COLLECTS)
            body = self.body(state, state, depth + 1, inner)
            for glob in globs:
                line = word(_first("for_each_file"), glob, Literal(" max "), rounds, Literal("\n"), body)
                yield Outcome(line, state, guard=Guard(before, bit))
            before |= bit

    def _lists(self, state: str, depth: int, rounds: Use) -> Iterator[Outcome]:
        """`for` and `fork` over a list, with and without a name for what they yield."""
        if self.need(state, state) > self._inside(depth):
            return
        firsts = ("for",) if self.place.small else ("for", "fork")
        for number, slot in self.slots:
            for level in (OUTSIDE - 1, OUTSIDE):
                over = [one for one in self.texts.fitting("list", OUTSIDE) if self._items(one.kind, one.level, number)
                        and (one.level == OUTSIDE) == (level == OUTSIDE)]  # fmt: skip
                if not over:
                    continue
                chosen = CHOSEN if level == OUTSIDE else 0
                some = 0
                for one in over:
                    some |= one.bit
                name = "over_" + ("free" if self.place.free else f"{slot.name}_{level}")
                ways = [Way(word(f" in {{{one.path}"), Guard(one.bit)) for one in over]
                if self.place.free:
                    ways += [Way((*way.items, self.texts.field()), way.guard) for way in ways]
                lists = self.texts.put(name, ways)
                for first in firsts:
                    bits = 1 << number | chosen | (BRANCH if first == "fork" and not self.place.free else 0)
                    head = (Literal(f"{_first(first)}{slot.name}"), lists, Literal("} max "), rounds)
                    yield from self._list(state, depth, head, Guard(some=some), bits, first)

    def _items(self, kind: Type | None, level: int, number: int) -> bool:
        slot = self.place.slots[number]
        if slot.made == "any":
            return True
        if slot.made != "item" or slot.level < level:
            return False
        item = ANY if kind is None else kind.of_item()
        return item == (ANY if slot.kind is None else slot.kind)

    def _list(
        self, state: str, depth: int, head: tuple[Item, ...], guard: Guard, bits: int, first: str
    ) -> Iterator[Outcome]:
        free = self.place.free
        for gathers in (False,) if self.place.small else (False, True):
            gone = RESULT | (0 if gathers else COLLECTS)
            inner = self._enter(depth, bits=bits | (COLLECTS if gathers else 0), gone=gone)
            body = self.body(state, state, depth + 1, inner)
            for end in ("\n", " keep failures\n") if free and first == "fork" else ("\n",):
                line: tuple[Item, ...] = (*head, Literal(end), body)
                if not gathers:
                    yield Outcome(line, state, guard=guard)
                    continue
                for number, slot in self.slots:
                    if slot.made in ("collected", "any"):
                        yield from self._binding(number, line, state, guard)


def _first(statement: str) -> str:
    return f"{STATEMENTS[statement].word} "


def _stem(name: str) -> str:
    return name.rstrip("0123456789")


_ELSE = next(row.word for row in CONSTRUCTS if row.part)
