"""The first lines of an answer: the deciding code with its place, at most 25 lines. Pure."""

from __future__ import annotations

import textwrap
from typing import Any

from fdc_toolchain.api.text import narrow

LINES, COLUMNS = 25, 80
LEAST = 8
"""Columns of code that are worth showing behind a place; a path and a name that leave fewer are shown whole, without code."""
OFTEN = {"High": 9, "Moderate": 7, "Low": 6}
"""Of ten answers with that confidence so many are right; measured on all questions of benchmarks/research, tuned and held out."""
JUDGED = "of the places that fdc found itself"
"""What the confidence is of where a model claims something: how often such claims are right nobody has measured."""
QUOTED = "Quotations only: no model was asked."
MORE = "`--full` shows the rest."
NEAREST = "Nearest, not the answer:"


def short(outcome: dict[str, object]) -> str:
    """What a person reads first: confirmed claims, or places; how sure that is; what was not found."""
    places = [row for row in narrow(outcome.get("places") or [], list) if isinstance(row, dict)]
    claims = [row for row in narrow(outcome.get("unified") or [], list) if row.get("confirmed")]
    sure, why = str(outcome.get("confidence")), str(outcome.get("justification"))
    total = narrow(outcome.get("total") or 0, int)
    if outcome.get("ended") == "absent":
        rows = textwrap.wrap(f"I do not find it: {why}.", COLUMNS)
        if places:
            rows += ["", NEAREST]
        return "\n".join([*rows, *_listed(places, total, LINES - len(rows))])
    often = JUDGED if claims else f"about {OFTEN.get(sure, 5)} of 10 such answers are right"
    end = textwrap.wrap(f"Confidence: {sure} ({often}; {why}).", COLUMNS)
    end += textwrap.wrap(f"{'' if claims else QUOTED} {MORE}".strip(), COLUMNS)
    room = LINES - len(end) - 1
    rows = []
    if claims:
        for row in claims:
            rows += _fitting(_claim(row), room - len(rows))
    else:
        rows = _listed(places, total, room)
    return "\n".join([*rows, "", *end])


def _listed(places: list[dict[str, Any]], total: int, room: int) -> list[str]:
    """Places with their code; references with a line each, and how many more there are."""
    if places and places[0].get("kind") in ("calls", "uses", "imports", "raises"):
        rows = [_one_line(row) for row in places][: room - 1]
        return [*rows, f"and {total - len(rows)} more"] if total > len(rows) else rows
    rows = []
    for row in places:
        rows += _fitting(_block(row), room - len(rows))
    return rows


def _fitting(rows: list[str], room: int) -> list[str]:
    return rows if len(rows) <= room else []


def _head(row: dict[str, Any]) -> str:
    place = f"{row['path']}:{row['line']}"
    name = " ".join(str(row.get("name") or "").split())
    kind = str(row.get("kind") or "")
    if name and kind == "text":
        return _cut(f"{place}  {name}")
    told = f"{place}  {name}".rstrip()
    shown = f"{told} ({kind})" if name else told
    return shown if len(shown) <= COLUMNS else told


def _block(row: dict[str, Any]) -> list[str]:
    code = row.get("code") or ()
    margin = min((len(one["text"]) - len(one["text"].lstrip()) for one in code), default=0)
    rows = [_cut(f"{one['line']:>6}  {one['text'][margin:]}") for one in code]
    twins = row.get("twins") or ()
    return [_head(row), *rows, *([_cut(f"        likewise {', '.join(twins)}")] if twins else [])]


def _one_line(row: dict[str, Any]) -> str:
    code = row.get("code") or ({"text": ""},)
    inside = f"  in {row['name']}" if row.get("name") and row.get("kind") != "text" else ""
    place = f"{row['path']}:{row['line']}{inside}"
    shown = f"{place}: {str(code[0]['text']).strip()}"
    return place if len(place) > COLUMNS - LEAST else _cut(shown)


def _claim(row: dict[str, Any]) -> list[str]:
    rows = textwrap.wrap(" ".join(str(row["claim"]).split()), COLUMNS - 2) or [""]
    cited = row["citations"][0]
    place = f"{cited['path']}:{cited['line']}: {str(cited['quote']).strip()}"
    return [f"- {rows[0]}", *(f"  {one}" for one in rows[1:]), _cut(f"    {place}")]


def _cut(text: str) -> str:
    return text if len(text) <= COLUMNS else text[: COLUMNS - 3].rstrip() + "..."
