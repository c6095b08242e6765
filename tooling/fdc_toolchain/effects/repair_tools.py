"""The steps of a repair that touch the world: the copy is made, patched and tested; the workspace is written at the very end.

Rows HYP-14, 17, 38 and 45; the world is `effects.repair_copy`, what is decided is decided in `packs.repair`.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .. import durable
from ..packs.repair import failure as reading
from ..packs.repair import gates, loop
from ..packs.repair.region import parse_region
from . import globs, repair_copy
from .context import Context, text, word
from .failure import ToolFailure

SUSPECTS, SOURCES, MOST_SOURCE = 400, 6, 400_000
EXCERPTS = 12_000
TIMED_OUT = 124
_TAIL = 6000
_TESTS = re.compile(r"(?:^|/)(?:tests?|testing|conftest\.py|test_[^/]*|[^/]*_test\.\w+|[^/]*\.(?:test|spec)\.\w+)(?:/|$)")
_TESTING = re.compile(rb"^(?:import|from)\s+(?:unittest|pytest)\b", re.MULTILINE)
_IMPORT = re.compile(r"\s*(?:import|from|#include|using|use|package)\b")
_OPENS = "def|class|struct|interface|type|enum|fn|func|function|const|let|var"
_PYTHON = re.compile(r"\.pyi?$")


def open_case(args: dict[str, Any], context: Context) -> Any:
    """Copies the workspace and takes down which files may be changed: those named, else every Python file that is no test."""
    named = [line for line in word(args, "files", "").split("\n") if line.strip()]
    found: dict[str, None] = {}
    for one in named:
        kind = context.root.kind(one)
        paths = [one] if kind == "file" else globs.files(context.root, f"{one.rstrip('/')}/**" if kind == "folder" else one)
        paths = [path for path in paths if _PYTHON.search(path)] if kind == "folder" else paths
        if not paths:
            raise ToolFailure("missing", f"no file is `{one}`")
        found.update(dict.fromkeys(os.path.normpath(path) for path in paths))
    if not named:
        every = globs.files(context.root, "**/*.py")
        found = dict.fromkeys(path for path in every if not _apart(path) and not _is_test(path, word(args, "test", ""), context))
    held = repair_copy.make_copy(context, found)
    return {"files": list(held)[:200], "count": len(held), "named": bool(named)}


def _is_test(path: str, command: str, context: Context) -> bool:
    """True for a test by its name or by what it imports, and for what the test command itself names."""
    if _TESTS.search(path) or path in re.split(r"[\s'\"]+", command):
        return True
    return _TESTING.search(context.root.read(path)[:20_000]) is not None


def _apart(path: str) -> bool:
    parts = path.split("/")
    return any(part in repair_copy.LEFT_OUT or part in ("site-packages", "venv") for part in parts)


def run_tests(args: dict[str, Any], context: Context) -> Any:
    """Runs the test command in the copy (HYP-38); with `spectrum`, once more under coverage where it fails.

    A command that takes too long has failed; it does not end the repair.
    """
    command = text(args, "test")
    folder = repair_copy.copy_of(context)
    repair_copy.held(context)
    patience = float(args.get("seconds") or 0) or context.shell_seconds
    began = time.monotonic()
    done = _run(command, replace(context, shell_seconds=min(patience, context.shell_seconds)), folder)
    took = round(time.monotonic() - began, 2)
    out = {
        "passed": done["exit_code"] == 0, "exit_code": done["exit_code"], "seconds": took,
        "failure": reading.read(done, [folder, context.root.path]), "output": done["output"][-_TAIL:], "suspects": 0, "why": "",
        "files": [],
    }  # fmt: skip
    if word(args, "spectrum", "no") == "yes" and not out["passed"]:
        rows, why = _spectrum(command, context, folder)
        held = repair_copy.held(context)
        ran = Counter(path for path, _, _ in rows if path in held)
        out |= {"suspects": ran.total(), "why": why, "files": [f"{path} ({count} lines)" for path, count in ran.most_common(20)]}
        if rows and not ran:
            out["why"] = "failing tests run no line of a file that may be changed"
        durable.replace(_spectrum_file(context), json.dumps({"rows": rows, "why": why}).encode())
    return out


def _run(command: str, context: Context, folder: str) -> dict[str, Any]:
    if "\0" in command or not command.strip():
        raise ToolFailure("argument", "the test command is empty, or holds a NUL byte")
    try:
        done = repair_copy.run_in_copy(["bash", "-c", command], context, folder)
    except ToolFailure as failed:
        if failed.kind not in ("timeout", "limit"):
            raise
        return {"exit_code": TIMED_OUT, "output": f"error: {failed}\n"}
    return {"exit_code": done.exit_code, "output": done.output.decode("utf-8", "replace")}


def _spectrum(command: str, context: Context, folder: str) -> tuple[list[list[Any]], str]:
    """The lines that failing tests run, best first, as [path, line, score]; and why there are none."""
    from ..packs.repair.localise import rank
    from .spectrum import measure

    try:
        measured = measure(command, context, folder, spectrum=True)
    except ToolFailure as failed:
        if failed.kind not in ("timeout", "limit"):
            raise
        return [], str(failed)
    rows = [[one.path, one.line, round(one.score, 6)] for one in rank(measured["spectra"]) if one.line > 0]
    return rows, "" if rows else str(measured.get("why") or "no failing test was seen to run any line")


def collect_context(args: dict[str, Any], context: Context) -> Any:
    """What answers are made of: the suspect lines of the files that may be changed, those files, and excerpts to read."""
    state = _object(args, "state")
    held = repair_copy.held(context)
    stored = json.loads(durable.read(_spectrum_file(context)) or b'{"rows": []}')
    suspects = [{"path": path, "line": line, "score": score} for path, line, score in stored["rows"] if path in held]
    measured = bool(stored["rows"])
    first = state.get("failure") or {}
    if not suspects:
        suspects = _without_coverage(context, held, first, measured)
    executed: dict[str, list[int]] = {}
    for row in suspects if measured else ():
        executed.setdefault(row["path"], []).append(row["line"])
    order = list(dict.fromkeys([row["path"] for row in suspects[:SUSPECTS]]))[:SOURCES]
    sources = {path: source for path in order if (source := _source(context, path)) is not None}
    kept = [row for row in suspects if row["path"] in sources][:SUSPECTS]
    return {
        "sources": sources, "suspects": kept, "executed": {path: sorted(lines) for path, lines in executed.items()},
        "excerpts": _excerpts(sources, kept, first), "gathered": state.get("context") or [],
        "why": "" if kept else str(stored.get("why") or "no line of a file that may be changed is run by a failing test"),
        "files": list(held)[:5000],
    }  # fmt: skip


def _without_coverage(
    context: Context, held: Mapping[str, str], first: dict[str, Any], measured: bool
) -> list[dict[str, Any]]:
    """Lines that nobody has measured: around the first error; where nothing could be measured, those of few files."""
    rows: list[dict[str, Any]] = []
    path, line = str(first.get("path") or ""), int(first.get("line") or 0)
    if path in held and line:
        rows = [{"path": path, "line": near, "score": 1 / (1 + abs(near - line))} for near in range(max(1, line - 20), line + 21)]
        rows.sort(key=lambda row: -row["score"])
    elif len(held) <= 3 and not measured:
        for name in held:
            count = len((_source(context, name) or "").splitlines())
            rows += [{"path": name, "line": number, "score": 0.1} for number in range(1, count + 1)]
    return rows


def _source(context: Context, path: str) -> str | None:
    try:
        data = repair_copy.read(repair_copy.base_of(context), path)
        return data.decode("utf-8") if len(data) <= MOST_SOURCE else None
    except UnicodeDecodeError:
        return None


def _excerpts(sources: Mapping[str, str], suspects: list[dict[str, Any]], first: dict[str, Any]) -> str:
    """The lines around the suspects, numbered, best places first."""
    places = [(row["path"], row["line"]) for row in suspects]
    if first.get("path") in sources and first.get("line"):
        places.insert(0, (first["path"], first["line"]))
    out: list[str] = []
    shown: dict[str, set[int]] = {}
    size = 0
    for path, line in places:
        if line in shown.setdefault(path, set()) or path not in sources:
            continue
        lines = sources[path].splitlines()
        near = [at for at in range(max(1, line - 12), min(len(lines), line + 12) + 1) if at not in shown[path]]
        shown[path].update(near)
        part = f"{path}:\n" + "\n".join(f"{at:>5} | {lines[at - 1]}" for at in near)
        size += len(part)
        if size > EXCERPTS and out:
            break
        out.append(part)
    return "\n\n".join(out)


def gather_context(args: dict[str, Any], context: Context) -> Any:
    """The state with the context that was asked for; what cannot be read is left, with a note (HYP-45)."""
    state = _object(args, "state")
    found, note = gates.requests(args.get("answer"))
    held = repair_copy.held(context)
    parts = [
        {**row, "text": shown} for row in found if (shown := _requested(row, held, context, state.get("failure") or {}))
    ]
    return loop.gathered(state, parts, note)


def _requested(row: dict[str, Any], held: Mapping[str, str], context: Context, first: dict[str, Any]) -> str:
    """The lines that a request is about, numbered; empty where there are none."""
    name, category = row["name"], row["category"]
    word_of = re.compile(rf"\b{re.escape(name)}\b") if name else None
    paths = sorted(held, key=lambda path: (path != first.get("path"), path))
    out: list[str] = []
    for path in paths[:400]:
        lines = (_source(context, path) or "").splitlines()
        if category in ("FILE_CONTEXT", "IMPORTS_NAMESPACE"):
            if path not in (name, first.get("path")) and os.path.basename(path) != name and (name or first.get("path") in held):
                continue
            wanted = [at for at, line in enumerate(lines, 1) if category == "FILE_CONTEXT" or _IMPORT.match(line)]
        elif category == "ENCLOSING_SCOPE" and not name:
            near = int(first.get("line") or 0) if path == first.get("path") else 0
            wanted = list(range(max(1, near - 30), near + 31)) if near else []
        elif word_of is None:
            continue
        elif category == "USAGE_CONTEXT":
            wanted = [at for at, line in enumerate(lines, 1) if word_of.search(line)]
        else:
            opens = re.compile(rf"\b(?:{_OPENS})\s+{re.escape(name)}\b|^\s*{re.escape(name)}\s*[:=]")
            wanted = [one for at, line in enumerate(lines, 1) if opens.search(line) for one in range(at, at + 30)]
        wanted = [at for at in dict.fromkeys(wanted) if at <= len(lines)][:80]
        if wanted:
            out.append(f"{path}:\n" + "\n".join(f"{at:>5} | {lines[at - 1]}" for at in wanted))
    return "\n\n".join(out)[:4000]


def check_patch(args: dict[str, Any], context: Context) -> Any:
    """GENERATE_PATCH: the patch that an answer holds, held to its hypothesis and region, applied nowhere yet (HYP-13 to 16, 34).

    Without a hypothesis (`--no-discipline`) it may touch any one of the files.
    """
    hypothesis = args.get("hypothesis")
    answer = args.get("answer")
    held = repair_copy.held(context)
    no = {"ok": False, "reason": "", "why": "", "path": "", "diff": "", "digest": "", "spans": [], "answer": "", "key": ""}
    if isinstance(answer, dict):
        return {**no, "reason": "empty-response", "why": str(answer.get("why") or "there is no answer")[:300]}
    written = answer if isinstance(answer, str) else ""
    key = repair_copy.sha256(written.encode("utf-8", "replace"))[:16]
    if not written.strip():
        return {**no, "reason": "empty-response", "why": "the answer is empty"}
    path = str(hypothesis["affected_region"]["path"]) if isinstance(hypothesis, dict) else _named(written, held)
    if path not in held:
        return {**no, "key": key, "reason": "scope-violation", "why": f"`{path[:200]}` is no file that may be changed"}
    from ..packs.repair.patch import PatchRefused, unified

    before = _source(context, path)
    if before is None:
        return {**no, "key": key, "reason": "patch-apply", "why": f"`{path}` is not UTF-8 text, or too large"}
    try:
        after, spans = _patched(before, written, hypothesis)
    except PatchRefused as refused:
        return {**no, "key": key, "reason": refused.reason, "why": refused.why[:400]}
    change = hypothesis.get("structural_change") if isinstance(hypothesis, dict) else None
    if gates.terminators(change if isinstance(change, dict) else None, before, after):
        why = "a change of grouping changes how many statements there are"
        return {**no, "key": key, "reason": "scope-violation", "why": why}
    return {
        "ok": True, "reason": "", "why": "", "path": path, "diff": unified(path, before, after), "key": key,
        "digest": repair_copy.sha256(after.encode()), "spans": [list(span) for span in spans], "answer": written,
    }  # fmt: skip


def _patched(before: str, answer: str, hypothesis: Any) -> tuple[str, tuple[tuple[int, int], ...]]:
    from ..packs.repair.patch import apply_patch

    region = parse_region(hypothesis["affected_region"]) if isinstance(hypothesis, dict) else None
    made = apply_patch(before, answer, region=region)
    return made.text, made.spans


def _named(answer: str, held: Mapping[str, str]) -> str:
    """The file that a patch without a hypothesis is for: the one that it names, or the only one there is."""
    for match in re.finditer(r"^(?:\+\+\+|---) (?:[ab]/)?(\S+)", answer, re.MULTILINE):
        if match[1] in held:
            return match[1]
    return next(iter(held)) if len(held) == 1 else "(no file is named)"


def apply_repair(args: dict[str, Any], context: Context) -> Any:
    """Puts a patch that was checked into the copy, and takes out the one before it. The workspace is not touched."""
    patch = _object(args, "patch")
    folder, base = repair_copy.copy_of(context), repair_copy.base_of(context)
    path, after = _content(patch, args.get("hypothesis"), context)
    mark = os.path.join(context.run_folder, "patched")
    old = durable.read(mark)
    for one in {old.decode() if old else path, path}:
        repair_copy.put(folder, one, repair_copy.read(base, one))
    durable.replace(mark, path.encode())
    repair_copy.put(folder, path, after)
    return {"path": path, "digest": patch["digest"]}


def keep_repair(args: dict[str, Any], context: Context) -> Any:
    """A patch that has helped stays in the copy: what comes next is measured and patched upon it."""
    patch = _object(args, "patch")
    base = repair_copy.base_of(context)
    path = str(patch["path"])
    now = repair_copy.read(base, path)
    if repair_copy.sha256(now) != patch["digest"]:
        _, after = _content(patch, args.get("hypothesis"), context)
        first = os.path.join(context.run_folder, "original")
        if not os.path.exists(os.path.join(first, path)):
            repair_copy.put(first, path, now)
        repair_copy.put(base, path, after)
    mark = os.path.join(context.run_folder, "patched")
    if os.path.exists(mark):
        os.unlink(mark)
    return {"path": path, "digest": patch["digest"]}


def _content(patch: dict[str, Any], hypothesis: Any, context: Context) -> tuple[str, bytes]:
    path = str(patch["path"])
    if path not in repair_copy.held(context):
        raise ToolFailure("argument", f"`{path}` is no file that may be changed")
    before = repair_copy.read(repair_copy.base_of(context), path).decode("utf-8")
    after = _patched(before, str(patch["answer"]), hypothesis)[0].encode()
    if repair_copy.sha256(after) != patch["digest"]:
        raise ToolFailure("result", f"`{path}` would not become what was checked")
    return path, after


def close_repair(args: dict[str, Any], context: Context) -> Any:
    """The outcome: the whole diff, in the run's folder too, with the files as they were before it."""
    from ..packs.repair.patch import unified

    state = _object(args, "state")
    first = os.path.join(context.run_folder, "original")
    changes: list[dict[str, str]] = []
    diff = ""
    for path, digest in sorted(repair_copy.held(context).items()):
        if not os.path.exists(os.path.join(first, path)):
            continue
        before, after = repair_copy.read(first, path), repair_copy.read(repair_copy.base_of(context), path)
        if before == after:
            continue
        changes.append({"path": path, "before": digest, "after": repair_copy.sha256(after)})
        diff += unified(path, before.decode("utf-8"), after.decode("utf-8"))
        context.root.write(f"runs/{context.run}/original/{path}", before, "write", context.key)
    if changes:
        context.root.write(f"runs/{context.run}/repair.diff", diff.encode(), "write", context.key)
    return loop.outcome(state, changes, diff)


def take_repair(args: dict[str, Any], context: Context) -> Any:
    """Writes a repair that has passed into the workspace: all of its files or none, and none that is not what it was.

    Where the repair did not pass, nothing is written. Done again, it finds its own files and leaves them.
    """
    outcome = _object(args, "outcome")
    rows = outcome["changes"] if outcome.get("status") == "fixed" else []
    held = repair_copy.held(context)
    files: dict[str, bytes] = {}
    for row in rows:
        path, data = row["path"], repair_copy.read(repair_copy.base_of(context), row["path"])
        if path not in held or repair_copy.sha256(data) != row["after"]:
            raise ToolFailure("result", f"what was tested of `{path}` is not there any more")
        now = repair_copy.sha256(context.root.find(path) or b"")
        if now not in (row["before"], row["after"]):
            raise ToolFailure("changed", f"`{path}` was changed while it was repaired; nothing was written")
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


def _spectrum_file(context: Context) -> str:
    return os.path.join(context.run_folder, "spectrum.json")


def _object(args: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = args.get(name)
    if not isinstance(value, dict):
        raise ToolFailure("argument", f"`{name}` is not what the step before it returns")
    return value
