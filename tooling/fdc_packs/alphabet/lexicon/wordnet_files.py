"""The lines of WordNet's own files as values: synsets, pointers, counts, the forms of a word (wndb(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

PARTS = ("noun", "verb", "adj", "adv")
STOP = frozenset(
    """a about above after again against all along also although am among an and another any anyone anything are around
    as at away back be became because become becomes been before being below between both but by can cannot certain
    could did do does doing done down due during each either else especially esp etc even ever every for from further
    generally had has have having he her here him himself his how however i if in including instead into is it its
    itself just less like many may me might more most much must my near neither no nor not now of off often on once one
    ones oneself only onto or other others our out over own particular particularly per rather same she should since so
    some someone something somewhere such than that the their them then there these they this those through throughout
    thus to together too toward towards typically under until up upon us used using usually various very via was we were
    what when where whether which while who whom whose will with within without would you your""".split()
)
"""Words that definitions are written with and not written of; WordNet knows some as units or chemical elements."""
_ENDINGS = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
"""The rules of morphy(7)."""
LABEL = re.compile(r"[a-z]{2,}")


class Synset(NamedTuple):
    """One line of a data file: a sense, the words that have it, and what it points at."""

    words: tuple[str, ...]
    pointers: tuple[tuple[str, str, str, str], ...]
    gloss: str

    def is_name(self, label: str) -> bool:
        """Whether this is a single thing and no kind, or the word is written as a name is."""
        written = next((word for word in self.words if word.lower() == label), label)
        return written != label or any(pointer[0] == "@i" for pointer in self.pointers)

    def others(self, label: str) -> tuple[str, ...]:
        return tuple(plain(word) for word in self.words if word.lower() != label)

    def related(self, data: dict[str, dict[str, str]], *arguments: str) -> tuple[str, ...]:
        """The first words of what pointers of these kinds lead to; of `!` only where they are the label's own."""
        kinds = [one for one in arguments if not one.isalpha()]
        label = next((one for one in arguments if one.isalpha()), "")
        found = []
        for symbol, offset, part, ends in self.pointers:
            if symbol not in kinds:
                continue
            source, target = int(ends[:2], 16), int(ends[2:], 16)
            if label and source and self.words[source - 1].lower() != label:
                continue
            words = synset_of(data[part][offset]).words
            found.append(plain(words[target - 1 if target else 0]))
        return tuple(dict.fromkeys(found))


def plain(word: str) -> str:
    """A word as people write it."""
    return word.partition("(")[0].replace("_", " ").lower()


_POS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
_TYPES = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}


def lines(folder: str, name: str) -> Iterator[str]:
    """The lines of a file but for its licence, which is indented."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        for line in file:
            if not line.startswith(" ") and line.strip():
                yield line


@cache
def synset_of(line: str) -> Synset:
    """One line of a data file."""
    head, _, gloss = line.partition(" | ")
    fields = head.split()
    at = 4 + 2 * int(fields[3], 16)
    pointers = tuple(
        (fields[one], fields[one + 1], _POS[fields[one + 2]], fields[one + 3])
        for one in range(at + 1, at + 1 + 4 * int(fields[at]), 4)
        if fields[one] in _WANTED
    )
    return Synset(tuple(word.partition("(")[0] for word in fields[4:at:2]), pointers, gloss.strip())


_WANTED = frozenset(["!", "@", "@i", "~", "%p", "%m", "%s", ";r", ";u", "+", "\\", "<"])


def counts_of(folder: str) -> dict[tuple[str, str, int], int]:
    """How often each sense was met in the tagged corpus: from cntlist.rev or index.sense, whichever is there."""
    found = {}
    for name in ("cntlist.rev", "index.sense"):
        if os.path.isfile(os.path.join(folder, name)):
            for line in lines(folder, name):
                key, *rest = line.split()
                label, _, form = key.partition("%")
                if rest[-1] != "0" and LABEL.fullmatch(label):
                    found[label, _TYPES[form[0]], int(rest[-2])] = int(rest[-1])
            break
    return found


class Lemmas:
    """Finds the word that a form belongs to; of several the commonest."""

    def __init__(self, folder: str, totals: dict[str, int]) -> None:
        self._totals = totals
        self._known: dict[str, str | None] = {}
        self._irregular: dict[str, list[str]] = {}
        for part in PARTS:
            if os.path.isfile(os.path.join(folder, f"{part}.exc")):
                for line in lines(folder, f"{part}.exc"):
                    form, *bases = line.split()
                    self._irregular.setdefault(form, []).extend(bases)

    def __call__(self, token: str) -> str | None:
        """The word, or None for one that definitions are only written with, or that is in no dictionary."""
        if token in STOP:
            return None
        if token not in self._known:
            found = [one for one in dict.fromkeys(self._bases(token)) if one in self._totals]
            self._known[token] = max(found, key=lambda one: self._totals[one]) if found else None
        return self._known[token]

    def _bases(self, token: str) -> Iterable[str]:
        yield token
        bases = [*self._irregular.get(token, ()), *(
            token[: len(token) - len(ending)] + base
            for rules in _ENDINGS.values() for ending, base in rules
            if token.endswith(ending) and len(token) > len(ending) + 1
        )]  # fmt: skip
        if not any(base in STOP for base in self._irregular.get(token, ())):
            yield from bases
