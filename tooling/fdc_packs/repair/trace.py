"""A repair as it went: iterations and phases with what was asked, answered and checked, and a stream of events. Pure.

Both are made of the steps of the run's journal, so that they say what happened and nothing else (HYP-40 to 42).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .failure import read
from .hypotheses import BUCKETS
from .loop_state import HISTORY

STRATEGY = "guided_loop"
PHASES = tuple(
    "GATHER INTERPRET DIAGNOSE FALSIFY PROPOSE GENERATE_PATCH APPLY CRITIQUE CONVERGE".split()
)
_CUT = 20_000

_OF = {
    "request_context": "GATHER", "read_requests": "GATHER", "gather_context": "GATHER", "hold_context": "GATHER",
    "interpret_failure": "INTERPRET", "hold_interpretation": "INTERPRET",
    "list_edits": "DIAGNOSE", "probe_edits": "DIAGNOSE", "hold_probes": "DIAGNOSE",
    "diagnose_failure": "DIAGNOSE", "admit_hypotheses": "DIAGNOSE", "choose_hypothesis": "DIAGNOSE",
    "falsify_hypothesis": "FALSIFY", "weigh_challenge": "FALSIFY", "propose_change": "PROPOSE", "judge_proposal": "PROPOSE",
    "write_patch": "GENERATE_PATCH", "guess_patch": "GENERATE_PATCH", "check_patch": "GENERATE_PATCH",
    "merge_files": "GENERATE_PATCH", "apply_repair": "APPLY",
    "measure_attempt": "APPLY", "measure_guess": "APPLY", "keep_repair": "APPLY", "critique_attempt": "CRITIQUE",
    "conclude_iteration": "CONVERGE", "conclude_guess": "CONVERGE",
}  # fmt: skip
_ENDS = ("conclude_iteration", "conclude_guess")
_BEGINS = ("open_repair",)


class Step(NamedTuple):
    """One step of the run: its tool, what it was given and gave, the seconds at its begin and end; the prompt, if it was one."""

    tool: str
    args: dict[str, Any]
    value: Any
    failed: str
    begun: float
    ended: float
    prompt: str = ""
    usage: dict[str, Any] | None = None


def trace(steps: list[Step], given: dict[str, str], case: str) -> dict[str, object]:
    """The trace (HYP-42). An iteration that is not over yet is there, with what it has."""
    iterations: list[dict[str, Any]] = []
    inside: list[Step] = []
    first: dict[str, Any] = {}
    cycle = 0
    for step in steps:
        if step.tool in _BEGINS and isinstance(step.value, dict):
            first = step.value
        if step.tool not in _OF and step.tool != "run_tests":
            continue
        inside.append(step)
        if step.tool in _ENDS:
            iterations.append(_iteration(len(iterations) + 1, inside, cycle))
            cycle = (
                int(step.args.get("state", {}).get("cycle", 1))
                if isinstance(step.args.get("state"), dict)
                else cycle
            )
            inside = []
    if any(step.tool in _OF for step in inside):
        iterations.append(_iteration(len(iterations) + 1, inside, cycle))
        begun = [phase for phase in iterations[-1]["phases"] if phase["status"] != "planned"]
        if begun and not any(step.tool == "judge_repair" for step in steps):
            begun[-1]["status"] = "running"
    last = next(
        (
            step.value
            for step in reversed(steps)
            if step.tool == "judge_repair" and isinstance(step.value, dict)
        ),
        {},
    )
    files = str(given.get("files") or "").split("\n")
    return {
        "strategy": STRATEGY, "caseId": case, "targetLanguage": _language(files, last), "buildCommand": given.get("test", ""),
        "notes": list(last.get("notes") or ()), "iterations": iterations, "failure": first.get("failure") or {},
        "ended": last.get("ended", ""), "status": last.get("status", ""), "diff": last.get("diff", ""),
        "hypotheses": last.get("hypotheses") or (iterations[-1]["hypotheses"] if iterations else {}),
    }  # fmt: skip


def _language(files: list[str], last: dict[str, Any]) -> str:
    known = {
        "py": "python",
        "c": "c",
        "h": "c",
        "java": "java",
        "ts": "typescript",
        "js": "javascript",
        "go": "go",
        "rs": "rust",
    }
    named = [str(row["path"]) for row in last.get("changes") or ()] or [one for one in files if one]
    return known.get(named[0].rpartition(".")[2], "unknown") if named else "python"


def _iteration(index: int, steps: list[Step], cycle: int) -> dict[str, Any]:
    end = steps[-1] if steps[-1].tool in _ENDS else None
    state = end.value if end is not None and isinstance(end.value, dict) else _last_state(steps)
    record = state["attempts"][-1] if end is not None and state.get("attempts") else {}
    before = end.args.get("state", {}) if end is not None else {}
    events = [event for step in steps for event in _events_of(step.value)]
    store = state.get("store") or {"rows": []}
    primary = index == 1 or (isinstance(before, dict) and before.get("cycle") != cycle)
    return {
        "index": index, "kind": "primary" if primary else "refine", "label": f"Loop {index}",
        "accepted": bool(record.get("accepted")), "failureReason": record.get("reason") or None,
        "historyContext": list(before.get("history") or ())[-HISTORY:] if isinstance(before, dict) else [],
        "historyEntry": state["history"][-1] if end is not None and state.get("history") else "",
        "hypotheses": {name: [_short(row) for row in store["rows"] if row["status"] == name] for name in BUCKETS},
        "selectedHypothesisId": record.get("hypothesis") or None, "region": record.get("region"),
        "telemetry": {
            "stall": any(event["what"] == "stall" for event in events),
            "falsification": [event["id"] for event in events if event["what"] == "hypothesis falsified"],
            "retries": sum(event["what"] == "retry" for event in events),
            "hypothesisStatuses": {row["id"]: row["status"] for row in store["rows"]},
            "unchangedError": bool(record.get("applied") and record.get("unchanged")),
            "hypothesesCreated": sum(event["what"] == "hypothesis created" for event in events),
        },
        "phases": [_phase(name, [step for step in steps if _OF.get(step.tool) == name], steps) for name in PHASES],
    }  # fmt: skip


def _last_state(steps: list[Step]) -> dict[str, Any]:
    return next(
        (
            one.value
            for one in reversed(steps)
            if isinstance(one.value, dict) and "store" in one.value
        ),
        {},
    )


def _short(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "claim": row["claim"],
        "affectedRegion": row["affected_region"],
        "standing": row["standing"],
    }


def _phase(name: str, steps: list[Step], around: list[Step]) -> dict[str, Any]:
    if not steps or (name == "APPLY" and not any(step.tool == "apply_repair" for step in steps)):
        none: dict[str, Any] = {
            "phase": name,
            "status": "planned",
            "prompt": "",
            "response": None,
            "machineChecks": [],
        }
        return {**none, "humanNotes": [], "metrics": {}, "startedAt": None, "completedAt": None}
    checks = [check for step in steps for check in _checks(step)]
    asked = [step for step in steps if step.prompt]
    answers = [
        step.value for step in steps if step.tool not in _SHOWN_AS_CHECKS and step.value is not None
    ]
    failed = any(step.failed for step in steps) or (bool(checks) and not checks[-1]["passed"])
    notes = [
        str(event["what"])
        for step in steps
        for event in _events_of(step.value)
        if event["kind"] == "note"
    ]
    usage: dict[str, float] = {}
    for step in steps:
        for measure, number in (step.usage or {}).items():
            usage[measure] = usage.get(measure, 0) + number
    if name == "APPLY":
        test = next(
            (one for one in around if one.tool == "run_tests" and one.begun >= steps[0].begun), None
        )
        usage |= (
            {"testSeconds": test.value["seconds"]}
            if test is not None and isinstance(test.value, dict)
            else {}
        )
    return {
        "phase": name, "status": "failed" if failed else "completed", "prompt": _cut(asked[-1].prompt) if asked else "",
        "response": _answer(answers[-1]) if answers else None, "machineChecks": checks, "humanNotes": list(dict.fromkeys(notes)),
        "metrics": {"steps": len(steps), "seconds": round(sum(step.ended - step.begun for step in steps), 3), **usage},
        "startedAt": round(steps[0].begun, 3), "completedAt": round(steps[-1].ended, 3),
    }  # fmt: skip


_SHOWN_AS_CHECKS = frozenset(
    "read_requests list_edits probe_edits hold_probes gather_context hold_context hold_interpretation admit_hypotheses"
    " choose_hypothesis weigh_challenge judge_proposal check_patch merge_files"
    " conclude_iteration conclude_guess keep_repair apply_repair".split()
)


def _answer(value: Any) -> Any:
    """An answer without the state that it may hold, and without what only the loop needs."""
    if isinstance(value, dict) and "hypotheses" in value and isinstance(value["hypotheses"], list):
        rows = [{key: one for key, one in row.items() if key not in ("edit", "key")} if isinstance(row, dict) else row
                for row in value["hypotheses"]]  # fmt: skip
        return {**value, "hypotheses": rows}
    return _cut(value) if isinstance(value, str) else value


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else text[:_CUT] + "..."


def _checks(step: Step) -> list[dict[str, Any]]:
    """What the machine checked in a step, by the names of `gates.RULES`."""
    value = step.value if isinstance(step.value, dict) else {}
    if step.failed:
        return [_check("answered", False, step.failed)]
    if step.tool == "hold_context":
        return [
            _check(
                "context-schema",
                not value["events"],
                "; ".join(event["what"] for event in value["events"]),
            )
        ]
    if step.tool == "hold_interpretation":
        return [
            _check(
                "two-fields",
                bool(value["interpretation"]),
                "; ".join(event["what"] for event in value["events"]),
            )
        ]
    if step.tool == "admit_hypotheses":
        made = [event["id"] for event in value["events"] if event["what"] == "hypothesis created"]
        return [_check("at-least-two", bool(made), ", ".join(made) or "; ".join(value["refused"]))]
    if step.tool == "weigh_challenge":
        said = value.get("challenge") or {}
        out = [_check("observable", "failed" not in said, str(said.get("failed", "")))]
        gone = [
            event["why"]
            for event in value["events"]
            if event["what"] in ("hypothesis falsified", "hypothesis rejected")
        ]
        return [*out, _check("already-seen", not gone, "; ".join(gone))]
    if step.tool == "judge_proposal":
        return [_check("structural-relation", value["ok"], value["why"])]
    if step.tool == "check_patch":
        rule = "inside-region" if value["reason"] == "scope-violation" else "applies"
        return [
            _check(
                rule, value["ok"], f"{value['reason']}: {value['why']}" if not value["ok"] else ""
            )
        ]
    if step.tool in ("measure_attempt", "measure_guess"):
        return [_check("measured", value["progress"], value["reason"] or "passes")]
    return []


def _check(rule: str, passed: bool, detail: str) -> dict[str, Any]:
    return {"rule": rule, "passed": bool(passed), "detail": detail[:400]}


def events(steps: list[Step], began: float = 0.0) -> list[dict[str, object]]:
    """The stream: phase-transition, artifact-emitted, metric-recorded, note; timestamps in seconds from `began` (HYP-41)."""
    out: list[dict[str, object]] = []
    iteration, phase = 1, ""
    for step in steps:
        now = _OF.get(step.tool)
        if now is not None and now != phase:
            out.append(
                _event(
                    "phase-transition",
                    now,
                    iteration,
                    began + step.begun,
                    {"from": phase or None, "to": now},
                )
            )
            phase = now
        at = began + step.ended
        if step.tool == "run_tests" and isinstance(step.value, dict):
            told = {
                "what": "tests",
                "passed": step.value["passed"],
                "seconds": step.value["seconds"],
            }
            told["fingerprint"] = read(step.value)["fingerprint"]
            out.append(_event("metric-recorded", phase, iteration, at, told))
        if step.tool == "check_patch" and isinstance(step.value, dict) and step.value["ok"]:
            out.append(
                _event(
                    "artifact-emitted",
                    phase,
                    iteration,
                    at,
                    {"what": "patch", "diff": step.value["diff"]},
                )
            )
        for event in _events_of(step.value):
            out.append(
                _event(
                    event["kind"],
                    phase,
                    iteration,
                    at,
                    {key: one for key, one in event.items() if key != "kind"},
                )
            )
        if step.tool in _ENDS:
            iteration += 1
    return out


def _events_of(value: Any) -> list[dict[str, Any]]:
    found = value.get("events") if isinstance(value, dict) and "store" in value else None
    return found if isinstance(found, list) else []


def _event(
    kind: str, phase: str, iteration: int, at: float, data: dict[str, Any]
) -> dict[str, object]:
    told = {"kind": kind, "strategy": STRATEGY, "phase": phase or None, "iteration": iteration}
    return {**told, "timestamp": round(at, 3), "data": data}
