"""What becomes of accepted candidates and of conflicts: additions, revisions, mergers, splits, relations (ALPH-21 to 27, 87).

Each change is tried on the alphabet and kept only where no rule is broken by it; what is refused is a conflict on record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fdc_toolchain.api.text import narrow

from ..calculus.consistency import Violation, violations_near
from ..model import Alphabet, Primitive, changed
from ..state import by_label
from .work import next_id, next_prime, row_of

FIELDS = {
    "contrasts_with": "contrasts", "composes_with": "composes", "presupposes": "presupposes",
}  # fmt: skip
SYMMETRIC = ("contrasts", "composes")


class Change:
    """The alphabet while it is being changed, and the record of that. `alphabet` is the result."""

    def __init__(self, alphabet: Alphabet, iteration: int) -> None:
        self.alphabet = alphabet
        self.iteration = iteration
        self.touched: dict[str, Primitive] = {}
        self.examples: dict[str, dict[str, Any]] = {}
        self.integrations: list[dict[str, Any]] = []
        self.revisions: list[dict[str, Any]] = []
        self.merges: list[dict[str, Any]] = []
        self.splits: list[dict[str, Any]] = []
        self.detected: list[dict[str, Any]] = []
        self.resolved: list[dict[str, Any]] = []

    def event(self) -> dict[str, object]:
        """What is staged of it."""
        return {
            "primitives": [row_of(one) for one in self.touched.values()], "examples": self.examples,
            "integrations": self.integrations, "revisions": self.revisions, "merges": self.merges, "splits": self.splits,
            "conflicts_detected": self.detected, "conflicts_resolved": self.resolved,
        }  # fmt: skip

    def integrate(self, candidate: Mapping[str, object], confidence: float) -> Primitive:
        """ALPH-21: the candidate as a primitive with its id and its prime."""
        one = Primitive(
            next_id(self.alphabet), str(candidate["label"]), next_prime(self.alphabet), str(candidate["domain"]),
            definition=" ".join(str(candidate["informal_definition"]).split()), symbol=str(candidate["proposed_symbol"]),
            added=self.iteration,
            reviewed=self.iteration, changed=self.iteration, confidence=round(float(confidence), 3),
        )  # fmt: skip
        self.put(one)
        self.examples[one.id] = {
            "examples": candidate["ostensive_examples"],
            "not_examples": candidate["negative_examples"],
        }
        row = {
            "candidate_id": candidate["id"],
            "primitive_id": one.id,
            "assigned_prime": one.prime,
            "relationships_added": [],
        }
        self.integrations.append(row)
        return one

    def relate(self, source: str, kind: str, target: str, why: str) -> bool:
        """ALPH-23: adds a relation, both ways round where it is symmetric; False where it cannot be, or is there."""
        one, other = self.alphabet.get(source), by_label(self.alphabet, target)
        if one is None or other is None:
            self._refused(
                "references",
                (source, target),
                f"{source} {kind} `{target}`, which is not in the alphabet",
            )
            return False
        field = FIELDS[kind]
        if other.id == one.id or other.id in getattr(one, field):
            return False
        rows = [_with(one, field, other.id)]
        if field in SYMMETRIC:
            rows.append(_with(other, field, one.id))
        if not self._try(rows, f"{one.id} {kind} {other.id}"):
            return False
        for row in self.integrations:
            if row["primitive_id"] == source:
                row["relationships_added"].append(
                    {"type": kind, "target": other.id, "justification": why}
                )
        return True

    def revise(self, name: str, field: str, value: object, why: str) -> bool:
        """ALPH-27: changes one field; the version grows, the old value is the one that was there."""
        one = by_label(self.alphabet, name)
        if one is None:
            self._refused(
                "references", (name,), f"{name} cannot be revised: it is not in the alphabet"
            )
            return False
        old = getattr(one, field, None)
        if isinstance(old, tuple):
            names = (
                [by_label(self.alphabet, str(item)) for item in value]
                if isinstance(value, list)
                else []
            )
            value = tuple(item.id for item in names if item is not None)
        if type(value) is not type(old) or value == old:
            return False
        if not self._try([self.newer(changed(one, **{field: value}))], f"{one.id}.{field}"):
            return False
        said = {
            "primitive_id": one.id,
            "field_changed": field,
            "old_value": _plain(old),
            "new_value": _plain(value),
        }
        self.revisions.append({**said, "reason": why})
        return True

    def merge(self, keep: str, retire: str, why: str) -> bool:
        """ALPH-27: one goes out of use; what referred to it refers to the other."""
        one, gone = by_label(self.alphabet, keep), by_label(self.alphabet, retire)
        if one is None or gone is None or one.id == gone.id:
            self._refused("references", (keep, retire), f"{retire} cannot be merged into {keep}")
            return False
        rows = {gone.id: self.newer(_bare(gone)._replace(status="deprecated"))}
        for other in self.alphabet:
            if other.id != gone.id and gone.id in (
                *other.presupposes,
                *other.contrasts,
                *other.composes,
                *other.derivation,
            ):
                rows[other.id] = self.newer(_renamed(other, gone.id, one.id))
        kept = rows.get(one.id, one)
        taken = {
            field: tuple(name for name in getattr(gone, field) if name != one.id)
            for field in FIELDS.values()
        }
        grown = {
            field: tuple(dict.fromkeys((*getattr(kept, field), *names)))
            for field, names in taken.items()
        }
        rows[one.id] = self.newer(changed(kept, **grown))
        for field in SYMMETRIC:
            for name in taken[field]:
                other = rows.get(name) or self.alphabet.primitives[name]
                rows[name] = _with(other, field, one.id)
        if not self._try(list(rows.values()), f"merging {gone.id} into {one.id}"):
            return False
        self.merges.append({"keep": one.id, "retired": gone.id, "reason": why})
        return True

    def split(self, name: str, into: Iterable[Mapping[str, object]], why: str) -> bool:
        """ALPH-27: two new primitives in the place of one. Whatever refers to it refers to the part that `takes` it; refused
        where a part takes nothing that somebody who refers to it could go by: to which of the two is not guessed."""
        one = by_label(self.alphabet, name)
        parts = list(into)
        users = [] if one is None else [
            other for other in self.alphabet
            if one.id in (*other.presupposes, *other.contrasts, *other.composes, *other.derivation)
        ]  # fmt: skip
        taken = [
            {
                other.id
                for other in map(self._named, narrow(part.get("takes", []), list))
                if other is not None
            }
            for part in parts
        ]
        left = [other.id for other in users if sum(other.id in mine for mine in taken) != 1]
        if one is None or left:
            why = f"which part takes {', '.join(left)} is not said" if left else "it is not there"
            self._refused("references", (name, *left), f"{name} cannot be split: {why}")
            return False
        made = {one.id: self.newer(_bare(one)._replace(status="deprecated"))}
        grown = self.alphabet
        new = []
        for part, mine in zip(parts, taken, strict=True):
            named = next_id(grown)
            mates = [user for user in users if user.id in mine]
            both = {
                field: tuple(mate.id for mate in mates if one.id in getattr(mate, field))
                for field in SYMMETRIC
            }
            new.append(named)
            made[named] = changed(
                one, id=named, prime=next_prime(grown), label=part["label"], definition=part["definition"], version=1,
                added=self.iteration, changed=self.iteration, reviewed=self.iteration, derivation=(), **both,
            )  # fmt: skip
            made |= {mate.id: self.newer(_renamed(mate, one.id, named)) for mate in mates}
            grown = grown.replaced(made[named])
        if not self._try(list(made.values()), f"splitting {one.id}"):
            return False
        self.splits.append({"retired": one.id, "into": new, "reason": why})
        return True

    def _named(self, name: Any) -> Primitive | None:
        return by_label(self.alphabet, str(name))

    def drop(self, name: str, field: str, target: str, why: str) -> bool:
        """Takes a relation away, on both sides."""
        one, other = self.alphabet.get(name), self.alphabet.get(target)
        if one is None or target not in getattr(one, field):
            return False
        self.put(self.newer(_without(one, field, target)))
        if other is not None and name in getattr(other, field) and field in SYMMETRIC:
            self.put(self.newer(_without(other, field, name)))
        self.revisions.append({
            "primitive_id": name, "field_changed": field, "old_value": list(getattr(one, field)),
            "new_value": [item for item in getattr(one, field) if item != target], "reason": why,
        })  # fmt: skip
        return True

    def newer(self, one: Primitive) -> Primitive:
        """The primitive, changed in this iteration."""
        return one._replace(
            version=one.version + 1, changed=self.iteration, reviewed=self.iteration
        )

    def put(self, *rows: Primitive) -> None:
        """Takes primitives as they are into the alphabet."""
        self.alphabet = self.alphabet.replaced(*rows)
        self.touched.update({one.id: one for one in rows})

    def _try(self, rows: list[Primitive], what: str) -> bool:
        """Keeps the changes where they break no rule that was kept before."""
        names = {one.id for one in rows}
        before = set(violations_near(self.alphabet, names))
        after = self.alphabet.replaced(*rows)
        broken = [one for one in violations_near(after, names) if one not in before]
        if broken:
            self._refused(broken[0].rule, broken[0].ids, f"{what}: {broken[0].why}")
            return False
        self.put(*rows)
        return True

    def _refused(self, rule: str, ids: tuple[str, ...], why: str) -> None:
        """ALPH-24: a conflict that was prevented is on record, with what was done about it."""
        self.detected.append({"rule": rule, "ids": list(ids), "why": why[:400]})
        self.resolved.append({"rule": rule, "resolution": "left out", "why": why[:400]})


def resolve(change: Change, found: list[Violation], most: int = 3) -> list[Violation]:
    """ALPH-87: mends the first few violations that can be mended without guessing; returns those that are left (C-25)."""
    left = list(found)
    for one in found[:most]:
        if _mended(change, one):
            change.detected.append({"rule": one.rule, "ids": list(one.ids), "why": one.why})
            change.resolved.append({"rule": one.rule, "resolution": "mended", "why": one.why})
            left.remove(one)
    return left


def _mended(change: Change, one: Violation) -> bool:
    alphabet = change.alphabet
    if one.rule == "redundancy":
        first = alphabet.get(one.ids[0])
        if first is not None and len(first.derivation) > 1:
            return False  # expressed by several: taking it out is for a person to decide
        keep = first.derivation[0] if first is not None and first.derivation else one.ids[0]
        gone = one.ids[0] if first is not None and first.derivation else one.ids[1]
        return change.merge(keep, gone, one.why)
    if one.rule == "references":
        fields = (*FIELDS.values(), "derivation")
        return bool(
            [field for field in fields if change.drop(one.ids[0], field, one.ids[1], one.why)]
        )
    if one.rule == "contrasts" and one.ids[0] == one.ids[1]:
        return change.drop(one.ids[0], "contrasts", one.ids[1], one.why)
    if one.rule == "contrasts" and "other way round" in one.why:
        other = alphabet.get(one.ids[1])
        if other is not None:
            change.put(change.newer(_with(other, "contrasts", one.ids[0])))
            return True
    return False


def _with(one: Primitive, field: str, name: str) -> Primitive:
    return (
        one
        if name in getattr(one, field)
        else changed(one, **{field: (*getattr(one, field), name)})
    )


def _without(one: Primitive, field: str, name: str) -> Primitive:
    return changed(one, **{field: tuple(item for item in getattr(one, field) if item != name)})


def _bare(one: Primitive) -> Primitive:
    return one._replace(presupposes=(), contrasts=(), composes=(), derivation=())


def _renamed(one: Primitive, old: str, new: str) -> Primitive:
    def names(found: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                new if name == old else name
                for name in found
                if not (name == old and one.id == new)
            )
        )

    return one._replace(
        presupposes=names(one.presupposes), contrasts=names(one.contrasts), composes=names(one.composes),
        derivation=names(one.derivation),
    )  # fmt: skip


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
