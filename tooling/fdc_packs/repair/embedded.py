"""What answers the prompts of a repair where no model is configured: a mutation-based proposer, ranked by coverage. Pure.

It is honest work of a lower grade: a hypothesis is one small edit of one line that failing tests run, it expects the tests
to pass, and what contradicts it is measured. Nothing is explained that was not counted.
"""

from __future__ import annotations

import hashlib
from typing import Any

BATCH = 8
"""Hypotheses of one diagnosis."""
EDITS, MOST_EDITS = 1200, 1200
"""Edits that are tried in memory before a diagnosis, and in the whole repair."""
USELESS = frozenset(("fails", "breaks"))
"""What a probe says of an edit that takes no failure away, or brings one."""


def gather(
    failure: dict[str, Any], context: dict[str, Any], gathered: list[Any] | None = None
) -> dict[str, Any]:
    """The proposer reads whole files: no more context is needed (HYP-45)."""
    return {
        "needs_more_context": False,
        "why": "the files that failing tests run are read whole",
        "requests": [],
    }


def interpret(
    failure: dict[str, Any], context: dict[str, Any], history: list[str] | None = None
) -> dict[str, Any]:
    """What fails, and which lines of the tests' coverage speak of it (HYP-06)."""
    suspects = context.get("suspects") or []
    tests = failure.get("failing") or []
    what = f"`{tests[0]}` fails" if tests else "the test command fails"
    if suspects:
        path = suspects[0]["path"]
        lines = [str(row["line"]) for row in suspects if row["path"] == path]
        more = f" and {len(lines) - 8} more" if len(lines) > 8 else ""
        what += f": a line that it runs is wrong, in {path} most likely, line {', '.join(lines[:8])}{more}"
    why = (
        f"{failure.get('message') or 'no message'}; {len(suspects)} lines are run by failing tests"
    )
    return {"interpretation": what, "explanation": why}


