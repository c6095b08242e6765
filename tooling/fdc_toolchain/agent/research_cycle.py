"""Research in the background of a task (FDC-54, FDC-90): requested, started, polled, and added to the state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .turn import Failed, Turn

MOST_EXCERPT = 4000
INSIDE = ("workspace", "model")
"""Labels of what was made of the workspace's documents alone, by quotation or by a model."""


def launch(turn: Turn) -> str:
    """Starts the research, unless it was started before. Raises Failed after too many requests."""
    question = (
        turn.control.get("research_question")
        or turn.state.research_findings.get("question")
        or turn.state.task
    )
    number = int(turn.control.get("research_number", 0)) + 1
    most = turn.world.policy().research_most
    if number > most:
        raise Failed(f"{most} research requests were made for this task, which is the limit")
    name = f"research-{number}"
    turn.control["research"] = {"name": name, "question": question, "since": turn.world.now()}
    turn.world.launch(turn.task, name, question, turn.control.get("research_web") is not False)
    turn.log(
        1,
        "EXTERNAL_RAG_QUERY",
        {"question": question, "process": name},
        "IN_PROGRESS",
        "research was started",
    )
    return "AWAITING_RESULT"


def poll(turn: Turn) -> str:
    """AWAITING_RESULT while it runs, PLANNING once its findings are in the state. Raises Failed.

    Research that has ended, however it ended, is counted and forgotten: what is asked for next is another piece.
    """
    try:
        came = _look(turn)
    except Failed:
        _over(turn)
        raise
    if came == "PLANNING":
        _over(turn)
    return came


def _over(turn: Turn) -> None:
    if turn.control.get("research"):
        turn.control["research_number"] = int(turn.control.get("research_number", 0)) + 1
    turn.control["research"] = turn.control["research_question"] = None


def _look(turn: Turn) -> str:
    under_way: dict[str, Any] = turn.control.get("research") or {}
    name = under_way.get("name")
    if name is None:
        raise Failed("no research was started")
    found = turn.world.poll(turn.task, name)
    if found.running:
        waited = turn.world.now() - float(under_way["since"])
        limit = turn.world.policy().research_seconds
        if waited > limit:
            turn.world.kill(turn.task, name)
            raise Failed(f"the research took longer than {limit:g} s and was ended")
        return "AWAITING_RESULT"
    said = found.stderr.strip()[-MOST_EXCERPT:] or "its stderr is empty"
    if found.exit_code is None:
        raise Failed(f"the research process died without an exit code: {said}")
    if found.exit_code not in (0, 1):
        raise Failed(f"the research process ended with exit code {found.exit_code}: {said}")
    try:
        result = json.loads(found.stdout)
        if result["status"] != "finished" and result["stop"] != "require":
            raise Failed(
                f"the research {result['status']} (exit code {found.exit_code}): {result['why']}; {said}"
            )
        read = (result.get("web") or {}).get("pages", ())
        findings = {
            "question": str(result["question"]),
            "answered": result["status"] == "finished",
            "answer": [str(line) for line in result["answer"]],
            "why": str(result.get("why") or ""),
            "report": result.get("report"),
            "citations": int(result["held"]),
            "pages": [{key: str(row[key]) for key in ("url", "fetched", "sha256")} for row in read],
            "findings": [_finding(row) for row in result["findings"]],
            "trust": str(result["trust"]),
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as wrong:
        why = f"the research process (exit code {found.exit_code}) wrote no valid result: {wrong}; {said}"
        raise Failed(why) from wrong
    _integrate(turn, findings)
    turn.control["researched"] = result.get("run")
    return "PLANNING"


def _finding(row: dict[str, Any]) -> dict[str, Any]:
    """A finding with its label; without a label, it counts as text from outside."""
    trust = row.get("trust")
    cited = [
        {key: one.get(key) for key in ("path", "line", "target")}
        for one in row.get("citations", ())
    ]
    label = trust if trust in INSIDE else "untrusted"
    return {"text": str(row["text"]), "by": str(row.get("by", "")), "trust": label, "citations": cited,
            "from": [str(url) for url in row.get("from", ())]}  # fmt: skip


def from_outside(findings: Mapping[str, object]) -> bool:
    """Whether anything in `research_findings`, the earlier ones included, comes from outside of the workspace.

    Nothing does where there are none. What has no label, or one that is unknown, does: it is proved to be from
    inside, or it is from outside (issue 5: untrusted from the first byte).
    """
    if not findings:
        return False
    rows, earlier = findings.get("findings"), findings.get("earlier", [])
    if not isinstance(rows, list) or not isinstance(earlier, list):
        return True
    inside = (
        findings.get("trust") in INSIDE
        and findings.get("pages") == []
        and all(isinstance(row, Mapping) and row.get("trust") in INSIDE for row in rows)
    )
    return not inside or any(not isinstance(one, Mapping) or from_outside(one) for one in earlier)


def _integrate(turn: Turn, findings: dict[str, Any]) -> None:
    report = findings["report"]
    if report is not None:
        from os.path import isabs, relpath

        report = findings["report"] = relpath(report, turn.world.root) if isabs(report) else report
    earlier = turn.state.research_findings.get("earlier", [])
    if turn.state.research_findings.get("answer") is not None:
        earlier = [
            *earlier,
            {key: value for key, value in turn.state.research_findings.items() if key != "earlier"},
        ]
    turn.state.research_findings = {**findings, "earlier": earlier}
    told = "\n".join(findings["answer"]) or f"The documents do not answer it: {findings['why']}"
    turn.state.say(
        "user", f"Findings of the research on: {findings['question']}\n{told}"[: MOST_EXCERPT * 4]
    )
    details = {"question": findings["question"], "citations": findings["citations"]}
    if from_outside(findings):
        turn.state.messages[-1]["trust"] = "untrusted"
        details |= {"trust": "untrusted", "pages": [row["url"] for row in findings["pages"]]}
    if report is None:
        turn.log(1, "EXTERNAL_RAG_QUERY", details, "SUCCESS", f"no answer: {findings['why']}")
    else:
        turn.log(1, "RESEARCH_REPORT", {**details, "path": report}, "SUCCESS", evidence=report)
