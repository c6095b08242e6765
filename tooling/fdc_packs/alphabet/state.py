"""The files of an alphabet as values: index, domains, relations, the state of the iterations (ALPH-38 to 43).

    base = read({"alphabet/primitives/index.yaml": "...", ...})
    base.alphabet, base.state["phase"]

`state_files` writes them, in the seed's shapes. The older shapes of recorded data are read too (C-20 to C-22).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import layout
from .config import config_of
from .model import DOMAINS, PHASES, STATUSES, STRATEGIES, Alphabet, Primitive, named, normal
from .yamltext import NotYaml, parse


class StateError(ValueError):
    """A file of the alphabet is not what it must be; the sentence names file and key."""

    def __init__(self, file: str, key: str, why: str) -> None:
        super().__init__(f"{file}: `{key}` {why}" if key else f"{file}: {why}")
        self.file = file
        self.key = key


START: dict[str, Any] = {
    "current_iteration": 0,
    "phase": "EXPANSION",
    "cycle_in_phase": 0,
    "current_strategy": {
        "proposer_mode": STRATEGIES[0], "proposer_temperature": 0.7, "critic_strictness": 0.5, "domains_priority": [],
    },
    "pending": {
        "candidates_to_evaluate": [], "candidates_to_revise": [], "conflicts_to_resolve": [], "gaps_to_fill": [],
    },
    "metrics": {"recent_acceptance_rate": 0.0, "coverage_score": 0.0, "consistency_score": 1.0},
    "history": {
        "iterations_since_last_meta": 0, "iterations_since_last_primitive": 0, "total_proposed": 0, "total_accepted": 0,
        "total_rejected": 0, "total_refined": 0, "total_deferred": 0, "reflection_requested": False, "stopped": "",
    },
}  # fmt: skip
"""`iteration_state` before the first iteration. `current_iteration` is the last one that is complete."""


class Base(NamedTuple):
    """What an iteration starts from. `examples`: by id, what a primitive is and is not. `pending`: whole candidates.

    `concepts` measure and are never shown to who proposes; what `practice` lacks are the gaps that he is shown.
    `summaries`: those of the last iterations, oldest first. `registers`: the rows of the index files, by path.
    """

    alphabet: Alphabet
    version: str
    state: dict[str, Any]
    config: dict[str, Any]
    examples: dict[str, dict[str, Any]]
    pending: dict[str, list[dict[str, Any]]]
    rejected: list[dict[str, Any]]
    summaries: list[dict[str, Any]]
    registers: dict[str, list[dict[str, Any]]]
    concepts: list[Any]
    practice: list[Any]
    reflection: dict[str, Any]
    files: Mapping[str, str]


def read(files: Mapping[str, str]) -> Base:
    """Everything that an iteration reads, from the files' texts by path. Raises StateError, ConfigError."""
    config = config_of(_parsed(files, layout.CONFIG))
    index = _index(files)
    graph = graph_of(_parsed(files, layout.GRAPH))
    bodies = _bodies(files)
    primitives = {}
    for row in index["primitives"]:
        one = _primitive(row, bodies.get(row["id"], {}), graph)
        if one.id in primitives:
            raise StateError(layout.INDEX, one.id, "stands twice")
        primitives[one.id] = one
    alphabet = Alphabet(primitives)
    _recounted(index.get("statistics", {}), alphabet)
    for name in sorted(bodies.keys() - primitives.keys()):
        raise StateError(layout.INDEX, name, "stands in by_domain/ and not here")
    pending = _parsed(files, layout.CANDIDATES) or {}
    summaries = [
        _inner(_parsed(files, path), "summary")
        for path in sorted(files)
        if path.endswith("/summary.yaml")
    ]
    reflections = sorted(path for path in files if re.search(r"/MR_\d+_iteration_\d+\.yaml$", path))
    return Base(
        alphabet,
        str(index.get("version", "0.0.0")),
        state_of(_parsed(files, layout.STATE)),
        config,
        {
            name: {key: body.get(key, []) for key in ("examples", "not_examples")}
            for name, body in bodies.items()
        },
        {key: _rows(pending.get(key)) for key in ("to_evaluate", "to_revise")},
        _rows(_inner(_parsed(files, layout.REJECTED), "rejected_candidates").get("candidates")),
        [summary for summary in summaries if summary],
        {
            path: _rows(_inner(_parsed(files, path), key).get("entries"))
            for path, key in REGISTERS.items()
        },
        concepts_of(_parsed(files, layout.CONCEPTS)),
        concepts_of(_parsed(files, layout.PRACTICE)),
        _inner(_parsed(files, reflections[-1]), "meta_reflection") if reflections else {},
        files,
    )