def diagnose(
    failure: dict[str, Any], context: dict[str, Any], interpretation: str = "", known: list[Any] | None = None,
    history: list[str] | None = None, tried: list[str] | None = None, refused: list[str] | None = None,
    probed: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Competing hypotheses, best first: one edit each, of different lines as far as there are (HYP-26).

    Those whose edit took a failure away when it was tried in memory come first. Where every edit was tried and none did,
    there is no hypothesis.
    """
    verdicts = (probed or {}).get("verdicts") or {}
    found = weighed(
        candidates(context, [key for key in tried or () if key not in verdicts], failure), verdicts
    )
    if verdicts and all(row.get("probe") in USELESS for row in found):
        why = f"{len(verdicts)} small edits were tried in memory, and with none of them fewer tests fail"
        return {"hypotheses": [], "exhausted": True, "why": why}
    why = (
        ""
        if len(found) > 1
        else str(context.get("why") or "no further small edit of a suspect line is known")
    )
    return {
        "hypotheses": spread(_rivals(found), BATCH),
        "exhausted": len(found) < 2 or bool(refused),
        "why": why,
    }


def _rivals(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The candidates, of which those that pass in memory name the others that do: a test that several pass decides little."""
    passing = [row["claim"] for row in found if row.get("probe") == "passes"]
    out = []
    for row in found:
        others = (
            [claim for claim in passing if claim != row["claim"]]
            if row.get("probe") == "passes"
            else []
        )
        more = (
            f"; tried in memory, {len(others)} other edits pass too: {' | '.join(others[:3])}"
            if others
            else ""
        )
        out.append({**row, "explanation": row["explanation"] + more})
    return out


def remarks(probed: dict[str, Any]) -> list[str]:
    """What a person must know of the edits that were tried in memory: that several pass, and which one is taken."""
    passing = [key for key, said in (probed.get("verdicts") or {}).items() if said == "passes"]
    if len(passing) < 2:
        return []
    said = f"{len(passing)} different small edits pass the tests when tried in memory; the most credible one is tried first"
    return [f"{said}, and these tests do not tell it from the others"]


def edits(state: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """The edits to be tried in memory: those of the suspects that were not tried, best first."""
    most = min(EDITS, MOST_EDITS - int(state["probes"]))
    found = candidates(context, list(state["tried"]), state["failure"])[: max(0, most)]
    return {
        "edits": [
            {"key": row["key"], "path": row["affected_region"]["path"], "pieces": row["pieces"]}
            for row in found
        ]
    }


def weighed(found: list[dict[str, Any]], verdicts: dict[str, str]) -> list[dict[str, Any]]:
    """The candidates by what a probe of their edit has shown, and then by what they were worth before."""
    rank = {"passes": 0.9, "helps": 0.6}
    out = []
    for row in found:
        said = verdicts.get(row["key"])
        before = row["confidence"]
        worth = (
            rank[said] + before / 10
            if said in rank
            else before / 10
            if said in USELESS
            else before / 2
        )
        out.append({**row, "confidence": round(worth, 4), **({"probe": said} if said else {})})
    return sorted(out, key=lambda row: -row["confidence"])


def candidates(
    context: dict[str, Any], tried: list[str], failure: dict[str, Any], most: int = EDITS
) -> list[dict[str, Any]]:
    """Every edit that the proposer knows of and that was not tried, the most credible first."""
    from .mutate.mutate import propose

    by_file: dict[str, list[dict[str, Any]]] = {}
    for row in context.get("suspects") or ():
        by_file.setdefault(row["path"], []).append(row)
    found: list[dict[str, Any]] = []
    for path, source in (context.get("sources") or {}).items():
        if path in by_file and path.endswith(".py"):
            line = int(failure.get("line") or 0) if path == failure.get("path") else 0
            found += propose(
                source, path, by_file[path], tried, most, str(failure.get("message") or ""), line
            )
    return sorted(found, key=lambda row: -row["confidence"])[:most]


def spread(found: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Hypotheses of the candidates: breadth before depth, not more than half of them about the same lines."""
    kept: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], int] = {}
    for row in found:
        region = row["affected_region"]
        place = (region["path"], region["first"], region["last"])
        if seen.get(place, 0) >= max(2, most // 2) and len(seen) > 1:
            continue
        seen[place] = seen.get(place, 0) + 1
        kept.append(_hypothesis(row))
        if len(kept) == most:
            break
    return kept


def _hypothesis(row: dict[str, Any]) -> dict[str, Any]:
    named = ("claim", "affected_region", "expected_effect", "interpretation", "explanation", "structural_change", "confidence",
             "intent", "key", "probe")  # fmt: skip
    effect = f"{row['expected_effect']} (edit {row['key']})"  # two edits of a line are two effects, in whatever words
    return {
        **{name: row[name] for name in named if name in row},
        "expected_effect": effect,
        "edit": row["diff"],
    }


def falsify(
    hypothesis: dict[str, Any],
    failure: dict[str, Any],
    context: dict[str, Any],
    history: list[str] | None = None,
) -> dict[str, Any]:
    """What would contradict the hypothesis, and can be measured (HYP-09 to 11)."""
    region = hypothesis["affected_region"]
    lines = f"lines {region['first']} to {region['last']} of {region['path']}"
    seen = {"observation": "with its change alone the tests that fail now still fail, or others do", "status": "pending",
            "kind": "probed"}  # fmt: skip
    return {
        "hypothesis_id": hypothesis["id"],
        "contradictions": [
            *([seen] if hypothesis.get("probe") else []),
            {"observation": f"no failing test runs {lines}", "status": "pending", "kind": "not-executed"},
            {"observation": "after its change the same error stands at the same place", "status": "pending",
             "kind": "unchanged-error"},
        ],
        "summary": "measured by coverage and by the next run of the tests",
    }  # fmt: skip


def propose(
    hypothesis: dict[str, Any], failure: dict[str, Any], context: dict[str, Any]
) -> dict[str, Any]:
    """The structural change that the hypothesis is about, without code (HYP-20, 22)."""
    return {
        "intent": hypothesis.get("intent") or hypothesis["claim"],
        "structural_change": hypothesis["structural_change"],
    }


def write(hypothesis: dict[str, Any], proposal: dict[str, Any], context: dict[str, Any]) -> str:
    """The hypothesis's own edit, as a diff."""
    return str(hypothesis.get("edit") or "")


def guess(
    failure: dict[str, Any], context: dict[str, Any], tried: list[str] | None = None, history: list[str] | None = None,
    probed: dict[str, Any] | None = None,
) -> str:  # fmt: skip
    """The next edit, whatever came of those before: what the loop is measured against."""
    old, verdicts = set(tried or ()), (probed or {}).get("verdicts") or {}
    rows = weighed(candidates(context, [], failure), verdicts)
    found = (str(row["diff"]) for row in rows if row.get("probe") not in USELESS)
    return next(
        (diff for diff in found if hashlib.sha256(diff.encode()).hexdigest()[:16] not in old), ""
    )


def critique(attempt: dict[str, Any]) -> dict[str, Any]:
    """The measured effect in words."""
    if attempt.get("passed"):
        said = "the test passes; nothing outside of the region was changed"
    elif attempt.get("progress"):
        said = "fewer tests fail, and none that passed before"
    elif not attempt.get("applied"):
        said = attempt.get("why") or "nothing was applied"
    elif attempt.get("unchanged"):
        said = "the same error at the same place: the region may not be what decides it"
    else:
        said = "the error is another one, and no test is won"
    return {"assessment": said}
