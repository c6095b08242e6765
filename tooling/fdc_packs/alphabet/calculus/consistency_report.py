"""How consistent an alphabet is, with warnings and what to do about them (ALPH-84). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ..model import Alphabet, normal
from .consistency import RULES, Violation, score, violations

CHECKS = {
    "circularity": "circularity",
    "redundancy": "redundancy",
    "contrast": "contrasts",
    "presupposition": "references",
}
"""The checks of the report, and the rule of consistency whose violations fail each."""


class Check(TypedDict):
    """One check: `result` is pass, warning or fail."""

    result: str
    findings: list[str]
    checked: int


class Report(TypedDict):
    """The report of ALPH-83."""

    checks: dict[str, Check]
    other_violations: list[str]
    overall_score: float
    recommendations: list[str]
    rules: list[str]


def consistency(alphabet: Alphabet, *, recorded: Collection[Violation] | None = None) -> Report:
    """The report of ALPH-83: circularity, redundancy, contrast and presupposition, each pass, warning or fail with findings;
    `overall_score` and recommendations. A warning is not a broken rule: what a person should look at.
    """
    broken = violations(alphabet) if recorded is None else recorded
    warned = dict(_warnings(alphabet))
    checks: dict[str, Check] = {}
    for name, rule in CHECKS.items():
        failed = [one.why for one in broken if one.rule == rule]
        suspect = warned.get(name, [])
        result = "fail" if failed else "warning" if suspect else "pass"
        checks[name] = {"result": result, "findings": [*failed, *suspect], "checked": len(alphabet)}
    other = [one.why for one in broken if one.rule not in CHECKS.values()]
    return {
        "checks": checks, "other_violations": other, "overall_score": score(alphabet, broken),
        "recommendations": _recommended(checks, other), "rules": list(RULES),
    }  # fmt: skip


def _warnings(alphabet: Alphabet) -> Iterable[tuple[str, list[str]]]:
    definitions: dict[str, list[str]] = {}
    for one in alphabet:
        if one.definition.strip():
            definitions.setdefault(one.definition.strip().lower(), []).append(f"`{one.label}`")
    same = [labels for labels in definitions.values() if len(labels) > 1]
    yield "redundancy", [f"{' and '.join(labels)} have the same definition" for labels in same]
    yield (
        "contrast",
        [
            f"`{one.label}` contrasts with everything that it composes with"
            for one in alphabet
            if one.contrasts and one.composes and set(one.composes) <= set(one.contrasts)
        ],
    )
    yield (
        "circularity",
        [
            f"the definition of `{one.label}` names it"
            for one in alphabet
            if normal(one.label) in normal(one.definition).split()
        ],
    )
    contested = {one.id: one.label for one in alphabet if one.status == "contested"}
    yield (
        "presupposition",
        [
            f"`{one.label}` presupposes `{contested[other]}`, which is contested"
            for one in alphabet
            for other in one.presupposes
            if other in contested
        ],
    )


def _recommended(checks: Mapping[str, Mapping[str, Any]], other: Sequence[str]) -> list[str]:
    advice = {
        "circularity": "give up one presupposition of each circle, or restate the definition without the word",
        "redundancy": "merge the primitives that say the same, or take out the derived one",
        "contrast": "decide for each pair whether one requires the other or excludes it",
        "presupposition": "settle what is presupposed first, or presuppose something else",
    }
    found = [
        f"{name}: {advice[name]}" for name, check in checks.items() if check["result"] != "pass"
    ]
    return [*found, *(["look at the other violations first"] if other else [])] or [
        "nothing needs to be done"
    ]