REGISTERS = {
    layout.DECISIONS: "decision_index",
    layout.PARADOXES: "paradox_index",
    layout.REFLECTIONS: "reflection_index",
}


def concepts_of(value: object) -> list[object]:
    """The concepts of a benchmark file's value: a list, or a table with `concepts` in it."""
    found = _concept_list(value)
    return found if isinstance(found, list) else []


def has_concepts(value: object) -> bool:
    """Whether there is such a list, be it empty."""
    return isinstance(_concept_list(value), list)


def _concept_list(value: object) -> object:
    value = value.get("test_concepts", value) if isinstance(value, dict) else value
    return value.get("concepts") if isinstance(value, dict) else value


def _parsed(files: Mapping[str, str], path: str) -> Any:
    text = files.get(path)
    if text is None:
        return None
    try:
        return parse(text)
    except NotYaml as wrong:
        raise StateError(path, "", f"is not valid YAML: {wrong}") from None


def _inner(value: Any, *keys: str) -> dict[str, Any]:
    """The table below the first of the keys that is there; the value itself where none is."""
    if not isinstance(value, dict):
        return {}
    for key in keys:
        if isinstance(value.get(key), dict):
            return dict(value[key])
    return value


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _index(files: Mapping[str, str]) -> dict[str, Any]:
    index = _inner(_parsed(files, layout.INDEX), "alphabet_state", "alphabet_index")
    rows = index.get("primitives", [])
    if not isinstance(rows, list):
        raise StateError(layout.INDEX, "primitives", "is not a list")
    out = []
    for number, row in enumerate(rows):
        where = f"primitives[{number}]"
        if not isinstance(row, dict):
            raise StateError(layout.INDEX, where, "is not a table")
        name = row.get("id")
        if isinstance(name, str) and re.fullmatch(r"P\d{1,6}", name):  # C-21: recorded data
            name = f"PRM_{int(name[1:]):04d}"
        label, prime, domain = row.get("label"), row.get("prime"), row.get("domain")
        for key, fits, why in (
            (
                "id", isinstance(name, str) and named("primitive", name),
                f"is not an id like PRM_0001, found {str(row.get('id'))[:40]!r}",
            ),
            ("label", isinstance(label, str) and label.strip(), "is not text"),
            ("prime", type(prime) is int and prime > 1, "is not a prime number"),
            ("domain", domain in DOMAINS, f"is none of the domains, found {str(domain)[:40]!r}"),
            ("status", row.get("status", "recent") in STATUSES, f"is none of {', '.join(STATUSES)}"),
        ):  # fmt: skip
            if not fits:
                raise StateError(layout.INDEX, f"{where}.{key}", why)
        out.append({**row, "id": name})
    return {**index, "primitives": out}


