"""The lines of WordNet's own files as values: synsets, pointers, counts, the forms of a word (wndb(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

PARTS = ("noun", "verb", "adj", "adv")
STOP = frozenset(
    """a an the of in on at by for from with without to into onto upon over under through during until since against among
    between as than and or nor but that which who whom whose what when where why how if whether while because it its he him his
    she her they them their i you we us our this these those there each any either neither both such etc via per also out up
    off down about around across along toward towards within someone something oneself itself himself themselves is was were
    are been being be am has had have having he do does did done may might can could will would shall should must so not no
    especially usually often anyone anything somebody something somewhere""".split()
)
"""Words of grammar: definitions are written with them and not made of them; WordNet knows some as units or chemical elements."""
_ENDINGS = {
    part: tuple((rule.split(">")[0], rule.split(">")[1]) for rule in rules.split())
    for part, rules in (
        ("noun", "s> ses>s xes>x zes>z ches>ch shes>sh men>man ies>y"),
        ("verb", "s> ies>y es>e es> ed>e ed> ing>e ing>"),
        ("adj", "er> est> er>e est>e"),
        ("adv", ""),
    )
}
"""The rules of morphy(7)."""
LABEL = re.compile(r"[a-z][a-z'_-]*[a-z]")
_WORD = re.compile(r"[A-Za-z](?:[A-Za-z'-]*[A-Za-z])?")
_ASIDE = re.compile(r"\([^)]*\)")
_CLAUSE = re.compile(r";|,? e\.g\.")
_LONGEST = 3
"""So many words an entry has at most that is looked for in a definition."""


class Synset(NamedTuple):
    """One line of a data file: a sense, the words that have it, and what it points at."""

    words: tuple[str, ...]
    pointers: tuple[tuple[str, str, str, str], ...]
    gloss: str

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


def is_name(line: str, label: str) -> bool:
    """Whether a line of a data file is of a single thing and no kind, or has the word written as a name is."""
    head = line.partition(" | ")[0]
    return " @i " in head or (f" {label} " not in head and f" {label}(" not in head)


_WANTED = frozenset(["!", "@", "@i", "~", "%p", "%m", "%s", ";r", ";u", "+", "\\", "<"])


_KIND = re.compile(r" ~ (\d{8}) ")


class Breadth:
    """How general senses are: how many kinds of each stand below it, with their kinds and so on; named things are none."""

    def __init__(self, data: Mapping[str, Mapping[str, str]]) -> None:
        self._data = data
        self._known: dict[tuple[str, str], int] = {}

    def kinds(self, part: str, offset: str) -> int:
        key = part, offset
        if key not in self._known:
            self._known[key] = 0  # two verbs of WordNet 3.0 are kinds of each other
            head = self._data[part][offset].partition(" | ")[0]
            self._known[key] = sum(1 + self.kinds(part, one) for one in _KIND.findall(head))
        return self._known[key]


def counts_of(folder: str) -> dict[tuple[str, str, int], int]:
    """How often each sense was met in the tagged corpus: from cntlist.rev or index.sense, whichever is there."""
    found = {}
    for name in ("cntlist.rev", "index.sense"):
        if os.path.isfile(os.path.join(folder, name)):
            for line in lines(folder, name):
                key, *rest = line.split()
                label, _, form = key.partition("%")
                if rest[-1] != "0":
                    found[label, _TYPES[form[0]], int(rest[-2])] = int(rest[-1])
            break
    return found


class Lemmas:
    """Finds the entries that a text is made of, by the rules of morphy(7)."""

    def __init__(self, folder: str, met: Mapping[tuple[str, str], int]) -> None:
        """`met`: every entry with its part of speech, and how often it was met."""
        self._met = met
        self._heads = {label.partition("_")[0] for label, _ in met if "_" in label}
        self._known: dict[str, list[tuple[str, str]]] = {}
        self._irregular: dict[str, dict[str, list[str]]] = {part: {} for part in PARTS}
        for part in PARTS:
            if os.path.isfile(os.path.join(folder, f"{part}.exc")):
                for line in lines(folder, f"{part}.exc"):
                    form, *bases = line.split()
                    self._irregular[part][form] = bases

    def entries(self, form: str) -> list[tuple[str, str]]:
        """Each entry, with its part of speech, that has this form; the one that was met most comes first."""
        if form not in self._known:
            found: dict[tuple[str, str], float] = {}
            for part, endings in _ENDINGS.items():
                bases = [form, *self._irregular[part].get(form, ())]
                if form not in self._irregular[part]:
                    bases += [
                        form[: len(form) - len(ending)] + base
                        for ending, base in endings
                        if form.endswith(ending) and len(form) > len(ending) + 1
                    ]
                for base in bases:
                    if (base, part) in self._met:
                        found.setdefault(
                            (base, part), -self._met[base, part] - 0.5 * (base == form)
                        )
            self._known[form] = sorted(found, key=lambda one: (found[one], one))
        return self._known[form]

    def of(self, definition: str, part: str) -> list[str]:
        """The entries of a definition's first clause, each once: the longest that fits, and of its parts of speech the one
        that the word before it speaks for. Words of grammar and names (which have a capital letter) are left out."""
        clause = _CLAUSE.split(_ASIDE.sub("", definition), maxsplit=1)[0].strip() or definition
        forms = _WORD.findall(clause.replace("'s ", " "))
        found: dict[str, None] = {}
        at = 0
        while at < len(forms):
            width, options = self._longest(forms[at : at + _LONGEST])
            if options:
                before = forms[at - 1] if at else ""
                verb = before == "to" or (not at and part == "verb")
                noun = before in _BEFORE_NOUNS
                chosen = min(
                    options,
                    key=lambda one: (verb and one[1] != "verb") or (noun and one[1] == "verb"),
                )
                found[chosen[0]] = None
            at += width
        return list(found)

    def _longest(self, forms: list[str]) -> tuple[int, list[tuple[str, str]]]:
        for width in range(len(forms) if forms[0] in self._heads else 1, 0, -1):
            some = forms[:width]
            if STOP.isdisjoint((some[0], some[-1])) and "".join(some).islower():
                options = self.entries("_".join(some))
                if options:
                    return width, options
        return 1, []


_BEFORE_NOUNS = frozenset(["a", "an", "the", "of", "in", "by", "with", "some", "any"])
