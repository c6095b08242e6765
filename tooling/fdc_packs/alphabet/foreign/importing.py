"""An ALPHABETUM folder of another program as it is (C-20 to C-22): what fdc knows is taken, the rest kept and named. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from .. import layout
from ..calculus.consistency import violations
from ..calculus.metrics import BenchmarkError, tests_of
from ..calculus.primes import is_prime, next_unused
from ..config import DEFAULTS, ConfigError, config_of
from ..model import ATTACKS, DOMAINS, PHASES, STATUSES, Alphabet, Primitive, normal
from ..state import START, StateError, concepts_of, graph_of
from ..yamltext import NotYaml, documents_of, dump, parse_foreign

KEPT = "sources/imported"
"""Every file of the folder stands there as it was."""
NOTES = "sources/imported.yaml"
_KNOWN = frozenset([
    "id", "label", "domain", "symbol", "proposed_symbol", "prime", "prime_number", "definition", "informal_definition",
    "examples", "relationships", "confidence", "status", "added_iteration", "last_reviewed",
])  # fmt: skip
Value = dict[str, Any]


class Imported(NamedTuple):
    """What a folder comes to: an alphabet with its examples and full entries, and a sentence on everything that was not taken."""

    alphabet: Alphabet
    examples: dict[str, Value]
    entries: dict[str, Value]
    config: Value
    iteration: int
    rejected: list[Value]
    concepts: str
    notes: list[str]


def imported(files: Mapping[str, str], at: str) -> Imported:
    """Reads a folder's files by path. Raises ValueError where it has no primitive."""
    notes: list[str] = []
    values = dict(_parsed(files, notes))
    unread = [*notes]
    config = _config(values.get(layout.CONFIG), notes)
    state = _flat(values.get(layout.STATE), "iteration_state")
    iteration = _state(state, notes)
    bodies = _bodies(values, notes)
    if not bodies:
        why = "".join(f"; {note}" for note in unread if note.startswith("alphabet/primitives/"))
        raise ValueError(
            f"it has no primitives: neither alphabet/primitives/index.yaml nor detailed/ holds one{why}"
        )
    primitives, examples = _primitives(bodies, values.get(layout.GRAPH), notes)
    entries = {
        one.id: {"imported": bodies[one.id], "last_updated": at, "history": []}
        for one in primitives
    }
    rejected = list(_rejections(values, notes))
    alphabet = Alphabet({one.id: one for one in primitives})
    notes += [f"{one.why}: `fdc alphabet run` refuses that" for one in violations(alphabet)]
    return Imported(
        alphabet, examples, entries, config, iteration, rejected,
        _concepts(values, notes), notes,
    )  # fmt: skip


def _parsed(files: Mapping[str, str], notes: list[str]) -> Iterator[tuple[str, Any]]:
    for path in sorted(files):
        if path.endswith((".yaml", ".yml")):
            try:
                value = parse_foreign(files[path])
            except NotYaml as wrong:
                notes.append(f"{path}: is not valid YAML: {wrong}")
                continue
            try:
                several = len(documents_of(files[path])) > 1
            except NotYaml:
                several = True
            if several:
                notes.append(f"{path}: only the text before its second `---` is read")
            yield path, value


def _flat(value: Any, *keys: str) -> Value:
    """The table below the first of the keys that is there, else the value itself."""
    if not isinstance(value, dict):
        return {}
    return next((value[key] for key in keys if isinstance(value.get(key), dict)), value)


def _config(value: Any, notes: list[str]) -> Value:
    """The settings that fdc has and can take; the others keep their defaults."""
    found: Value = {}
    for key, given in (value if isinstance(value, dict) else {}).items():
        rows = given.items() if isinstance(given, dict) else [("", given)]
        for name, inner in rows:
            path = f"{key}.{name}" if name else str(key)
            if path == "logging.pretty_print_yaml":
                path, key, name = "pretty_print_yaml", "pretty_print_yaml", ""
                notes.append("config.yaml: `logging.pretty_print_yaml` is `pretty_print_yaml` here")
            if key == "paths" and isinstance(inner, str):
                inner = inner.rstrip("/")
            more = {key: {name: inner}} if name else {key: inner}
            if path == "llm.provider":  # the model that it needs is looked at below
                more["llm"]["model"] = "any"
            try:
                config_of(more)
            except ConfigError as wrong:
                notes.append(str(wrong))
                continue
            if name:
                found.setdefault(key, {})[name] = inner
            else:
                found[key] = inner
    try:
        return config_of(found)
    except ConfigError as wrong:
        notes.append(str(wrong))
        return config_of({**found, "llm": DEFAULTS["llm"]})


