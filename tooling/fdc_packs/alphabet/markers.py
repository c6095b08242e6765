"""Markers in what a role says: `[UNCERTAIN: ...]`, `[BLOG_MARKER:INSIGHT: ...]`; and questions to the logs (ALPH-89)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fdc_toolchain.api.text import narrow

from .model import BLOG_CATEGORIES, MARKERS, normal

_MARK = re.compile(r"\[(?P<kind>[A-Z][A-Z_]*\??)(?::\s*(?P<text>[^\[\]]{0,2000}))?\]")
_BLOG = re.compile(r"\[BLOG_MARKER:\s*(?P<kind>[A-Za-z_]+):\s*(?P<text>[^\[\]]{1,2000})\]")


BLOG = "BLOG:"
"""What stands before the category of a blog marker in the logs."""


class Mark(NamedTuple):
    """A marker and its text."""

    kind: str
    text: str


def found(text: str) -> list[Mark]:
    """The reasoning markers of a text, in order."""
    return [
        Mark(one["kind"], (one["text"] or "").strip())
        for one in _MARK.finditer(text)
        if one["kind"] in MARKERS
    ]


def blog(text: str) -> list[Mark]:
    """The blog markers of a text whose category is one."""
    marks = [Mark(one["kind"].upper(), one["text"].strip()) for one in _BLOG.finditer(text)]
    return [one for one in marks if one.kind in BLOG_CATEGORIES]


def unknown(text: str) -> list[str]:
    """Categories of blog markers that are none: a warning each."""
    return [
        one["kind"] for one in _BLOG.finditer(text) if one["kind"].upper() not in BLOG_CATEGORIES
    ]


def find_breakthroughs(marks: Iterable[Mark]) -> list[Mark]:
    """Every BREAKTHROUGH, of reasoning or for the blog."""
    return [one for one in marks if one.kind.removeprefix(BLOG) == "BREAKTHROUGH"]


def find_meta_insights(
    reflections: Iterable[Mapping[str, Sequence[Mapping[str, object]]]],
) -> list[dict[str, object]]:
    """What reflections kept for the archive."""
    return [dict(row) for one in reflections for row in one.get("insights_for_archive", ())]


def _evaluations(log: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for cycle in log.get("cycles", ()) for row in cycle.get("evaluations", ())]


def trace_concept_evolution(
    label: str, critics: Iterable[Mapping[str, object]]
) -> list[dict[str, object]]:
    """Every verdict on a label, oldest first, over the critic's logs of all iterations."""
    return [
        {"iteration": log.get("iteration"), "verdict": row.get("verdict"), "why": row.get("summary")}
        for log in critics for row in _evaluations(log) if normal(str(row.get("label", ""))) == normal(label)
    ]  # fmt: skip


def rejection_analysis(rejected: Iterable[Mapping[str, object]]) -> dict[str, int]:
    """How often each attack was the one that failed."""
    return dict(Counter(str(row.get("failed_attack", "")) for row in rejected).most_common())


def confidence_trajectory(critics: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    """The critic's mean confidence, iteration by iteration."""
    out = []
    for log in critics:
        found = [row["output"]["confidence"] for row in _evaluations(log) if row.get("output")]
        if found:
            mean = round(sum(map(float, found)) / len(found), 3)
            row = {"iteration": log.get("iteration"), "confidence": mean, "evaluations": len(found)}
            out.append(row)
    return out


def paradox_inventory(index: Iterable[Mapping[str, object]]) -> list[str]:
    """The titles of all paradoxes."""
    return [str(row.get("title", "")) for row in index]


def blog_content_queue(marks: Iterable[Mark]) -> list[Mark]:
    """Every blog marker, in order."""
    return [
        Mark(one.kind.removeprefix(BLOG), one.text) for one in marks if one.kind.startswith(BLOG)
    ]


def logged(logs: Iterable[Mapping[str, object]]) -> list[Mark]:
    """The markers that logs and reflections hold, whether or not raw answers were kept."""
    steps = [step for log in logs for step in narrow(log.get("cycles", [log]), list)]
    rows = [row for step in steps for row in step.get("markers", ())]
    return [Mark(str(row.get("kind", "")), str(row.get("text", ""))) for row in rows]
