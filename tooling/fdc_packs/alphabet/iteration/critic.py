"""The embedded CRITIC (ALPH-12 to 20): six attacks, computed on a dictionary's graph and the alphabet. No model. Pure.

What the attacks mean here:
- decomposition: the definition takes the word apart if the grounding set of the dictionary does without the word, for then its
  definition unfolds into words of that set and leads nowhere back; the dictionary names two parts of it that are more basic
  than the whole, for what is rarer explains nothing; or the first clause of its definition says what it is for.
- circularity: the proposed definition names its own word. A circle through the dictionary speaks for a candidate.
- redundancy: a primitive has the same sense, or is another form of the same word, or is defined by this word alone, or the
  definition comes to primitives alone when it is followed down.
- edge_cases: how the word's uses are spread over fields of meaning.
- cultural_variance: whether it is on the Leipzig-Jakarta list, regional, or of a field that cultures make; a dictionary of
  one language cannot show more, and the notes say so.
- parsimony: how much of the beginner's dictionary is defined with it, and whether validation names it as a gap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fdc_toolchain.api.text import narrow

from fdc_packs.alphabet.lexicon.decomposition import attacked

from ..model import normal
from ..schemas import Context, Entries
from ..wordlists import LEIPZIG_JAKARTA

NOTE = "Computed from one English dictionary and the alphabet; no model was used."
_CRAFTED = frozenset(["noun.artifact", "noun.food", "verb.competition"])
"""Fields that cultures make: what is of them is bound to some unless the list of least borrowed words has it."""
_MADE = frozenset(["noun.possession", "noun.person", "noun.communication", "verb.social"])
"""Fields that cultures make differently."""
LEAST_WEIGHT = 3.0
"""With a strictness of 0 a word is needed that defines words of this weight together (a word that everybody knows has nearly 1,
one that no one does has 0); with 1 it takes three times as much."""


def evaluate(
    context: Context, lexicon: Entries, temperature: float = 0.0, wrong: object = ""
) -> dict[str, object]:
    """One evaluation for each of `context["candidates"]`, with every attack of ALPH-12 in it and the keys of ALPH-13.

    Gives `{"evaluations": [{"critic_output": {...}}]}`. A word that the dictionary has not is deferred (ALPH-17), which is
    no attack survived. Raises ValueError with one sentence where no dictionary exists. The temperature, and what was
    wrong with an earlier answer, change nothing.
    """
    if lexicon.get("missing"):
        raise ValueError(str(lexicon["missing"]))
    rows = {normal(str(row["label"])): row for row in lexicon.get("rows") or ()}
    ids = {normal(str(one["label"])): str(one["id"]) for one in context.get("primitives") or ()}
    strictness = min(1.0, max(0.0, float(context.get("strictness", 0.5))))
    done = []
    for candidate in context.get("candidates") or ():
        row = rows.get(normal(str(candidate["label"])))
        judged = (
            _deferred(candidate)
            if row is None
            else _judged(candidate, row, ids, strictness, context)
        )
        done.append({"critic_output": {"candidate_id": candidate.get("id", ""), **judged}})
    return {"evaluations": done}


def _judged(
    candidate: dict[str, Any],
    row: dict[str, Any],
    ids: dict[str, str],
    strictness: float,
    context: Context,
) -> dict[str, Any]:
    label = normal(str(candidate["label"]))
    attacks = {
        "decomposition": attacked(label, row),
        "circularity": _circularity(label, str(candidate.get("informal_definition", "")), row),
        "redundancy": _redundancy(label, row, ids, _same(label, candidate, context)),
        "edge_cases": _edge_cases(row),
        "cultural_variance": _variance(label, row),
        "parsimony": _parsimony(
            label, row, strictness, label in map(normal, map(str, context.get("gaps") or ()))
        ),
    }
    verdict, failed, why = _verdict(attacks, label, strictness)
    rejections = context.get("rejections") or ()
    before = [
        str(one.get("label"))
        for one in rejections
        if isinstance(one, dict) and one.get("failed_attack") == failed
    ][-3:]
    said = f"failed attack: {failed}. {why}" if verdict == "REJECT" else why
    if verdict == "REJECT" and before:
        said += f" {', '.join(before)} failed it too."
    return {
        "attacks": attacks, "verdict": verdict, "confidence": _confidence(attacks, verdict),
        "reasoning_summary": said, "key_insight": _insight(label, row),
    }  # fmt: skip


def _circularity(label: str, proposed: str, row: dict[str, Any]) -> dict[str, Any]:
    seen = row["evidence"]
    own = re.search(rf"\b{re.escape(label)}(?:s|d|ed|ing)?\b", proposed, re.IGNORECASE) is not None
    paths = [way for way in (seen["circle"], seen["circle_of_members"]) if way and len(way) > 2]
    paths = [way for number, way in enumerate(paths) if way not in paths[:number]]
    if own:
        paths.insert(0, [label, label])
    outside = [one for one in seen["definition"] if one not in seen["members"]]
    notes = []
    if own:
        notes.append("The proposed definition names the word that it defines.")
    if seen["mutual"]:
        notes.append(f"It and {', '.join(seen['mutual'])} in the alphabet define each other.")
    if outside:
        notes.append(f"Not in the alphabet: {', '.join(outside[:8])}.")
    if paths and not own:
        notes.append(
            "A circle of definitions speaks for the candidate: no definition gets behind it."
        )
    return {
        "dependency_trace": seen["trace"], "circular_paths": paths, "survived": not own,
        "notes": " ".join(notes) or "Nothing leads back to it.",
    }  # fmt: skip


def _same(label: str, candidate: dict[str, Any], context: Context) -> list[str]:
    """The primitives that have the candidate's definition, word for word."""
    said = normal(str(candidate.get("informal_definition", "")))
    rows = context.get("primitives") or ()
    same = [
        normal(str(one["label"]))
        for one in rows
        if said and normal(str(one.get("definition", ""))) == said
    ]
    return [one for one in same if one != label]


