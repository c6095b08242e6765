"""How well an alphabet does: coverage of test concepts, domains, consistency, expressiveness (ALPH-82 to 84, 86). Pure.

A test concept is expressible when each of its features is: a primitive's label, or the name of another test concept that
is expressible itself (circles express nothing). `not` before a feature denies it and asks for the same. An empty list of
concepts has the coverage 0: nothing was shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fdc_toolchain.api.text import narrow

from ..model import CORE_DOMAINS, Alphabet, normal
from .consistency_report import consistency

COMPLEXITIES = ("low", "medium", "high")
ADEQUATE = 3
"""So many primitives make a domain's coverage adequate; fewer are sparse, none is neglected (ALPH-84)."""


def feature_of(text: str) -> tuple[str, bool]:
    """A feature (`time`, `not space`, `-space`) as its label, and whether it is denied."""
    label = normal(text)
    for sign in ("not ", "-", "~", "¬"):
        if label.startswith(sign) and len(label) > len(sign):
            return label[len(sign) :].strip(), True
    return label, False


class BenchmarkError(ValueError):
    """The test concepts are not what they should be: one sentence with the entry that is wrong."""


class Test(NamedTuple):
    """One test concept: its name, where it belongs, how complex and important it is, and its features without `not`."""

    name: str
    domain: str
    complexity: str
    importance: float
    features: tuple[str, ...]


def tests_of(concepts: object) -> tuple[Test, ...]:
    """The test concepts of a parsed benchmark file, or of the list in it.

    Raises BenchmarkError that names the entry (T-51: a broken file is not an empty one).
    """
    if isinstance(concepts, dict):
        concepts = concepts.get("test_concepts")
    if not isinstance(concepts, list):
        raise BenchmarkError("the benchmark has no list `test_concepts`")
    found: dict[str, Test] = {}
    for number, row in enumerate(concepts, 1):
        if (
            not isinstance(row, dict)
            or not isinstance(row.get("concept"), str)
            or not row["concept"].strip()
        ):
            raise BenchmarkError(f"test concept {number} has no name in `concept`")
        name = normal(row["concept"])
        features = row.get("features")
        if (
            not isinstance(features, list)
            or not features
            or not all(isinstance(one, str) and one.strip() for one in features)
        ):
            raise BenchmarkError(
                f"test concept {number}, `{name}`: `features` is not a list of labels, each a text"
            )
        if name in found:
            raise BenchmarkError(f"test concept {number}: `{name}` is there twice")
        weight = row.get("importance", 1)
        if (
            isinstance(weight, bool)
            or not isinstance(weight, int | float)
            or not 0 < weight < math.inf
        ):
            raise BenchmarkError(
                f"test concept {number}, `{name}`: `importance` is not a number above 0"
            )
        found[name] = Test(
            name, str(row.get("domain", "")), str(row.get("complexity", "medium")), float(weight),
            tuple(dict.fromkeys(feature_of(one)[0] for one in features)),
        )  # fmt: skip
    return tuple(found.values())


class Expressed(NamedTuple):
    """What one test concept comes to: the primitives' labels, and the features that are missing at the bottom."""

    primitives: frozenset[str]
    missing: frozenset[str]

    @property
    def kind(self) -> str:
        if not self.missing:
            return "expressible"
        return "partial" if self.primitives else "inexpressible"


def derived(
    alphabet: Alphabet, rejected: Iterable[Mapping[str, object]]
) -> dict[str, tuple[str, ...]]:
    """What rejected candidates were shown to consist of: label to labels, from the rows of the archive of rejections.

    One that was expressed by primitives comes to these, one whose definition took it apart to the words of its definition.
    """
    found = {}
    for row in rejected:
        output, label = row.get("critic_output"), row.get("label")
        attacks = output.get("attacks") if isinstance(output, dict) else None
        if not isinstance(attacks, dict) or not isinstance(label, str):
            continue
        parts = [
            one.label
            for one in map(alphabet.get, _texts(attacks, "redundancy", "using_primitives"))
            if one and one.in_use
        ]
        if not parts:
            attempts = (attacks.get("decomposition") or {}).get("attempts")
            analysed = [
                one
                for one in attempts or ()
                if isinstance(one, dict) and one.get("succeeded") is True
            ]
            parts = [part for one in analysed[:1] for part in _texts({"": one}, "", "into")]
        if parts:
            found[normal(label)] = tuple(dict.fromkeys(map(normal, parts)))
    return found


