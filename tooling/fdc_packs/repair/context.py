"""What answers are made of: the suspect lines, excerpts of files around them. And the patch that an answer holds. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from . import gates
from .grammars.judge import trouble
from .localise import rank
from .mutate.syntax import wrong
from .patch.patch import PatchRefused, apply_patch, unified
from .patch.region import parse_region
from .patch.text import take_apart

if TYPE_CHECKING:
    from .shapes import Checked, Collected, Evidence, Failure, Hypothesis, Patch, Suspect

SUSPECTS, EXCERPTS, FEW = 400, 12_000, 3
ASKED = 3
"""Patches of a hypothesis that are refused, each with the reason, before it is given up for this iteration."""


def ranked(seen: Collected, failure: Failure) -> Evidence:
    """The context of an iteration: sources, suspects (best first), the lines that failing tests run, numbered excerpts."""
    sources = seen["sources"]
    measured = bool(seen["spectra"])
    suspects: list[Suspect] = [
        {"path": one.path, "line": one.line, "score": one.score}
        for one in rank(seen["spectra"])
        if one.path in sources
    ]
    executed: dict[str, list[int]] = {}
    for run in seen["spectra"]:
        for file in run["files"]:
            executed.setdefault(file["path"], []).extend(row[0] for row in file["lines"])
    unread = [
        one
        for one in _unread(sources, failure)
        if not any(row["path"] == one["path"] for row in suspects)
    ]
    suspects = unread + suspects or _unmeasured(sources, failure, measured)
    suspects = suspects[:SUSPECTS]
    return {
        "sources": sources, "suspects": suspects, "executed": {path: sorted(set(lines)) for path, lines in executed.items()},
        "excerpts": excerpts(sources, suspects, failure), "gathered": seen["gathered"], "files": seen["files"],
        "why": "" if suspects else seen["why"] or "no line of a file that may be changed is run by a failing test",
    }  # fmt: skip


def _unread(sources: Mapping[str, str], failure: Failure) -> list[Suspect]:
    """Where the parsers stop in files that they do not read: no coverage can say more. What other parsers than Python's do not
    read may be right (a macro); it counts if the failure names the file, or none of them."""
    named = failure.get("path") if failure.get("path") in sources else None
    said = {
        path: wrong(source) if path.endswith(".py") else trouble(path, source)
        for path, source in sources.items()
        if path.endswith(".py") or named in (None, path)
    }
    return [{"path": path, "line": one.line, "score": 1.0} for path, one in said.items() if one]


def _unmeasured(sources: Mapping[str, str], failure: Failure, measured: bool) -> list[Suspect]:
    """Lines that no one has measured: around the first error; where nothing could be measured, those of few files."""
    path, line = str(failure.get("path") or ""), int(failure.get("line") or 0)
    if path in sources and line:
        rows: list[Suspect] = [
            {"path": path, "line": near, "score": 1 / (1 + abs(near - line))}
            for near in range(
                max(1, line - 20), min(line + 20, len(take_apart(sources[path]).lines)) + 1
            )
        ]
        return sorted(rows, key=lambda row: -float(row["score"]))
    if measured or len(sources) > FEW:
        return []
    return [
        {"path": name, "line": number, "score": 0.1}
        for name, source in sources.items() for number in range(1, len(take_apart(source).lines) + 1)
    ]  # fmt: skip


def excerpts(sources: Mapping[str, str], suspects: Sequence[Suspect], failure: Failure) -> str:
    """The lines around the suspects, numbered, best places first."""
    places = [(row["path"], row["line"]) for row in suspects]
    if failure.get("path") in sources and failure.get("line"):
        places.insert(0, (failure["path"], failure["line"]))
    out: list[str] = []
    shown: dict[str, set[int]] = {}
    size = 0
    for path, line in places:
        if line in shown.setdefault(path, set()) or path not in sources:
            continue
        lines = take_apart(sources[path]).lines
        near = [
            at
            for at in range(max(1, line - 12), min(len(lines), line + 12) + 1)
            if at not in shown[path]
        ]
        shown[path].update(near)
        part = f"{path}:\n" + "\n".join(f"{at:>5} | {lines[at - 1]}" for at in near)
        size += len(part)
        if size > EXCERPTS and out:
            break
        out.append(part)
    return "\n\n".join(out)


def checked(
    context: Evidence, answer: object = None, hypothesis: Hypothesis | None = None,
    merges: Sequence[dict[str, str]] | None = None, earlier: Sequence[dict[str, str]] | None = None,
    known: Collection[str] | None = None,
) -> Checked:  # fmt: skip
    """`_checked`, and whether another patch is asked for: a refused one goes back with the reason, ASKED times at most.

    `earlier`: the patches of this hypothesis that were refused, with why; `known`: digests of texts that were tested.
    """
    made = _checked(context, answer, hypothesis, merges)
    if made["ok"] and made["digest"] in (known or ()):
        why = "this very change was tested before, and it did not help"
        made = {**made, "ok": False, "reason": "empty-diff", "why": why}
    refused = list(earlier or ())
    if answer is not None and not made["ok"] and not made["merges"]:
        said = answer if isinstance(answer, str) else ""
        refused.append({"patch": said[:6000], "reason": made["reason"], "why": made["why"]})
    own = bool(hypothesis and hypothesis.get("edit")) or isinstance(answer, dict)
    settled = made["ok"] or len(refused) >= ASKED or (own and bool(refused))
    return {**made, "refused": refused, "settled": settled}


def _checked(
    context: Evidence, answer: object, hypothesis: Hypothesis | None, merges: Sequence[dict[str, str]] | None,
) -> Patch:  # fmt: skip
    """GENERATE_PATCH: the patch that an answer holds, held to its hypothesis and region, applied nowhere yet (HYP-13 to 16, 34).

    Without a hypothesis (`--no-discipline`) it may touch any one of the files. What fits nowhere comes back
    with the texts that are to be merged (`merges`); given again with what `git merge-file` made of them, it is decided (HYP-37).
    """
    no: Patch = {
        "ok": False, "spans": [], "merges": [], "reason": "", "why": "", "path": "", "diff": "", "before": "", "digest": "",
        "text": "", "key": "",
    }  # fmt: skip
    if isinstance(answer, dict):
        return {
            **no,
            "reason": "empty-response",
            "why": str(answer.get("why") or "no answer exists")[:300],
        }
    written = answer if isinstance(answer, str) else ""
    no["key"] = key = _digest(written)[:16]
    if not written.strip():
        return {**no, "reason": "empty-response", "why": "the answer is empty"}
    sources = context["sources"]
    path = (
        str(hypothesis["affected_region"]["path"])
        if hypothesis is not None
        else _named(written, sources)
    )
    if path not in sources:
        return {
            **no,
            "reason": "scope-violation",
            "why": f"`{path[:200]}` is not a file that was shown and may be changed",
        }
    before = sources[path]
    region = parse_region(hypothesis["affected_region"]) if hypothesis is not None else None
    asked: list[dict[str, str]] = []

    def merge(ours: str, base: str, theirs: str) -> str | None:
        texts = {"ours": ours, "base": base, "theirs": theirs}
        asked.append(texts)
        return next((row["merged"] for row in merges or () if texts.items() <= row.items()), None)

    try:
        made = apply_patch(before, written, region=region, merge=merge)
    except PatchRefused as refused:
        return {
            **no,
            "reason": refused.reason,
            "why": refused.why[:400],
            "merges": asked if merges is None else [],
        }
    if not _written(made.text):
        return {
            **no,
            "reason": "patch-apply",
            "why": "the patch holds characters that no file can hold",
        }
    change = hypothesis.get("structural_change") if hypothesis is not None else None
    if gates.terminators(change if isinstance(change, dict) else None, before, made.text):
        why = "a change of grouping changes how many statements there are"
        return {**no, "reason": "scope-violation", "why": why}
    return {
        "ok": True, "reason": "", "why": "", "merges": [], "path": path, "diff": unified(path, before, made.text), "key": key,
        "before": _digest(before), "digest": _digest(made.text), "spans": [list(span) for span in made.spans], "text": made.text,
    }  # fmt: skip


def _written(text: str) -> bool:
    try:
        return bool(text.encode("utf-8")) or not text
    except UnicodeEncodeError:
        return False


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _named(answer: str, sources: Mapping[str, str]) -> str:
    """The file that a patch without a hypothesis is for: the one that it names, or the only one there is."""
    for match in re.finditer(r"^(?:\+\+\+|---) (?:[ab]/)?(\S+)", answer, re.MULTILINE):
        if match[1] in sources:
            return match[1]
    return next(iter(sources)) if len(sources) == 1 else "(no file is named)"