def _redundancy(
    label: str, row: dict[str, Any], ids: dict[str, str], same: list[str]
) -> dict[str, Any]:
    seen = row["evidence"]
    attempts = []
    used: list[str] = []
    for member in dict.fromkeys([*seen["same_sense"], *same]):
        attempts.append(
            {"expression": f"{label} = {member}", "succeeded": True, "why": "both have this sense"}
        )
        used = used or [member]
    for member in seen.get("kin", ()):
        attempts.append(
            {
                "expression": f"{label} ~ {member}",
                "succeeded": True,
                "why": "both are forms of one word",
            }
        )
        used = used or [member]
    for member in seen.get("paraphrased", ()):
        attempts.append(
            {
                "expression": f"{label} = {member}",
                "succeeded": True,
                "why": f"{member} is defined by {label} alone",
            }
        )
        used = used or [member]
    whole = seen["expression"]
    definition = seen["definition"]
    missing = ", ".join(seen["missing"][:6]) or "none"
    why = (
        f"{len(seen['grounded'])} of {len(definition)} words come to primitives; not so: {missing}"
    )
    attempts.append(
        {
            "expression": f"{label} = {' + '.join(whole or definition) or 'nothing'}",
            "succeeded": bool(whole),
            "why": "its definition comes to primitives alone" if whole else why,
        }
    )
    used = used or list(whole or ())
    named = [ids[normal(one)] for one in used if normal(one) in ids]
    return {
        "expression_attempts": attempts, "can_be_expressed": bool(named), "using_primitives": named or None,
        "notes": f"Expressible with {', '.join(used)}." if named else "The alphabet cannot express it by definitions.",
    }  # fmt: skip


