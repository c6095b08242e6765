"""Findings of one track: what is said of its evidence where no model is configured, and what its gates let through. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fdc_toolchain.api.text import narrow

from .tracks import rows_of

SENTENCES = 2
"""Sentences that a track's conclusions have at most (EXP-21)."""
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s+[A-Z`\"'(]|\s*$)|\Z)", re.DOTALL)
SHOWN = 4
"""Places of one kind that a finding cites."""
USES = ("use", "import", "export", "dependency", "internal")
"""Evidence of how a definition is tied to others, not of what it is."""
_DOC = re.compile(r"^[\s\"'#/*!;%<>-]+|[\"']{3}\s*$|\*/\s*$")


def document(
    question: str, track: dict[str, object], evidence: dict[str, object], refused: object = None
) -> dict[str, object]:
    """Groups the evidence by what it tells of; each claim is its quotation, with what kind of place it is.

    `refused`: findings of an earlier try that did not hold (a file has changed since); what they cited is left out.
    """
    again = narrow(refused or [], list)
    lost = {row.get("place") for row in again if isinstance(row, dict)}
    rows: list[dict[str, Any]] = rows_of(evidence, "evidence")
    rows = [row for row in rows if f"{row['path']}:{row['line']}" not in lost]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(
            (str(row.get("subject") or row["path"]), str(row.get("home") or "")), []
        ).append(row)
    findings = []
    for (subject, home), inside in groups.items():
        findings += _findings(subject, home, inside)
    total = narrow(evidence.get("of") or len(rows), int)
    files = len({row["path"] for row in rows})
    gaps = []
    if total > len(rows):
        gaps.append(
            f"{track.get('name')}: {total - len(rows)} more places were found and not opened"
        )
    names = list(dict.fromkeys(f"`{subject}`" for subject, home in groups if home))[:3]
    if not rows:
        conclusions = f"Nothing was found for {track.get('focus')}."
    else:
        centre = f", most of all of {', '.join(names)}" if names else ""
        one = len(rows) == 1
        places = f"{len(rows)} place{'' if one else 's'} in {files} file{'' if files == 1 else 's'} {'tells' if one else 'tell'}"
        conclusions = f"{places} of {track.get('focus')}{centre}."
    return {"findings": findings, "conclusions": conclusions, "gaps": gaps}


def _findings(subject: str, home: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One finding for each kind of evidence: what it is, and the quotation itself."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        kind = str(row.get("kind"))
        kinds.setdefault("definition" if kind == "documentation" else kind, []).append(row)
    return [
        _finding(
            "; ".join(f"{_cut(row.get('description', ''))}: {_said(row)}" for row in inside[:3]),
            subject,
            home,
            inside[:SHOWN],
        )
        for inside in kinds.values()
    ]


def _finding(claim: str, subject: str, home: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    cited = [{"path": row["path"], "line": row["line"], "quote": row["quote"]} for row in rows]
    return {"claim": claim, "subject": subject if home else "", "home": home, "citations": cited}


def _said(row: dict[str, Any]) -> str:
    """What stands at a place: the whole sentence, where that is known, else the line without its marks."""
    return _cut(
        str(row.get("said") or "") or _DOC.sub("", _DOC.sub("", str(row["quote"]))).strip(), 240
    )


def _cut(text: str, most: int = 160) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= most else text[: most - 3].rstrip() + "..."


def gate(
    question: str,
    track: Mapping[str, object],
    evidence: dict[str, object],
    checked: dict[str, object],
    earlier: dict[str, object] | None = None,
) -> dict[str, object]:
    """A track's result (EXP-20), or a blocked track with its blocker (EXP-37), after the gates. Conclusions are two sentences
    at most (EXP-21).

    evidence: every finding has citations, each was opened and holds. summary: there are conclusions, of something that was
    found. understood: evidence was found, and each finding tells of it. `earlier`: what an agent said before it was told
    that findings of it do not hold; it counts where more of it holds than of what was said then (EXP-16).
    """
    if earlier is not None and len(rows_of(earlier, "held")) > len(rows_of(checked, "held")):
        checked = earlier
    documented = checked.get("documented")
    documented = documented if isinstance(documented, dict) else {}
    held, rejected = rows_of(checked, "held"), rows_of(checked, "rejected")
    said = str(documented.get("conclusions") or "").strip()
    conclusions = " ".join(_SENTENCE.findall(said)[:SENTENCES]).strip()
    why = ""
    if "failed" in documented:
        why = f"{documented.get('failed')}: {documented.get('why', '')}"
    elif not held:
        nothing = str(evidence.get("why") or "nothing was found")
        why = "no finding has a citation that holds" if rejected else nothing
    elif not conclusions:
        why = "no conclusions exist"
    rows = rows_of(evidence, "evidence")
    gaps = [str(one) for one in documented.get("gaps") or () if str(one).strip()]
    gaps += [f"{track.get('name')}: a finding was rejected: {row.get('why')}" for row in rejected]
    if len(conclusions) < len(" ".join(said.split())):
        gaps.append(
            f"{track.get('name')}: its conclusions were longer than {SENTENCES} sentences; the first of them are kept"
        )
    return {
        "track": str(track.get("name", "")),
        "focus": str(track.get("focus", "")),
        "approach": str(track.get("approach", "")),
        "question": question,
        "findings": [_weighed(row, rows) for row in held],
        "evidence": [
            {"path": row["path"], "line": row["line"], "description": row.get("description", "")}
            for row in rows
        ],
        "conclusions": conclusions,
        "gaps": gaps,
        "rejected": rejected,
        "checked": narrow(checked.get("checked") or 0, int),
        "gates": {
            "evidence": bool(held) and not rejected,
            "summary": bool(conclusions),
            "understood": bool(rows),
        },
        "blocked": bool(why),
        "why": why,
        "complexity": narrow(evidence.get("of") or 0, int),
        "deeper": [],
    }


def _weighed(finding: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A finding with what its evidence is worth to the question, and whether it tells of who uses something.

    Both are taken from the evidence that it cites, not from what its author says of them.
    """
    cited = {(one["path"], one["line"]) for one in finding["citations"]}
    here = [row for row in rows if (row["path"], row["line"]) in cited]
    uses = bool(here) and all(row.get("kind") in USES for row in here)
    return {
        **finding,
        "worth": max((float(row.get("score") or 0.0) for row in here), default=0.0),
        "uses": uses,
    }


def nest(
    result: dict[str, object], deeper: Sequence[object], parts: object = None
) -> dict[str, object]:
    """A track's result with those of its sub-tracks below it; their findings count as its own (EXP-27).

    `parts`: the sub-tracks that were begun. One that has no result was deeper than calls may go: it is blocked (EXP-29).
    """
    begun = parts.get("tracks") if isinstance(parts, dict) else None
    begun = begun if isinstance(begun, list) and len(begun) == len(deeper) else [{}] * len(deeper)
    below = [row if isinstance(row, dict) else _too_deep(part) for row, part in zip(deeper, begun)]
    findings: list[dict[str, Any]] = list(narrow(result.get("findings", []), list))
    known = {(one["path"], one["line"]) for row in findings for one in row["citations"]}
    gaps = list(narrow(result.get("gaps", []), list))
    for row in below:
        for one in row.get("findings", ()):
            if not {(cited["path"], cited["line"]) for cited in one["citations"]} & known:
                findings.append(one)
                known |= {(cited["path"], cited["line"]) for cited in one["citations"]}
        gaps += [gap for gap in row.get("gaps", ()) if gap not in gaps]
        if row.get("blocked") and row.get("track"):
            gaps.append(f"{row.get('track')}: blocked: {row.get('why')}")
    shown = ("track", "focus", "conclusions", "blocked", "why", "bounded")
    short = [{key: row[key] for key in shown if key in row} for row in below if row.get("track")]
    if any(not isinstance(row, dict) for row in deeper):
        gaps.append(f"{result.get('track')}: it is complex, and no deeper level is left")
    return {**result, "findings": findings, "gaps": gaps, "deeper": short}


def _too_deep(part: Any) -> dict[str, Any]:
    part = part if isinstance(part, dict) else {}
    row = {
        "track": str(part.get("name") or ""),
        "focus": str(part.get("focus") or ""),
        "conclusions": "",
    }
    return {**row, "blocked": True, "bounded": True, "why": "no deeper level is left"}
