"""The steps of a repair that touch the world: the copy is made, patched and tested; the workspace is written at the very end.

Rows HYP-17, 38 and 45; the world is `fdc_packs.repair.tools.repair_copy`. What it means is decided in `packs.repair`, by
pure tools.
"""

from __future__ import annotations

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
from .copying import LEFT_OUT
from .run_tests import seconds_of_a_test
from .whole_suite import commands, documented

if TYPE_CHECKING:
    from ..shapes import Closed, Edit, Probed

SOURCES, MOST_SOURCE = 12, 400_000
FURTHER = 120.0
"""Seconds in which the whole suite is asked of edits that pass the command."""
LEAST = 60.0
"""Seconds that must be left for a search to go on that ended with edits which break other tests."""
PATIENCE = 30.0
"""Seconds that a test of the whole suite may take meanwhile, where the command had none that did not end."""
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
    alone = word(args, "alone", "no") == "yes"
    held, without = repair_copy.make_copy(context, found, alone, bool(named))
    return {
        "files": held[:200],
        "count": len(held),
        "named": bool(named),
        "probes": not context.operator.model,
        "without": without[:20],
    }


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
    return any(part in LEFT_OUT or part in ("site-packages", "venv") for part in parts)


def probe_edits(args: Mapping[str, object], context: Context) -> Probed:
    """Tries small edits in memory, many in one run of the test command: which of them take a failure away.

    Where that cannot be had no verdicts exist, and `why` says so: nothing depends on it but the order of the work.
    """
    from .repair_probe import SECONDS, probe

    command, edits = text(args, "test"), narrow(object_of(args, "listed")["edits"], list)
    began = time.monotonic()
    if not edits:
        return {"verdicts": {}, "changes": {}, "tried": 0, "why": "", "seconds": 0.0}
    folder, base = repair_copy.copy_of(context), repair_copy.base_of(context)
    for one in {str(row["path"]) for row in edits} | repair_copy.patched(context):
        repair_copy.put(folder, one, repair_copy.read(base, one))
    repair_copy.put_back(context)
    each = seconds_of_a_test(context)
    longer = replace(context, shell_seconds=max(2 * SECONDS, context.shell_seconds))
    verdicts: dict[str, str] = {}
    asked, left = edits, SECONDS
    while True:
        before = repair_copy.as_it_is(folder)
        found = probe(command, longer, folder, asked, left, each=each)
        for made in repair_copy.as_it_is(folder) - before:
            os.unlink(os.path.join(folder, made))
        repair_copy.put_back(context)
        verdicts |= found["verdicts"]
        hopes = [one["key"] for one in asked if _passes(one, verdicts) and not one["risky"]]
        _judge_further(command, longer, folder, edits, verdicts, each)
        asked = [one for one in edits if one["key"] not in verdicts or _passes(one, verdicts)]
        left = SECONDS - (time.monotonic() - began)
        lost = hopes and not any(verdicts[key] == "passes" for key in hopes)
        # what ended the search breaks other tests: it goes on
        if not lost or left < LEAST or all(one["key"] in verdicts for one in asked):
            break
    seconds = round(time.monotonic() - began, 2)
    return {**found, "verdicts": verdicts, "tried": len(verdicts), "seconds": seconds}


def _passes(edit: Edit, verdicts: Mapping[str, str]) -> bool:
    """Whether all that was asked of an edit passes."""
    return verdicts.get(edit["key"]) == "passes"


def _judge_further(
    command: str,
    context: Context,
    folder: str,
    edits: list[Edit],
    verdicts: dict[str, str],
    each: float,
) -> None:
    """Of several edits that pass the command: which break another test or a doctest, or leave one that others mend."""
    from .repair_probe import probe

    paths = {str(row["path"]) for row in edits if _passes(row, verdicts)}
    for run in commands(command, documented(context, paths))[0].values():
        passing = [row for row in edits if _passes(row, verdicts)]
        if len(passing) > 1:
            limit = each or PATIENCE  # other tests than the command's may run into an endless loop
            said = probe(run, context, folder, passing, FURTHER, True, limit)["verdicts"]
            verdicts.update({key: one for key, one in said.items() if one in ("breaks", "leaves")})


def apply_repair(args: Mapping[str, object], context: Context) -> dict[str, object]:
    """Puts a patch that was checked into the copy, and takes out the one before it. The workspace is not touched."""
    patch = object_of(args, "patch")
    folder, base = repair_copy.copy_of(context), repair_copy.base_of(context)
    path, after = _content(patch, context)
    mark = repair_copy.mark(context)
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
    for done in (repair_copy.mark(context), os.path.join(context.run_folder, "whole.json")):
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
