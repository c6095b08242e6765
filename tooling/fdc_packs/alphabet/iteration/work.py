"""An iteration under way: what it began with, and what its staged steps have made of that. Fold the steps and it is there.

work = work_of(tree, events)
work.alphabet, work.state, work.taken
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fdc_toolchain.api.text import narrow

from ..calculus.primes import next_unused
from ..model import Alphabet, Primitive, normal
from ..schemas import Event, Tree
from ..state import Base, read
from .phases import next_strategy


class Work(NamedTuple):
    """`events`: the staged steps. `added`, `changed`, `retired`: ids. `rejected`: this iteration's, in full."""

    base: Base
    iteration: int
    at: str
    alphabet: Alphabet
    state: dict[str, Any]
    pending: dict[str, list[dict[str, Any]]]
    examples: dict[str, dict[str, Any]]
    rejected: list[dict[str, Any]]
    added: list[str]
    changed: list[str]
    retired: list[str]
    conflicts: list[dict[str, Any]]
    events: list[Event]
    coverage: dict[str, Any]
    pivots: list[bool]

    @property
    def taken(self) -> set[str]:
        """Labels that are not proposed again (ALPH-11)."""
        known = {normal(one.label) for one in self.alphabet.primitives.values()}
        waiting = {normal(row["label"]) for row in self.pending["to_evaluate"]}
        return (
            known
            | waiting
            | {normal(str(row.get("label", ""))) for row in [*self.base.rejected, *self.rejected]}
        )

    def of(self, kind: str) -> list[Event]:
        """The staged steps of one kind, in order."""
        return [event for event in self.events if event["kind"] == kind]

    @property
    def unread(self) -> bool:
        """Whether nothing changed because answers could not be read: those of every proposer, or all that critics said."""
        if self.added or self.changed or self.retired:
            return False
        rows = [row for event in self.of("critic") for row in event["evaluations"]]
        if rows:
            return all(row["verdict"] == "UNPARSED" for row in rows)
        proposers = self.of("proposer")
        return bool(proposers) and all(event["wrong"] for event in proposers)


_bases: dict[str, Base] = {}


def base_of(tree: Tree) -> Base:
    """What the files that were read say; those of one reading are understood once (ALPH-62)."""
    key = str(tree["digest"])
    if key not in _bases:
        if len(_bases) > 3:
            _bases.clear()
        _bases[key] = read(tree["files"])
    return _bases[key]


def work_of(tree: Tree, events: list[Event]) -> Work:
    """The work that the staged steps have made of the files. Raises StateError, ConfigError."""
    base = base_of(tree)
    state = copy.deepcopy(base.state)
    state["current_iteration"] += 1
    pending = copy.deepcopy(base.pending)
    work = Work(
        base, state["current_iteration"], str(tree["at"]), base.alphabet, state, pending, dict(base.examples),
        [], [], [], [], [], [], {}, [False],
    )  # fmt: skip
    for event in events:
        work = _FOLD[event["kind"]](work, event)
        work.events.append(event)
    return work


def _proposed(work: Work, event: Event) -> Work:
    history = work.state["history"]
    history["total_proposed"] += len(event["candidates"])
    history["total_deferred"] += len(event["candidates"])  # until the critic has spoken
    work.pending["to_evaluate"] += [dict(row) for row in event["candidates"]]
    labels = {normal(row["label"]) for row in event["candidates"]}
    work.pending["to_revise"][:] = [
        row for row in work.pending["to_revise"] if normal(row["label"]) not in labels
    ]
    strategy = work.state["current_strategy"]
    strategy["proposer_mode"] = next_strategy(
        event["strategy"], work.state["pending"]["gaps_to_fill"]
    )
    return work


def _criticised(work: Work, event: Event) -> Work:
    history, waiting = (
        work.state["history"],
        {row["id"]: row for row in work.pending["to_evaluate"]},
    )
    for row in event["evaluations"]:
        candidate = waiting.get(row["candidate_id"])
        if candidate is None or row["verdict"] in ("DEFER", "UNPARSED"):
            if candidate is not None:
                candidate["tried"] = candidate.get("tried", 0) + 1
            continue
        del waiting[row["candidate_id"]]
        history["total_deferred"] -= 1
        if row["verdict"] == "ACCEPT":
            history["total_accepted"] += 1
        elif row["verdict"] == "REJECT":
            history["total_rejected"] += 1
            work.rejected.append(_rejection(work.iteration, candidate, row))
        else:
            history["total_refined"] += 1
            work.pending["to_revise"].append(
                {**candidate, "criticism": row["summary"], "failed_attack": row["attack"]}
            )
    work.pending["to_evaluate"][:] = list(waiting.values())
    return work


