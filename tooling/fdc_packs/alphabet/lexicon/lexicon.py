"""The graph of a dictionary: which words a definition uses. What leads back to itself, and what can be said with what.

A word is *grounded* by a set of words when it is one of them, or when its definition uses grounded words only: the least
fixed point, so that a circle of definitions grounds nothing by itself. A definition that names its own word is read
without that word; that it does is kept as a circle of length one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any

from fdc_toolchain.api.files import cachedir

from ..circles import shortest_circle
from .grounding import ROOTS, ROUNDS, Grounding, grounding, most_used
from .wordnet import Table, price

CACHE = "grounding"
LONGEST = 8
"""Longer circles than this are not looked for."""


class Lexicon:
    """A table of words as a graph. Words are their places in the table."""

    def __init__(self, table: Table) -> None:
        self.source = table.source
        self.read = table.read
        self.stamp = table.stamp
        self.words = table.words
        self._places = {word.label: place for place, word in enumerate(table.words)}
        self.uses = tuple(
            tuple(one for one in word.uses if one != place)
            for place, word in enumerate(table.words)
        )

    def place(self, label: str) -> int | None:
        """Where a word stands, or None for one that the dictionary has not, or only as a name or as several words."""
        return self._places.get(label.lower().strip())

    def places(self, labels: Iterable[str]) -> list[int]:
        """The places of those labels that the dictionary has, each once, in their order."""
        return list(
            dict.fromkeys(place for label in labels if (place := self.place(label)) is not None)
        )

    def labels(self, places: Iterable[int]) -> list[str]:
        """The words at places."""
        return [self.words[place].label for place in places]

    @cached_property
    def users(self) -> tuple[tuple[int, ...], ...]:
        """For each word, those whose definitions use it."""
        found: list[list[int]] = [[] for _ in self.words]
        for place, used in enumerate(self.uses):
            for one in used:
                found[one].append(place)
        return tuple(map(tuple, found))

    def basic(self, place: int) -> int:
        """How basic a word is: in how many definitions of the whole dictionary it stands."""
        return self.words[place].used

    def circle(self, place: int, within: Collection[int] | None = None) -> list[int]:
        """The shortest way from a word through definitions back to it, with the word at both ends; empty where there is
        none of at most LONGEST steps. With `within`, only ways through those words."""
        if within is None and place in self.words[place].uses:
            return [place, place]

        def after(one: int) -> Iterable[int]:
            used = self.uses[one]
            return used if within is None else (to for to in used if to == place or to in within)

        way = shortest_circle(place, after, LONGEST)
        return [*way, *way[:1]]

    def close(self, place: int, other: int) -> bool:
        """Whether two words define each other."""
        return other in self.uses[place] and place in self.uses[other]

    def family(self, place: int) -> set[str]:
        """A word with those that are derived from it or it from them, in two steps; in the second only what begins as it
        does, and so with the word above it (activity is an act)."""
        word = self.words[place]
        found = {
            word.label,
            *word.family,
            *(one for one in word.hypernyms[:1] if _alike(word.label, one)),
        }
        for one in word.family:
            other = self._places.get(one)
            if other is not None:
                found.update(
                    further
                    for further in self.words[other].family
                    if _alike(word.label, one, further)
                )
        return found

    def kin(self, place: int, within: Collection[int]) -> list[int]:
        """Those of some words that are forms of one word with this: one is of the other's family, or they share a third that
        begins as they do."""
        mine, label = self.family(place), self.words[place].label
        found = []
        for other in sorted(within):
            name = self.words[other].label
            if other != place and _alike(label, name):
                theirs = self.family(other)
                if (
                    name in mine
                    or label in theirs
                    or any(_alike(label, name, one) for one in mine & theirs)
                ):
                    found.append(other)
        return found

    def trace(self, place: int, depth: int = 2) -> list[int]:
        """The words that a definition leads to in so many steps, near first, without the word itself."""
        seen = {place: None}
        ring = [place]
        for _ in range(depth):
            ring = [used for one in ring for used in self.uses[one] if used not in seen]
            seen.update(dict.fromkeys(ring))
        return list(seen)[1:]

    @cached_property
    def prices(self) -> tuple[float, ...]:
        """What each word costs in a grounding set."""
        return tuple(price(word.met) for word in self.words)

    def ground(
        self, roots: int = ROOTS, without: Collection[int] = (), rounds: int = ROUNDS
    ) -> Grounding:
        """A near-cheapest grounding set for the most used words, `without` some, and for all that their definitions unfold
        into."""
        met = [word.met for word in self.words]
        return grounding(self.uses, self.prices, most_used(met, roots, without), rounds)

    @cached_property
    def beginners(self) -> Grounding:
        """The grounding set of the usual size; from fdc's cache where it was computed before."""
        key = [self.stamp, ROOTS, ROUNDS]
        kept: Any = cachedir.load(CACHE) if self.stamp else None
        if isinstance(kept, list) and kept and kept[0] == key:
            return Grounding(frozenset(kept[1]), kept[2], tuple(kept[3]))
        made = self.ground()
        if self.stamp:
            cachedir.store(CACHE, [key, sorted(made.words), made.kernel, made.members])
        return made

    @property
    def grounding(self) -> tuple[int, ...]:
        """The words of the grounding set, those first that define the most common words."""
        return self.beginners.members

    def weight(self, place: int) -> float:
        """How much stands on a word: the words of a beginner's dictionary that it defines, each for how common it is."""
        words = self.beginners.words
        return sum(1 - self.prices[one] for one in self.users[place] if one in words)

    @cached_property
    def grounding_set(self) -> frozenset[int]:
        """The same without their order."""
        return frozenset(self.grounding)

    def knot(self, place: int) -> list[int]:
        """The shortest circle of definitions through a word of the grounding set that no other word of the set breaks, with
        the word at both ends; empty for other words. It is why the set cannot do without the word."""
        if place not in self.grounding_set:
            return []
        others = self.grounding_set - {place}
        way = shortest_circle(place, lambda one: (to for to in self.uses[one] if to not in others))
        return [*way, *way[:1]]