def _texts(table: Mapping[str, Any], key: str, field: str) -> list[str]:
    inner = table.get(key)
    value = inner.get(field) if isinstance(inner, dict) else None
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def expressed(
    labels: Collection[str],
    tests: Sequence[Test],
    known_parts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Expressed]:
    """Each test concept with the primitives that it comes to, through other concepts where a feature names one, and through
    `known_parts` (see `derived`) where it names a word that was shown to consist of others.

    A label of the alphabet is not looked up further. A feature that leads into a circle of concepts is missing.
    """
    known = {normal(label) for label in labels}
    by_name = {
        name: Test(name, "", "", 1.0, tuple(parts)) for name, parts in (known_parts or {}).items()
    }
    by_name |= {test.name: test for test in tests}
    below = {
        test.name: {one for one in test.features if one in by_name and one not in known}
        for test in by_name.values()
    }
    above: dict[str, list[str]] = {}
    for name, parts in below.items():
        for part in parts:
            above.setdefault(part, []).append(name)
    found: dict[str, Expressed] = {}
    waiting = [name for name, parts in below.items() if not parts]
    for name in waiting:  # grows while it is walked: each concept after all that it is made of
        found[name] = _put_together(by_name[name], known, found)
        for user in above.get(name, ()):
            below[user].discard(name)
            if not below[user]:
                waiting.append(user)
    return {test.name: found.get(test.name) or _put_together(test, known, found) for test in tests}


def _put_together(test: Test, known: Collection[str], found: Mapping[str, Expressed]) -> Expressed:
    parts = [found[one] for one in test.features if one not in known and one in found]
    none: frozenset[str] = frozenset()
    return Expressed(
        none.union(
            (one for one in test.features if one in known), *(part.primitives for part in parts)
        ),
        none.union(
            (one for one in test.features if one not in known and one not in found),
            *(part.missing for part in parts),
        ),
    )


def coverage(
    alphabet: Alphabet, concepts: object, rejected: Iterable[Mapping[str, object]] = ()
) -> dict[str, object]:
    """Which test concepts can be expressed (ALPH-82): `coverage` is expressible / total over all of them. A feature that was
    rejected because it consists of others (rows of `rejected`) comes to these.

    Also total, expressible, partial and inexpressible (names), by_domain and by_complexity (each with its coverage), and
    gaps: what is missing, by the number of concepts that need it. Raises BenchmarkError.
    """
    tests = tests_of(concepts)
    found = expressed([one.label for one in alphabet], tests, derived(alphabet, rejected))
    kinds: dict[str, list[str]] = {"expressible": [], "partial": [], "inexpressible": []}
    for test in tests:
        kinds[found[test.name].kind].append(test.name)
    needed = Counter(label for one in found.values() for label in one.missing)
    return {
        "coverage": round(len(kinds["expressible"]) / len(tests), 4) if tests else 0.0, "total": len(tests), **kinds,
        "gaps": [{"gap": one, "needed_by": needed[one]} for one in sorted(needed, key=lambda one: (-needed[one], one))],
        "by_domain": _by(tests, found, lambda test: test.domain or "none"),
        "by_complexity": _by(tests, found, lambda test: test.complexity),
    }  # fmt: skip


def decompositions(
    alphabet: Alphabet, concepts: object, rejected: Iterable[Mapping[str, object]] = ()
) -> list[dict[str, object]]:
    """How each test concept comes apart (ALPH-81): what it consists of, the primitives at the bottom, what is missing there.

    Raises BenchmarkError.
    """
    tests = tests_of(concepts)
    found = expressed([one.label for one in alphabet], tests, derived(alphabet, rejected))
    given = concepts["test_concepts"] if isinstance(concepts, dict) else concepts
    return [
        {
            "concept": test.name, "result": found[test.name].kind, "features": list(row["features"]),
            "primitives": sorted(found[test.name].primitives), "missing": sorted(found[test.name].missing),
        }
        for test, row in zip(tests, narrow(given, list), strict=True)
    ]  # fmt: skip


def _by(
    tests: Sequence[Test], found: Mapping[str, Expressed], key: Callable[[Test], str]
) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Test]] = {}
    for test in tests:
        groups.setdefault(key(test), []).append(test)
    order = {name: number for number, name in enumerate((*COMPLEXITIES, *CORE_DOMAINS))}
    rows = {}
    for name in sorted(groups, key=lambda one: (order.get(one, len(order)), one)):
        done = sum(found[test.name].kind == "expressible" for test in groups[name])
        rows[name] = {
            "total": len(groups[name]),
            "expressible": done,
            "coverage": round(done / len(groups[name]), 4),
        }
    return rows


def domain_coverage(alphabet: Alphabet) -> dict[str, dict[str, object]]:
    """The primitives of each domain (ALPH-84): 3 and more are adequate, 1 and 2 sparse, none is neglected."""
    counts = {domain: len(inside) for domain, inside in alphabet.domains.items()}
    rows = {}
    for domain in dict.fromkeys([*CORE_DOMAINS, *counts]):
        number = counts.get(domain, 0)
        kind = "adequate" if number >= ADEQUATE else "sparse" if number else "neglected"
        rows[domain] = {"primitives": number, "coverage": kind}
    return rows


