"""The tool that runs the test command in the copy; a test that does not end is stopped where it is.

Rows HYP-17, 38 and 39.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fdc_toolchain.api.files import durable
from fdc_toolchain.api.tools import Context, ToolFailure, text, word

from . import repair_copy
from .repair_patch import recent
from .whole_suite import broken

if TYPE_CHECKING:
    from ..shapes import Ended, FileRun, Measured, Measurement, Spectrum

SPECTRUM = 60
FIRST, SHARE, LIKE = 30.0, 3.0, 20.0
"""Seconds of the first run; of one that took longer, the part that a single test may take; and later, how many times as long
as the slowest that passed."""
TIMED_OUT, NOT_FOUND, KILLED = 124, 127, (-9, 137)
"""Exit codes; what is killed may have taken all memory in an endless loop."""
_BASH = re.compile(r"^bash: ", re.MULTILINE)
_HEAD, _TAIL = 160_000, 60_000


def run_tests(args: Mapping[str, object], context: Context) -> Measured:
    """Runs the test command in the copy: both streams and the exit code, None where the command is not found (HYP-38).

    With `spectrum`, once more under coverage where it fails. With `confirm`, where it passes: once more, for what passes only
    now and then has not passed, and then the whole suite and the doctests: what breaks one has not
    passed. A command that takes too long has failed; it does not end the repair. With `spectrum` it may take FIRST seconds where
    none are given; of one that takes longer each test is stopped that takes a third of that, and where none is, it
    may take as long as any command.
    """
    command, first = text(args, "test"), word(args, "spectrum", "no") == "yes"
    folder = repair_copy.copy_of(context)
    repair_copy.held(context)
    given: Any = args.get("seconds")
    asked = float(given or 0)
    patience = min(asked or (FIRST if first else context.shell_seconds), context.shell_seconds)
    began = time.monotonic()
    limited = replace(context, shell_seconds=patience)
    done = _run(command, limited, folder)
    took = time.monotonic() - began
    why, flaky, checked = "", False, ""
    if first and done["exit_code"] not in (0, None):
        done, took, flaky = _measured(command, context, folder, (done, took, patience, asked))
    elif word(args, "confirm", "no") == "yes" and done["exit_code"] == 0:
        done = _run(command, limited, folder)
        flaky = done["exit_code"] != 0
        why = "it passed, and failed when it was run again" if flaky else ""
        for path in repair_copy.patched(context) if not flaky else ():
            found = broken(command, context, folder, path, seconds_of_a_test(context))
            checked = found["said"]
            if found["broken"]:
                done = {"exit_code": 1, "stdout": found["output"], "stderr": ""}
                more = f" and {len(found['broken']) - 3} more" if len(found["broken"]) > 3 else ""
                why = f"the command passes, and {', '.join(found['broken'][:3])}{more} of {checked} fail that passed before"
    passed = done["exit_code"] == 0
    return {
        "passed": passed,
        **done,
        "seconds": round(took, 2),
        "why": why,
        "flaky": flaky,
        "checked": checked,
    }


def _measured(
    command: str, context: Context, folder: str, first: tuple[Ended, float, float, float]
) -> tuple[Ended, float, bool]:
    """Takes down which lines the tests run, and what a test may take later.

    `first`: how the command failed, the seconds that it took, might take, and was given by a person (0: none). Returns how it
    failed, its seconds, and whether it passed when it was repeated. Where a test had to be stopped, it has failed as if without
    that limit of the whole.
    """
    done, took, patience, asked = first
    late = done["exit_code"] == TIMED_OUT or done["exit_code"] in KILLED
    each = max(1.0, min(took, patience) / SHARE) if late else 0.0
    began, flaky = time.monotonic(), False
    longer = replace(context, shell_seconds=max(10 * patience, context.shell_seconds))
    seen = _spectrum(command, longer, folder, each, patience if late else 0.0)
    endless = late and (any(seen["late"]) or bool(seen["late"] and asked))
    ended = seen["exit_code"] != TIMED_OUT  # else it was given all its time under coverage
    if late and ended and not endless and not asked and patience < context.shell_seconds:
        began = time.monotonic()  # it is slow, and may end
        done = _run(command, context, folder)
        took = time.monotonic() - began
        endless = bool(seen["late"]) and done["exit_code"] == TIMED_OUT
    if endless:
        took = (time.monotonic() - began) / 5
        output = _shown(seen["output"].encode("utf-8", "replace"), folder, context)
        done = {"exit_code": seen["exit_code"] or TIMED_OUT, "stdout": output, "stderr": ""}
    elif seen["exit_code"] == 0 and done["exit_code"] != 0:
        flaky = _run(command, replace(context, shell_seconds=patience), folder)["exit_code"] == 0
    limit = min(each, max(1.0, LIKE * seen["slowest"])) if endless else 0
    stored = {"spectra": seen["spectra"], "why": seen["why"], "each": limit}
    durable.replace(spectrum_file(context), json.dumps(stored).encode())
    return done, took, flaky


def _run(command: str, context: Context, folder: str) -> Ended:
    if "\0" in command or not command.strip():
        raise ToolFailure("argument", "the test command is empty, or holds a NUL byte")
    repair_copy.put_back(context)
    try:
        done = repair_copy.run_in_copy(["bash", "-c", command], context, folder, merge=False)
    except ToolFailure as failed:
        if failed.kind not in ("timeout", "limit"):
            raise
        return {"exit_code": TIMED_OUT, "stdout": "", "stderr": f"error: {failed}\n"}
    stdout, stderr = (_shown(stream, folder, context) for stream in (done.output, done.errors))
    missing = done.exit_code == NOT_FOUND and _BASH.search(stderr) is not None
    return {"exit_code": None if missing else done.exit_code, "stdout": stdout, "stderr": stderr}


def _shown(stream: bytes, folder: str, context: Context) -> str:
    """What a stream says, with paths from the workspace; its beginning and its end where it is long."""
    said = stream.decode("utf-8", "replace")
    for root in sorted((folder, context.root.path), key=len, reverse=True):
        said = said.replace(f"{root}/", "").replace(root, ".")
    return said if len(said) <= _HEAD + _TAIL else f"{said[:_HEAD]}\n...\n{said[-_TAIL:]}"


def _spectrum(
    command: str, context: Context, folder: str, each: float, whole: float
) -> Measurement:
    """Which lines of the files that may be changed failing tests run, and how often others do; or why it is unknown.

    And how the command ended under coverage; `each` and `whole` as for `spectrum.measure`.
    """
    from .spectrum import measure

    held = repair_copy.held(context)
    try:
        measured = measure(command, context, folder, True, each, whole)
    except ToolFailure as failed:
        if failed.kind not in ("timeout", "limit"):
            raise
        return {
            "exit_code": TIMED_OUT,
            "output": "",
            "spectra": [],
            "why": str(failed),
            "late": [],
            "slowest": 0.0,
        }
    out: list[Spectrum] = []
    for run in measured["spectra"]:
        files: list[FileRun] = []
        framed = {path for path, _ in run["frames"]}
        for file in run["files"]:
            lines = [row for row in file["lines"] if row[1] and row[0] > 0]
            if file["path"] in held and lines:
                files.append({"path": file["path"], "lines": lines})
        files.sort(
            key=lambda file: (
                file["path"] not in framed,
                -max(row[1] / (row[1] + row[2]) for row in file["lines"]),
                file["path"],
            )
        )
        out.append({**run, "files": files[:SPECTRUM], "recent": recent(context.root.path, held)})
    why = "" if out else measured["why"] or "no failing test was seen to run any line"
    if out and not any(run["files"] for run in out):
        why = "failing tests run no line of a file that may be changed"
    return {**measured, "spectra": out, "why": why}


def spectrum_file(context: Context) -> str:
    return os.path.join(context.run_folder, "spectrum.json")


def seconds_of_a_test(context: Context) -> float:
    """What a test may take, where the command that is repaired did not end; else 0, as long as it likes."""
    stored = json.loads(durable.read(spectrum_file(context)) or b"{}")
    return float(stored.get("each") or 0)
