"""The state of a run, the worldview: how it begins, and every change to it. Pure; changes are not primitives (LGTM-48).

Each function takes a worldview and returns the next one. `log` is one line of `log_message`, or several.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .artifacts import advance, checked, written
from .knowledge import said
from .names import AREA
from .shown import kept

if TYPE_CHECKING:
    from typing import TypeGuard

    from .shapes.artifacts import (
        Area,
        Conflict,
        HypothesisEntry,
        LogLine,
        Meta,
        Pipeline,
        Worldview,
    )
    from .shapes.steps import (
        Config,
        Document,
        Drafted,
        Kept,
        LostDraft,
        Outcome,
        Refinements,
        Round,
        Taken,
    )

VERSION = 3
MOST_AREAS = 6
MOST_ROUNDS = 10
CONVERGED = ("CandidateRefinement", "CandidateNullChallenge")
LEVELS = ("Info", "Warn", "Error")
USE_TOOL = "lgtm_use_tool.plan"
_NO_TOOL = re.compile(r"Tool not found: .*", re.DOTALL)


def configure(
    max_iterations: str, confidence: str, conflicts: str, gate: str, areas: str = "6"
) -> Config:
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


def begin(question: str, prior: str, run: str) -> Worldview:
    """The worldview before anything is known (LGTM-19, 49). Raises ValueError for an empty question."""
    asked = " ".join(question.split())
    if not asked:
        raise ValueError("the question is empty")
    if prior.strip():
        asked = f"{asked} (given: {' '.join(prior.split())})"
    name = run.rpartition("/")[2]
    meta: Meta = {
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


def look(wv: Worldview) -> dict[str, object]:
    """GetWorldview: the worldview as it is at this point, and as it is written (LGTM-47). Raises ValueError where it is none."""
    return {
        "worldview": wv,
        "question": wv["meta"]["originalQuestion"],
        "text": written("worldview", wv, "worldview.json"),
    }


def log_line(level: str, text: str) -> LogLine:
    """LogMessage. Raises ValueError for a level that there is not (LGTM-45)."""
    if level not in LEVELS:
        raise ValueError(
            f"the log level `{level[:40]}` does not exist; there are {', '.join(LEVELS)}"
        )
    return {"level": level, "message": text}


def is_line(value: object) -> TypeGuard[LogLine]:
    """Whether a value is a line of the log: a step that has none to say gives nothing."""
    return isinstance(value, dict) and bool(value.get("level"))


def logged(wv: Worldview, log: object) -> Worldview:
    """With lines of the log at its end, in order."""
    lines = log if isinstance(log, list) else [log]
    return {
        **wv,
        "log": [*wv["log"], *(line for line in lines if is_line(line))],
    }


def know(
    wv: Worldview, results: object, log: object = (), request: object = None, stubs: object = None
) -> Worldview:
    """With the entries that were written, and what was said on the way (LGTM-45, 51)."""
    lines = list(log) if isinstance(log, (list, tuple)) else [log]
    return logged(known(wv, results), [*lines, *said(request, stubs)])


def known(wv: Worldview, results: object) -> Worldview:
    good = [row["entry"] for row in kept(results)]
    return {**wv, "knowledgeBase": {"entries": [*wv["knowledgeBase"]["entries"], *good]}}


def set_areas(wv: Worldview, proposed: object, config: Config | None = None) -> Worldview:
    """With its areas of analysis, the first that are wanted; with none where no model is there to find any. Raises ValueError
    where there is none for another reason (LGTM-52)."""
    if isinstance(proposed, dict) and proposed.get("failed") == "unavailable":
        return logged(wv, log_line("Warn", str(proposed["why"])))
    most = config["areas"] if config else MOST_AREAS
    rows = proposed.get("areas") if isinstance(proposed, dict) else None
    areas: list[Area] = []
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
        why = proposed.get("why") if isinstance(proposed, dict) else None
        hint = f": {why}" if why else "; the question may name what is not in these files"
        raise ValueError(f"no area of analysis was found{hint}")
    return {**wv, "areasOfAnalysis": areas}


def add_hypotheses(wv: Worldview, made: Sequence[Drafted | LostDraft], log: object) -> Worldview:
    """With the first hypothesis of each area that has one; an area without is in the log (LGTM-53)."""
    entries = list(wv["microHypotheses"])
    for row in made:
        if "failed" not in row and row["ok"] and row["hypothesis"] is not None:
            entries.append({
                "microHypothesisID": row["id"], "areaOfAnalysisID": row["area"], "version": 0, "status": "Initial",
                "confidence": row["hypothesis"]["confidence"], "filePath": row["path"], "nullChallengeFilePath": None,
                "nullChallengeOutcome": "NotAttempted", "derivedFromMicroHypothesisID": None,
            })  # fmt: skip
    lost = [log_line("Warn", row) for row in undrafted(made)]
    return logged({**wv, "microHypotheses": entries}, [*lost, log])


def undrafted(made: Sequence[Drafted | LostDraft]) -> list[str]:
    """A line for each reason for which areas have no hypothesis: a branch of the fork that stopped, or a draft that is none."""
    reasons: dict[str, list[str]] = {}
    for row in made:
        if "failed" in row or not row["ok"]:
            area = row["item"]["areaID"] if "failed" in row else row["area"]
            reasons.setdefault(str(row["why"]), []).append(area)
    return [f"No hypothesis for {', '.join(areas)}: {why}" for why, areas in reasons.items()]


def refused(wv: Worldview, entry: HypothesisEntry) -> str:
    """Why the last version of a hypothesis was not taken, for the author of the next; empty where it was."""
    heads = [f"{entry['microHypothesisID']} {said} " for said in ("stays as it is:", "is version")]
    own = [row["message"] for row in wv["log"] if row["message"].startswith(tuple(heads))]
    return own[-1].partition("Validation Failed: ")[2] if own else ""


def active(wv: Worldview) -> list[HypothesisEntry]:
    """The hypotheses that may still be refined."""
    return [
        row for row in wv["microHypotheses"] if row["status"] not in ("Validated", "Invalidated")
    ]


def to_refine(wv: Worldview, round: Round) -> dict[str, object]:
    """What an iteration refines, and its number."""
    return {"hypotheses": checked(active(wv)), "number": int(round["count"]) + 1}


def refined(wv: Worldview, joined: Refinements, log: LogLine | Sequence[LogLine]) -> Worldview:
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
    lines: list[LogLine] = [log] if isinstance(log, dict) else list(log)
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
        if row["outcome"] != "SuccessfulRefinement" or row["hypothesis"] is None:
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


def record_conflicts(wv: Worldview, found: object, log: object) -> Worldview:
    """With the conflicts that were found, each pair once (LGTM-25, 59); one that names no hypothesis is dropped. A pair that
    this comparison, if there was one, finds no longer is `Resolved`."""
    ids = {row["microHypothesisID"] for row in wv["microHypotheses"]}
    told = found.get("conflicts") if isinstance(found, dict) else None
    looked = isinstance(told, list)
    conflicts: list[Any] = told if isinstance(told, list) else []
    open_pairs = [sorted(set(one["involvedHypotheses"]) & ids) for one in conflicts]
    rows: list[Conflict] = [
        {**row, "status": "Detected" if sorted(row["involvedHypotheses"]) in open_pairs else "Resolved"} if looked else row
        for row in wv["hypothesisConflicts"]
    ]  # fmt: skip
    for one in conflicts:
        pair = sorted(set(one["involvedHypotheses"]) & ids)
        if len(pair) >= 2 and all(sorted(row["involvedHypotheses"]) != pair for row in rows):
            number = f"C_{len(rows) + 1:03d}"
            rows.append({"conflictID": number, "involvedHypotheses": pair,
                         "description": one["description"], "status": "Detected"})  # fmt: skip
    return logged({**wv, "hypothesisConflicts": rows}, log)


def first_round(config: Config) -> Round:
    """The counter of the loop, which is not part of the worldview (LGTM-61)."""
    return {"count": 0, "stop": False, "why": "", "most": config["max_iterations"], "versions": []}


def next_round(wv: Worldview, round: Round, config: Config) -> Round:
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
    versions: list[list[str | int]] = [[row["microHypothesisID"], row["version"]] for row in rows]
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
        "converged": terms["converged"],
        "confident": terms["confident"],
        "agreed": terms["agreed"],
    }


def round_to(number: float) -> float:
    """Two places, as people read it."""
    return float(f"{number:.2f}")


def set_synthesis(wv: Worldview, checked: Kept, path: str, log: object) -> Worldview:
    """With the output of the synthesis (LGTM-26, 72). Raises ValueError where there is none."""
    output = checked["output"]
    if output is None:
        raise ValueError("the synthesis was not kept")
    return logged({**wv, "synthesisOutput": {**output, "filePath": path}}, log)


def set_pipeline(wv: Worldview, chosen: Taken, log: object) -> Worldview:
    """With the pipeline that was proved, as it is stored: its text and its program's name (LGTM-75)."""
    stored: Pipeline = {
        "filePath": chosen["path"],
        "text": chosen["text"],
        "program": chosen["program"],
    }
    return logged({**wv, "meta": {**wv["meta"], "optimizedPipeline": stored}}, log)


def set_plan(wv: Worldview, document: Document, log: object) -> Worldview:
    """With the path of the final plan (LGTM-76)."""
    return logged({**wv, "meta": {**wv["meta"], "finalPlanPath": document["path"]}}, log)


def outcome(wv: Worldview, ended: str, why: str = "", document: Document | None = None) -> Outcome:
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


def _came_of(wv: Worldview) -> list[str]:
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


def next_version(entry: HypothesisEntry) -> int:
    """The number of a hypothesis's next version (LGTM-04)."""
    return int(entry["version"]) + 1
