"""Tracks: how a question is taken apart, and which of the parts are independent. Pure.

A track is `{name, focus, approach, deliverable, terms, paths}`, and, once it is kept, `gates`: the
checkpoints that its findings pass, each with how that is verified (EXP-11). What a model proposes and what is
proposed here go through the same checks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.text import narrow, visible

LEAST, MOST = 3, 6
USES_ASKED = 3.0
"""What a place of the dependencies is worth, of what it is else, where the question is who uses something."""
OVERLAP = 0.5
"""The part of the smaller track's places that two tracks may share and still count as independent."""
APPROACHES = ("PatternSearch", "DependencyTrace", "ImplementationScan", "BoundaryExplore")
SHOWN = ("name", "focus", "deliverable")
"""What of a track is shown to a person, and stands in the answer."""
DELIVERABLES = {
    "PatternSearch": "what comments, documents and texts say of it, quoted",
    "DependencyTrace": "who imports and uses it",
    "ImplementationScan": "what defines it, what that says of itself, how it fails",
    "BoundaryExplore": "where it is exported, configured and reached from outside",
}
GATES = (
    {
        "checkpoint": "evidence",
        "verification": "every finding cites file:line, and each citation was opened and compared",
    },
    {"checkpoint": "summary", "verification": "there are conclusions, of one or two sentences"},
    {
        "checkpoint": "understood",
        "verification": "evidence was found, and each finding tells of it",
    },
)
"""What `findings.gate` verifies of each track, in this order."""
TEMPLATES: dict[str, tuple[tuple[str, str, str, tuple[str, ...]], ...]] = {
    "ArchitectureUnderstanding": (
        ("services", "ServiceInterfaces", "PatternSearch", ("service", "interface")),
        ("layers", "LayerComposition", "DependencyTrace", ("layer",)),
        ("errors", "ErrorHandling", "ImplementationScan", ("error", "exception", "failure")),
        ("config", "Configuration", "BoundaryExplore", ("config", "settings", "option")),
    ),
    "FeatureInvestigation": (
        ("models", "DataModels", "ImplementationScan", ("model", "schema", "record")),
        ("ui-state", "UIComponents", "PatternSearch", ("component", "state", "view")),
        ("api", "APIEndpoints", "DependencyTrace", ("api", "endpoint", "route", "handler")),
        ("errors", "ErrorCases", "ImplementationScan", ("error", "exception", "failure")),
    ),
}
"""The seed's two templates (EXP-34, 35), each track with the words that it adds to the question's own."""


def propose(question: str, scope: dict[str, object], refused: object = None) -> dict[str, object]:
    """Tracks by rule: a template where the question asks for one, the four strategies, each subject alone.

    `refused`: what an earlier proposal lost. A second proposal divides the files instead (C-31). Where no file has a word of
    the question it cannot be taken apart by rule, and what to ask back is what `scope` says (EXP-02).
    """
    if scope.get("ask"):
        return {"tracks": [], "rationale": "", "ask": str(scope["ask"])}
    concepts: list[dict[str, Any]] = rows_of(scope, "concepts")
    words = [str(row["word"]) for row in concepts]
    told = sum(float(row.get("weight") or 0.0) for row in concepts) or 1.0
    about = ", ".join(words[:4]) or question[:80]
    terms = [question]
    tracks: list[dict[str, Any]] = []
    template = str(scope.get("template") or "")
    for name, focus, approach, more in TEMPLATES.get(template, ()):
        tracks.append(_track(name, f"{focus}: {about}", approach, [*terms, *more]))
    wanted = {"share": USES_ASKED} if scope.get("uses") else {}
    by_strategy = [
        _track("implementation", f"what implements {about}", "ImplementationScan", terms),
        {**_track("dependencies", f"what depends on {about}", "DependencyTrace", terms), **wanted},
        _track("terminology", f"what is said of {about}", "PatternSearch", terms),
        _track("boundaries", f"where {about} meets the outside", "BoundaryExplore", terms),
    ]
    tracks += by_strategy
    if isinstance(refused, list) and refused:
        for folder in narrow(scope.get("folders") or [], list):
            for approach, kind, what in (
                ("ImplementationScan", "code", "what implements"), ("PatternSearch", "words", "what is said of"),
            ):  # fmt: skip
                row = _track(
                    f"{_slug(str(folder))}-{kind}", f"{what} {about} in {folder}", approach, terms
                )
                tracks.append({**row, "paths": f"{folder}/**"})
    names = " ".join(str(row.get("qualified")) for row in rows_of(scope, "subjects")).lower()
    alone = len(words) > 1 and (bool(scope.get("wide")) or bool(refused))
    for row in concepts if alone else ():
        word = str(row["word"])
        if word[:5] not in names and not refused:
            continue  # a word of the question that names nothing is not a side of it
        share = round(float(row.get("weight") or 0.0) / told, 4)
        tracks.append(
            {
                **_track(
                    f"{_slug(word)}-alone", f"what implements {word}", "ImplementationScan", [word]
                ),
                "share": share,
            }
        )
    reasons = ["the four strategies look at different lines of the same files"]
    if template:
        reasons = [f"the question is taken for {template}"]
    if not scope.get("wide"):
        reasons.append(
            "the question is narrow: `fdc research` answers such ones from documents in one go"
        )
    return {"tracks": tracks, "rationale": "; ".join(reasons)}


