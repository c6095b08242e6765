"""The null challenge of one hypothesis: evidence for each target, its judgement without a model, the record. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from .artifacts import problems, written
from .knowledge import said
from .names import HYPOTHESIS, KNOWLEDGE, generate_file_name
from .search import relevant
from .statements import against, content, is_code, names, quoted

WEAKER = "Weaker for it:"
DISPROVES = {
    "obsolete": "it says of itself that it is out of use",
    "unused": "a change there has no effect: nothing uses it",
}
"""Kinds of find that disprove the statement that a change belongs in a definition."""
WEAKENS = {
    "refuses": "it refuses to do something", "untested": "no test names it, so a change of it is not noticed",
    "elsewhere": "the name is defined elsewhere too", "exception": "a line about it has a word of exception",
}  # fmt: skip
KNOWN = 4
"""Entries of earlier phases that are held against a target."""


def assign(
    targets: dict[str, Any],
    queries: dict[str, Any],
    knowledge: list[Any],
    known: list[Any] | None = None,
) -> dict[str, Any]:
    """Each target with its queries and the evidence that bears on it (LGTM-67).

    Of what was `known` before, that which speaks against a target counts too; where there are no queries for it, all that
    bears on it (LGTM-65).
    """
    good = [row for row in knowledge if row.get("ok")]
    rows = []
    for target in targets["targets"]:
        described, asked = (
            target["targetDescription"],
            queries["by_target"].get(target["targetID"], []),
        )
        evidence = [
            {"path": row["entry"]["filePath"], "source": row["entry"]["source"], "kind": str(row["stub"].get("kind", "")),
             "summary": row["entry"]["contentSummary"], "quote": str(row["stub"].get("quote", ""))}
            for row in relevant(described, good)
        ]  # fmt: skip
        evidence += _known(described, known or [], bool(asked), {row["source"] for row in evidence})
        rows.append({**target, "queries": asked, "evidence": evidence})
    return {"targets": rows}


def judge(target: dict[str, Any]) -> dict[str, Any]:
    """Whether the evidence disproves a target, by rule: a quotation that speaks against it; for the statement itself, a
    definition that is out of use or that nothing uses. What only weakens it is told."""
    said = quoted(target["targetDescription"].partition(": ")[2])
    weak = []
    for row in target["evidence"]:
        why = against(said, row["quote"])
        if not why and target["targetDescription"].startswith("Statement: "):
            why = DISPROVES.get(row.get("kind", ""), "")
        if why:
            return {
                "disproved": True,
                "analysis": f"{row['source']}: {why}: {row['quote']}",
                "decisive": [row["path"]],
            }
        if row.get("kind") in WEAKENS and (
            row["kind"] != "exception" or _about_it(row["quote"], target["targetDescription"])
        ):
            weak.append(f"{row['source']}: {WEAKENS[row['kind']]}: {row['quote']}")
    count = len(target["evidence"])
    looked = (
        f"{count} {'place that bears' if count == 1 else 'places that bear'} on it"
        if count
        else "nothing that bears on it"
    )
    out = f"The search found {looked}; none disproves it."
    if weak:
        out += f" {WEAKER} {' / '.join(weak[:3])}"
    return {"disproved": False, "analysis": out, "decisive": []}


def _about_it(quote: str, described: str) -> bool:
    """Whether a line of exception is a sentence that names what a target names, as a name, and not the target's own."""
    named = [re.escape(name.rpartition(".")[2]) for name in names(described)]
    coined = [rf"\b{name}\b" for name in named if "_" in name or re.search(r"[a-z][A-Z]", name)]
    marked = [rf"[`'\".]{name}\b|\b{name}\(" for name in named]
    return (
        quote not in described
        and not is_code(quote)
        and any(re.search(one, quote) for one in (*coined, *marked))
    )


def weaknesses(challenge: dict[str, Any]) -> list[str]:
    """What the attempts of a challenge say against a hypothesis that stands all the same, each once."""
    rows = [
        attempt["falsificationAnalysis"].partition(WEAKER)[2].strip()
        for attempt in challenge["falsificationAttempts"]
    ]
    return list(dict.fromkeys(one for row in rows for one in row.split(" / ") if one))


