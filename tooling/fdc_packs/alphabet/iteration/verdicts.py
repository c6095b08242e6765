"""Candidates and verdicts held against what can be computed: no verdict is taken on trust (ALPH-11, 12, 14, 15, 18; T-54)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from ..model import ATTACKS, Alphabet, normal
from ..state import by_label

FIELDS = (
    "label", "informal_definition", "domain", "proposed_symbol", "ostensive_examples", "negative_examples",
    "primitiveness_argument", "decomposition_resistance", "sources",
)  # fmt: skip


def candidates(
    rows: Iterable[Mapping[str, object]], iteration: int, first: int, taken: Collection[str]
) -> tuple[list[dict[str, object]], list[dict[str, str]]]:
    """Proposed candidates with their ids (ALPH-08), and those that are left out: already known (ALPH-11), or twice."""
    kept: list[dict[str, object]] = []
    dropped: list[dict[str, str]] = []
    seen = {normal(label) for label in taken}
    for row in rows:
        said = str(row["label"])
        label = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", said).split())
        if not re.search(r"\w", label):
            dropped.append({"label": said[:80], "why": "the label has no letter"})
        elif normal(label) in seen:
            dropped.append(
                {"label": label, "why": "it is in the alphabet, was rejected, or stands twice"}
            )
        else:
            seen.add(normal(label))
            fields = {key: row[key] for key in FIELDS}
            kept.append(
                {"id": f"CAND_{iteration:03d}_{first + len(kept):03d}", **fields, "label": label}
            )
    return kept, dropped


class Verdict(NamedTuple):
    """What becomes of a candidate. `said`: the critic's own word. `attack`: the one that failed. `why`: what we add."""

    word: str
    said: str
    attack: str
    why: tuple[str, ...]


def failed(attacks: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The attacks that a candidate did not survive, by what the critic recorded of each."""
    found = []
    if not attacks["decomposition"]["survived"]:
        found.append("decomposition")
    if not attacks["circularity"]["survived"]:
        found.append("circularity")
    if attacks["redundancy"]["can_be_expressed"]:
        found.append("redundancy")
    if attacks["edge_cases"]["severity"] == "high":
        found.append("edge_cases")
    if attacks["cultural_variance"]["assessment"] == "culturally_bound":
        found.append("cultural_variance")
    if not attacks["parsimony"]["necessary"]:
        found.append("parsimony")
    return found


CRITICAL = ("decomposition", "circularity", "redundancy", "parsimony")
"""Attacks that no accepted candidate may have failed (ALPH-14)."""


DECOMPOSITIONS = ("analytic", "synthetic", "functional")
"""No one survives a decomposition that was not attempted: what withstood has an attempt of each kind (ALPH-12, T-54)."""


def judged(output: Mapping[str, object], alphabet: Alphabet) -> Verdict | str:
    """The verdict, cross-checked; a text says why the evaluation as a whole is invalid (ALPH-12, 18)."""
    attacks = output.get("attacks")
    missing = [name for name in ATTACKS if not isinstance(attacks, dict) or name not in attacks]
    if missing or not isinstance(attacks, dict):
        return f"it has no attack {', '.join(missing)}"
    made = [str(one).lower() for one in attacks["decomposition"]["attempts"]]
    unmade = [kind for kind in DECOMPOSITIONS if not any(kind in one for one in made)]
    if attacks["decomposition"]["survived"] and unmade:
        return f"it says that decomposition was survived, and names no {', '.join(unmade)} attempt"
    using = attacks["redundancy"]["using_primitives"] or []
    unknown = [name for name in using if by_label(alphabet, name) is None]
    if unknown:
        return f"it uses primitives that are not in the alphabet: {', '.join(unknown)[:200]}"
    if attacks["redundancy"]["can_be_expressed"] and not using:
        return "it says that the candidate can be expressed, and not by which primitives"
    said = str(output["verdict"])
    lost = failed(attacks)
    fatal = [name for name in lost if name in CRITICAL]
    if said == "ACCEPT" and fatal:
        return Verdict(
            "REFINE",
            said,
            fatal[0],
            (f"accepted although it failed {', '.join(fatal)}: sent back",),
        )
    if said == "REJECT":
        attack = _named(output) or (lost[0] if lost else "")
        if not attack:
            return Verdict(
                "REFINE", said, "", ("rejected although it survived every attack: sent back",)
            )
        return Verdict("REJECT", said, attack, ())
    return Verdict(said, said, lost[0] if lost and said != "ACCEPT" else "", ())


def _named(output: Mapping[str, Any]) -> str:
    """The attack that the summary says has failed, where the critic's record of that attack agrees."""
    found = re.search(r"failed attack:\s*(\w+)", output["reasoning_summary"], re.IGNORECASE)
    name = found[1].lower() if found else ""
    return name if name in failed(output["attacks"]) else ""
