"""Rules for loops, and what every statement's rule rests on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from ..linking.types import LIST, Type, list_of
from ..named_tuples import NamedTuple
from ..rules.bounds import MOST_STEPS
from ..syntax.language import STATEMENTS
from .form import (
    ALL,
    ANYWHERE,
    BRANCH,
    CHOSEN,
    COLLECTS,
    INNER,
    RESULT,
    ROUND,
    SAME,
    STORES,
    UNSTATED,
    Change,
    Form,
    Guard,
    Item,
    Literal,
    Use,
    Way,
    left,
    word,
)  # fmt: skip
from .own_values import given_by
from .place import OUTSIDE, Need, Place, Slot, known
from .steps import Steps
from .texts import Texts

FAR = 1 << 20
_ROUNDS = (2, 1, 1, 1)
"""Digits of how often a loop may run, by depth."""


class Outcome(NamedTuple):
    """What a statement does beside its text: the state after it, the bits that it sets, those that it clears."""

    items: tuple[Item, ...]
    after: str
    bits: int = 0
    gone: int = 0
    guard: Guard = ANYWHERE


class Owes(NamedTuple):
    """What a branch does for the statement around it: names that it binds (bits), and whether it may yield its result."""

    bits: int = 0
    result: bool = False

    def __str__(self) -> str:
        return (f"_o{self.bits:x}" if self.bits else "") + "_y" * self.result


class Loops:
    """The loops of one place. `near`: by depth and two states, the least number of statements that lead from one to the other."""

    place: Place
    form: Form
    texts: Texts
    steps: Steps
    slots: list[tuple[int, Slot]]
    near: dict[tuple[int, str, str], int]

    def body(
        self, state: str, goal: str, depth: int, change: Change = SAME, owes: Owes | None = None
    ) -> Use:
        """Statements from a state to another."""
        raise NotImplementedError

    def need(self, state: str, goal: str, depth: int) -> int:
        """The least number of statements that lead there."""
        return self.near.get((depth, state, goal), FAR)

    def owing(self, state: str, goal: str, depth: int, bits: int) -> bool:
        """Whether a body inside may be too short to bind these names."""
        far, each = self.need(state, goal, depth + 1), self.need(goal, goal, depth + 1)
        count = bits.bit_count()
        return far + each * count > self._inside(depth) if each < FAR else count > far

    def ends(self, state: str, depth: int) -> list[str]:
        """The states that a body inside of a statement can leave."""
        most = self._inside(depth)
        return [
            goal
            for goal in self.place.automaton.states
            if self.need(state, goal, depth + 1) <= most
        ]

    def _binding(
        self, number: int, items: tuple[Item, ...], after: str, guard: Guard = ANYWHERE
    ) -> Iterator[Outcome]:
        """`NAME <- ` and what gives it; names of one kind are bound in their order."""
        slot = self.place.slots[number]
        before = self.place.slots[number - 1] if number else None
        bits = guard.bits
        if (
            before is not None
            and before.made == slot.made == "step"
            and _stem(before.name) == _stem(slot.name)
        ):
            bits |= 1 << number - 1
        line = (Literal(f"{slot.name} <- "), *items)
        yield Outcome(line, after, 1 << number, guard=guard._replace(bits=bits))

    def _inside(self, depth: int) -> int:
        """How many statements a body inside of one may have."""
        if self.place.brief:
            return 2
        return self.place.most if self.place.free else max(2, self.place.most >> depth + 1)

    def _few(self) -> int:
        """Digits of how often a loop may run in a plan that states no budget: however its body is filled, lint asks for none."""
        if self.place.free or self.place.small:
            return 0
        most = prod(self._inside(depth) for depth in range(self.place.depth)) * self.place.most
        # Calls may take the other half.
        return min(len(str(MOST_STEPS // 2 // most)) - 1, _ROUNDS[0])

    def _enter(self, depth: int, *, bits: int = 0, gone: int = 0) -> Change:
        return Change(INNER & ~gone & ~self.steps.staged, bits | left(self._inside(depth)))

    def loops(self, state: str, depth: int) -> Iterator[Outcome]:
        """Every loop that may stand in a state. A round begins in a state that says what the rounds before it may have left."""
        for end in self._rounds(state, depth):
            inside = self.place.either(state, end)
            assert inside is not None
            yield from self._kinds(inside, end, depth, 0)
            if self._few():
                yield from self._kinds(inside, end, depth, ROUND)

    def _kinds(self, inside: str, end: str, depth: int, few: int) -> Iterator[Outcome]:
        """Every kind of loop. `few`: the bit that the body is given in a plan that states no budget."""
        for kind in (self._files, self._lists, self._iterates):
            for outcome in kind(inside, end, depth, few):
                guard = outcome.guard
                bits, clear = (UNSTATED, ROUND) if few else (0, UNSTATED)
                if not self.place.free:
                    guard = guard._replace(bits=guard.bits | bits, clear=guard.clear | clear)
                yield outcome._replace(guard=guard)

    def _iterates(self, inside: str, end: str, depth: int, few: int) -> Iterator[Outcome]:
        """`iterate`, which goes round once at least: of a plan's own names, those that it binds so are bound behind it and in
        its `until`."""
        for bits in (0, *(bits for at, bits in self.place.rounds if at == depth)):
            found = self.texts.condition(OUTSIDE - 1, apart=f"_b{bits:x}" if bits else "")
            if self.owing(inside, end, depth, bits):
                continue
            inner = self._enter(depth, bits=few, gone=RESULT | COLLECTS)
            body = self.body(inside, end, depth + 1, inner, Owes(bits))
            head = self._head("iterate", depth, "", (Literal("max"),), few)
            yield Outcome((head, body), end, bits)
            if found is not None:
                until = (Literal(" until "), Use(found[0].rule, Change(ALL, bits)))
                some = () if bits else (found[1],)
                head = self._head("iterate", depth, "until", (Literal("max"),), few, until, some)
                yield Outcome((head, body), end, bits)

    def _rounds(self, state: str, depth: int) -> list[str]:
        """The states in which a round may end: together with the first one they are where the next one begins."""
        out = []
        for end in self.place.automaton.states:
            inside = self.place.either(state, end)
            if end != state and (state, end) not in self.place.repeats:
                continue
            if inside is not None and self.need(inside, end, depth + 1) <= self._inside(depth):
                out.append(end)
        return out

    def _head(
        self,
        statement: str,
        depth: int,
        name: str,
        over: tuple[Item, ...],
        few: int,
        end: tuple[Item, ...] = (),
        some: tuple[int, ...] = (),
        bits: int = 0,
        clear: int = 0,
    ) -> Use:
        """The first line of a loop, which the loops of all states of one depth share."""
        most = self.texts.number(self._few() if few else _ROUNDS[min(depth, 3)])
        if self.place.free:
            own = [Way(word(str(number))) for number in self.place.turns]
            most = self.texts.put("turns", [Way((self.texts.number(1),)), *own])
        line = word(opening(statement), *over, Literal(" "), most, *end, Literal("\n"))
        ways = [Way(line, Guard(bits, clear, some=some))]
        if statement == "for_each_file":  # there it may be left out
            line = word(opening(statement), *over[:-1], Literal("\n"))
            ways.append(Way(line, Guard(bits, clear, some=some)))
        return self.texts.share(f"head_{statement}_{name}", ways)

    def _files(self, inside: str, end: str, depth: int, few: int) -> Iterator[Outcome]:
        """`for_each_file`: the path is `file1`, in a loop inside `file2`, and has one of a plan's own names besides."""
        free = self.place.free
        globs: list[tuple[Item, Guard]] = [(self.texts.files["glob"], ANYWHERE)]
        if free:
            globs = [
                (values["glob"][0], guard)
                for values, guard in given_by(self.texts, "for_each_file", False)
            ]
        others = [row for row in self.slots if free and row[1].made in ("item", "both")]
        before = 0
        # Where a model makes files, and what it was shown may be from outside, so are their names.
        named_outside = STORES if self.steps.makes and not free else 0
        for number, slot in self.slots:
            if slot.made != "file":
                continue
            bit = 1 << number
            for (glob, asks), (other, alias) in product(globs, ((None, None), *others)):
                named = bit if other is None else bit | 1 << other
                shown = () if alias is None else (Literal(f" as {alias.name}"),)
                inner = self._enter(depth, bits=named | few, gone=RESULT | COLLECTS)
                body = self.body(inside, end, depth + 1, inner)
                line = (glob, *shown, Literal(" max"))
                name = slot.name if alias is None else f"{slot.name}_{alias.name}"
                clear = bit | named_outside
                head = self._head(
                    "for_each_file", depth, name, line, few, bits=before | asks.bits, clear=clear
                )
                yield Outcome((head, body), inside, guard=asks)
            before |= bit

    def _lists(self, inside: str, end: str, depth: int, few: int) -> Iterator[Outcome]:
        """`for` and `fork` over a list, with and without a name for what they yield."""
        firsts = ("for",) if self.place.small else ("for", "fork")
        loops = [row for row in self.slots if row[1].made in ("item", "both")]
        for number, slot in loops:
            for level in (OUTSIDE - 1, OUTSIDE):
                over = [one for one in self.texts.fitting(self._items(slot), slot.level)
                        if (one.level == OUTSIDE) == (level == OUTSIDE)]  # fmt: skip
                if not over:
                    continue
                chosen = CHOSEN if level == OUTSIDE else 0
                some = sum(one.bit for one in over)
                name = f"over_{slot.name}_{level}"
                ways = [
                    Way(word(f" in {{{one.name}", *tail), Guard(one.bit))
                    for one in over
                    for tail in one.tails()
                ]
                line = (Literal(slot.name), self.texts.put(name, ways), Literal("} max"))
                for first in firsts:
                    # In a fork of which the order is not known, no step may change the state.
                    bits = 1 << number | chosen | few | (BRANCH if first == "fork" else 0)
                    for last in (
                        ("", " keep failures") if self.place.free and first == "fork" else ("",)
                    ):
                        shut = (Literal(last),) if last else ()
                        head = self._head(first, depth, slot.name, line, few, shut, (some,))
                        yield from self._list(inside, end, depth, head, bits, some)

    def _items(self, slot: Slot) -> Need:
        """A list whose items are of the types that a loop's name has."""
        lists = self.texts.needs("list")

        def items(kinds: tuple[Type, ...]) -> bool:
            found = {one for kind in kinds for one in known(kind.of_item())} if kinds else set()
            return (
                lists.fits(kinds)
                and found <= {*slot.kinds}
                and (self.place.free or bool(found) >= bool(slot.kinds))
            )

        return Need(f"items_{slot.name}", items)

    def _list(
        self, inside: str, end: str, depth: int, head: Use, bits: int, some: int
    ) -> Iterator[Outcome]:
        for gathers in (False,) if self.place.small else (False, True):
            gone = RESULT | (0 if gathers else COLLECTS)
            inner = self._enter(depth, bits=bits | (COLLECTS if gathers else 0), gone=gone)
            line: tuple[Item, ...] = (head, self.body(inside, end, depth + 1, inner))
            if not gathers:
                yield Outcome(line, inside)
                continue
            lists = {list_of(kind) for kind in self.place.collects} or {Type(LIST)}
            for number, slot in self.slots:
                if slot.made == "collected" or self.place.free and lists <= {*slot.kinds}:
                    # the name stands before what asks for a list
                    yield from self._binding(number, line, inside, Guard(some=(some,)))


def opening(statement: str) -> str:
    """The first word of a statement and the space behind it."""
    return f"{STATEMENTS[statement].word} "


def _stem(name: str) -> str:
    return name.rstrip("0123456789")
