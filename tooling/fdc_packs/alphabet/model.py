"""The words that every part of ALPHABETUM shares: primitives, the alphabet, their enumerations and their names (ALPH-91, 72).

alphabet = alphabet_of([Primitive("PRM_0001", "existence", 2, "being")])
alphabet.labelled("existence").prime
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

DOMAINS = (
    "being", "space", "time", "causation", "mind", "matter", "quantity", "quality", "relation",
    "action", "modality", "value", "language", "society", "life",
)  # fmt: skip
"""The nine that every alphabet has a file for, and six more that get one with their first primitive."""
CORE_DOMAINS = DOMAINS[:9]
PHASES = ("EXPANSION", "CONSOLIDATION", "COMPOSITION", "META_REFLECTION")
VERDICTS = ("ACCEPT", "REJECT", "REFINE", "DEFER")
STATUSES = ("recent", "stable", "contested", "deprecated")
RELATIONS = ("contrasts_with", "presupposes", "composes_with", "derived_from", "generalises")
ATTACKS = (
    "decomposition",
    "circularity",
    "redundancy",
    "edge_cases",
    "cultural_variance",
    "parsimony",
)
STRATEGIES = (
    "DOMAIN_SWEEP", "DECOMPOSITION_MINING", "CROSS_REFERENCE", "LINGUISTIC_ANALYSIS", "THOUGHT_EXPERIMENT", "GAP_FILLING",
)  # fmt: skip
BLOG_CATEGORIES = (
    "INSIGHT",
    "BREAKTHROUGH",
    "PARADOX",
    "QUESTION",
    "METHOD",
    "HISTORY",
    "DISAGREEMENT",
    "META",
)
MARKERS = (
    "CONFIDENT", "UNCERTAIN", "SPECULATING", "INTUITING", "DISCOVERING", "CONSIDERING", "DECOMPOSING", "COMPOSING",
    "CONTRASTING", "ANALOGIZING", "GENERALIZING", "SPECIALIZING", "OBJECTING", "DEFENDING", "CONCEDING", "QUALIFYING",
    "REFRAMING", "NOTICING", "STUCK", "BREAKTHROUGH", "BIASED?", "UNCERTAINTY_CASCADE",
)  # fmt: skip

PATTERNS: Mapping[str, re.Pattern[str]] = MappingProxyType({
    "primitive": re.compile(r"PRM_\d{4,}"),
    "primitive_file": re.compile(r"(PRM_\d{4,})_([a-z0-9_]+)\.yaml"),
    "candidate": re.compile(r"CAND_\d{3,}_\d{3,}"),
    "decision": re.compile(r"DEC_\d{4,}_[a-z0-9_]+\.md"),
    "paradox": re.compile(r"PAR_\d{4,}_[a-z0-9_]+\.md"),
    "reflection": re.compile(r"MR_\d{4,}_iteration_\d{3,}\.(?:yaml|md)"),
    "iteration": re.compile(r"iteration_\d{3,}"),
    "version": re.compile(r"v\d+\.\d+\.\d+"),
    "time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z"),
})  # fmt: skip
"""What each kind of name looks like; the whole name must fit."""


def named(kind: str, text: str) -> bool:
    """Whether a text is a name of that kind (ALPH-72)."""
    return PATTERNS[kind].fullmatch(text) is not None


def slug(label: str) -> str:
    """A label as it stands in a file's name: lower case, `_` for everything that is neither letter nor digit."""
    return re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")[:60] or "unnamed"


def normal(label: str) -> str:
    """A label as labels are compared: lower case, one space between words."""
    return " ".join(label.lower().replace("_", " ").split())


class Primitive(NamedTuple):
    """One primitive. `presupposes`, `contrasts` and `composes` are ids, and so is `derivation`: the primitives that are
    recorded to express it; a primitive that has one, all of it in use, is redundant (ALPH-51).

    `added` and `reviewed` are iterations, `changed` the iteration in which it last became other than it was.
    `level` is its level of abstraction, `used` how often examples were composed with it (ALPH-25).
    """

    id: str
    label: str
    prime: int
    domain: str
    status: str = "recent"
    definition: str = ""
    symbol: str = ""
    added: int = 0
    reviewed: int = 0
    changed: int = 0
    confidence: float = 0.5
    version: int = 1
    presupposes: tuple[str, ...] = ()
    contrasts: tuple[str, ...] = ()
    composes: tuple[str, ...] = ()
    derivation: tuple[str, ...] = ()
    level: str = "primitive"
    used: int = 0

    @property
    def in_use(self) -> bool:
        """False for one that was merged away or taken out; its id and prime are never given again (ALPH-21)."""
        return self.status != "deprecated"


