"""The state of a run, the worldview: how it begins, and every change to it. Pure; changes are not primitives (LGTM-48).

Each function takes a worldview and returns the next one. `log` is one line of `log_message`, or several.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .artifacts import advance, written
from .knowledge import said
from .names import AREA, CHALLENGE, FILE, NONE

VERSION = 3
MOST_AREAS = 6
MOST_ROUNDS = 10
CONVERGED = ("CandidateRefinement", "CandidateNullChallenge")
LEVELS = ("Info", "Warn", "Error")
USE_TOOL = "lgtm_use_tool.plan"
_NO_TOOL = re.compile(r"Tool not found: .*", re.DOTALL)


def configure(
    max_iterations: str, confidence: str, conflicts: str, gate: str, areas: str = "6"
) -> dict[str, object]:
    """The numbers of a run, checked (LGTM-42, 60). Raises ValueError for one that makes no sense."""
    try:
        rounds, least, most, wide = (
            int(max_iterations),
            float(confidence),
            int(conflicts),
            int(areas),
        )
    except ValueError:
        raise ValueError(
            "max_iterations, areas and conflicts are whole numbers, confidence is one between 0 and 1"
        ) from None
    if not 1 <= wide <= MOST_AREAS:
        raise ValueError(f"areas is {wide}; it must be 1 to {MOST_AREAS}")
    if not 1 <= rounds <= MOST_ROUNDS:
        raise ValueError(f"max_iterations is {rounds}; it must be 1 to {MOST_ROUNDS}")
    if not 0.0 <= least <= 1.0 or most < 0:
        raise ValueError(
            f"confidence {least} must be between 0 and 1, conflicts {most} not below 0"
        )
    if gate not in ("all", "subset"):
        raise ValueError(f"gate is `all` or `subset`, found `{gate[:40]}`")
    return {
        "max_iterations": rounds,
        "confidence": least,
        "conflicts": most,
        "gate": gate,
        "areas": wide,
    }


def begin(question: str, prior: str, run: str) -> dict[str, Any]:
    """The worldview before anything is known (LGTM-19, 49). Raises ValueError for an empty question."""
    asked = " ".join(question.split())
    if not asked:
        raise ValueError("the question is empty")
    if prior.strip():
        asked = f"{asked} (given: {' '.join(prior.split())})"
    name = run.rpartition("/")[2]
    meta = {
        "originalQuestion": asked,
        "runFolderPath": run,
        "finalPlanPath": None,
        "runId": name,
        "optimizedPipeline": None,
    }
    return {
        "schemaVersion": VERSION, "meta": meta, "knowledgeBase": {"entries": []}, "areasOfAnalysis": [],
        "microHypotheses": [], "hypothesisConflicts": [], "synthesisOutput": None, "log": [],
    }  # fmt: skip


def look(wv: dict[str, Any]) -> dict[str, Any]:
    """GetWorldview: the worldview as it is at this point, and as it is written (LGTM-47). Raises ValueError where it is none."""
    return {
        "worldview": wv,
        "question": wv["meta"]["originalQuestion"],
        "text": written("worldview", wv, "worldview.json"),
    }


def log_line(level: str, text: str) -> dict[str, str]:
    """LogMessage. Raises ValueError for a level that there is not (LGTM-45)."""
    if level not in LEVELS:
        raise ValueError(
            f"the log level `{level[:40]}` does not exist; there are {', '.join(LEVELS)}"
        )
    return {"level": level, "message": text}


def logged(wv: dict[str, Any], log: Any) -> dict[str, Any]:
    """With lines of the log at its end, in order."""
    lines = log if isinstance(log, list) else [log]
    return {
        **wv,
        "log": [
            *wv["log"],
            *(line for line in lines if isinstance(line, dict) and line.get("level")),
        ],
    }


def know(
    wv: dict[str, Any], results: list[Any], log: object = (), request: Any = None, stubs: Any = None
) -> dict[str, Any]:
    """With the entries that were written, and what was said on the way (LGTM-45, 51)."""
    lines = list(log) if isinstance(log, (list, tuple)) else [log]
    return logged(known(wv, results), [*lines, *said(request, stubs)])


def known(wv: dict[str, Any], results: list[Any]) -> dict[str, Any]:
    good = [row["entry"] for row in results if isinstance(row, dict) and row.get("ok")]
    return {**wv, "knowledgeBase": {"entries": [*wv["knowledgeBase"]["entries"], *good]}}


def set_areas(
    wv: dict[str, Any], proposed: Any, config: dict[str, Any] | None = None
) -> dict[str, Any]:
    """With its areas of analysis, the first that are wanted; with none where no model is there to find any. Raises ValueError
    where there is none for another reason (LGTM-52)."""
    if isinstance(proposed, dict) and proposed.get("failed") == "unavailable":
        return logged(wv, log_line("Warn", str(proposed["why"])))
    most = config["areas"] if config else MOST_AREAS
    rows = proposed.get("areas") if isinstance(proposed, dict) else None
    areas: list[dict[str, Any]] = []
    for row in rows if isinstance(rows, list) else []:
        ident = str(row.get("areaID", "")) if isinstance(row, dict) else ""
        if (
            AREA.match(ident)
            and all(ident.lower() != one["areaID"].lower() for one in areas)
            and len(areas) < most
        ):
            areas.append(
                {
                    "areaID": ident,
                    "description": str(row.get("description") or ident),
                    "status": "Active",
                }
            )
    if not areas:
        why = (
            f": {proposed.get('why')}" if isinstance(proposed, dict) and proposed.get("why") else ""
        )
        raise ValueError(
            f"no area of analysis was found; the question may name what is not in these files{why}"
        )
    return {**wv, "areasOfAnalysis": areas}


def add_hypotheses(wv: dict[str, Any], made: list[Any], log: Any) -> dict[str, Any]:
    """With the first hypothesis of each area that has one; an area without is in the log (LGTM-53)."""
    entries = list(wv["microHypotheses"])
    for row in made:
        if row.get("ok"):
            entries.append({
                "microHypothesisID": row["id"], "areaOfAnalysisID": row["area"], "version": 0, "status": "Initial",
                "confidence": row["hypothesis"]["confidence"], "filePath": row["path"], "nullChallengeFilePath": None,
                "nullChallengeOutcome": "NotAttempted", "derivedFromMicroHypothesisID": None,
            })  # fmt: skip
    lost = [log_line("Warn", row) for row in undrafted(made)]
    return logged({**wv, "microHypotheses": entries}, [*lost, log])


def undrafted(made: list[Any]) -> list[str]:
    """A line for each reason for which areas have no hypothesis: a branch of the fork that stopped, or a draft that is none."""
    reasons: dict[str, list[str]] = {}
    for row in made:
        if "failed" in row or not row["ok"]:
            area = row["item"]["areaID"] if "failed" in row else row["area"]
            reasons.setdefault(str(row["why"]), []).append(area)
    return [f"No hypothesis for {', '.join(areas)}: {why}" for why, areas in reasons.items()]


def refused(wv: dict[str, Any], entry: dict[str, Any]) -> str:
    """Why the last version of a hypothesis was not taken, for the author of the next; empty where it was."""
    heads = [f"{entry['microHypothesisID']} {said} " for said in ("stays as it is:", "is version")]
    own = [row["message"] for row in wv["log"] if row["message"].startswith(tuple(heads))]
    return own[-1].partition("Validation Failed: ")[2] if own else ""


def active(wv: dict[str, Any]) -> list[dict[str, Any]]:
    """The hypotheses that may still be refined."""
    return [
        row for row in wv["microHypotheses"] if row["status"] not in ("Validated", "Invalidated")
    ]


def to_refine(wv: dict[str, Any], round: dict[str, Any]) -> dict[str, Any]:
    """What an iteration refines, and its number."""
    return {"hypotheses": checked(active(wv)), "number": int(round["count"]) + 1}


def checked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries of hypotheses whose files lie where hypotheses lie. Raises ValueError for any other path."""
    for row in rows:
        if FILE.match(row["filePath"]) is None:
            raise ValueError(f"`{row['filePath'][:80]}` is not a file of a hypothesis")
        if CHALLENGE.match(row.get("nullChallengeFilePath") or NONE) is None:
            raise ValueError(
                f"`{str(row['nullChallengeFilePath'])[:80]}` is not a file of a challenge"
            )
    return rows


