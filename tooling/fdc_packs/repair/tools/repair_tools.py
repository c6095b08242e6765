"""The steps of a repair that touch the world: the copy is made, patched and tested; the workspace is written at the very end.

Rows HYP-17, 38 and 45; the world is `fdc_packs.repair.tools.repair_copy`. What it means is decided in `packs.repair`, by
pure tools.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fdc_toolchain.api.files import durable, globs
from fdc_toolchain.api.text import narrow, unified
from fdc_toolchain.api.tools import Context, ToolFailure, object_of, text, word

from . import repair_copy
from .repair_patch import recent
from .whole_suite import broken, commands, documented

if TYPE_CHECKING:
    from ..shapes import Closed, Edit, Ended, FileRun, Measured, Probed, Spectrum

SOURCES, MOST_SOURCE, SPECTRUM = 12, 400_000, 60
FURTHER = 120.0
"""Seconds in which the whole suite is asked of edits that pass the command."""
TIMED_OUT, NOT_FOUND = 124, 127
_BASH = re.compile(r"^bash: ", re.MULTILINE)
_HEAD, _TAIL = 160_000, 60_000
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|conftest\.py|test_[^/]*|[^/]*_test\.\w+|[^/]*\.(?:test|spec)\.\w+)(?:/|$)"
)
_TESTING = re.compile(rb"^(?:import|from)\s+(?:unittest|pytest)\b", re.MULTILINE)
_PYTHON = re.compile(r"\.pyi?$")


def open_case(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """Copies the workspace and takes down which files may be changed: those named, else every Python file that is not a test.

    Of a folder that is named, tests are left out, unless nothing else is in it.
    """
    named = [line for line in word(args, "files", "").split("\n") if line.strip()]
    found: dict[str, None] = {}
    for one in named:
        kind = context.root.kind(one)
        if kind == "other":
            raise ToolFailure(
                "argument", f"`{one}` is a link or no plain file; name what it leads to"
            )
        if kind == "file":
            _readable(one, context)
        paths = (
            [one]
            if kind == "file"
            else globs.files(context.root, f"{one.rstrip('/')}/**" if kind == "folder" else one)
        )
        paths = [path for path in paths if _PYTHON.search(path)] if kind == "folder" else paths
        whole = kind == "folder" or one == "**/*.py"
        if whole and word(args, "alone", "no") != "yes":  # alone, the command may need them
            paths = _no_tests(paths, word(args, "test", "")) or paths
        if not paths and kind == "folder":
            more = (
                "name files of other languages one by one, and a model that reads them (`--model`)"
            )
            raise ToolFailure("missing", f"no Python file lies below `{one}`; {more}")
        if not paths:
            raise ToolFailure("missing", f"no file is `{one}`")
        found.update(dict.fromkeys(os.path.normpath(path) for path in paths))
    if not named:
        every = globs.files(context.root, "**/*.py")
        found = dict.fromkeys(
            path
            for path in every
            if not _apart(path) and not _is_test(path, word(args, "test", ""), context)
        )
    held = repair_copy.make_copy(context, found, alone=word(args, "alone", "no") == "yes")
    probes = not context.operator.model
    return {"files": list(held)[:200], "count": len(held), "named": bool(named), "probes": probes}


def _readable(path: str, context: Context) -> None:
    """Raises ToolFailure for a file that is named and could not be changed: patches are of UTF-8 text."""
    try:
        size = len(context.root.read(path).decode("utf-8"))
    except UnicodeDecodeError:
        raise ToolFailure(
            "argument", f"`{path}` is not UTF-8 text, and no other is changed"
        ) from None
    if size > MOST_SOURCE:
        raise ToolFailure("size", f"`{path}` has more than {MOST_SOURCE:,} characters")


def _no_tests(paths: list[str], command: str) -> list[str]:
    """Without tests: a person who names a folder means its code. A folder of nothing but tests is meant as it is."""
    return [path for path in paths if not _called_test(path, command)]


def _called_test(path: str, command: str) -> bool:
    return bool(_TESTS.search(path)) or path in re.split(r"[\s'\"]+", command)


def _is_test(path: str, command: str, context: Context) -> bool:
    """True for a test by its name or by what it imports, and for what the test command itself names."""
    if _called_test(path, command):
        return True
    return _TESTING.search(context.root.read(path)[:20_000]) is not None


def _apart(path: str) -> bool:
    parts = path.split("/")
    return any(part in repair_copy.LEFT_OUT or part in ("site-packages", "venv") for part in parts)


def run_tests(args: Mapping[str, object], context: Context) -> Measured:
    """Runs the test command in the copy: both streams and the exit code, None where the command is not found (HYP-38).

    With `spectrum`, once more under coverage where it fails. With `confirm`, where it passes: once more, for what passes only
    now and then has not passed, and then the whole suite and the doctests: what breaks one has not
    passed. A command that takes too long has failed; it does not end the repair.
    """
    command = text(args, "test")
    folder = repair_copy.copy_of(context)
    repair_copy.held(context)
    asked: Any = args.get("seconds")
    patience = float(asked or 0) or context.shell_seconds
    began = time.monotonic()
    limited = replace(context, shell_seconds=min(patience, context.shell_seconds))
    done = _run(command, limited, folder)
    took = round(time.monotonic() - began, 2)
    why, flaky, checked = "", False, ""
    if word(args, "spectrum", "no") == "yes" and done["exit_code"] not in (0, None):
        spectra, why, code = _spectrum(command, context, folder)
        durable.replace(
            spectrum_file(context), json.dumps({"spectra": spectra, "why": why}).encode()
        )
        flaky = code == 0 and _run(command, limited, folder)["exit_code"] == 0
    elif word(args, "confirm", "no") == "yes" and done["exit_code"] == 0:
        done = _run(command, limited, folder)
        flaky = done["exit_code"] != 0
        why = "it passed, and failed when it was run again" if flaky else ""
        for path in _patched(context) if not flaky else ():
            found = broken(command, context, folder, path)
            checked = found["said"]
            if found["broken"]:
                done = {"exit_code": 1, "stdout": found["output"], "stderr": ""}
                more = f" and {len(found['broken']) - 3} more" if len(found["broken"]) > 3 else ""
                why = f"the command passes, and {', '.join(found['broken'][:3])}{more} of {checked} fail that passed before"
    passed = done["exit_code"] == 0
    return {
        "passed": passed,
        **done,
        "seconds": took,
        "why": why,
        "flaky": flaky,
        "checked": checked,
    }


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
    command: str, context: Context, folder: str
) -> tuple[list[Spectrum], str, int | None]:
    """Which lines of the files that may be changed failing tests run, and how often others do; or why it is unknown.

    And how the command ended under coverage.
    """
    from .spectrum import measure

    held = repair_copy.held(context)
    try:
        measured = measure(command, context, folder, spectrum=True)
    except ToolFailure as failed:
        if failed.kind not in ("timeout", "limit"):
            raise
        return [], str(failed), None
    code = measured["exit_code"]
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
    if measured["spectra"] and not any(run["files"] for run in out):
        return out, "failing tests run no line of a file that may be changed", code
    return (
        out,
        "" if out else str(measured.get("why") or "no failing test was seen to run any line"),
        code,
    )


def probe_edits(args: Mapping[str, object], context: Context) -> Probed:
    """Tries small edits in memory, many in one run of the test command: which of them take a failure away.

    Where that cannot be had no verdicts exist, and `why` says so: nothing depends on it but the order of the work.
    """
    from .repair_probe import probe

    command, edits = text(args, "test"), narrow(object_of(args, "listed")["edits"], list)
    began = time.monotonic()
    if not edits:
        return {"verdicts": {}, "changes": {}, "tried": 0, "why": "", "seconds": 0.0}
    folder, base = repair_copy.copy_of(context), repair_copy.base_of(context)
    for one in {str(row["path"]) for row in edits} | _patched(context):
        repair_copy.put(folder, one, repair_copy.read(base, one))
    repair_copy.put_back(context)
    before = repair_copy.as_it_is(folder)
    found = probe(command, context, folder, edits)
    for left in repair_copy.as_it_is(folder) - before:
        os.unlink(os.path.join(folder, left))
    repair_copy.put_back(context)
    _judge_further(command, context, folder, edits, found["verdicts"])
    return {**found, "seconds": round(time.monotonic() - began, 2)}


def _judge_further(
    command: str,
    context: Context,
    folder: str,
    edits: list[Edit],
    verdicts: dict[str, str],
) -> None:
    """Of several edits that pass the command: which break another test or a doctest, or leave one that others mend."""
    from .repair_probe import probe

    paths = {str(row["path"]) for row in edits if verdicts.get(row["key"]) == "passes"}
    for run in commands(command, documented(context, paths))[0].values():
        passing = [row for row in edits if verdicts.get(row["key"]) == "passes"]
        if len(passing) > 1:
            said = probe(run, context, folder, passing, FURTHER, every=True)["verdicts"]
            verdicts.update({key: one for key, one in said.items() if one in ("breaks", "leaves")})


def apply_repair(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """Puts a patch that was checked into the copy, and takes out the one before it. The workspace is not touched."""
    patch = object_of(args, "patch")
    folder, base = repair_copy.copy_of(context), repair_copy.base_of(context)
    path, after = _content(patch, context)
    mark = _mark(context)
    old = durable.read(mark)
    for one in {old.decode() if old else path, path}:
        repair_copy.put(folder, one, repair_copy.read(base, one))
    durable.replace(mark, path.encode())
    repair_copy.put(folder, path, after)
    return {"path": path, "digest": patch["digest"]}


def keep_repair(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """A patch that has helped stays in the copy: what comes next is measured and patched upon it."""
    patch = object_of(args, "patch")
    base = repair_copy.base_of(context)
    path = str(patch["path"])
    now = repair_copy.read(base, path)
    if repair_copy.sha256(now) != patch["digest"]:
        _, after = _content(patch, context)
        first = os.path.join(context.run_folder, "original")
        if not os.path.exists(os.path.join(first, path)):
            repair_copy.put(first, path, now)
        repair_copy.put(base, path, after)
    for done in (_mark(context), os.path.join(context.run_folder, "whole.json")):
        if os.path.exists(done):
            os.unlink(done)
    return {"path": path, "digest": patch["digest"]}


def _content(patch: dict[str, object], context: Context) -> tuple[str, bytes]:
    path, after = str(patch["path"]), str(patch["text"]).encode()
    if path not in repair_copy.held(context):
        raise ToolFailure("argument", f"`{path}` is not a file that may be changed")
    now = repair_copy.sha256(repair_copy.read(repair_copy.base_of(context), path))
    if now != patch["before"] or repair_copy.sha256(after) != patch["digest"]:
        raise ToolFailure("result", f"`{path}` would not become what was checked")
    return path, after


def close_repair(args: Mapping[str, object], context: Context) -> Closed:
    """The whole diff of a repair, which goes into the run's folder too, with the files as they were before it."""
    first = os.path.join(context.run_folder, "original")
    changes: list[dict[str, str]] = []
    diff = ""
    for path, digest in sorted(repair_copy.held(context).items()):
        if not os.path.exists(os.path.join(first, path)):
            continue
        before, after = (
            repair_copy.read(first, path),
            repair_copy.read(repair_copy.base_of(context), path),
        )
        if before == after:
            continue
        changes.append({"path": path, "before": digest, "after": repair_copy.sha256(after)})
        diff += unified(path, before.decode("utf-8"), after.decode("utf-8"))
        context.root.write(f"runs/{context.run}/original/{path}", before, "write", context.key)
    if changes:
        context.root.write(f"runs/{context.run}/repair.diff", diff.encode(), "write", context.key)
    choices: list[str] = []
    offered: Any = args.get("choices")
    for number, row in enumerate(offered or (), 1):
        choices.append(f"runs/{context.run}/choice-{number}.diff")
        context.root.write(choices[-1], str(row["diff"]).encode(), "write", context.key)
    return {"changes": changes, "diff": diff, "choices": choices}


