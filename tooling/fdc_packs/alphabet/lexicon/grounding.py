"""The grounding set of a dictionary: few and common words from which all others can be defined. Pure.

The definitions of the most used words, and of every word in these, and so on, are the dictionary of a beginner. What none of
its definitions uses is taken away until nothing more goes: its kernel. A grounding set is a set of words without which no
definition leads back to itself; the cheapest is wanted, where common words are cheap. It is a minimum feedback vertex set
(Massé and others 2008; Vincent-Lamarre and others 2016), which is NP-hard: this is near it, with a proved bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from .feedback import bound, cut, following

ROOTS = 3000
"""A beginner's dictionary is of so many words, and of what defines them."""
ROUNDS = 50
"""Of local search: about two seconds."""

Uses = Sequence[Collection[int]]
"""For each word, the words of its definition."""


class Grounding(NamedTuple):
    """`words` of a beginner's dictionary, how many of them its `kernel` has, and the `members` of the grounding set: those
    first that define the most common words."""

    words: frozenset[int]
    kernel: int
    members: tuple[int, ...]


def grounding(
    uses: Uses, prices: Sequence[float], roots: Iterable[int], rounds: int = ROUNDS
) -> Grounding:
    """The grounding set of what the definitions of `roots` unfold into. A word that is used and has no words in its
    definition is in every grounding set."""
    words = closure(uses, roots)
    users = following(words)
    bare, graph = circles(words)
    found = cut(graph, dict(enumerate(prices)), rounds)

    def weight(word: int) -> float:
        return sum(1 - prices[one] for one in users[word])

    members = sorted(bare | found, key=lambda word: (-weight(word), word))
    return Grounding(frozenset(words), len(kernel(words)), tuple(members))


def least_cost(uses: Uses, prices: Sequence[float], words: Iterable[int]) -> float:
    """What every grounding set of these words costs at least."""
    bare, graph = circles({word: uses[word] for word in words})
    return sum(prices[word] for word in sorted(bare)) + bound(graph, dict(enumerate(prices)))


def circles(words: Mapping[int, Collection[int]]) -> tuple[set[int], dict[int, set[int]]]:
    """The words that are used and have no definition, and the kernel without them: the graph that has to be cut."""
    users = following(words)
    bare = {word for word, said in words.items() if not said and users[word]}
    inner = kernel(words)
    return bare, {
        word: {one for one in said if one not in bare}
        for word, said in inner.items()
        if word not in bare
    }


def most_used(met: Sequence[int], count: int, without: Collection[int] = ()) -> list[int]:
    """The words that were met most, the first first."""
    ranked = sorted(range(len(met)), key=lambda word: (-met[word], word))
    return [word for word in ranked if word not in without][:count]


def closure(uses: Uses, roots: Iterable[int]) -> dict[int, Collection[int]]:
    """The words that definitions of `roots` unfold into, each with its definition."""
    found: dict[int, Collection[int]] = {}
    waiting = list(roots)
    while waiting:
        word = waiting.pop()
        if word not in found:
            found[word] = uses[word]
            waiting += uses[word]
    return found


def kernel(words: Mapping[int, Collection[int]]) -> dict[int, Collection[int]]:
    """What is left when the words that no definition uses are taken away, again and again."""
    used = Counter(one for said in words.values() for one in said)
    left = dict(words)
    waiting = [word for word in words if not used[word]]
    while waiting:
        for one in left.pop(waiting.pop()):
            used[one] -= 1
            if not used[one]:
                waiting.append(one)
    return left