def _edge_cases(row: dict[str, Any]) -> dict[str, Any]:
    seen = row["evidence"]
    total = sum(count for _, count in seen["contexts"]) or 1
    fields = [
        (name, count) for name, count in seen["contexts"] if count and name != seen["lexname"]
    ]
    cases = [
        {"case": f"in {name} it means something else ({count} of {total} uses)", "context": name}
        for name, count in fields[:4]
    ]
    home = sum(count for name, count in seen["contexts"] if name == seen["lexname"]) / total
    severity = "low" if home >= 0.6 or row["senses"] <= 2 else "medium" if home >= 0.35 else "high"
    return {
        "cases_found": cases, "severity": severity,
        "notes": f"{row['senses']} senses; {home:.0%} of its uses are in {seen['lexname']}.",
    }  # fmt: skip


def _variance(label: str, row: dict[str, Any]) -> dict[str, Any]:
    seen = row["evidence"]
    evidence_for, against = [], []
    listed = label in LEIPZIG_JAKARTA
    if listed:
        evidence_for.append(
            "on the Leipzig-Jakarta list of the hundred words that languages borrow least"
        )
    if seen["met"] >= 100:
        evidence_for.append(f"met {seen['met']} times in the tagged corpus: a word of everyday")
    if row["senses"] >= 5:
        evidence_for.append(f"{row['senses']} senses; old and general words have many")
    if seen["regions"]:
        against.append(f"marked as belonging to {', '.join(seen['regions'])}")
    if seen["lexname"] in _MADE | _CRAFTED and not listed:
        against.append(f"of {seen['lexname']}, a field that cultures make differently")
    crafted = seen["lexname"] in _CRAFTED and not listed
    bound = bool(seen["regions"]) or crafted or (bool(against) and not evidence_for)
    assessment = "culturally_bound" if bound else "universal" if listed else "near_universal"
    notes = f"A dictionary of one language cannot show universality: it has no translations. This is an estimate. {NOTE}"
    return {
        "evidence_for_universality": evidence_for,
        "evidence_against": against,
        "assessment": assessment,
        "notes": notes,
    }


def _parsimony(label: str, row: dict[str, Any], strictness: float, gap: bool) -> dict[str, Any]:
    seen = row["evidence"]
    least = LEAST_WEIGHT * (1 + 2 * strictness)
    needed = seen["weight"] >= least
    value = "high" if seen["weight"] >= 3 * least else "medium" if needed else "low"
    others = [one for one in [*row["synonyms"], *row["hypernyms"][:2]] if normal(one) != label][:4]
    lacks = "Validation lacks it. " if gap else ""
    gained = f", among them {', '.join(seen['gained'][:5])}" if seen["gained"] else ""
    return {
        "expressiveness_value": value, "alternatives_considered": others, "necessary": gap or needed,
        "notes": f"{lacks}{row['uses']} definitions use it, those of common words with a weight of {seen['weight']:g} "
        f"({least:g} is asked for); with it {seen['gain']} more are understood{gained}.",
    }  # fmt: skip


def _verdict(attacks: dict[str, Any], label: str, strictness: float) -> tuple[str, str, str]:
    """The verdict, the attack that decided it, and one sentence."""
    redundancy, decomposition, circularity = (
        attacks["redundancy"],
        attacks["decomposition"],
        attacks["circularity"],
    )
    if redundancy["can_be_expressed"]:
        return "REJECT", "redundancy", redundancy["notes"]
    if not attacks["parsimony"]["necessary"]:
        return "REJECT", "parsimony", attacks["parsimony"]["notes"]
    if not decomposition["survived"]:
        return "REJECT", "decomposition", decomposition["notes"]
    if attacks["cultural_variance"]["assessment"] == "culturally_bound":
        return (
            "REJECT",
            "cultural_variance",
            "; ".join(attacks["cultural_variance"]["evidence_against"]).capitalize() + ".",
        )
    if not circularity["survived"]:
        return (
            "REFINE",
            "circularity",
            "The intuition stands; the definition has to do without the word itself.",
        )
    if attacks["edge_cases"]["severity"] == "high" and strictness > 0.75:
        return "REJECT", "edge_cases", f"The word has no home: {attacks['edge_cases']['notes']}"
    if attacks["edge_cases"]["severity"] == "high":
        spread = attacks["edge_cases"]["notes"].rstrip(".")
        allowed = f"that its meaning is spread ({spread}), a strictness of {strictness:g} allows"
        return "ACCEPT", "", f"{label.capitalize()} survived five attacks; {allowed}."
    return "ACCEPT", "", f"{label.capitalize()} survived all six attacks."


