"""What answers the prompts of a repair where no model is configured: a mutation-based proposer, ranked by coverage. Pure.

It is honest work of a lower grade: a hypothesis is one small edit of one line that failing tests run, it expects the tests
to pass, and what contradicts it is measured. Nothing is explained that was not counted.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .weighing import credible, of_each_behaviour, told_apart, weighed, why_undecided

if TYPE_CHECKING:
    from .shapes import (
        Attempt,
        Candidate,
        Edit,
        Evidence,
        Failure,
        Hypothesis,
        Probed,
        RegionAt,
        Suspect,
        Tried,
    )

BATCH = 8
"""Hypotheses of one diagnosis."""
EDITS, MOST_EDITS = 1800, 1800
"""Edits that are tried in memory before a diagnosis, and in the whole repair."""
SHARE = 40
"""Edits of the most suspect file that are tried before the next ones of another file have their turn."""
USELESS = frozenset(("fails", "breaks", "leaves"))
"""What a probe says of an edit that takes no failure away, brings one, or takes less away than another edit does."""
TWICE = "all tests pass with a second small edit of one function, but one mistake in a function is likelier than two"
SEEN = {
    "passes": "passes all the tests",
    "helps": "takes failures away",
    "fails": "takes no failure away",
    "breaks": "breaks a test",
    "leaves": "leaves a failure that another edit takes away",
}


def gather(
    failure: Mapping[str, object],
    context: Mapping[str, object],
    gathered: Sequence[object] | None = None,
) -> dict[str, object]:
    """The proposer reads whole files: no more context is needed (HYP-45)."""
    return {
        "needs_more_context": False,
        "why": "the files that failing tests run are read whole",
        "requests": [],
    }


def interpret(
    failure: Failure, context: Evidence, history: Sequence[str] | None = None
) -> dict[str, str]:
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
    failure: Failure, context: Evidence, interpretation: str = "",
    known: Sequence[Mapping[str, object]] | None = None, history: Sequence[str] | None = None,
    tried: Sequence[str] | None = None, refused: Sequence[str] | None = None,
    probed: Probed | None = None,
) -> dict[str, object]:  # fmt: skip
    """Competing hypotheses, best first: one edit each, of different lines as far as there are (HYP-26).

    Those whose edit took a failure away when it was tried in memory come first. Where every edit was tried and none did,
    no hypothesis exists; nor after some of those that could not be tried so, where all others were in vain.
    """
    seen: Probed = probed or {}
    verdicts = seen.get("verdicts") or {}
    fresh = candidates(context, [key for key in tried or () if key not in verdicts], failure)
    found = weighed(fresh, seen)
    passing = [row for row in found if row.get("probe") == "passes"]
    twice = bool(passing) and _in_one_function(passing[0], seen.get("kept") or (), context)
    if passing and (twice or not told_apart(passing)):
        choices = [
            {"claim": row["claim"], "diff": row["diff"], "change": row["change"]}
            for row in of_each_behaviour(passing)
        ]
        return {
            "hypotheses": [],
            "exhausted": True,
            "choices": choices,
            "why": TWICE if twice else why_undecided(passing),
        }
    found = credible(found) if verdicts else found
    count = len(verdicts) + seen.get("earlier", 0)
    failed = sum(row.get("status") in ("archived", "falsified") for row in known or ())
    alone = verdicts and all(row.get("probe") in USELESS for row in found)
    if alone or (count and failed >= BATCH and set(verdicts.values()) <= USELESS):
        why = f"{count} small edits were tried in memory, and with none of them fewer tests fail"
        return {"hypotheses": [], "exhausted": True, "why": why}
    if any(row.get("probe") not in (None, *USELESS) for row in found):
        found = [
            row for row in found if "probe" in row
        ]  # who was not put to a test does not compete
    why = (
        ""
        if len(found) > 1
        else str(context.get("why") or "no further small edit of a suspect line is known")
    )
    return {
        "hypotheses": spread(_rivals(found), BATCH),
        "exhausted": len(found) < 2 or bool(refused),
        "sole": len(found) == 1
        and (found[0]["key"].startswith("syntax-") or found[0].get("probe") == "passes"),
        "why": why,
    }


def _in_one_function(row: Candidate, kept: Sequence[RegionAt], context: Evidence) -> bool:
    """Whether an edit is in a function that a patch which is kept has changed: one mistake in a function is far likelier than
    two, and then the first patch only hides a part of it."""
    path, first = row["affected_region"]["path"], row["affected_region"]["first"]
    lines = [one["first"] for one in kept if one["path"] == path]
    source = (context.get("sources") or {}).get(path, "") if lines else ""
    return any(
        node.lineno <= min(first, line) and max(first, line) <= (node.end_lineno or 0)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line in lines
    )


def _rivals(found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with what was seen of them: who passes in memory, and what sets it apart from the others that do."""
    passing = sum(row.get("probe") == "passes" for row in found)
    out: list[Candidate] = []
    for row in found:
        more = f"; tried in memory, it {SEEN[row['probe']]}" if "probe" in row else ""
        if row.get("probe") == "passes" and passing > 1:
            differ, every = (row.get("change") or (0, 0))[:2]
            effect = f"its function gives another result for {differ} of {every} generated inputs"
            more += f", as {passing - 1} other edits do; {effect if every else 'what else it changes is not measured'}"
        out.append({**row, "explanation": row["explanation"] + more})
    return out


