"""GENERATING_CODE, RUNNING_TESTS and DEBUGGING (FDC-92): a patch is asked for, applied and tested, a bounded number of times.

A plan asks for it with the step `generate_code FILES WHAT`. The engine stops there; the controller
goes through the three states and then answers the step: done, or failed with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from . import provenance
from .model_port import Message, ModelFailed, validated
from .prompts import prompt
from .turn import Turn
from .world import PatchRefused, Policy, Tested

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
"""What a coder replies. No edits: whoever answers has changed the files already."""

MOST_OUTPUT = 12_000
MOST_FILES = 200_000
"""Characters of a failing test's output, and of all files together, that a request carries."""


def generate(turn: Turn) -> str:
    """Asks for a patch and applies it. What goes wrong is for the debugging: there is no way to ERROR from here."""
    work = _work(turn)
    if work.get("failure") and work.get("final"):
        return "RUNNING_TESTS"
    work.update(failure=None, tests=None)
    role = "debugger" if work["attempts"] else "coder"
    number = int(turn.control.get("patches", 0)) + 1
    if provenance.declined(turn.control, "patch") is not None:
        work["failure"] = "a person did not approve the patch"
        turn.control["patches"] = number
        return "RUNNING_TESTS"
    try:
        paths = turn.world.patched(turn.task, number)
        if paths is None:
            edits = _edits(turn, work, role, number)
            paths = turn.world.patch(turn.task, number, edits, work["files"])
    except ModelFailed as failed:
        work.update(failure=str(failed), final=True)
        turn.log(3, "TOOL_EXEC", {"role": role}, "FAILURE", error=str(failed), step=work["address"])
        return "RUNNING_TESTS"
    except PatchRefused as refused:
        work["failure"] = f"the patch does not apply: {refused}"
        turn.control["patches"] = number
        turn.log(
            3,
            "CRITIC_FEEDBACK",
            {"role": role},
            "FAILURE",
            error=work["failure"],
            step=work["address"],
        )
        return "RUNNING_TESTS"
    turn.control["patches"] = number
    details = {"role": role, "paths": list(paths), "attempt": work["attempts"] + 1}
    turn.log(3, "FILE_WRITE", details, "SUCCESS", step=work["address"])
    return "RUNNING_TESTS"


def _edits(turn: Turn, work: dict[str, Any], role: str, number: int) -> list[dict[str, str]]:
    """The patch that was asked for; where whoever wrote it may have been shown text from outside, once it is approved."""
    waits = provenance.held(turn.control, "patch")
    if waits is not None:
        edits, by = validated({"edits": waits.get("data")}, EDITS)["edits"], str(waits.get("by"))
    else:
        files = turn.world.files(work["files"])
        provenance.of_files(turn, files)
        reply = validated(
            turn.model.complete(role, request(work, files, turn.state.task), EDITS), EDITS
        )
        edits, by = reply["edits"], f"the {role}"
    if edits:
        provenance.clear(
            turn,
            provenance.Text("patch", shown(edits), by, f"{work['address']}#{number}", data=edits),
        )
    return list(edits)


def shown(edits: Sequence[Mapping[str, str]]) -> str:
    """A patch as a person reads it. Two patches never look the same: each line of what is written stands behind a mark."""
    out = []
    for edit in edits:
        kind = "change" if "diff" in edit else "new file"
        lines = edit.get("diff", edit.get("content", "")).split("\n")
        out += [f"{kind} {json.dumps(edit['path'])}", *(f"| {line}" for line in lines)]
    return "\n".join(out) + "\n"


def run_tests(turn: Turn) -> str:
    """Runs the configured test command: EXECUTING where it passes, DEBUGGING where it does not."""
    work = _work(turn)
    policy = turn.world.policy()
    if not work.get("failure"):
        if not policy.test_command:
            work.update(
                failure="no test command is configured (`test-command` in fdc.toml), so nothing can be shown",
                final=True,
            )
        else:
            _test(turn, work, policy)
    if work.get("failure"):
        return "DEBUGGING"
    turn.control["answer"] = {work["address"]: "done"} if work["address"] else {}
    turn.control["code"] = None
    return "EXECUTING"


def _test(turn: Turn, work: dict[str, Any], policy: Policy) -> None:
    tested = turn.world.test(policy.test_command, policy.test_seconds)
    details = {
        "command": policy.test_command,
        "exit_code": tested.exit_code,
        "attempt": work["attempts"] + 1,
    }
    if tested.exit_code == 0:
        turn.log(3, "TOOL_EXEC", details, "SUCCESS", "the tests passed", step=work["address"])
        return
    if tested.network:
        provenance.of_tests(turn)
    work["failure"] = tested.failure or f"the tests failed with exit code {tested.exit_code}"
    work["tests"] = _tail(tested)
    turn.log(
        3,
        "TOOL_EXEC",
        details,
        "FAILURE",
        error=f"{work['failure']}: {_last(tested)}",
        step=work["address"],
    )


def debug(turn: Turn) -> str:
    """Counts the attempt, and puts what failed where the next request for a patch shows it. Then EXECUTING."""
    work = _work(turn)
    limit = turn.world.policy().debug_attempts
    why = str(work.get("failure") or "the tests failed")
    work["attempts"] += 1
    if work.get("final") or work["attempts"] > limit:
        spent = (
            ""
            if work.get("final")
            else f" (after {limit} {'attempt' if limit == 1 else 'attempts'} at debugging)"
        )
        turn.control["answer"] = (
            {work["address"]: f"failed: {why}{spent}"} if work["address"] else {}
        )
        turn.control["given_up"] = f"{why}{spent}"
        turn.control["code"] = None
        turn.log(
            3,
            "CRITIC_FEEDBACK",
            {"attempts": work["attempts"] - 1},
            "FAILURE",
            error=f"{why}{spent}",
            step=work["address"],
        )
        return "EXECUTING"
    turn.control.setdefault("repairs", []).append(why)
    work["report"] = f"{why}\n\n{work['tests']}" if work.get("tests") else why
    details = {"attempt": work["attempts"], "of": limit}
    turn.log(
        3,
        "CRITIC_FEEDBACK",
        details,
        "IN_PROGRESS",
        f"to be repaired: {why}"[:400],
        step=work["address"],
    )
    return "EXECUTING"


def wanted(address: str, args: dict[str, Any]) -> dict[str, Any]:
    """The notes about a `generate_code` step that the engine stopped at."""
    return {
        "address": address, "files": str(args.get("files") or "**"), "what": str(args.get("what") or ""), "attempts": 0,
        "report": "", "failure": None, "tests": None, "final": False,
    }  # fmt: skip


def request(work: dict[str, Any], files: Sequence[tuple[str, str]], task: str) -> list[Message]:
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
        report=work["report"],
    )
    return [{"role": "system", "content": prompt("coder_rules")}, {"role": "user", "content": text}]


def _work(turn: Turn) -> dict[str, Any]:
    """The notes about the code that is being written; the library form may ask for some outside of a plan."""
    found: dict[str, Any] | None = turn.control.get("code")
    if found is None:
        found = turn.control["code"] = wanted("", {"what": turn.state.task})
    return found


def _tail(tested: Tested) -> str:
    text = tested.output
    return text if len(text) <= MOST_OUTPUT else f"[...]\n{text[-MOST_OUTPUT:]}"


def _last(tested: Tested) -> str:
    line = next(
        (line for line in reversed(tested.output.splitlines()) if line.strip()),
        "it printed nothing",
    )
    return line.strip()[:300]