def entropy(counts: Iterable[int]) -> float:
    """Shannon's, in bits, of how often each primitive is used; 0 for nothing."""
    known = [count for count in counts if count > 0]
    total = sum(known)
    return math.fsum(count / total * math.log2(total / count) for count in known)


def information(decompositions: Sequence[Collection[str]], names: int) -> dict[str, object]:
    """The bits of decompositions into primitives, of which an alphabet has `names`: entropy H of their uses, normalised by log2
    of the primitives that are used; bits_per_concept, the mean length of a decomposition when a primitive of frequency p costs
    -log2 p bits; mdl, the bits that name every primitive (log2 of their number each) and of all decompositions."""
    uses = Counter(label for one in decompositions for label in one)
    h, total = entropy(uses.values()), sum(uses.values())
    data = math.fsum(-count * math.log2(count / total) for count in uses.values())
    model = names * math.log2(names) if names else 0.0
    return {
        "primitives": names, "primitives_used": len(uses), "entropy": round(h, 4),
        "normalised_entropy": round(h / math.log2(len(uses)), 4) if len(uses) > 1 else 0.0,
        "bits_per_concept": round(data / len(decompositions), 4) if decompositions else 0.0,
        "mdl": {"model_bits": round(model, 2), "data_bits": round(data, 2), "total_bits": round(model + data, 2)},
    }  # fmt: skip


def expressiveness(
    alphabet: Alphabet, concepts: object, rejected: Iterable[Mapping[str, object]] = ()
) -> dict[str, object]:
    """How the primitives carry the concepts (ALPH-86), over the uses of primitives in all concepts' decompositions.

    coverage; weighted_coverage (by importance, a partial concept counting for the part of its bottom features that is
    there); the figures of `information` for all decompositions; importance: for each primitive the part of the
    expressible concepts that would not be without it. Raises BenchmarkError.
    """
    tests = tests_of(concepts)
    labels, known_parts = [normal(one.label) for one in alphabet], derived(alphabet, rejected)
    found = expressed(labels, tests, known_parts)
    done = [test for test in tests if found[test.name].kind == "expressible"]
    weight = math.fsum(test.importance for test in tests)
    shares = math.fsum(test.importance * _share(found[test.name]) for test in tests)
    needed = Counter(label for test in done for label in found[test.name].primitives)
    for label in needed.keys() & (
        known_parts.keys() | {test.name for test in tests}
    ):  # there is still what it is made of
        less = expressed([one for one in labels if one != label], tests, known_parts)
        needed[label] = sum(less[test.name].kind != "expressible" for test in done)
    ranked = sorted(
        (label for label in needed if needed[label]), key=lambda label: (-needed[label], label)
    )
    return {
        "coverage": round(len(done) / len(tests), 4) if tests else 0.0,
        "weighted_coverage": round(shares / weight, 4) if weight else 0.0,
        **information([one.primitives for one in found.values()], len(labels)),
        "primitives_unused": sorted(set(labels).difference(*(one.primitives for one in found.values()))),
        "importance": [{"label": label, "importance": round(needed[label] / len(done), 4)} for label in ranked],
    }  # fmt: skip


def public(found: Mapping[str, object]) -> dict[str, object]:
    """A list of words that others made, as a measure: of what a dictionary says of each with the primitives at hand (see
    `fdc_packs.alphabet.lexicon.tools.said_with`), over all words, also those that the dictionary does not know.
    """
    rows, frequent = narrow(found["words"], list), narrow(found["frequent"], int)
    counts = Counter(row["result"] for row in rows)
    done, total = counts["primitive"] + counts["expressible"], len(rows)
    return {
        "total": total, "primitives": counts["primitive"], "expressible": done, "partial": counts["partial"],
        "inexpressible": counts["inexpressible"], "unknown": counts["unknown"],
        "coverage": round(done / total, 4) if total else 0.0,
        "weighted_coverage": round(math.fsum(row["share"] for row in rows) / total, 4) if total else 0.0,
        "frequent_words_coverage": round(frequent / total, 4) if total else 0.0, "source": found["source"],
    }  # fmt: skip


def _share(one: Expressed) -> float:
    whole = len(one.primitives) + len(one.missing)
    return len(one.primitives) / whole if whole else 0.0


def report(
    alphabet: Alphabet, concepts: object, rejected: Sequence[Mapping[str, object]] = ()
) -> dict[str, object]:
    """Everything of this module for one alphabet, plain values only. Raises BenchmarkError."""
    return {
        "coverage": coverage(alphabet, concepts, rejected), "expressiveness": expressiveness(alphabet, concepts, rejected),
        "domains": domain_coverage(alphabet), "consistency": consistency(alphabet),
    }  # fmt: skip