def refined(wv: dict[str, Any], joined: dict[str, Any], log: Any) -> dict[str, Any]:
    """With what the branches of an iteration brought: entries in the order of the branches, versions, statuses (LGTM-40, 58).

    A branch that stopped is in the log (LGTM-38). Where it asked for a tool that there is not, its siblings have finished, and
    the run stops here: raises ValueError with the message of UseTool (LGTM-35).
    """
    for row in joined["results"]:
        if (
            "failed" in row
            and str(row.get("path", "")).endswith(USE_TOOL)
            and (missing := _NO_TOOL.search(row["why"]))
        ):
            raise ValueError(missing.group())
    entries = {row["microHypothesisID"]: row for row in wv["microHypotheses"]}
    lines = [log] if isinstance(log, dict) else list(log)
    out = wv
    for row in joined["results"]:
        if "failed" in row:
            lines.append(
                log_line("Warn", f"{row['item']['microHypothesisID']} stays as it is: {row['why']}")
            )
            continue
        out = known(out, row["knowledge"])
        lines += row.get("lines") or ()
        old = entries[row["id"]]
        if row["outcome"] == "Unchanged":  # it was looked at, and stands
            entries[row["id"]] = advance(old, "CandidateRefinement")
        if row["outcome"] != "SuccessfulRefinement":
            continue
        if row["version"] != old["version"] + 1:
            raise ValueError(
                f"{row['id']}: version {row['version']} does not follow {old['version']}"
            )
        moved = advance(old, "CandidateRefinement")
        moved |= {
            "version": row["version"],
            "filePath": row["path"],
            "confidence": row["hypothesis"]["confidence"],
        }
        entries[row["id"]] = moved
    return logged({**out, "microHypotheses": list(entries.values())}, lines)


