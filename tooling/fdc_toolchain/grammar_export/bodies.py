"""Rules for statements and bodies: which may follow each other in which state of the automaton.

`body_Q_R_D` spells one statement or more that lead from state Q to state R, D bodies deep.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..linking.types import TEXTS, Type
from ..rules.bounds import MOST_STEPS
from ..syntax.language import CONSTRUCTS, STATEMENTS
from .form import (
    ALL,
    ANYWHERE,
    BRANCH,
    CHOSEN,
    COLLECTS,
    PLACES,
    RESULT,
    SAME,
    STAGED,
    STORES,
    UNSTATED,
    Change,
    Chars,
    Form,
    Guard,
    Item,
    Literal,
    Use,
    Way,
    left,
    word,
)  # fmt: skip
from .loops import FAR, Loops, Outcome, Owes, opening
from .own_values import given_by
from .place import OUTSIDE, Call, Need, Place
from .steps import ADDS, COMMITS, Steps
from .texts import Texts

STORING = "# It may store text from outside, and runs no command.\n"
"""The comment that a plan begins with in which text of models and from outside may go into files."""


class Bodies(Loops):
    """The bodies of one place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.form = Form()
        self.texts = Texts(place, self.form)
        self.steps = Steps(self.texts)
        self.states = {state: number for number, state in enumerate(place.automaton.states)}
        self.slots = list(enumerate(place.slots))
        self.near: dict[tuple[int, str, str], int] = {}
        self._distances()

    def _distances(self) -> None:
        """By depth, the least number of statements, one at least, from a state to another: where a place allows less, as many as
        there. A plan's own names are those of one place."""
        if self.place.free:
            self._ways_about(0, self.near)
        for flags in () if self.place.free else PLACES:
            found: dict[tuple[int, str, str], int] = {}
            self._ways_about(flags, found)
            self.near.update({key: max(far, self.near.get(key, 0)) for key, far in found.items()})

    def _ways_about(self, flags: int, out: dict[tuple[int, str, str], int]) -> None:
        def stands(action: str | None, own: str = "") -> bool:
            use = self.steps.unbound([action], 0, own)
            return use is not None and (self.place.free or self.form.firm_in(use, flags))

        moves: dict[str, set[str]] = {}
        for state, row in self.place.automaton.transitions.items():
            moves[state] = {
                to for action, to in row.items() if any(stands(action, own) for own in ("", ADDS))
            }
            if stands(None) and state not in self.place.ended:
                moves[state].add(state)
            if self.place.free:
                moves[state] |= {
                    to for call in self.place.calls if (to := self._left(call, state)) is not None
                }
        for depth in range(self.place.depth, -1, -1):
            if depth < self.place.depth and self.place.unions:
                # What only a choice or a loop leaves: the one state or the other.
                for state in moves:
                    ends = self.ends(state, depth)
                    found = {
                        self.place.either(one, other)
                        for before, one, other in self.place.choices
                        if before == state and one in ends and other in ends
                    }
                    found |= {self.place.either(state, end) for end in self._rounds(state, depth)}
                    moves[state] |= {to for to in found if to is not None}
            for start in moves:
                ring, count = {start}, 0
                while ring and count <= len(moves):
                    count += 1
                    ring = {
                        to for state in ring for to in moves[state] if (depth, start, to) not in out
                    }
                    out.update({(depth, start, to): count for to in ring})

    # ---- plans -------------------------------------------------------------------------

    def plan(self) -> Form:
        """The whole form."""
        place = self.place
        first = [
            Way((self.body(state, goal, 0),))
            for state, goals in place.ways
            for goal in goals
            if self.need(state, goal, 0) <= place.most
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
            budget = Literal(f"{STATEMENTS['budget'].word} steps {MOST_STEPS}\n")
            ways = []
            for bits in (STORES,) if place.outside else (STORES, 0):
                head = word(place.head, *word(STORING)) if bits else word(place.head)
                ways.append(Way((*head, budget, Use(after.rule, Change(ALL, bits)))))
                # Without parameters loops run few rounds in both.
                unstated = 0 if place.small else UNSTATED
                ways.append(Way((*head, Use(after.rule, Change(ALL, bits | unstated)))))
        self.form.put("start", ways)
        self.form.entries = [left(place.most) | place.given | RESULT]
        return self.form

    # ---- bodies ------------------------------------------------------------------------

    def body(
        self, state: str, goal: str, depth: int, change: Change = SAME, owes: Owes | None = None
    ) -> Use:
        """Statements from a state to another."""
        owes = owes or Owes()
        name = f"body_{self.states[state]}_{self.states[goal]}_{depth}{owes}"
        if name not in self.form.rules:
            self._begin(name)
            self.form.rules[name] += self._ways(state, goal, depth, owes)
        return Use(name, change)

    def _begin(self, name: str) -> None:
        self.form.put(name, [])
        if not self.place.free:
            self.form.firm.add(name)

    def _ways(self, state: str, goal: str, depth: int, owes: Owes) -> Iterator[Way]:
        """What may come first in a body: statements that bind the same and leave the same state are one rule, which all
        bodies share that begin in that state."""
        indent = (Literal("  " * depth),) if depth else ()
        groups: dict[tuple[str, int, int], list[Way]] = {}
        for outcome in self._outcomes(state, goal, depth, owes):
            way = Way(outcome.items, outcome.guard)
            groups.setdefault((outcome.after, outcome.bits, outcome.gone), []).append(way)
        for (after, bits, gone), ways in groups.items():
            far = 0 if after == goal else self.need(after, goal, depth)
            if far >= FAR:
                continue
            clear = BRANCH if after != state or goal != state else 0
            # A branch that may yield the plan's result is told by nothing in the text from one that may not.
            statement = self.texts.share(f"say_{self.states[state]}_{depth}", ways, owes.result)
            rest = Use(self._rest(after, goal, depth, owes), Change(ALL & ~gone, bits))
            for guard in _owed(owes.bits, bits, far, self.need(goal, goal, depth)):
                yield Way((*indent, statement, rest), guard._replace(clear=guard.clear | clear))

    def _rest(self, state: str, goal: str, depth: int, owes: Owes) -> str:
        """The end of a body, or more statements."""
        name = f"rest_{self.states[state]}_{self.states[goal]}_{depth}{owes}"
        if name not in self.form.rules:
            self._begin(name)
            ways = [Way((), Guard(owes.bits))] if state == goal else []
            least = self.need(state, goal, depth)
            if least < FAR:
                more = self.body(state, goal, depth, Change(less=True), owes)
                far = 0 if state == goal else least
                guards = list(_owed(owes.bits, 0, far, self.need(goal, goal, depth)))
                guards[-1] = guards[-1]._replace(left=1 + least)  # nothing is missing
                ways += [Way((more,), guard) for guard in guards]
            self.form.rules[name] += ways
        return name

    # ---- statements --------------------------------------------------------------------

    def _outcomes(self, state: str, goal: str, depth: int, owes: Owes) -> Iterator[Outcome]:
        row = self.place.automaton.transitions[state]
        ended = state in self.place.ended
        moves: dict[str, list[str | None]] = {} if ended else {state: [None]}
        for action, to in row.items():
            moves.setdefault(to, []).append(action)
        for after, actions in moves.items():
            for own, bits, gone in (("", 0, 0), (ADDS, STAGED, 0), (COMMITS, 0, STAGED)):
                plain = self.steps.unbound(actions, depth, own)
                if plain is not None:
                    for guard in self._asked(plain):
                        yield Outcome((plain,), after, bits, gone, guard)
                for number, slot in self.slots:
                    owed = bool(owes.bits >> number & 1)
                    given = self.steps.bound(actions, depth, slot, owed, own)
                    if given is not None:
                        for guard in self._asked(given):
                            for outcome in self._binding(number, (given,), after, guard):
                                yield outcome._replace(bits=outcome.bits | bits, gone=gone)
        yield from self._yields(state)
        yield from self._gates(state)
        # What a body or another plan commits is not told by its first line.
        if not ended:
            for outcome in self._calls(state, depth):
                yield outcome._replace(gone=outcome.gone | self.steps.staged)
        if depth < self.place.depth:
            for compound in (self._choices(state, goal, depth), self.loops(state, depth)):
                for outcome in compound:
                    yield outcome._replace(gone=outcome.gone | self.steps.staged)

    def _yields(self, state: str) -> Iterator[Outcome]:
        for number, guard in enumerate((Guard(COLLECTS), Guard(RESULT, COLLECTS))):
            values: list[Item] = [self.texts.value("any", OUTSIDE)]
            if self.place.free and not number:
                values = self._as_given("collected", self.place.collects)
            for value in values:
                line = word(opening("yield"), value, Literal("\n"))
                yield Outcome(line, state, gone=RESULT * number, guard=guard)

    def _gates(self, state: str) -> Iterator[Outcome]:
        found = self.texts.condition(OUTSIDE)
        if found is not None:
            why = (
                Literal(' else "'),
                Chars("A-Za-z"),
                Chars("A-Za-z0-9 ,._'`-", 0, 80),
                Literal('"\n'),
            )
            yield Outcome(
                word(opening("require"), found[0], *why), state, guard=Guard(some=(found[1],))
            )

    def _asked(self, use: Use) -> list[Guard]:
        """Where a statement can be written: one of these must hold. Where values are followed, these are only the names of which
        one must be bound, if no such statement does without."""
        found = self.form.leaves(use)
        if not self.place.free and (Guard() in found or not any(guard.some for guard in found)):
            return [ANYWHERE]
        return sorted(
            guard for guard in found
            if not any(
                less != guard and not less.bits & ~guard.bits and not less.clear & ~guard.clear and {*less.some} <= {*guard.some}
                for less in found
            )
        )  # fmt: skip

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
        ends: dict[tuple[str, Guard, frozenset[str]], list[Call]] = {}
        for call in self.place.calls:
            after = self._left(call, state)
            guard = (
                Guard(clear=BRANCH * call.shares)
                if free
                else Guard(STORES * call.outside, UNSTATED * call.costs | STORES * call.acts)
            )
            if after is not None and not (call.costs and self.place.small):
                ends.setdefault((after, guard, call.binds), []).append(call)
        for (after, guard, binds), calls in ends.items():
            # Which plans may be called, and what they leave, is the same for all states of one number.
            name = "call_" + "_".join(str(self.place.calls.index(call)) for call in calls)
            line = self.texts.put(name, [Way((self._call(call), Literal("\n"))) for call in calls])
            for asks in self._asked(line):
                both = guard._replace(bits=guard.bits | asks.bits, clear=guard.clear | asks.clear)
                yield Outcome((line,), after, guard=both)
                for number, slot in self.slots:
                    if slot.made == "call" or slot.name in binds:
                        yield from self._binding(number, (line,), after, both)

    def _call(self, call: Call) -> Use:
        """A call with its arguments."""
        first = f"{opening('call_plan')}{call.name}"
        if not self.place.free:
            values: dict[str, list[Item]] = {
                name: [self.texts.value("text", 0)] for name in call.required
            }
            given = self.texts.arguments(first, values, call.required, (), False)
            return self.texts.share("call", [Way(word(first, given))])
        deep = (Literal(" depth "), self.texts.number(1)) if call.deep else ()
        moves = call.ends is not None and any(one != other for one, other in call.ends.items())
        ways = []
        for values, guard in given_by(self.texts, first, moves):
            given = self.texts.arguments(first, values, {*values}, (), False)
            ways.append(Way(word(first, given, *deep), guard))
        return self.texts.share("call", ways)

    def _as_given(self, name: str, kinds: frozenset[Type]) -> list[Item]:
        """A value of one of the types that a plan gives somewhere."""
        need = Need(
            "".join(c if c.isalnum() else "_" for c in name), lambda found: {*found} <= kinds
        )
        if any(kind.kinds & TEXTS for kind in kinds):
            return [self.texts.value(need, OUTSIDE)]
        one = self.texts.reference(need, OUTSIDE)
        self.texts.value("any", OUTSIDE)
        names = sum(row.bit for row in self.texts.fitting(need, OUTSIDE))
        # Where no such name is bound, there must be a way on.
        other = Way((Use("word"),), Guard(clear=names))
        return [self.texts.share("given", [*([Way((one,))] if one else []), other])]

    def _choices(self, state: str, goal: str, depth: int) -> Iterator[Outcome]:
        """Every `if` that may stand in a state. Inside of a body it leaves the state as it is, or is the body's end, or leaves
        what a plan's own `if` leaves there: all else would make a grammar twice as large."""
        free = self.place.free
        for level, chosen in ((OUTSIDE - 1, 0), (OUTSIDE, CHOSEN)):
            found = self.texts.condition(level, only=bool(chosen))
            if found is None or chosen and (free or self.place.small):
                continue
            line = word(opening("if"), found[0], Literal("\n"))
            head = self.texts.share("head_if", [Way(line, Guard(some=(found[1],)))])
            ends = self.ends(state, depth)
            for one in ends:
                for other in ends:
                    after = self.place.either(one, other)
                    usual = one == other and (not (free or depth) or after in (state, goal))
                    if after is not None and (usual or (state, one, other) in self.place.choices):
                        yield from self._branches(state, one, other, after, depth, head, chosen)

    def _branches(
        self, state: str, one: str, other: str, after: str, depth: int, head: Use, chosen: int
    ) -> Iterator[Outcome]:
        """An `if` with its body and its `else`. A name that both bind is bound behind it: of a plan's own names, those that
        the plan has bound so."""
        for gone in (RESULT, 0) if self.place.yields else (RESULT,):
            guard = ANYWHERE if gone else Guard(RESULT)
            for joined in (0, *(bits for at, bits in self.place.joined if at == depth)):
                if any(self.owing(state, end, depth, joined) for end in (one, other)):
                    continue
                inner, owes = self._enter(depth, bits=chosen, gone=gone), Owes(joined, not gone)
                then, orelse = (
                    self.body(state, end, depth + 1, inner, owes) for end in (one, other)
                )
                middle = Literal("  " * depth + _ELSE + "\n")
                yield Outcome((head, then, middle, orelse), after, joined, RESULT & ~gone, guard)
            if other == state:
                # Without an `else` it may leave everything as it is.
                inner = self._enter(depth, bits=chosen, gone=gone)
                body = self.body(state, one, depth + 1, inner, Owes(0, not gone))
                yield Outcome((head, body), after, 0, RESULT & ~gone, guard)


def _owed(owed: int, bits: int, far: int, each: int) -> Iterator[Guard]:
    """What a statement asks that binds `bits`, where a body still owes names and its end is `far` away, by which of them are
    missing, none at last: each may take a way from the end round to it (`each` statements), or a statement on the way there."""
    for missing in _subsets(owed):
        count = (missing & ~bits).bit_count()
        if each < FAR or count <= far:
            more = each * count if each < FAR else 0
            yield Guard(owed & ~missing, missing, 1 + far + more)


def _subsets(bits: int) -> Iterator[int]:
    some = bits
    while some:
        yield some
        some = some - 1 & bits
    yield 0


_ELSE = next(row.word for row in CONSTRUCTS if row.part)
