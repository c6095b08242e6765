"""What each phase of a repair must answer before the next may begin. Pure; every rule is a row of `RULES`.

The shipped checklist (`prompts/checklist.json`) lists the same rules for people and agents; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from .failure import unchanged
from .patch.region import parse_region

if TYPE_CHECKING:
    from .shapes import Effect, Seen

RELATIONS = ("grouping", "nesting", "ordering", "scope", "ownership")
KINDS = ("not-executed", "probed", "compile", "unchanged-error", "other")
NEAR = 12
"""Lines around a region of which a failing test must run one: what is wrong may be why the region is not reached."""
REASONS = (
    "missing-diff", "empty-diff", "scope-violation", "patch-apply", "compile-<rc>", "stall", "unchanged-error", "empty-response",
)  # fmt: skip
CATEGORIES = (
    "ENCLOSING_SCOPE",
    "DECLARATION",
    "IMPORTS_NAMESPACE",
    "TYPE_CONTEXT",
    "FILE_CONTEXT",
    "USAGE_CONTEXT",
)

RULES: dict[str, dict[str, str]] = {
    "GATHER": {
        "context-schema": "Requests name a category, a reason, and a target of a single word or none.",
        "context-bound": "Context is asked for three times at most; an answer that cannot be read ends it, with a note.",
    },
    "INTERPRET": {
        "two-fields": "What structural element failed and why it is believed are two fields; neither is empty.",
        "interpretation-only": "Only the interpretation goes into later prompts.",
    },
    "DIAGNOSE": {
        "at-least-two": "At least two hypotheses compete; fewer are refused and asked for again, twice at most.",
        "mutually-exclusive": "No two make the same claim, nor expect the same effect in the same region.",
        "checkable-region": "A region is a file and 120 lines of it at most; prose is refused.",
    },
    "FALSIFY": {
        "observable": "At least one observable outcome is named that would contradict the hypothesis.",
        "already-seen": "A contradiction that was observed ends the hypothesis; falsified is only what was tried.",
    },
    "PROPOSE": {
        "structural-relation": "The change names one of grouping, nesting, ordering, scope, ownership, and an operation.",
        "not-lexical": "A change of punctuation or spelling alone is refused.",
        "no-code": "A proposal holds no code and no diff.",
        "no-terminator": "A change of grouping neither adds nor removes a statement terminator.",
    },
    "GENERATE_PATCH": {
        "one-hypothesis": "A patch belongs to exactly one hypothesis.",
        "inside-region": "A patch touches no line outside of the region of its hypothesis.",
        "applies": "A patch is a diff or blocks that fit exactly one place, and changes something.",
    },
    "CRITIQUE": {
        "measured": "The message, the place and the fingerprint after the patch are compared with those before.",
    },
    "CONVERGE": {
        "two-attempts": "A hypothesis is retired after two failed validations.",
        "stall": "Where message, place and patch scope are the same twice in a row, the hypothesis is replaced.",
        "success-ends": "The repair ends at once when the test passes.",
        "bounded": "It ends after its iterations, after its stalls, and where no hypothesis is left.",
    },
}
"""The rules by phase: their name, and what they say."""

_LEXICAL = re.compile(
    r"\b(?:(?:add|insert|append|remov|delet|drop|fix|chang|correct|replac|put|restor|includ|complet|supply|supplie)\w*\b[^.\n]{0,40}?"
    r"\b(?:punctuation|semi-?colons?|commas?|colons?|quot(?:e|es|ation marks?)|periods?|white ?spaces?|spaces?|typos?|spelling"
    r"|newlines?|characters?|tokens?|symbols?|braces?|brackets?|parenthes[ie]s))\b"
    r"|\b(?:missing|stray|extra|trailing)\s+"
    r"(?:punctuation|semi-?colons?|commas?|colons?|quotes?|white ?space|tokens?|characters?)\b"
    r"|\b(?:typo|misspell\w*|typographical|cosmetic|lexical)\b",
    re.IGNORECASE,
)
_STRUCTURAL = re.compile(
    r"\b(?:group\w*|regroup\w*|nest\w*|order\w*|reorder\w*|precedence|scope\w*|own(?:s|ed|er|ership)|bind\w*|rebind\w*|bound\w*"
    r"|associat\w*|block|bod(?:y|ies)|branch\w*|operands?|operators?|arguments?|receiver|callee|condition\w*|guard\w*|return\w*"
    r"|enclos\w*|before|after|inside|outside)\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"```|~~~|^@@ |^(?:\+\+\+|---) |^diff --git |^<{7}|^>{7}|^\s*ORIGINAL LINES:", re.MULTILINE
)
_TERMINATOR = re.compile(r"semi-?colon|terminator|statement[ _-]end", re.IGNORECASE)


class Challenge(NamedTuple):
    """What a falsification says: its contradictions, those among them that were observed, and what is wrong with it.

    `tried`: what was observed comes from a change of this hypothesis that was made; else nothing was falsified (E4).
    """

    contradictions: list[dict[str, str]]
    observed: list[str]
    wrong: str
    warnings: list[str]
    tried: bool = False


def interpretation(answer: object) -> str:
    """Why an interpretation cannot be taken; empty where it can (HYP-06)."""
    if not isinstance(answer, dict):
        return "it is not an object"
    for name in ("interpretation", "explanation"):
        if not isinstance(answer.get(name), str) or not answer[name].strip():
            return f"it has no {name}"
    if _said(answer["interpretation"]) == _said(answer["explanation"]):
        return "interpretation and explanation are the same text"
    return ""


def requests(answer: object) -> tuple[list[dict[str, str]], str]:
    """The context that is asked for, and a note where the answer could not be read (HYP-45)."""
    if not isinstance(answer, dict) or not isinstance(answer.get("needs_more_context"), bool):
        return [], "the answer about context could not be read; it goes on without"
    if not answer["needs_more_context"]:
        return [], ""
    found: list[dict[str, str]] = []
    for row in answer.get("requests") or ():
        target = row.get("target") if isinstance(row, dict) else None
        name = target.get("name") if isinstance(target, dict) else None
        whole = (
            isinstance(row, dict)
            and row.get("category") in CATEGORIES
            and str(row.get("reason") or "").strip()
        )
        if whole and (target is None or (isinstance(name, str) and len(name.split()) == 1)):
            found.append(
                {
                    "category": row["category"],
                    "name": name or "",
                    "reason": str(row["reason"])[:300],
                }
            )
    return found[
        :8
    ], "" if found else "no request of the answer about context could be read; it goes on without"


def challenge(answer: object, hypothesis: Mapping[str, object], seen: Seen) -> Challenge:
    """Reads a falsification and compares it with what has been seen (HYP-09 to 11).

    `seen`: `executed` (path to the lines that failing tests run, or None), `attempts`, `output`.
    """
    if not isinstance(answer, dict):
        return Challenge([], [], "it is not an object", [])
    named = answer.get("hypothesis_id")
    if named not in (None, "", hypothesis["id"]):
        return Challenge([], [], f"it is about {str(named)[:40]}, not about {hypothesis['id']}", [])
    rows: list[dict[str, str]] = []
    observed: list[str] = []
    warnings: list[str] = []
    tried = bool(hypothesis.get("probe")) or bool(_applied(hypothesis, seen))
    for row in answer.get("contradictions") or ():
        observation = str(row.get("observation") or "").strip() if isinstance(row, dict) else ""
        if not observation:
            continue
        status = row.get("status", "pending")
        if status not in ("observed", "pending"):
            warnings.append(
                f"`{str(status)[:40]}` is not a status of a contradiction; it counts as pending"
            )
            status = "pending"
        kind = row.get("kind") if row.get("kind") in KINDS else "other"
        evidence = str(row.get("evidence") or "").strip()
        shown = happened(str(kind), hypothesis, seen)
        if shown:
            status, evidence = "observed", shown
        elif status == "observed" and not (
            tried and evidence and _said(evidence) in _said(seen.get("output", ""))
        ):
            why = (
                "nothing that was seen says so"
                if tried
                else "no patch of the hypothesis was applied"
            )
            warnings.append(f"a contradiction is called observed, and {why}; it counts as pending")
            status = "pending"
        rows.append(
            {
                "observation": observation[:400],
                "status": str(status),
                "kind": str(kind),
                "evidence": evidence[:400],
            }
        )
        if status == "observed":
            observed.append(f"{observation[:300]}" + (f" ({evidence[:200]})" if evidence else ""))
    wrong = "" if rows else "it names no observable outcome that would contradict the hypothesis"
    return Challenge(rows, observed, wrong, warnings, tried)


def happened(kind: str, hypothesis: Mapping[str, object], seen: Seen) -> str:
    """What shows that an outcome of that kind has already been seen; empty where nothing does (HYP-11)."""
    region = parse_region(hypothesis["affected_region"])
    if kind == "not-executed" and hypothesis.get("probe") not in ("passes", "helps"):
        executed = seen.get("executed") or {}
        near = range(region.first - NEAR, region.last + NEAR + 1)
        if executed and not any(line in near for line in executed.get(region.path) or ()):
            return f"no failing test runs lines {region.first} to {region.last} of {region.path}, or lines near them"
        return ""
    if kind == "probed":
        shown = {
            "fails": "the tests that fail without it still fail",
            "breaks": "another test fails",
            "leaves": "a test still fails that passes with another edit",
        }
        said = shown.get(str(hypothesis.get("probe")))
        return f"it was tried in memory: {said}" if said else ""
    own = _applied(hypothesis, seen)
    if kind == "compile":
        own = [row for row in own if str(row.get("reason")).startswith("compile-")]
    elif kind == "unchanged-error":
        own = [row for row in own if row.get("unchanged")]
    else:
        own = []
    return f"iteration {own[0]['iteration']} showed it" if own else ""


def _applied(hypothesis: Mapping[str, object], seen: Seen) -> list[Mapping[str, object]]:
    """The iterations in which a patch of the hypothesis was applied: what was refused says nothing about it (E4)."""
    rows = seen.get("attempts") or ()
    return [row for row in rows if row.get("hypothesis") == hypothesis["id"] and row.get("applied")]


def proposal(answer: object) -> str:
    """Why a proposal is refused; empty where it can be followed (HYP-20 to 23)."""
    if not isinstance(answer, dict):
        return "it is not an object"
    intent, change = answer.get("intent"), answer.get("structural_change")
    if not isinstance(intent, str) or not intent.strip():
        return "it has no intent"
    if not isinstance(change, dict) or not str(change.get("operation") or "").strip():
        return "it names no structural change with an operation"
    if change.get("type") not in RELATIONS:
        return f"it names no structural relation ({', '.join(RELATIONS)})"
    operation = str(change["operation"])
    words = f"{intent}\n{operation.replace('_', ' ')}"
    if _CODE.search(intent) or _CODE.search(operation) or "\n+" in intent or "\n-" in intent:
        return "it holds code or a diff, and a proposal holds none"
    if change["type"] == "grouping" and _TERMINATOR.search(words):
        return "a change of grouping neither adds nor removes a statement terminator"
    if _LEXICAL.search(intent) and not _STRUCTURAL.search(_LEXICAL.sub(" ", intent)):
        return "it cites a lexical change only, and no structure that is altered"
    if _TERMINATOR.search(operation):
        return "it cites a lexical change only: a statement terminator is not a structure"
    return ""


def terminators(change: Mapping[str, object] | None, before: str, after: str) -> bool:
    """True where a patch that should change a grouping changes how many statements there are (HYP-23)."""
    return (
        bool(change)
        and change is not None
        and change.get("type") == "grouping"
        and before.count(";") != after.count(";")
    )


def critique(
    answer: object, before: Mapping[str, object], after: Mapping[str, object] | None
) -> Effect:
    """The effect of an attempt as measured, beside what was said of it (HYP-17)."""
    said = str(answer.get("assessment") or "").strip() if isinstance(answer, dict) else ""
    now = before if after is None else after
    return {
        "assessment": said[:600],
        "previous": {name: before.get(name) for name in ("fingerprint", "message", "path", "line")},
        "current": {name: now.get(name) for name in ("fingerprint", "message", "path", "line")},
        "unchanged": unchanged(before, now),
    }


def _said(text: object) -> str:
    return " ".join(str(text).casefold().split())