def record_conflicts(wv: dict[str, Any], found: Any, log: object) -> dict[str, object]:
    """With the conflicts that were found, each pair once (LGTM-25, 59); one that names no hypothesis is dropped. A pair that
    this comparison, if there was one, finds no longer is `Resolved`."""
    ids = {row["microHypothesisID"] for row in wv["microHypotheses"]}
    looked = isinstance(found, dict) and isinstance(found.get("conflicts"), list)
    open_pairs = (
        [sorted(set(one["involvedHypotheses"]) & ids) for one in found["conflicts"]]
        if looked
        else []
    )
    rows = [{**row, "status": "Detected" if sorted(row["involvedHypotheses"]) in open_pairs else "Resolved"} if looked else row
            for row in wv["hypothesisConflicts"]]  # fmt: skip
    for one in found["conflicts"] if looked else ():
        pair = sorted(set(one["involvedHypotheses"]) & ids)
        if len(pair) >= 2 and all(sorted(row["involvedHypotheses"]) != pair for row in rows):
            number = f"C_{len(rows) + 1:03d}"
            described = {"description": one["description"], "status": "Detected"}
            rows.append({"conflictID": number, "involvedHypotheses": pair, **described})
    return logged({**wv, "hypothesisConflicts": rows}, log)


def first_round(config: Mapping[str, object]) -> dict[str, object]:
    """The counter of the loop, which is not part of the worldview (LGTM-61)."""
    return {"count": 0, "stop": False, "why": "", "most": config["max_iterations"], "versions": []}


