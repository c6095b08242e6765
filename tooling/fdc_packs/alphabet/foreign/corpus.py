"""The figures of a corpus of concepts that somebody has taken apart already (ALPH-86, C-21). Pure.

They are of the decompositions that stand in the corpus, and no evidence of an alphabet that was made with them in view.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..calculus.metrics import information
from ..model import Alphabet, normal

FORMULAS = {
    "coverage": "expressible / concepts",
    "weighted_coverage": "sum of the weights of the expressible / sum of all weights; a concept's weight is its `importance`, "
    "`weight` or `frequency`, else 1",
    "entropy": "H = -sum p(x) log2 p(x); p(x) = uses of primitive x / uses of all, in the expressible concepts' decompositions",
    "normalised_entropy": "H / log2(primitives that are used)",
    "bits_per_concept": "mean over the expressible concepts of the sum of -log2 p(x) of their primitives",
    "model_bits": "n log2 n, n = primitives of the alphabet (without one: that are used): naming each once",
    "data_bits": "sum over the expressible concepts of the sum of -log2 p(x)",
    "mdl": "model_bits + data_bits",
    "importance": "of each primitive: expressible concepts that use it / expressible concepts",
}
WEIGHTS = ("importance", "weight", "frequency")


class Row(NamedTuple):
    """One concept of a corpus: what it was taken apart into, and whether the corpus calls it expressible."""

    name: str
    primitives: tuple[str, ...]
    expressible: bool
    weight: float


def rows_of(value: object) -> list[Row]:
    """Every concept with a `decomposition` in it, wherever it stands. Raises ValueError where there is none."""
    found = [_row(one, number) for number, one in enumerate(_concepts(value), 1)]
    if not found:
        raise ValueError("it has no concept with `decomposition: {primitives: [...]}`")
    return found


def _concepts(value: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            inner = one.get("decomposition")
            if (
                isinstance(inner, dict)
                and {"primitives", "expressible"} & inner.keys()
                or "decomposition" in one
                and _name(one)
            ):
                yield one
            else:
                waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)


def _row(one: Mapping[str, Any], number: int) -> Row:
    name, inner = _name(one), one["decomposition"]
    known = inner.get("primitives") if isinstance(inner, dict) else None
    if known is None and isinstance(inner, dict) and inner.get("expressible") is False:
        known = []
    if not isinstance(known, list):
        raise ValueError(
            f"concept {number}, `{name}`: its `decomposition` has no list `primitives`; write"
            " `{primitives: [], expressible: false}` for a concept that cannot be expressed"
        )
    labels = tuple(dict.fromkeys(normal(str(label)) for label in known))
    said = inner.get("expressible", bool(labels))
    if not isinstance(said, bool):
        raise ValueError(f"concept {number}, `{name}`: `expressible` is neither true nor false")
    weight = next((one[key] for key in WEIGHTS if key in one), 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
        raise ValueError(f"concept {number}, `{name}`: its weight is not a number above 0")
    return Row(name or f"concept {number}", labels, said, float(weight))


def _name(one: Mapping[str, Any]) -> str:
    return next((str(one[key]) for key in ("name", "concept", "label", "id") if one.get(key)), "")


def measured(rows: Iterable[Row], alphabet: Alphabet | None) -> dict[str, object]:
    """The figures, each by its formula (FORMULAS). With an alphabet a concept whose decomposition has a label that no primitive
    in use has is not expressible, and the label is named in `unknown`."""
    every = list(rows)
    unknown = Counter(
        label
        for row in every
        for label in row.primitives
        if alphabet and not alphabet.labelled(label)
    )
    done = [row for row in every if row.expressible and not unknown.keys() & set(row.primitives)]
    uses = Counter(label for row in done for label in row.primitives)
    names = len(alphabet) if alphabet else len(uses)
    weight = math.fsum(row.weight for row in every)
    carried = math.fsum(row.weight for row in done)
    ranked = sorted(uses, key=lambda label: (-uses[label], label))
    return {
        "concepts": len(every), "expressible": len(done),
        "inexpressible": [row.name for row in every if row not in done],
        "coverage": round(len(done) / len(every), 4), "weighted_coverage": round(carried / weight, 4),
        **information([row.primitives for row in done], names),
        "importance": [{"label": one, "importance": round(uses[one] / len(done), 4)} for one in ranked],
        "unknown": [{"label": label, "concepts": unknown[label]} for label in sorted(unknown)],
        "formulas": FORMULAS,
    }  # fmt: skip