class Ground:
    """What a set of words grounds. Words are added; nothing is taken away."""

    def __init__(self, lexicon: Lexicon, members: Iterable[int]) -> None:
        self._lexicon = lexicon
        self.members: set[int] = set()
        self._missing = [
            len(one) or 1 for one in lexicon.uses
        ]  # a definition of no words grounds nothing
        self.grounded: set[int] = set()
        for place in members:
            self.add(place)

    def add(self, place: int) -> int:
        """Adds a member; how many words are grounded more, itself not counted."""
        self.members.add(place)
        if place in self.grounded:
            return 0
        waiting = [place]
        self.grounded.add(place)
        for one in waiting:  # grows while it is walked
            for user in self._lexicon.users[one]:
                self._missing[user] -= 1
                if not self._missing[user] and user not in self.grounded:
                    self.grounded.add(user)
                    waiting.append(user)
        return len(waiting) - 1

    def gain(self, place: int) -> list[int]:
        """The words that would be grounded too if this one were a member, itself left out."""
        if place in self.grounded:
            return []
        fewer: dict[int, int] = {}
        waiting = [place]
        found = {place}
        for one in waiting:
            for user in self._lexicon.users[one]:
                fewer[user] = fewer.get(user, 0) + 1
                if (
                    fewer[user] == self._missing[user]
                    and user not in self.grounded
                    and user not in found
                ):
                    found.add(user)
                    waiting.append(user)
        return waiting[1:]

    def expression(self, place: int) -> list[int] | None:
        """The members that a grounded word comes to by definitions alone, itself not among them; None where it is not."""
        if place not in self.grounded or (place in self.members):
            return None
        found: dict[int, None] = {}
        seen = {place}
        waiting = [place]
        while waiting:
            for used in self._lexicon.uses[waiting.pop()]:
                if used in self.members:
                    found[used] = None
                elif used not in seen:
                    seen.add(used)
                    waiting.append(used)
        return list(found)

    def share(self, place: int) -> float:
        """The part of a definition's words that is grounded."""
        used = self._lexicon.uses[place]
        return sum(one in self.grounded for one in used) / len(used) if used else 0.0


def _alike(*labels: str) -> bool:
    """Whether words begin with the same letters: three, or all of the shortest."""
    start = min(len(label) for label in labels)
    return len({label[: min(3, start)] for label in labels}) == 1