def read(text: str) -> dict[str, Any]:
    """A challenge out of its file, as the plan tells it. Raises ValueError for a file that holds none."""
    value = json.loads(text)
    found = problems("null_challenge", value)
    if found:
        raise ValueError(f"a challenge file is not one any more: {found[0]}")
    return {
        "id": value["microHypothesisID"],
        "outcome": value["overallOutcome"],
        "weaknesses": weaknesses(value),
    }


def _known(described: str, known: list[Any], asked: bool, seen: set[str]) -> list[dict[str, Any]]:
    said = quoted(described.partition(": ")[2])
    rows = []
    for entry in known:
        quote = quoted(entry["contentSummary"])
        if entry["source"] in seen or entry["source"] in described:
            continue
        if against(said, quote) or (not asked and len(content(described) & content(quote)) >= 3):
            rows.append({"path": entry["filePath"], "source": entry["source"], "kind": "", "summary": entry["contentSummary"],
                         "quote": quote})  # fmt: skip
    return rows[:KNOWN]


def validate(target: dict[str, Any], judged: Any) -> dict[str, Any]:
    """One attempt as it is recorded (LGTM-09, 11). `Failed` needs evidence that was found for this very target.

    Where nobody could judge, the rule does: an answer that cannot be used is no reason to pass.
    """
    unread = ""
    if not isinstance(judged, dict) or "failed" in judged:
        why = judged.get("why") if isinstance(judged, dict) else "it is no judgement"
        unread, judged = f"No model could judge it ({why}); by rule: ", judge(target)
    paths = [row["path"] for row in target["evidence"] if KNOWLEDGE.match(row["path"])]
    decisive = [one for one in judged.get("decisive", ()) if one in paths]
    failed = judged.get("disproved") is True and bool(decisive)
    analysis = unread + str(judged.get("analysis", "")).strip()
    if judged.get("disproved") is True and not decisive:
        analysis += " (It names no evidence that was found, so it disproves nothing.)"
    found = sorted(set(decisive), key=paths.index) if failed else paths
    return {
        "targetID": target["targetID"], "targetDescription": target["targetDescription"],
        "falsificationQueries": target["queries"], "falsificationEvidenceFound": found,
        "falsificationAnalysis": analysis or "No reason was given.",
        "outcome": "Failed" if failed else "Passed",
    }  # fmt: skip


def record(
    entry: dict[str, Any],
    attempts: list[Any],
    knowledge: list[Any],
    warn: str,
    log: Any,
    request: Any = None,
    stubs: Any = None,
) -> dict[str, Any]:
    """The challenge of a hypothesis: its file, its outcome (LGTM-05, 10, 12, 14), and what goes into the worldview; `lines` is
    its log."""
    ident = entry["microHypothesisID"]
    if HYPOTHESIS.match(ident) is None:
        raise ValueError(f"`{ident[:60]}` is no hypothesis")
    outcome = "Failed" if any(row["outcome"] == "Failed" for row in attempts) else "Passed"
    path = "null_challenges/" + generate_file_name("nc", ident, "challenge", "json")
    made = {"challengeID": f"nc_{ident}_challenge", "microHypothesisID": ident, "hypothesisFilePath": entry["filePath"],
            "falsificationAttempts": attempts, "overallOutcome": outcome}  # fmt: skip
    text = written("null_challenge", made, path)
    lost = next(
        (row["falsificationAnalysis"] for row in attempts if row["outcome"] == "Failed"), ""
    )
    against = f"{ident} was disproved: {lost}" if lost else ""
    told = [("Warn", warn)] if warn else []
    ended = [
        ("Info", f"Null Challenge for {ident} outcome: {outcome}"),
        *([("Warn", against)] if against else []),
    ]
    lines = [
        *([log] if log else []),
        *_lines(told),
        *said(request, stubs, knowledge),
        *_lines(ended),
    ]
    return {"id": ident, "path": path, "outcome": outcome, "text": text, "knowledge": knowledge, "lines": lines,
            "against": against}  # fmt: skip


def _lines(rows: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"level": level, "message": message} for level, message in rows]