def _state(state: Value, notes: list[str]) -> int:
    known = {"current_iteration", *START}
    for key in state:
        if key not in known:
            notes.append(f"{layout.STATE}: `{key}` is unknown: kept")
    phase = state.get("current_phase", state.get("phase", PHASES[0]))
    if phase not in PHASES:
        notes.append(
            f"{layout.STATE}: the phase `{str(phase)[:60]}` is none of {', '.join(PHASES)}: the next is {PHASES[0]}"
        )
    iteration = state.get("current_iteration", 0)
    if type(iteration) is int and 0 <= iteration < 1_000_000:
        return iteration
    notes.append(f"{layout.STATE}: `current_iteration` is not a number: 0")
    return 0


def _bodies(values: Mapping[str, Any], notes: list[str]) -> dict[str, Value]:
    """Everything that index, domain files and entries say of each primitive, by its id as fdc writes it."""
    found: dict[str, Value] = {}
    index = values.get(layout.INDEX)
    below = _flat(index, "alphabet_state", "alphabet_index")
    beside = index if isinstance(index, dict) and index is not below else {}
    listed = [*_list(beside.get("primitives")), *_list(below.get("primitives"))]
    rows: list[tuple[str, Any]] = [(layout.INDEX, row) for row in listed]
    for path, value in values.items():
        if path.startswith(f"{layout.DETAILED}/"):
            rows.append((path, _flat(value, "primitive")))
        elif path.startswith("alphabet/primitives/by_domain/"):
            rows += [(path, row) for row in _list(_flat(value, "domain").get("primitives"))]
    for path, row in rows:
        name = identity(row.get("id")) if isinstance(row, dict) else None
        if name is None:
            notes.append(f"{path}: an entry without an id like P001 or PRM_0001 is not taken")
            continue
        known = found.setdefault(name, {})
        if "label" in known and normal(str(row.get("label", known["label"]))) != normal(
            str(known["label"])
        ):
            notes.append(
                f"{path}: {name} is `{row['label']}` here and `{known['label']}` before: one primitive, `{row['label']}`"
            )
        known.update(row)
    return dict(sorted(found.items()))


def identity(value: object) -> str | None:
    """P001, PRM_1, PRM_0001_existence as PRM_0001 (C-21); None for what is not an id."""
    match = re.fullmatch(r"(?:P|PRM_)(\d{1,6})(?:_\w*)?", value) if isinstance(value, str) else None
    return f"PRM_{int(match[1]):04d}" if match else None


def _primitives(
    bodies: Mapping[str, Value], graph: Any, notes: list[str]
) -> tuple[list[Primitive], dict[str, Value]]:
    relations = _relations(bodies, graph, notes)
    used: set[int] = set()
    out, examples = [], {}
    for name, body in bodies.items():
        label = str(body.get("label") or name)
        for key in sorted(map(str, body.keys() - _KNOWN)):
            notes.append(f"{name} {label}: `{key}` is unknown: kept")
        domain, status = body.get("domain"), body.get("status", "stable")
        if domain not in DOMAINS:
            notes.append(f"{name} {label}: {_unfit('domain', domain, DOMAINS)}: `being`")
            domain = "being"
        if status not in STATUSES:
            notes.append(f"{name} {label}: {_unfit('status', status, STATUSES)}: `stable`")
            status = "stable"
        prime = body.get("prime", body.get("prime_number"))
        if not _plain(prime) or prime in used or not is_prime(prime):
            given = [row.get("prime", row.get("prime_number")) for row in bodies.values()]
            free = next_unused([*used, *filter(_plain, given)])
            what = f"`{str(prime)[:40]}` is not a prime number of its own"
            notes.append(f"{name} {label}: {'it has no prime' if prime is None else what}: {free}")
            prime = free
        used.add(prime)
        said = body.get("definition", body.get("informal_definition", ""))
        meaning = _flat(said, "definition").get("informal", "") if isinstance(said, dict) else said
        confidence = body.get("confidence", 0.5)
        sure = isinstance(confidence, int | float) and 0 <= confidence <= 1
        shown = body.get("examples")
        shown = shown if isinstance(shown, dict) else {"ostensive": shown}
        examples[name] = {
            "examples": [str(one) for one in _list(shown.get("ostensive"))],
            "not_examples": [str(one) for one in _list(shown.get("negative"))],
        }
        out.append(Primitive(
            name, label, prime, domain, status, " ".join(str(meaning or "").split()),
            str(body.get("symbol", body.get("proposed_symbol", ""))), _whole(body.get("added_iteration")),
            _whole(body.get("last_reviewed")), 0, float(confidence) if sure else 0.5, 1, *relations[name],
        ))  # fmt: skip
    return out, examples


def _unfit(kind: str, value: object, known: Collection[str]) -> str:
    """Why a word is not taken."""
    if value is None:
        return f"it has no {kind}"
    words = ", ".join(known) if len(known) < 10 else f"the {len(known)}"
    return f"the {kind} `{str(value)[:60]}` is none of {words}"