def _rejection(
    iteration: int, candidate: Mapping[str, Any], row: Mapping[str, Any]
) -> dict[str, Any]:
    """ALPH-02, 34: a rejected candidate is kept as fully as an accepted one."""
    return {
        "candidate_id": candidate["id"], "label": candidate["label"], "domain": candidate["domain"], "iteration": iteration,
        "failed_attack": row["attack"], "reason": row["summary"], "candidate": dict(candidate), "critic_output": row["output"],
    }  # fmt: skip


def _refined(work: Work, event: Event) -> Work:
    changes = {}
    for row in event["primitives"]:
        one = primitive_of(row)
        before = work.alphabet.get(one.id)
        changes[one.id] = one
        target = (
            work.added
            if before is None
            else work.retired
            if before.in_use and not one.in_use
            else work.changed
        )
        if one.id not in target:
            target.append(one.id)
    work.examples.update(event.get("examples", {}))
    work.conflicts.extend(event.get("conflicts_detected", ()))
    work.state["pending"]["conflicts_to_resolve"] = list(event["conflicts_left"])
    return work._replace(alphabet=work.alphabet.replaced(*changes.values())) if changes else work


def _composed(work: Work, event: Event) -> Work:
    if event["work"] == "coverage":
        work.state["metrics"]["coverage_score"] = float(event["result"].get("coverage", 0.0))
        work = work._replace(coverage=dict(event["result"]))
    elif event["work"] == "gaps":
        work.state["pending"]["gaps_to_fill"] = list(event["result"]["gaps"])
    if event.get("primitives"):
        work = work._replace(
            alphabet=work.alphabet.replaced(*(primitive_of(row) for row in event["primitives"]))
        )
    return work


def _reflected(work: Work, event: Event) -> Work:
    """ALPH-31: what a reflection decides takes effect."""
    history, strategy = work.state["history"], work.state["current_strategy"]
    history["iterations_since_last_meta"] = 0
    output = event["output"]
    if not output:
        return work
    corrections = output["course_corrections"]
    history["reflection_requested"] = bool(corrections.get("reflect_again", False))
    if output["decision"] == "CONCLUDE":
        return work
    strategy["domains_priority"] = list(dict.fromkeys(corrections["domain_priorities"]))
    calibration = output["strategy_assessment"]["critic_calibration"]
    step = {"too_strict": -0.1, "too_lenient": 0.1}.get(calibration, 0.0)
    strategy["critic_strictness"] = round(
        min(1.0, max(0.0, strategy["critic_strictness"] + step)), 2
    )
    if output["decision"] == "PIVOT":
        strategy["critic_strictness"] = corrections.get(
            "critic_strictness", strategy["critic_strictness"]
        )
        strategy["proposer_temperature"] = corrections.get(
            "proposer_temperature", strategy["proposer_temperature"]
        )
        named = corrections.get("proposer_mode")
        gaps = work.state["pending"]["gaps_to_fill"]
        strategy["proposer_mode"] = named or next_strategy(strategy["proposer_mode"], gaps)
        work.pivots[0] = True
    return work


_FOLD: dict[str, Callable[[Work, Event], Work]] = {
    "proposer": _proposed, "critic": _criticised, "refiner": _refined, "consolidation": _refined,
    "composition": _composed, "reflection": _reflected,
}  # fmt: skip


def primitive_of(row: Mapping[str, object]) -> Primitive:
    """A primitive from what `row_of` made of it."""
    tuples = ("presupposes", "contrasts", "composes", "derivation")
    fields: dict[str, Any] = {
        key: tuple(narrow(value, list)) if key in tuples else value for key, value in row.items()
    }
    return Primitive(**fields)


def row_of(one: Primitive) -> dict[str, object]:
    """A primitive as JSON can say it."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in one._asdict().items()
    }


def next_prime(alphabet: Alphabet) -> int:
    """ALPH-21: the next prime in sequence that no primitive, in use or not, has ever had."""
    return next_unused(one.prime for one in alphabet.primitives.values())


def next_id(alphabet: Alphabet) -> str:
    """ALPH-21: one above the highest id that was ever given."""
    highest = max((int(one.id[4:]) for one in alphabet.primitives.values()), default=0)
    return f"PRM_{highest + 1:04d}"
