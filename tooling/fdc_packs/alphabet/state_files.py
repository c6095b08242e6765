"""The files of an alphabet as text, in the seed's shapes: index, domains, relations, taxonomies (ALPH-38 to 43). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import layout
from .model import DOMAINS, Alphabet, Primitive
from .state import statistics_of
from .yamltext import dump


def files_of(
    alphabet: Alphabet,
    version: str,
    iteration: int,
    at: str,
    examples: Mapping[str, Mapping[str, object]],
    *,
    pretty: bool,
) -> dict[str, str]:
    """Index, domain files and relations, all of one alphabet (ALPH-22, 38, 42, 43)."""
    rows = [
        {
            "id": one.id, "label": one.label, "prime": one.prime, "domain": one.domain, "status": one.status,
            "added_iteration": one.added, "last_reviewed": one.reviewed, "confidence": one.confidence,
        }
        for one in alphabet.primitives.values()
    ]  # fmt: skip
    head = {
        "version": version,
        "last_updated": at,
        "iteration": iteration,
        "statistics": statistics_of(alphabet),
    }
    out = {layout.INDEX: dump({"alphabet_state": {**head, "primitives": rows}}, rows=not pretty)}
    everything: dict[str, list[Primitive]] = {domain: [] for domain in DOMAINS[:9]}
    for one in alphabet.primitives.values():
        everything.setdefault(one.domain, []).append(one)
    for domain, found in everything.items():
        bodies = [_body(one, examples.get(one.id, {})) for one in found]
        out[layout.domain_file(domain)] = dump(
            {"domain": {"name": domain, "primitives": bodies}}, rows=not pretty
        )
    listed = {
        domain: [one.id for one in found if one.in_use] for domain, found in everything.items()
    }
    out[layout.DOMAIN_INDEX] = dump(
        {"domain_index": {"last_updated": at, **_taxonomies(alphabet), "by_domain": listed}}
    )
    return {**out, **relation_files(alphabet, at, pretty=pretty)}


def _body(one: Primitive, examples: Mapping[str, Any]) -> dict[str, Any]:
    row = {
        "id": one.id, "label": one.label, "definition": one.definition, "symbol": one.symbol, "level": one.level,
        "used": one.used, "version": one.version, "changed_iteration": one.changed, "derivation": list(one.derivation),
    }  # fmt: skip
    return {
        **row,
        "examples": list(examples.get("examples", ())),
        "not_examples": list(examples.get("not_examples", ())),
    }


def _taxonomies(alphabet: Alphabet) -> dict[str, Any]:
    """ALPH-25: by level of abstraction, by how many primitives deep each presupposes others, and the most used."""
    levels: dict[str, list[str]] = {}
    for one in alphabet:
        levels.setdefault(one.level, []).append(one.id)
    used = sorted((one for one in alphabet if one.used), key=lambda one: (-one.used, one.id))
    depths: dict[str, list[str]] = {}
    for name, depth in sorted(depths_of(alphabet).items(), key=lambda row: (row[1], row[0])):
        depths.setdefault(str(depth), []).append(name)
    return {
        "by_level": levels,
        "by_depth": depths,
        "by_use": [{"id": one.id, "used": one.used} for one in used],
    }


def depths_of(alphabet: Alphabet) -> dict[str, int]:
    """How long the longest chain of presuppositions below each primitive is; 0 for one that presupposes nothing.

    What is on a circle, or above one, has no depth.
    """
    needs = {one.id: sum(other in alphabet.primitives and alphabet.primitives[other].in_use for other in set(one.presupposes))
             for one in alphabet}  # fmt: skip
    found = dict.fromkeys((name for name, number in needs.items() if not number), 0)
    waiting = list(found)
    for name in waiting:  # grows while it is walked
        for user in dict.fromkeys(alphabet.dependants.get(name, ())):
            needs[user] -= 1
            if not needs[user]:
                found[user] = 1 + max(
                    found[other]
                    for other in alphabet.primitives[user].presupposes
                    if other in found
                )
                waiting.append(user)
    return found


def relation_files(alphabet: Alphabet, at: str, *, pretty: bool = False) -> dict[str, str]:
    """`graph.yaml`, and the three files that are derived from it (ALPH-43)."""
    contrasts = _pairs((one.id, other) for one in alphabet for other in one.contrasts)
    composes = _pairs((one.id, other) for one in alphabet for other in one.composes)
    presupposes: list[dict[str, Any]] = [
        {"source": one.id, "requires": list(one.presupposes)} for one in alphabet if one.presupposes
    ]
    graph = {
        "last_updated": at,
        "contrasts": contrasts,
        "presupposes": presupposes,
        "composes_well": composes,
    }
    labels = {one.id: one.label for one in alphabet.primitives.values()}

    def spoken(pairs: list[list[str]]) -> list[dict[str, Any]]:
        return [
            {"primitives": pair, "labels": [labels.get(one, "") for one in pair]} for pair in pairs
        ]

    needs = [
        {
            **row,
            "label": labels[row["source"]],
            "labels": [labels.get(one, "") for one in row["requires"]],
        }
        for row in presupposes
    ]
    return {
        layout.GRAPH: dump({"relationship_graph": graph}, rows=not pretty),
        layout.CONTRASTS: dump(
            {"contrasts": {"last_updated": at, "pairs": spoken(contrasts)}}, rows=not pretty
        ),
        layout.PRESUPPOSITIONS: dump(
            {"presuppositions": {"last_updated": at, "entries": needs}}, rows=not pretty
        ),
        layout.AFFINITIES: dump(
            {"affinities": {"last_updated": at, "pairs": spoken(composes)}}, rows=not pretty
        ),
    }


def _pairs(found: Iterable[tuple[str, str]]) -> list[list[str]]:
    return [
        list(pair) for pair in sorted({(min(one, other), max(one, other)) for one, other in found})
    ]