def next_round(wv: dict[str, Any], round: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """The counter after an iteration, and whether to stop: at the most iterations, or where every hypothesis has
    converged and either confidence is high enough and conflicts are few enough (LGTM-60), or the round changed none of them:
    another one would ask the same again.

    A conflict is active while both of its sides are. Where no hypothesis is, there is nothing to wait for (LGTM-55).
    """
    rows = active(wv)
    count = int(round["count"]) + 1
    overall = sum(row["confidence"] for row in rows) / len(rows) if rows else 1.0
    ids = {row["microHypothesisID"] for row in rows}
    open_conflicts = sum(
        row["status"] == "Detected" and set(row["involvedHypotheses"]) <= ids
        for row in wv["hypothesisConflicts"]
    )
    terms = {
        "converged": all(row["status"] in CONVERGED for row in rows),
        "confident": overall >= config["confidence"],
        "agreed": open_conflicts <= config["conflicts"],
    }
    versions = [[row["microHypothesisID"], row["version"]] for row in rows]
    before = round["versions"] or [[ident, 0] for ident, _ in versions]
    reasons = {
        "every hypothesis has converged": all(terms.values()),
        "the round changed no hypothesis": terms["converged"]
        and versions == before
        and not any(refused(wv, row) for row in rows),
        "that was the last iteration": count >= config["max_iterations"],
    }
    why = next((reason for reason, holds in reasons.items() if holds), "")
    return {
        **round,
        "count": count,
        "stop": bool(why),
        "why": why,
        "versions": versions,
        "confidence": round_to(overall),
        **terms,
    }


def round_to(number: float) -> float:
    """Two places, as people read it."""
    return float(f"{number:.2f}")


def set_synthesis(
    wv: dict[str, Any], checked: dict[str, Any], path: str, log: Any
) -> dict[str, Any]:
    """With the output of the synthesis (LGTM-26, 72)."""
    return logged({**wv, "synthesisOutput": {**checked["output"], "filePath": path}}, log)


def set_pipeline(wv: dict[str, Any], chosen: Mapping[str, object], log: Any) -> dict[str, Any]:
    """With the pipeline that was proved, as it is stored: its text and its program's name (LGTM-75)."""
    stored = {"filePath": chosen["path"], "text": chosen["text"], "program": chosen["program"]}
    return logged({**wv, "meta": {**wv["meta"], "optimizedPipeline": stored}}, log)


def set_plan(wv: dict[str, Any], document: dict[str, Any], log: Any) -> dict[str, Any]:
    """With the path of the final plan (LGTM-76)."""
    return logged({**wv, "meta": {**wv["meta"], "finalPlanPath": document["path"]}}, log)


def outcome(wv: dict[str, Any], ended: str, why: str = "", document: Any = None) -> dict[str, Any]:
    """How the run ended: `planned`, or what stopped it, with the counts that a reader wants; without a document, what came of
    each hypothesis."""
    statuses = [row["status"] for row in wv["microHypotheses"]]
    text = document["text"] if isinstance(document, dict) else "\n".join(_came_of(wv))
    return {
        "ended": ended, "why": why, "question": wv["meta"]["originalQuestion"], "run": wv["meta"]["runFolderPath"],
        "plan": wv["meta"]["finalPlanPath"], "markdown": text,
        "knowledge": len(wv["knowledgeBase"]["entries"]), "areas": len(wv["areasOfAnalysis"]),
        "hypotheses": len(statuses), "validated": statuses.count("Validated"), "invalidated": statuses.count("Invalidated"),
        "conflicts": len(wv["hypothesisConflicts"]),
    }  # fmt: skip


def _came_of(wv: dict[str, Any]) -> list[str]:
    """A line for each hypothesis: what it is about, whether it stands, and what the judge said where it does not."""
    about = {row["areaID"]: row["description"] for row in wv["areasOfAnalysis"]}
    out = []
    for row in wv["microHypotheses"]:
        ident = row["microHypothesisID"]
        said = [
            line["message"] for line in wv["log"] if line["message"].startswith(f"{ident} was ")
        ]
        stands = "stands" if row["status"] == "Validated" else "was not challenged"
        end = said[-1].removeprefix(f"{ident} ") if said else stands
        out.append(f"- {ident} (version {row['version']}) {end}")
        out.append(f"      It is about: {about[row['areaOfAnalysisID']]}")
    return out


def next_version(entry: dict[str, Any]) -> int:
    """The number of a hypothesis's next version (LGTM-04)."""
    return int(entry["version"]) + 1