def _bodies(files: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in files:
        if path.startswith("alphabet/primitives/by_domain/") and not path.endswith(
            "/_domain_index.yaml"
        ):
            inner = _inner(_parsed(files, path), "domain")
            for row in _rows(inner.get("primitives")):
                found[str(row.get("id"))] = row
    return found


def _primitive(
    row: dict[str, Any], body: dict[str, Any], graph: dict[str, dict[str, list[str]]]
) -> Primitive:
    name = row["id"]
    return Primitive(
        name, row["label"], row["prime"], row["domain"], row.get("status", "recent"),
        str(body.get("definition", "")), str(body.get("symbol", "")),
        _whole(row.get("added_iteration")), _whole(row.get("last_reviewed")), _whole(body.get("changed_iteration")),
        float(row.get("confidence", 0.5)), _whole(body.get("version", 1)),
        tuple(graph["presupposes"].get(name, ())), tuple(graph["contrasts"].get(name, ())),
        tuple(graph["composes"].get(name, ())),
        tuple(str(one) for one in body.get("derivation", ())), str(body.get("level", "primitive")), _whole(body.get("used")),
    )  # fmt: skip


def _whole(value: Any) -> int:
    return value if type(value) is int else 0


def _recounted(statistics: Any, alphabet: Alphabet) -> None:
    """ALPH-38: statistics that are not those of the rows are damage."""
    if not isinstance(statistics, dict):
        raise StateError(layout.INDEX, "statistics", "is not a table")
    mine = statistics_of(alphabet)
    for key in ("total_primitives", "by_domain", "by_status"):
        if key in statistics and statistics[key] != mine[key]:
            raise StateError(
                layout.INDEX,
                f"statistics.{key}",
                f"says {statistics[key]!r}, a recount {mine[key]!r}",
            )


def statistics_of(alphabet: Alphabet) -> dict[str, object]:
    """The counts of the index (ALPH-38); a deprecated primitive is in none of them."""
    domains = dict.fromkeys(DOMAINS[:9], 0) | {
        name: len(found) for name, found in alphabet.domains.items()
    }
    status = dict.fromkeys(STATUSES[:3], 0)
    for one in alphabet:
        status[one.status] += 1
    return {"total_primitives": len(alphabet), "by_domain": domains, "by_status": status}


def graph_of(value: object) -> dict[str, dict[str, list[str]]]:
    """Relations by id, from either shape of `graph.yaml` (ALPH-42, C-22): contrasts and affinities both ways round."""
    graph = _inner(value, "relationship_graph", "relationships")
    found: dict[str, dict[str, list[str]]] = {"contrasts": {}, "presupposes": {}, "composes": {}}

    def add(kind: str, one: str, other: str) -> None:
        row = found[kind].setdefault(one, [])
        if other not in row:
            row.append(other)

    for kind, key in (("contrasts", "contrasts"), ("composes", "composes_well")):
        rows = graph.get(key) or []
        for number, group in enumerate(_list(rows, key)):
            if isinstance(group, dict):
                group = group.get("primitives") or [
                    group.get(name) for name in ("source", "target", "a", "b") if group.get(name)
                ]
            if (
                not isinstance(group, list)
                or len(group) < 2
                or not all(isinstance(one, str) for one in group)
            ):
                raise StateError(layout.GRAPH, f"{key}[{number}]", "is not a list of ids")
            for one in group:
                for other in group:
                    if one != other:
                        add(kind, one, other)
    for number, row in enumerate(_list(graph.get("presupposes") or [], "presupposes")):
        if not isinstance(row, dict) or not isinstance(row.get("source"), str):
            raise StateError(layout.GRAPH, f"presupposes[{number}]", "has no source")
        needs = row.get("requires", row.get("target"))
        for other in (
            [needs]
            if isinstance(needs, str)
            else _list(needs or [], f"presupposes[{number}].requires")
        ):
            add("presupposes", row["source"], str(other))
    return found


def _list(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise StateError(layout.GRAPH, key, "is not a list")
    return value


def state_of(value: object) -> dict[str, object]:
    """`iteration_state` in the seed's shape, older shapes understood. Raises StateError that names the key (ALPH-40)."""
    if value is None:
        return copy.deepcopy(START)
    given = _inner(value, "iteration_state")
    if not given:
        raise StateError(layout.STATE, "iteration_state", "is not a table")
    if "history" not in given and isinstance(given.get("triggers"), dict):  # C-22
        given = {**given, "history": given["triggers"]}
    out = copy.deepcopy(START)
    _fill(out, given, "")
    if out["phase"] not in PHASES:
        raise StateError(
            layout.STATE, "phase", f"is {' | '.join(PHASES)}, found {str(out['phase'])[:40]!r}"
        )
    mode = out["current_strategy"]["proposer_mode"]
    if mode not in STRATEGIES:
        why = f"is none of {', '.join(STRATEGIES)}, found {mode[:40]!r}"
        raise StateError(layout.STATE, "current_strategy.proposer_mode", why)
    balance(out["history"])
    return out


def balance(history: Mapping[str, int]) -> None:
    """ALPH-41: every candidate was accepted, rejected, sent back or put off. Raises StateError."""
    parts = sum(
        history[f"total_{kind}"] for kind in ("accepted", "rejected", "refined", "deferred")
    )
    if history["total_proposed"] != parts:
        why = f"is {history['total_proposed']}, and accepted, rejected, refined and deferred are {parts}"
        raise StateError(layout.STATE, "history.total_proposed", why)


def _fill(out: dict[str, Any], given: Mapping[str, Any], path: str) -> None:
    for key, default in out.items():
        if key not in given:
            continue
        value, where = given[key], f"{path}{key}"
        if isinstance(default, dict):
            if not isinstance(value, dict):
                raise StateError(layout.STATE, where, "is not a table")
            _fill(default, value, f"{where}.")
            continue
        if isinstance(default, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(default):
            raise StateError(
                layout.STATE, where, f"must be {type(default).__name__}, found {str(value)[:40]!r}"
            )
        if isinstance(value, int) and value < 0:
            raise StateError(layout.STATE, where, "is below zero")
        out[key] = value


def status_of(one: Primitive, iteration: int, window: int, contested: Iterable[str]) -> str:
    """ALPH-39: contested while a conflict names it, recent until the window has passed over its last change, then stable."""
    if not one.in_use:
        return "deprecated"
    if one.id in contested:
        return "contested"
    return "recent" if iteration - max(one.added, one.changed) < window else "stable"


def by_label(alphabet: Alphabet, name: str) -> Primitive | None:
    """A primitive in use by its id or its label."""
    one = alphabet.get(name)
    return one if one is not None and one.in_use else alphabet.labelled(normal(name))
