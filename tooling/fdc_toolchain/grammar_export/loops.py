"""Rules for loops, and what every statement's rule rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..linking.types import ANY, Type
from ..syntax.language import STATEMENTS
from .form import (
    ANYWHERE,
    BRANCH,
    CHOSEN,
    COLLECTS,
    INNER,
    RESULT,
    SAME,
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
from .place import OUTSIDE, Place, Slot
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
    """The loops of one place. `near`: by two states, the least number of statements that lead from one to the other."""

    place: Place
    form: Form
    texts: Texts
    steps: Steps
    slots: list[tuple[int, Slot]]
    near: dict[tuple[str, str], int]

    def body(
        self, state: str, goal: str, depth: int, change: Change = SAME, owes: Owes | None = None
    ) -> Use:
        """Statements from a state to another."""
        raise NotImplementedError

    def need(self, state: str, goal: str) -> int:
        """The least number of statements that lead there."""
        return self.near.get((state, goal), FAR)

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

    def _enter(self, depth: int, *, bits: int = 0, gone: int = 0) -> Change:
        return Change(INNER & ~gone, bits | left(self._inside(depth)))

    def loops(self, state: str, depth: int) -> Iterator[Outcome]:
        """Every loop that may stand in a state."""
        rounds = self.texts.number(_ROUNDS[min(depth, 3)] if not self.place.free else 3)
        yield from self._files(state, depth, rounds)
        yield from self._lists(state, depth, rounds)
        body = self.body(state, state, depth + 1, self._enter(depth, gone=RESULT | COLLECTS))
        if self.need(state, state) > self._inside(depth):
            return
        head = word(opening("iterate") + "max ", rounds)
        yield Outcome((*head, Literal("\n"), body), state)
        found = self.texts.condition(OUTSIDE - 1)
        if found is not None:
            yield Outcome(
                (*head, Literal(" until "), found[0], Literal("\n"), body),
                state,
                guard=Guard(some=found[1]),
            )

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
                line = word(
                    opening("for_each_file"), glob, Literal(" max "), rounds, Literal("\n"), body
                )
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
                    bits = (
                        1 << number
                        | chosen
                        | (BRANCH if first == "fork" and not self.place.free else 0)
                    )
                    head = (
                        Literal(f"{opening(first)}{slot.name}"),
                        lists,
                        Literal("} max "),
                        rounds,
                    )
                    yield from self._list(state, depth, head, Guard(some=some), bits, first)

    def _items(self, kind: Type | None, level: int, number: int) -> bool:
        slot = self.place.slots[number]
        if self.place.free:
            return slot.made in ("item", "both")
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
                    if slot.made in ("collected", "any", "both"):
                        yield from self._binding(number, line, state, guard)


def opening(statement: str) -> str:
    """The first word of a statement and the space behind it."""
    return f"{STATEMENTS[statement].word} "


def _stem(name: str) -> str:
    return name.rstrip("0123456789")