def edits(state: Tried, context: Evidence) -> dict[str, list[Edit]]:
    """The edits to be tried in memory: those of the suspects that were not tried, best first."""
    most = min(EDITS, MOST_EDITS - int(state["probes"]))
    found = candidates(context, list(state["tried"]), state["failure"])[: max(0, most)]
    if any(row["key"].startswith("syntax-") for row in found):
        found = []  # nothing can be imported: Python's parser has judged them
    return {
        "edits": [
            {
                "key": row["key"],
                "pieces": row["pieces"],
                "risky": row["risky"] or bool(row.get("turns_default")),
                "path": row["affected_region"]["path"],
            }
            for row in found
        ]
    }


def candidates(
    context: Evidence, tried: list[str], failure: Failure, most: int = EDITS
) -> list[Candidate]:
    """Every edit that the proposer knows of and that was not tried, the most credible first."""
    from .grammars import edits
    from .mutate import named
    from .mutate.mutate import propose

    by_file: dict[str, list[Suspect]] = {}
    for row in context.get("suspects") or ():
        by_file.setdefault(row["path"], []).append(row)
    sources = context.get("sources") or {}
    message = str(failure.get("message") or "")
    told = "\n".join([str(failure.get("block") or ""), *(failure.get("failing") or ())[:40]])
    others = tuple(sources.items()) if any(one in message for one in named.ERRORS) else ()
    best = max((float(row["score"]) for row in context.get("suspects") or ()), default=1.0)
    first = {path: float(by_file[path][0]["score"]) for path in sources if path in by_file}
    # no file takes all of the budget
    shares = {path: 1 + round(SHARE * score / best) for path, score in first.items()}
    found: list[tuple[int, float, Candidate]] = []
    rounds = 1 + 2 * most // max(1, sum(shares.values()))
    while len(found) < most:
        found, cut = [], False
        for path, share in shares.items():
            source, line = sources[path], 0
            if path == failure.get("path"):
                line = int(failure.get("line") or 0)
            limit = min(most, share * rounds)
            rows = (
                propose(source, path, by_file[path], tried, limit, message, line, others, told)
                if path.endswith(".py")
                else edits.repairs(source, path, set(tried))[:limit]
            )
            found += [(at // share, -row["confidence"], row) for at, row in enumerate(rows)]
            cut = cut or len(rows) == limit < most
        if not cut:
            break
        rounds *= 4
    return [row for _, _, row in sorted(found, key=lambda one: one[:2])][:most]


def spread(found: Sequence[Candidate], most: int) -> list[dict[str, object]]:
    """Hypotheses of the candidates: breadth before depth, not more than half of them about the same lines."""
    kept: list[dict[str, object]] = []
    seen: dict[tuple[str, int, int], int] = {}
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


def _hypothesis(row: Candidate) -> dict[str, object]:
    named = ("claim", "affected_region", "expected_effect", "interpretation", "explanation", "structural_change", "confidence",
             "intent", "key", "probe")  # fmt: skip
    fields: Mapping[str, object] = row
    return {**{name: fields[name] for name in named if name in fields}, "edit": row["diff"]}


def falsify(
    hypothesis: Hypothesis,
    failure: Mapping[str, object],
    context: Mapping[str, object],
    history: Sequence[str] | None = None,
    refused: object = None,
) -> dict[str, object]:
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
    hypothesis: Mapping[str, object],
    failure: Mapping[str, object],
    context: Mapping[str, object],
    history: list[str] | None = None,
) -> dict[str, object]:
    """The structural change that the hypothesis is about, without code (HYP-20, 22)."""
    return {
        "intent": hypothesis.get("intent") or hypothesis["claim"],
        "structural_change": hypothesis["structural_change"],
    }


def write(
    hypothesis: Mapping[str, object], proposal: Mapping[str, object], context: Mapping[str, object],
    refused: Sequence[object] | None = None, history: list[str] | None = None,
) -> str:  # fmt: skip
    """The hypothesis's own edit, as a diff."""
    return str(hypothesis.get("edit") or "")


def guess(
    failure: Failure, context: Evidence, tried: Sequence[str] | None = None, history: Sequence[str] | None = None,
    probed: Probed | None = None,
) -> str:  # fmt: skip
    """The next edit, whatever came of those before: what the loop is measured against."""
    old = set(tried or ())
    seen: Probed = probed or {}
    rows = weighed(candidates(context, [], failure), seen)
    found = (str(row["diff"]) for row in rows if row.get("probe") not in USELESS)
    return next(
        (diff for diff in found if hashlib.sha256(diff.encode()).hexdigest()[:16] not in old), ""
    )


def critique(attempt: Attempt) -> dict[str, str]:
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
