"""What the null challenge changes in a worldview: who is challenged, what came of it, who is left. Pure.

Each function takes a worldview and returns what the next step works with, or the next worldview.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .artifacts import advance, checked, placed
from .names import HYPOTHESIS, hypothesis_path
from .worldview import known, log_line, logged

if TYPE_CHECKING:
    from .shapes.artifacts import HypothesisEntry, LogLine, Status, Worldview
    from .shapes.steps import Candidate, Candidates, Challenges, Config, Entries


def candidates(wv: Worldview) -> Candidates:
    """The hypotheses that were refined and go on to the challenge, each with the path of its candidate version (LGTM-62)."""
    rows: list[Candidate] = []
    for row in wv["microHypotheses"]:
        if row["status"] == "CandidateRefinement":
            version = row["version"] + 1
            path = hypothesis_path(row["microHypothesisID"], version, "candidate")
            rows.append(
                {
                    "id": row["microHypothesisID"],
                    "from": row["filePath"],
                    "version": version,
                    "path": path,
                }
            )
    for candidate in rows:
        placed(candidate["from"])
        placed(candidate["path"])
    return {"rows": rows, "count": len(rows)}


def mark(wv: Worldview, marked: list[Candidate], log: object) -> Worldview:
    """With those as candidates of the null challenge."""
    by_id = {row["id"]: row for row in marked}
    out: list[HypothesisEntry] = []
    for entry in wv["microHypotheses"]:
        candidate = by_id.get(entry["microHypothesisID"])
        if candidate is not None:
            entry = {
                **advance(entry, "CandidateNullChallenge"),
                "version": candidate["version"],
                "filePath": candidate["path"],
            }
        out.append(entry)
    return logged({**wv, "microHypotheses": out}, log)


def to_challenge(wv: Worldview) -> Entries:
    """Only candidates are challenged (LGTM-63)."""
    rows = [row for row in wv["microHypotheses"] if row["status"] == "CandidateNullChallenge"]
    return {"hypotheses": checked(rows), "count": len(rows)}


def challenged(wv: Worldview, joined: Challenges, log: LogLine) -> Worldview:
    """With the outcome and the file of every challenge, and what was found on the way (LGTM-68)."""
    out = logged(wv, [log])
    whole = [row for row in joined["results"] if "failed" not in row]
    lost = [log_line("Warn", f"{row['item']['microHypothesisID']} was not challenged: {row['why']}")
            for row in joined["results"] if "failed" in row]  # fmt: skip
    by_id = {row["id"]: row for row in whole}
    for row in whole:
        if HYPOTHESIS.match(row["id"]) is None:
            raise ValueError(f"`{row['id']}` is not a hypothesis")
        out = logged(known(out, row["knowledge"]), row["lines"])
    entries: list[HypothesisEntry] = []
    for entry in out["microHypotheses"]:
        made = by_id.get(entry["microHypothesisID"])
        if made is not None:
            entry = {
                **entry,
                "nullChallengeFilePath": made["path"],
                "nullChallengeOutcome": made["outcome"],
            }
        entries.append(entry)
    return logged({**out, "microHypotheses": entries}, lost)


def settle(wv: Worldview, config: Config) -> dict[str, object]:
    """With every hypothesis of which evidence decided Validated or Invalidated (LGTM-24), how it ended all in all, and whether
    to go on (C-19).

    One that no one could decide, or whose challenge could not be made, stays a candidate: it neither passed nor failed, is
    named, and is not part of the plan.
    """
    decisions: dict[str, Status] = {"Passed": "Validated", "Failed": "Invalidated"}
    rows: list[HypothesisEntry] = []
    outcomes = [
        row["nullChallengeOutcome"]
        for row in wv["microHypotheses"]
        if row["status"] == "CandidateNullChallenge"
    ]
    for entry in wv["microHypotheses"]:
        decided = decisions.get(entry["nullChallengeOutcome"])
        if entry["status"] == "CandidateNullChallenge" and decided:
            entry = advance(entry, decided)
        rows.append(entry)
    failed, passed = "Failed" in outcomes, "Passed" in outcomes
    text = "Failed" if failed else "Passed" if passed else "Undecided"
    why = f"Overall Null Hypothesis Challenge {text}. Aborting planning."
    if not outcomes:
        text, why = "nothing was challenged", "No hypothesis was challenged. Aborting planning."
    return {
        "worldview": {**wv, "microHypotheses": rows},
        "all_passed": passed and all(one == "Passed" for one in outcomes),
        "proceed": passed and (not failed or config["gate"] == "subset"),
        "text": text,
        "why": why,
    }


def validated(wv: Worldview) -> Entries:
    """What synthesis works with (LGTM-71)."""
    rows = [row for row in wv["microHypotheses"] if row["status"] == "Validated"]
    return {"hypotheses": checked(rows), "count": len(rows)}