def independent(
    question: str, survey: dict[str, object], scope: dict[str, object]
) -> dict[str, object]:
    """Which surveyed tracks are left: whole, named once, with something to look at, and not a repetition of an earlier one.

    `halt` is empty, or `confusion` where none is left (EXP-02, 07 to 10) or whoever was to take the question apart asks back,
    or `ambiguity` where they name what it may mean (EXP-03). `again`: fewer than three are left, so another proposal may do
    better (EXP-06), unless the question is pointed: it names one thing of this code and is not about several (EXP-36). Little
    code has fewer than three sides that differ: what is left after the second proposal is looked at.
    """
    kept: list[dict[str, Any]] = []
    dropped: list[dict[str, str]] = []
    for proposed in rows_of(survey, "tracks"):
        row = {
            **proposed,
            **{key: _line(proposed[key]) for key in SHOWN if isinstance(proposed.get(key), str)},
        }
        why = _refusal(row, kept)
        if why is None:
            kept.append(row)
        else:
            dropped.append({"name": str(row.get("name", ""))[:80], "why": why})
    asked, few, pointed = _line(survey.get("ask")), len(kept) < LEAST, bool(scope.get("pointed"))
    enough = not few or (bool(kept) and (pointed or not asked))
    tracks = [{**{key: value for key, value in row.items() if key != "places"}, "gates": list(GATES), "asked": question}
              for row in kept]  # fmt: skip
    ask = "" if enough else _asked_back(dropped, survey)
    options = [] if enough else _options(survey)
    rationale = str(survey.get("rationale", ""))
    if enough and few:
        why = "it is about one name" if pointed else "the code has no other side"
        rationale = f"{rationale}; {why}, so that fewer than {LEAST} agents look".lstrip("; ")
    return {
        "question": question,
        "tracks": tracks,
        "count": len(tracks),
        "dropped": dropped,
        "rationale": rationale,
        "text": _plan_text(question, kept, dropped, rationale),
        "halt": "" if enough else "ambiguity" if options else "confusion",
        "again": few and not asked and not (pointed and kept),
        "ask": ask,
        "options": options,
        "missing": list(narrow(scope.get("missing") or [], list)),
    }


def _asked_back(dropped: list[dict[str, str]], survey: dict[str, Any]) -> str:
    """The question that a person is asked where a question cannot be taken apart (EXP-02)."""
    if _line(survey.get("ask")):
        return _line(survey["ask"], 600)
    if survey.get("failed"):
        said = _line(f"{survey['failed']}: {survey.get('why', '')}", 300)
        return f"The model did not take the question apart ({said}). Ask again, in other words, or without a model?"
    lost = "; ".join(f"{row['name']}: {row['why']}" for row in dropped[:6])
    return (
        f"No side of the question can be found ({lost or 'nothing was proposed'}). "
        "Can you say more of what you want to know, or name more files?"
    )


def _options(survey: dict[str, Any]) -> list[dict[str, str]]:
    """What a question may mean, each with what it costs; none where there are not two (EXP-03)."""
    rows = [
        {key: _line(row.get(key), 300) for key in ("option", "tradeoff")}
        for row in rows_of(survey, "options")[:8]
    ]
    rows = [row for row in rows if all(row.values())]
    return rows if len(rows) > 1 and _line(survey.get("ask")) else []


