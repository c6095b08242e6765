"""The store of a repair's hypotheses and their lives. Pure: a store is a JSON value, every function returns a new one.

A hypothesis is what is claimed to be wrong, the lines that it is about, and what would be seen if it were right. Its number
(`H001`, ...) is never given again. It stands in exactly one bucket, and leaves `active` once:

    active -> falsified   something contradicts it, before any code
    active -> rejected    what was answered for it broke a rule: its proposal, its patch
    active -> archived    its patches did not help twice, or no further patch exists
    active -> expired     the repair went on without it
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .patch.region import parse_region

if TYPE_CHECKING:
    from .shapes import Hypotheses, Hypothesis, RegionAt

BUCKETS = ("active", "falsified", "rejected", "archived", "expired")
ATTEMPTS = 2
"""Failed validations after which a hypothesis is retired (HYP-25)."""

_PUBLIC = {
    "id": "id", "claim": "claim", "affected_region": "affectedRegion", "expected_effect": "expectedEffect",
    "interpretation": "interpretation", "explanation": "explanation", "structural_change": "structuralChange",
    "confidence": "confidence", "retry_count": "retryCount", "falsification_notes": "falsificationNotes",
    "status": "status", "standing": "standing",
}  # fmt: skip


class Illegal(ValueError):
    """What the life of a hypothesis does not allow."""


class Made(NamedTuple):
    """A store with what was asked for, and why the others are not in it."""

    store: Hypotheses
    ids: list[str]
    refused: list[dict[str, str]]


def empty() -> Hypotheses:
    """The store of a new case: hypotheses belong to it and to no other (HYP-48)."""
    return {"next": 1, "rows": []}


def get(store: Hypotheses, key: str) -> Hypothesis:
    """The hypothesis of that number. Raises Illegal where there is none (HYP-02)."""
    for row in store["rows"]:
        if row["id"] == key:
            return row.copy()
    raise Illegal(f"the hypothesis {key} does not exist")


def listed(store: Hypotheses, status: str | None = None) -> list[Hypothesis]:
    """The hypotheses, oldest first; those of one bucket where `status` names it (HYP-02)."""
    return [row for row in store["rows"] if status is None or row["status"] == status]


def regions(store: Hypotheses, keys: Sequence[object]) -> list[RegionAt]:
    """The regions of the hypotheses that have these numbers."""
    return [row["affected_region"] for row in store["rows"] if row["id"] in keys]


def buckets(store: Hypotheses) -> dict[str, list[dict[str, object]]]:
    """Every hypothesis in its one bucket, as exported (HYP-03, 04)."""
    return {name: [exported(row) for row in listed(store, name)] for name in BUCKETS}


def exported(row: Mapping[str, object]) -> dict[str, object]:
    """A hypothesis as JSON in camelCase, without what only the loop needs (HYP-04)."""
    return {public: row.get(name) for name, public in _PUBLIC.items()}


def confidence(value: object) -> float | None:
    """0.8, "0.8", "80%" and "80" as 0.8, within 0 and 1; None for what is not a number (HYP-05)."""
    if isinstance(value, bool) or value is None:
        return None
    number: float
    if isinstance(value, str):
        written = value.strip()
        try:
            number = float(written.removesuffix("%").strip())
        except ValueError:
            return None
        if written.endswith("%"):
            number /= 100
            return min(max(number, 0.0), 1.0) if number == number else None
    elif isinstance(value, (int, float)):
        number = float(value)
    else:
        return None
    if number != number:
        return None
    return min(max(number / 100 if 1 < number <= 100 else number, 0.0), 1.0)


def wrong(row: object) -> str:
    """Why this is not a hypothesis: a missing field, a region that a machine cannot check; empty where it is one (HYP-01, 15)."""
    if not isinstance(row, dict):
        return "it is not an object"
    for name in ("claim", "expected_effect"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            return f"it has no {name}"
    if "affected_region" not in row:
        return "it has no affected_region"
    try:
        parse_region(row["affected_region"])
    except ValueError as said:
        return str(said)
    return ""


def competing(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """True where two hypotheses exclude each other: other words, and another region or another effect (HYP-27)."""
    if _said(one["claim"]) == _said(other["claim"]):
        return False
    same = parse_region(one["affected_region"])[:3] == parse_region(other["affected_region"])[:3]
    return not (same and _said(one["expected_effect"]) == _said(other["expected_effect"]))


def compare(store: Hypotheses, first: str, second: str) -> dict[str, bool]:
    """How two hypotheses of the store relate (HYP-02)."""
    one, other = get(store, first), get(store, second)
    return {
        "same_claim": _said(one["claim"]) == _said(other["claim"]),
        "same_region": parse_region(one["affected_region"])[:3]
        == parse_region(other["affected_region"])[:3],
        "same_effect": _said(one["expected_effect"]) == _said(other["expected_effect"]),
        "competing": competing(one, other),
    }


def create(
    store: Hypotheses,
    rows: Sequence[object],
    iteration: int,
    least: int = 2,
    files: Collection[str] | None = None,
) -> Made:
    """Takes hypotheses in that are whole, new and exclude each other and the active ones; none where fewer than `least`
    are left (HYP-26, 27, 30). What was falsified, rejected or archived is not new, what has expired is.

    `files`: where a region may be.
    """
    refused: list[dict[str, str]] = []
    kept: list[dict[str, Any]] = []
    row: Any  # as an answer has it, until `wrong` finds nothing
    for row in rows:
        why = wrong(row)
        if not why and files is not None and parse_region(row["affected_region"]).path not in files:
            why = "its region is in a file that may not be changed"
        if not why:
            known = [old for old in store["rows"] if old["status"] != "expired"]
            rival = next((old for old in [*known, *kept] if not competing(row, old)), None)
            if rival is not None:
                name = rival.get("id") or "another one of this answer"
                same = _said(row["claim"]) == _said(rival["claim"])
                why = (
                    f"{name} claims the same"
                    if same
                    else f"neither its region nor its effect differ from those of {name}"
                )
        if why:
            claim = row.get("claim", "") if isinstance(row, dict) else row
            refused.append({"claim": str(claim)[:200], "why": why})
        else:
            kept.append(row)
    if len(kept) < least:
        return Made(store, [], refused)
    number = store["next"]
    made = [_row(f"H{number + at:03d}", row, iteration) for at, row in enumerate(kept)]
    made.sort(key=lambda row: row["id"])
    after: Hypotheses = {"next": number + len(made), "rows": [*store["rows"], *made]}
    return Made(after, [row["id"] for row in made], refused)


def _row(key: str, row: dict[str, Any], iteration: int) -> Hypothesis:
    """A hypothesis of the store, of an answer in which `wrong` found nothing."""
    said = {
        name: str(row.get(name) or "").strip()
        for name in ("claim", "expected_effect", "interpretation", "explanation")
    }
    change = row.get("structural_change")
    more = {
        name: row[name] for name in ("edit", "key", "change", "intent", "probe") if row.get(name)
    }
    made = {
        "id": key, **said, "affected_region": dict(parse_region(row["affected_region"])._asdict()),
        "structural_change": change if isinstance(change, (dict, str)) else None,
        "confidence": confidence(row.get("confidence")), "retry_count": 0, "falsification_notes": [],
        "status": "active", "standing": "sound", "created": iteration, **more,
    }  # fmt: skip
    return cast("Hypothesis", made)


def select(store: Hypotheses, iteration: int) -> str | None:
    """The active hypothesis to follow: newly proposed, then confidence, then fewer retries, then the lower number (HYP-28)."""
    found = listed(store, "active")
    if not found:
        return None
    return str(min(found, key=lambda row: _rank(row, iteration))["id"])


def _rank(row: Hypothesis, iteration: int) -> tuple[bool, float, int, str]:
    return (row["created"] != iteration, -(row["confidence"] or 0.0), row["retry_count"], row["id"])


def retire(store: Hypotheses, key: str, status: str, note: str) -> Hypotheses:
    """Moves an active hypothesis into another bucket, with why. Raises Illegal for one that is not active (HYP-02, 03)."""
    row = get(store, key)
    if status not in BUCKETS or status == "active":
        raise Illegal(f"no hypothesis becomes `{status}`")
    if row["status"] != "active":
        raise Illegal(f"{key} is {row['status']}, which is final")
    notes = [*row["falsification_notes"], note] if note else row["falsification_notes"]
    row.pop("edit", None)
    return _with(store, {**row, "status": status, "falsification_notes": notes})


def failed(store: Hypotheses, key: str, note: str, no_op: bool) -> Hypotheses:
    """A patch of the hypothesis did not help: one more retry; where it changed nothing, weakened, then invalid (HYP-19, 24, 25).

    The second failure retires it. Raises Illegal for one that is not active: a third attempt never happens.
    """
    row = get(store, key)
    if row["status"] != "active":
        raise Illegal(f"{key} is {row['status']}; it is not tried again")
    standing = row["standing"]
    if no_op:
        standing = "weakened" if standing == "sound" else "invalid"
    count = row["retry_count"] + 1
    notes = [*row["falsification_notes"], note]
    store = _with(
        store, {**row, "retry_count": count, "standing": standing, "falsification_notes": notes}
    )
    if count >= ATTEMPTS or standing == "invalid":
        return retire(store, key, "archived", f"retired after {count} failed validations")
    return store


def doubt(store: Hypotheses, key: str) -> Hypotheses:
    """Halves the confidence of a hypothesis: others come first."""
    row = get(store, key)
    return _with(store, {**row, "confidence": (row["confidence"] or 0.0) / 2})


def expire(store: Hypotheses, note: str) -> Hypotheses:
    """The repair goes on without those that are still active (HYP-03)."""
    for row in listed(store, "active"):
        store = retire(store, row["id"], "expired", note)
    return store


def carried(store: Hypotheses) -> list[dict[str, object]]:
    """What prompts are told of the hypotheses so far: never an explanation, nor what would be code (HYP-07)."""
    names = ("id", "claim", "affected_region", "expected_effect", "interpretation", "status", "standing", "retry_count",
             "falsification_notes")  # fmt: skip
    rows: Sequence[Mapping[str, object]] = store["rows"][-24:]
    return [{name: row[name] for name in names} for row in rows]


def _with(store: Hypotheses, row: Hypothesis) -> Hypotheses:
    return {**store, "rows": [row if old["id"] == row["id"] else old for old in store["rows"]]}


def _said(text: object) -> str:
    """The words of a sentence, without its punctuation and capitals; code in it stays as it is (`k + 1` is not `k - 1`)."""
    words = (word.strip(".,;:!?\"'") for word in str(text).casefold().split())
    return " ".join(word for word in words if word)
