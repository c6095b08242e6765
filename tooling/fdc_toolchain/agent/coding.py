"""GENERATING_CODE, RUNNING_TESTS and DEBUGGING (FDC-92): a view of a run that has code written (`code_plan`).

A plan asks for it with the step `generate_code FILES WHAT`. The engine stops there; the controller drives a run of its own,
answers what that asks (the patches), and then answers the step: done, or failed with the reason. Applying, testing and
counting the attempts are that run's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..narrow import narrow
from . import code_plan, provenance
from .model_port import Malformed, Message, ModelFailed, RunStands, Why, validated
from .prompts import prompt
from .turn import Turn
from .world import Driven

EDITS: dict[str, Any] = {
    "type": "object",
    "required": ["edits"],
    "additionalProperties": False,
    "properties": {
        "note": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["path"],
                "additionalProperties": False,
                "properties": {
                    "path": {"type": "string", "minLength": 1},
                    "diff": {
                        "type": "string",
                        "description": "SEARCH/REPLACE sections for a file that exists",
                    },
                    "content": {
                        "type": "string",
                        "description": "the whole of a file that does not exist yet",
                    },
                },
                "oneOf": [{"required": ["diff"]}, {"required": ["content"]}],
            },
        },
    },
}
"""A coder's reply. Without edits: the model or person has changed the files already."""

MOST_OUTPUT = 12_000
MOST_FILES = 200_000
"""Characters of a failing test's output, and of all files together, that a request carries."""


def generate(turn: Turn) -> str:
    """Requests a patch for the run. Failures go to debugging, because the automaton has no transition to ERROR from here."""
    work = _work(turn)
    if work.get("reply") is not None or turn.control.get("given_up"):
        return "RUNNING_TESTS"
    if work.get("asked") is None:  # do not drive the run again while it waits for an answer
        asked = _asked(_drive(turn, work, {}))
        if asked is None:  # the run ended by itself: EXECUTING handles its outcome
            return "RUNNING_TESTS"
        tests = asked["args"].get("tests")
        role = "coder" if tests is None else "debugger"
        work["asked"] = {"address": asked["address"], "role": role, "report": _report(tests)}
    asked = work["asked"]
    number = int(turn.control.get("patches", 0)) + 1
    reply: dict[str, Any]
    if provenance.declined(turn.control, "patch") is not None:
        reply = {"edits": [], "refused": "a person did not approve the patch"}
    else:
        try:
            reply = {"edits": _edits(turn, work, asked["role"], number, asked["report"])}
        except Malformed as failed:  # it counts as an attempt, and the coder is told
            reply = {"edits": [], "refused": str(failed)}
        except ModelFailed as failed:
            reply = {"failed": str(failed)}
    turn.control["patches"] = number
    work.update(reply={asked["address"]: json.dumps(reply)}, asked=None)
    return "RUNNING_TESTS"


def _edits(
    turn: Turn, work: dict[str, Any], role: str, number: int, report: str
) -> list[dict[str, str]]:
    """The requested patch; after an approval, if its author may have seen text from outside."""
    waits = provenance.held(turn.control, "patch")
    if waits is not None:
        reply, by = validated({"edits": waits.get("data")}, EDITS), str(waits.get("by"))
    else:
        files = turn.world.files(work["files"])
        provenance.of_files(turn, files)
        messages = request(work, files, turn.state.task, report)
        reply = validated(turn.model.complete(role, messages, EDITS), EDITS)
        by = f"the {role}"
    edits = narrow(reply["edits"], list)
    if edits:
        provenance.clear(
            turn,
            provenance.Text("patch", shown(edits), by, f"{work['address']}#{number}", data=edits),
        )
    return edits


def shown(edits: Sequence[Mapping[str, str]]) -> str:
    """A patch for a person to read. Each written line has a mark, so that different patches look different."""
    out = []
    for edit in edits:
        kind = "change" if "diff" in edit else "new file"
        lines = edit.get("diff", edit.get("content", "")).split("\n")
        out += [f"{kind} {json.dumps(edit['path'])}", *(f"| {line}" for line in lines)]
    return "\n".join(out) + "\n"


def run_tests(turn: Turn) -> str:
    """Applies and tests the patch: EXECUTING if the tests pass, else DEBUGGING."""
    work = _work(turn)
    if turn.control.get("given_up"):
        return "DEBUGGING"
    given = work.get("reply")
    driven = _drive(turn, work, given or {})
    asked = _asked(driven)
    if given is None and asked is not None and asked["args"].get("tests") is None:
        # No one wrote a patch: an older fdc applied one, or a caller of the library did.
        driven = _drive(turn, work, {asked["address"]: json.dumps({"edits": []})})
    work.update(reply=None, asked=None)
    why = _told(turn, work)
    if driven.status == "finished":
        turn.control["answer"] = {work["address"]: "done"} if work["address"] else {}
        turn.control["code"] = None
        return "EXECUTING"
    work["over"] = driven.status == "stopped"
    if work["over"] and not why:
        why = driven.why
    work["why"] = why
    return "DEBUGGING"