def take_repair(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """Writes a repair that has passed into the workspace: all of its files or none, and none that is not what it was.

    Where the repair did not pass, nothing is written. Done again, it finds its own files and leaves them.
    """
    outcome = object_of(args, "outcome")
    rows = narrow(outcome["changes"], list) if outcome.get("status") == "fixed" else []
    held = repair_copy.held(context)
    files: dict[str, bytes] = {}
    for row in rows:
        path, data = row["path"], repair_copy.read(repair_copy.base_of(context), row["path"])
        if path not in held or repair_copy.sha256(data) != row["after"]:
            raise ToolFailure("result", f"what was tested of `{path}` is not there any more")
        now = repair_copy.sha256(context.root.find(path) or b"")
        if now not in (row["before"], row["after"]):
            raise ToolFailure(
                "changed", f"`{path}` was changed while it was repaired; nothing was written"
            )
        if now != row["after"]:
            files[path] = data
    before = {path: context.root.read(path) for path in files}
    written: list[str] = []
    try:
        for path, data in files.items():
            context.root.write(path, data, "edit", context.key)
            written.append(path)
    except (ToolFailure, OSError):
        for path in written:
            context.root.write(path, before[path], "edit", context.key)
        raise
    return {**outcome, "written": [row["path"] for row in rows]}


def _patched(context: Context) -> set[str]:
    old = durable.read(_mark(context))
    return {old.decode()} if old else set()


def _mark(context: Context) -> str:
    """Where it stands which file of the copy holds a patch under test."""
    return os.path.join(context.run_folder, "patched")


def spectrum_file(context: Context) -> str:
    return os.path.join(context.run_folder, "spectrum.json")
