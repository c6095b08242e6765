"""Micro-hypotheses: what a model's draft must be, what a round of refinement brings, how they are read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .artifacts import problems, written
from .knowledge import said
from .names import KNOWLEDGE, hypothesis_id, hypothesis_path
from .shown import kept

if TYPE_CHECKING:
    from .shapes.artifacts import Hypothesis, KnowledgeEntry, Revision
    from .shapes.steps import ChallengeRecord, Drafted, Lost, Refinement

_PROMISED = ("statement", "confidence", "gapCharacterization", "rationale", "keyAssumptions", "validationCriteria",
             "critiquePoints", "questions", "alternativeApproaches")  # fmt: skip


def validate(
    drafted: object,
    area: str,
    known: Sequence[KnowledgeEntry],
    results: object,
    old: Hypothesis | None = None,
    version: float = 0,
) -> Drafted:
    """A drafted hypothesis as the artifact it becomes: `ok`, `why`, its path and text (LGTM-15, 17, 56 to 58).

    `old`: the version before. fdc carries its history on, not the model. Evidence, by the id of its entry, must
    be one that there is. `same`: the draft is what there was, since nothing new was found; that is not a failure.
    """
    number = int(version)
    ident = old["microHypothesisID"] if old else hypothesis_id(area, 1)
    path = hypothesis_path(ident, number, "refined" if old else "initial")
    out: Drafted = {
        "ok": False,
        "why": "",
        "id": ident,
        "area": area,
        "version": number,
        "path": path,
        "text": "",
        "hypothesis": None,
        "same": False,
    }
    failed = "Validation Failed: " if old else ""
    if not isinstance(drafted, dict) or "failed" in drafted:
        why = drafted.get("why") if isinstance(drafted, dict) else "it is not JSON"
        return {**out, "why": f"{failed}{path}: {why}"}
    entries = {row["filePath"] for row in known} | {
        row["entry"]["filePath"] for row in kept(results)
    }
    made: dict[str, Any] = {key: drafted.get(key) for key in _PROMISED}
    made["keyAssumptions"] = [_with_paths(row) for row in made["keyAssumptions"] or ()]
    history: list[Revision] = list(old["refinementHistory"]) if old else []
    before: Mapping[str, object] = old or {}
    if old and all(made[key] == before[key] for key in _PROMISED):
        return {**out, "same": True, "why": "nothing new was found"}
    if old:
        evidence = [row["entry"]["entryID"] for row in kept(results)]
        history.append({"version": number, "confidence": made["confidence"], "newEvidence": evidence,
                        "change": _change(old, made)})  # fmt: skip
    whole: dict[str, Any] = {
        "microHypothesisID": ident,
        "areaOfAnalysisID": area,
        **made,
        "refinementHistory": history,
    }
    found = problems("hypothesis", whole)
    for row in whole["keyAssumptions"] if not found else ():
        found += [f"$.keyAssumptions: {row['id']} names {one}, which there is not"
                  for one in row["evidence"] if one not in entries or not KNOWLEDGE.match(one)]  # fmt: skip
    if found:
        return {**out, "why": f"{failed}{path}: {'; '.join(found[:3])}"}
    text = written("hypothesis", whole, path)
    return {**out, "ok": True, "hypothesis": cast("Hypothesis", whole), "text": text}


def _with_paths(row: Any) -> Any:
    """An assumption with the files of its evidence, which a model names by the ids of their entries."""
    if not isinstance(row, dict) or not isinstance(row.get("evidence"), list):
        return row
    known = [str(one) for one in row["evidence"]]
    return {
        **row,
        "evidence": [
            one if KNOWLEDGE.match(one) else f"knowledge/k_{one}_evidence.md" for one in known
        ],
    }


def read(text: str) -> Hypothesis:
    """A hypothesis out of its file. Raises ValueError for a file that holds none."""
    import json

    value = json.loads(text)
    found = problems("hypothesis", value)
    if found:
        raise ValueError(f"a hypothesis file is not one any more: {found[0]}")
    return cast("Hypothesis", value)


def refinement(
    checked: Mapping[str, object],
    knowledge: Sequence[object],
    log: object = None,
    request: object = None,
    stubs: object = None,
) -> dict[str, object]:
    """What a branch of the loop returns (LGTM-57): evidence is kept even where the refinement failed. `Unchanged`: it stands as
    it is, which is an answer. `lines` is its log."""
    new = [row["entry"] for row in kept(knowledge)]
    lines = [*([log] if log else []), *said(request, stubs)]
    out = {
        **{key: checked[key] for key in ("id", "version", "path", "hypothesis")},
        "knowledge": knowledge,
        "lines": lines,
    }
    if checked["ok"]:
        taken = f"{checked['id']} is version {checked['version']} now"
        lines.append({"level": "Info", "message": taken})
        return {**out, "outcome": "SuccessfulRefinement", "newKnowledgeEntries": new}
    stays = f"{checked['id']} stays as it is: {checked['why']}"
    lines.append({"level": "Info", "message": stays})
    if checked["same"]:
        return {**out, "outcome": "Unchanged", "newKnowledgeEntries": new}
    failed = {
        "failedHypID": checked["id"],
        "reason": "Validation Failed",
        "why": checked["why"],
        "newKnowledgeEntries": new,
    }
    return {**out, "outcome": "FailedRefinement", **failed}


def join(
    results: list[Refinement | Lost] | list[ChallengeRecord | Lost], strategy: str
) -> dict[str, object]:
    """Join: the results of a fork together. Raises ValueError for a strategy that there is not (LGTM-41)."""
    if strategy == "CollectResults":
        return {"results": results, "count": len(results)}
    if strategy == "CollectTupleResults":
        pairs = [
            [row["item"]["microHypothesisID"], "NotAttempted"]
            if "failed" in row
            else [row["id"], row["outcome"]]
            for row in results
        ]
        return {
            "results": results,
            "count": len(results),
            "tuples": pairs,
            "all": all(two == "Passed" for _, two in pairs),
        }
    raise ValueError(
        f"the strategy `{strategy[:40]}` does not exist; there are CollectResults, CollectTupleResults"
    )


def _change(old: Hypothesis, new: dict[str, Any]) -> str:
    gained = len(new["keyAssumptions"] or ()) - len(old["keyAssumptions"])
    changed = (
        "the statement was changed"
        if new["statement"] != old["statement"]
        else "the statement stays"
    )
    return f"{changed}; {gained:+d} assumptions"


def candidate(text: str) -> dict[str, str]:
    """The file of a candidate: the hypothesis as it was refined, under the version that is challenged."""
    return {"text": written("hypothesis", read(text), "the candidate")}