def _relations(
    bodies: Mapping[str, Value], graph: Any, notes: list[str]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """What each presupposes, contrasts with and composes with, of entries and graph; what leads nowhere is named."""
    labels = {normal(str(body.get("label", ""))): name for name, body in bodies.items()}
    found: dict[str, dict[str, dict[str, None]]] = {
        name: {"presupposes": {}, "contrasts": {}, "composes": {}} for name in bodies
    }

    def add(kind: str, one: Any, other: Any) -> None:
        ends = [identity(end) or labels.get(normal(str(end))) for end in (one, other)]
        first, second = ends
        if first not in found or second not in found or first == second:
            notes.append(f"{one} {kind} {other}: that leads nowhere and is not taken")
            return
        found[first][kind][second] = None
        if kind != "presupposes":
            found[second][kind][first] = None

    for name, body in bodies.items():
        inner = _flat(body.get("relationships"))
        if not isinstance(body.get("relationships", {}), dict):
            notes.append(f"{name}: `relationships` is not a table: not taken")
        for kind, keys in _KINDS.items():
            for key in keys:
                for other in _list(inner.get(key)):
                    add(kind, name, other.get("target") if isinstance(other, dict) else other)
        for key in sorted(map(str, inner.keys() - _RELATIONS)):
            notes.append(f"{name}: `relationships.{key}` is unknown: kept")
    try:
        for kind, rows in graph_of(graph).items():
            for one, others in rows.items():
                for other in others:
                    add(kind, one, other)
    except StateError as wrong:
        notes.append(f"{wrong}: its relations are not taken")
    return {
        name: (tuple(rows["presupposes"]), tuple(rows["contrasts"]), tuple(rows["composes"]))
        for name, rows in found.items()
    }


_KINDS = {
    "presupposes": ("presupposes",),
    "contrasts": ("contrasts_with", "contrasts"),
    "composes": ("composes_well_with", "composes_with", "composes_well", "composes"),
}
_RELATIONS = frozenset(key for keys in _KINDS.values() for key in keys)


def _rejections(values: Mapping[str, Any], notes: list[str]) -> Iterator[Value]:
    """The candidates that logs call rejected, each once, with the attack that they failed where the log says."""
    seen: set[str] = set()
    for path, value in values.items():
        if not path.startswith("reasoning/"):
            continue
        number = re.search(r"iteration_(\d{1,6})", path)
        for row in _tables(value):
            if str(row.get("verdict", row.get("decision", ""))).upper() not in (
                "REJECT",
                "REJECTED",
            ):
                continue
            whole = row.get("candidate")
            inner = whole if isinstance(whole, dict) else {}
            label = next(
                (str(one) for one in (row.get("label"), row.get("candidate_label"), inner.get("label"),
                                      whole, row.get("candidate_id")) if isinstance(one, str) and one), "",
            )  # fmt: skip
            if not label or normal(label) in seen:
                continue
            seen.add(normal(label))
            iteration = int(number[1]) if number else 0
            why = str(row.get("reasoning_summary") or row.get("reason") or "")
            attack = _attack(row, why)
            if not attack:
                notes.append(
                    f"{path}: the rejection of `{label[:60]}` names no attack: read as parsimony"
                )
            name = f"CAND_{iteration:03d}_{len(seen):03d}"
            domain = inner.get("domain") if inner.get("domain") in DOMAINS else "being"
            yield {
                "candidate_id": name, "label": label, "domain": domain, "iteration": iteration,
                "failed_attack": attack or "parsimony", "reason": why,
                "candidate": {"id": name, "label": label, "domain": domain,
                              "informal_definition": str(inner.get("informal_definition", ""))},
                "critic_output": row,
            }  # fmt: skip


def _attack(row: Value, why: str) -> str:
    named = str(row.get("failed_attack", "")).lower()
    if named in ATTACKS:
        return named
    for attack, said in _flat(row.get("attacks")).items():
        if attack in ATTACKS and isinstance(said, dict):
            if (
                said.get("survived") is False
                or said.get("can_be_expressed") is True
                or said.get("necessary") is False
            ):
                return str(attack)
    return next((one for one in ATTACKS if one.replace("_", " ") in why.lower()), "")


def _tables(value: Any) -> Iterator[Value]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)


def _concepts(values: Mapping[str, Any], notes: list[str]) -> str:
    """The folder's own test concepts as a file's text, where they can be measured with; else an empty text."""
    for path in (layout.CONCEPTS, "validation/test_concepts.yaml"):
        if path in values:
            try:
                rows = concepts_of(values[path])
                if tests_of(rows):
                    return dump({"test_concepts": rows})
                notes.append(f"{path}: it has no test concepts with features")
            except BenchmarkError as wrong:
                notes.append(f"{path}: {wrong}")
    return ""


def _plain(prime: Any) -> TypeGuard[int]:
    """Whether something is a number that can be a primitive's prime: far more of them than anybody has are smaller."""
    return type(prime) is int and 1 < prime < 1 << 40


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(value: Any) -> int:
    return value if type(value) is int and value >= 0 else 0