def debug(turn: Turn) -> str:
    """Records what must be repaired, or gives up if the run has. Then EXECUTING."""
    work = _work(turn)
    limit = turn.world.policy().debug_attempts
    broken = turn.control.get("given_up")
    why = str(broken or work.get("why") or "the tests failed")
    tries = int(work.get("tried", 0))
    if work.get("over") or broken:
        spent = f" (after {limit} debugging {'attempt' if limit == 1 else 'attempts'})"
        why += spent if tries > limit else ""
        turn.control["answer"] = {work["address"]: f"failed: {why}"} if work["address"] else {}
        turn.control.update(given_up=why, code=None)
        status, error, said = "FAILURE", why, ""
    else:
        turn.control.setdefault("repairs", []).append(why)
        status, error, said = "IN_PROGRESS", None, f"to repair: {why}"[:400]
    details = {"attempt": tries, "of": limit}
    turn.log(3, "CRITIC_FEEDBACK", details, status, said, error=error, step=work["address"])
    return "EXECUTING"


def wanted(turn: Turn, address: str, args: Mapping[str, object]) -> dict[str, object]:
    """The notes about a `generate_code` step that the engine stopped at: what it wants, and the run that is to do it."""
    return {
        "address": address, "files": str(args.get("files") or "**"), "what": str(args.get("what") or ""),
        "run": turn.world.run_id(),
    }  # fmt: skip


def request(
    work: Mapping[str, object], files: Sequence[tuple[str, str]], task: str, report: str
) -> list[Message]:
    """The messages that ask for a patch, with the files as they are and what failed before."""
    shown, left = [], MOST_FILES
    for path, text in files:
        if len(text) <= left:
            shown.append({"path": path, "text": text})
            left -= len(text)
    missing = len(files) - len(shown)
    text = prompt(
        "coder",
        task=task,
        what=work["what"],
        glob=work["files"],
        files=shown,
        missing=missing,
        report=report,
    )
    return [{"role": "system", "content": prompt("coder_rules")}, {"role": "user", "content": text}]


def _work(turn: Turn) -> dict[str, Any]:
    """The notes about the code that is being written; the library form may ask for some outside of a plan."""
    found: dict[str, Any] | None = turn.control.get("code")
    if found is None:
        found = turn.control["code"] = wanted(turn, "", {"what": turn.state.task})
    return found


def _drive(turn: Turn, work: dict[str, Any], answers: Mapping[str, str]) -> Driven:
    """Drives the run as far as it can go with these answers; begins it if it does not exist. Raises ModelWaiting."""
    world = turn.world
    if "run" not in work:  # notes of fdc 0.1.0
        work["run"] = world.run_id()
    run = work["run"]
    try:
        world.peek(run)
    except LookupError:
        program = code_plan.program(world.root, world.policy().debug_attempts)
        given = {"files": work["files"], "what": work["what"]}
        world.create(run, program, code_plan.KEY, "", given)  # what it does is logged here
    driven = world.drive(run, answers)
    if driven.status not in ("finished", "stopped") and _asked(driven) is None:
        why: Why = driven.status if driven.status in ("broken", "interrupted") else "answer"
        raise RunStands(driven.why or f"the run {run} was {driven.status}", why)
    return driven


def _asked(driven: Driven) -> dict[str, Any] | None:
    """The patch that a run requests."""
    return next(
        (question for question in driven.questions if question["tool"] == "code.write"), None
    )


def _told(turn: Turn, work: dict[str, Any]) -> str:
    """Logs what the run has done since the last call; returns why the last attempt failed, if it did."""
    _, _, records = turn.world.peek(work["run"])
    done = [one for one in records if one.kind == "outcome" and one.tool.startswith("code.")]
    why, applied, attempt, step = "", True, 0, work["address"]
    for number, record in enumerate(done):
        value = record.body.get("value") or {}
        broken = record.body.get("failed") or {}
        failed = str(broken.get("message") or value.get("why") or "")
        attempt += record.tool == "code.apply"
        if record.tool == "code.test" and not applied:
            continue  # no test ran: the patch before it failed, and that is in the log
        applied = not failed
        if number < int(work.get("seen", 0)):
            continue
        work["tried"] = attempt
        if record.tool == "code.test" and not broken and value.get("failed") != "settings":
            if (record.body.get("notes") or {}).get("network") and value.get("exit_code") != 0:
                provenance.of_tests(turn)
            why = _tested(turn, work, value)
        elif failed:
            why = failed
            turn.log(3, "TOOL_EXEC", {"tool": record.tool}, "FAILURE", error=why, step=step)
        elif record.tool == "code.apply":
            details = {"paths": value["paths"], "attempt": attempt}
            turn.log(3, "FILE_WRITE", details, "SUCCESS", step=step)
    work["seen"] = len(done)
    return why


def _tested(turn: Turn, work: dict[str, Any], value: dict[str, Any]) -> str:
    """Logs a test of the code; returns why it failed (empty: it passed)."""
    command = turn.world.policy().test_command
    details = {"command": command, "exit_code": value.get("exit_code"), "attempt": work["tried"]}
    if value.get("exit_code") == 0:
        turn.log(3, "TOOL_EXEC", details, "SUCCESS", "the tests passed", step=work["address"])
        return ""
    why = _why(value)
    error = f"{why}: {_last(str(value.get('output', '')))}"
    turn.log(3, "TOOL_EXEC", details, "FAILURE", error=error, step=work["address"])
    return why


def _why(tests: Mapping[str, Any]) -> str:
    """Why an attempt failed: its tests failed, or were not run."""
    return str(tests.get("why") or f"the tests failed with exit code {tests.get('exit_code')}")


def _report(tests: Any) -> str:
    """The report of the last attempt for the coder."""
    if not isinstance(tests, dict):
        return ""
    text = str(tests.get("output", ""))
    tail = text if len(text) <= MOST_OUTPUT else f"[...]\n{text[-MOST_OUTPUT:]}"
    return f"{_why(tests)}\n\n{tail}" if tail else _why(tests)


def _last(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it had no output"