def _confidence(attacks: dict[str, Any], verdict: str) -> float:
    """How clear it was: each attack that could have gone the other way takes something off."""
    if verdict == "REJECT":
        failures = sum((
            not attacks["decomposition"]["survived"], not attacks["circularity"]["survived"],
            attacks["redundancy"]["can_be_expressed"], not attacks["parsimony"]["necessary"],
        ))  # fmt: skip
        return round(min(0.95, 0.65 + 0.1 * failures), 2)
    doubt = {"low": 0.0, "medium": 0.1, "high": 0.2}[attacks["edge_cases"]["severity"]]
    doubt += {"universal": 0.0, "near_universal": 0.1, "culturally_bound": 0.2}[
        attacks["cultural_variance"]["assessment"]
    ]
    doubt += {"high": 0.0, "medium": 0.1, "low": 0.2}[attacks["parsimony"]["expressiveness_value"]]
    return round(0.9 - doubt if verdict == "ACCEPT" else 0.6 - doubt / 2, 2)


def _insight(label: str, row: dict[str, Any]) -> str | None:
    circle = row["evidence"]["circle"]
    if len(circle) == 3:
        return f"{label} and {circle[1]} are defined by each other."
    if not row["evidence"]["definition"]:
        return f"{label} cannot be defined with words that are defined themselves."
    return None


def _deferred(candidate: dict[str, Any]) -> dict[str, Any]:
    why = f"The dictionary has no word `{candidate['label']}`, so that nothing was attacked."
    return {
        "attacks": {
            "decomposition": {"attempts": [], "survived": False, "notes": why},
            "circularity": {"dependency_trace": [], "circular_paths": [], "survived": False, "notes": why},
            "redundancy": {"expression_attempts": [], "can_be_expressed": False, "using_primitives": None, "notes": why},
            "edge_cases": {"cases_found": [], "severity": "high", "notes": why},
            "cultural_variance": {
                "evidence_for_universality": [], "evidence_against": [], "assessment": "culturally_bound", "notes": why,
            },
            "parsimony": {"expressiveness_value": "low", "alternatives_considered": [], "necessary": False, "notes": why},
        },
        "verdict": "DEFER", "confidence": 0.0, "reasoning_summary": why, "key_insight": None,
    }  # fmt: skip


def relationships(
    row: Mapping[str, object], primitives: Sequence[Mapping[str, object]]
) -> list[dict[str, str]]:
    """What an accepted word has to do with the alphabet, for the REFINER (ALPH-23): `type`, `target` (an id), `justification`.

    `row` is the critic's row of the dictionary. A primitive is presupposed where it stands above the word in the
    dictionary's own order, which has no circles; contrasts are antonyms; what often stands in one definition composes.
    """
    ids = {normal(str(one["label"])): str(one["id"]) for one in primitives}
    seen, label = narrow(row["evidence"], dict), row["label"]
    found: dict[str, dict[str, str]] = {}

    def add(kind: str, other: str, why: str) -> None:
        if other in ids:
            found.setdefault(ids[other], {"type": kind, "target": ids[other], "justification": why})

    for other in seen["contrasts"]:
        add("contrasts_with", other, f"the dictionary names {other} as the opposite of {label}")
    for other in seen["presupposes"][:1]:
        add("presupposes", other, f"the dictionary has {label} as a kind of {other}")
    for other, count in seen["composes"]:
        add("composes_with", other, f"{label} and {other} stand together in {count} definitions")
    return list(found.values())