def changed(one: Primitive, **fields: object) -> Primitive:
    """The primitive with some fields other than they were, by names that are only known at run time."""
    return Primitive._make({**one._asdict(), **fields}.values())


class Alphabet:
    """Primitives by id, in order of their ids; never changed. Those that are not in use are only reached by id."""

    def __init__(self, primitives: Mapping[str, Primitive]) -> None:
        self.primitives: Mapping[str, Primitive] = MappingProxyType(dict(primitives))
        self.memo: dict[str, Any] = {}
        """What others have computed of this alphabet and nothing else, by a name of theirs."""

    def __len__(self) -> int:
        """How many are in use."""
        return len(self.in_use)

    def __iter__(self) -> Iterator[Primitive]:
        """Those in use."""
        return iter(self.in_use)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alphabet) and dict(self.primitives) == dict(other.primitives)

    def __hash__(self) -> int:
        return hash(tuple(self.primitives))

    @cached_property
    def in_use(self) -> tuple[Primitive, ...]:
        """Every primitive but the deprecated."""
        return tuple(one for one in self.primitives.values() if one.in_use)

    def _by(self, key: Callable[[Primitive], Any]) -> dict[Any, list[Primitive]]:
        found: dict[Any, list[Primitive]] = {}
        for one in self.in_use:
            found.setdefault(key(one), []).append(one)
        return found

    @cached_property
    def _labels(self) -> dict[str, list[Primitive]]:
        return self._by(lambda one: normal(one.label))

    @cached_property
    def _primes(self) -> dict[int, list[Primitive]]:
        return self._by(lambda one: one.prime)

    @cached_property
    def _definitions(self) -> dict[str, list[Primitive]]:
        return self._by(lambda one: one.definition.lower())

    def defined_as(self, one: Primitive) -> list[Primitive]:
        """The primitives in use that are defined in the words of `one`, itself among them; none where it has no definition."""
        return self._definitions.get(one.definition.lower(), []) if one.definition else []

    @cached_property
    def dependants(self) -> Mapping[str, tuple[str, ...]]:
        """For each id, those that presuppose it (the inverted index of ALPH-63)."""
        found: dict[str, list[str]] = {}
        for one in self.in_use:
            for other in one.presupposes:
                found.setdefault(other, []).append(one.id)
        return {name: tuple(users) for name, users in found.items()}

    @cached_property
    def domains(self) -> Mapping[str, tuple[Primitive, ...]]:
        """Those in use by domain, domains in their usual order."""
        found = self._by(lambda one: one.domain)
        order = {name: number for number, name in enumerate(DOMAINS)}
        return {
            name: tuple(found[name])
            for name in sorted(found, key=lambda name: (order.get(name, len(order)), name))
        }

    def get(self, id: str) -> Primitive | None:
        """A primitive by its id, also one that is not in use."""
        return self.primitives.get(id)

    def labelled(self, label: str) -> Primitive | None:
        """The primitive in use of that label, however it is written; the first, where a rule is broken and there are more."""
        return next(iter(self._labels.get(normal(label), ())), None)

    def twins(self, one: Primitive) -> Iterator[Primitive]:
        """The other primitives in use that have its prime or its label: in a sound alphabet none."""
        for other in (*self._primes.get(one.prime, ()), *self._labels.get(normal(one.label), ())):
            if other.id != one.id:
                yield other

    def replaced(self, *changed: Primitive) -> Alphabet:
        """The alphabet with these in it, in the place of those with their ids."""
        return Alphabet({**self.primitives, **{one.id: one for one in changed}})


def alphabet_of(primitives: Iterable[Primitive]) -> Alphabet:
    """An alphabet. Raises ValueError where two have one id."""
    found: dict[str, Primitive] = {}
    for one in primitives:
        if one.id in found:
            raise ValueError(f"two primitives are called {one.id}")
        found[one.id] = one
    return Alphabet(found)


EMPTY = Alphabet({})