def _line(text: Any, most: int = 200) -> str:
    """A text that somebody proposed as it can stand in a list: on one line, without what steers a terminal."""
    margin = "  " if str(text or "").startswith("  ") else ""
    shown = margin + visible(" ".join(str(text or "").split()))
    return shown if len(shown) <= most else f"{shown[: most - 3].rstrip()}..."


def _refusal(row: dict[str, Any], kept: list[dict[str, Any]]) -> str | None:
    for key in ("name", "focus", "approach", "deliverable"):
        if not isinstance(row.get(key), str) or not str(row[key]).strip():
            return f"it has no {key}"
    if row["approach"] not in APPROACHES:
        return f"the strategy `{str(row['approach'])[:40]}` does not exist"
    if any(other["name"] == row["name"] for other in kept):
        return "its name is taken"
    if not row.get("places"):
        return "its strategy finds nothing to look at"
    for other in kept:
        shared = overlap(row["places"], other["places"])
        if shared > OVERLAP:
            return f"{shared:.0%} of what it would look at is what `{other['name']}` looks at"
        if row["approach"] == other["approach"] and _focus(row) == _focus(other):
            return f"it looks for the same words as `{other['name']}` in the same way"
        if row["focus"].lower() == other["focus"].lower():
            return f"its focus is that of `{other['name']}`"
    return f"{MOST} tracks are the most" if len(kept) == MOST else None


def overlap(one: list[str], other: list[str]) -> float:
    """The part of the smaller of two sets of places that lies in both."""
    smaller = min(len(set(one)), len(set(other)))
    return len(set(one) & set(other)) / smaller if smaller else 0.0


def split(track: Mapping[str, object], evidence: Mapping[str, object]) -> dict[str, object]:
    """The sub-tracks of a track with too much to look at: the same in the folders that have most of it, or, where it is all
    in one folder, in its files (EXP-27). None where it is all in one file.
    """
    spread = evidence.get("spread")
    files = (
        {str(path): int(count) for path, count in spread.items()}
        if isinstance(spread, dict)
        else {}
    )
    folders: dict[str, int] = {}
    for path, count in files.items():
        folder = path.rpartition("/")[0]
        folders[f"{folder}/*" if folder else "*"] = (
            folders.get(f"{folder}/*" if folder else "*", 0) + count
        )
    places = folders if len(folders) > 1 else files
    tracks = []
    for place in (
        sorted(places, key=lambda one: (-places[one], one))[:LEAST] if len(places) > 1 else ()
    ):
        name, focus = (
            f"{track.get('name')}/{_slug(place)}",
            f"{track.get('focus')} in {place.removesuffix('/*')}",
        )
        tracks.append({**track, "name": name, "focus": focus, "paths": place})
    return {"tracks": tracks, "count": len(tracks)}


def _plan_text(
    question: str, kept: list[dict[str, Any]], dropped: list[dict[str, str]], rationale: str
) -> str:
    rows = [f"Track plan: {_line(question, 300)}"]
    for number, row in enumerate(kept, 1):
        rows.append(_line(f"  {number}. {row['name']} ({row['approach']}): {row['focus']}", 80))
    rows += [_line(f"  not {row['name']}: {row['why']}", 80) for row in dropped]
    return "\n".join([*rows, f"  why: {_line(rationale, 600)}"]) if rationale else "\n".join(rows)


def _track(name: str, focus: str, approach: str, terms: list[str]) -> dict[str, Any]:
    row = {
        "name": name,
        "focus": focus,
        "approach": approach,
        "deliverable": DELIVERABLES[approach],
    }
    return {**row, "terms": terms, "paths": ""}


def _focus(row: dict[str, Any]) -> tuple[Any, ...]:
    terms = row.get("terms")
    words = (
        sorted({str(one).lower() for one in terms})
        if isinstance(terms, list) and terms
        else [str(row["focus"]).lower()]
    )
    return (*words, row.get("paths") or "")


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text).strip("-").lower() or "all"


def rows_of(value: object, name: str) -> list[dict[str, object]]:
    """The objects of a list in an answer of a step before; none where it is malformed."""
    rows = value.get(name) if isinstance(value, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
