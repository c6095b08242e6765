"""The decomposition attack of the critic (ALPH-12): whether what a dictionary says of a word takes the word apart. Pure."""

from __future__ import annotations

import re
from typing import Any

_PURPOSE = re.compile(
    r"\b(?:used (?:for|to|in|as|by)|serv(?:es|ing) (?:to|as|for)|(?:intended|designed) (?:for|to)"
    r"|for the purpose of|whose function)\b"
)
_FORM = re.compile(
    r"^(?:\([^)]*\) ?)?(?:(?:of or |relating to or )?(?:relating|pertaining|related) to\b|of or concerning\b"
    r"|(?:the|an?) (?:act|action|quality|state|property|condition|process|fact) (?:of|that)\b|in an? \w+ (?:manner|way)\b"
    r"|(?:of or |involving or )?characteristic of\b)"
)
"""Definitions that make a word of another and say no more: enough where the other is not the rarer one."""


def attacked(label: str, row: dict[str, Any], strictness: float) -> dict[str, Any]:
    """The attempts to take a word apart, whether it survived all of them, and a sentence on it."""
    seen = row["evidence"]
    definition, rarer, parts = seen["definition"], seen["rarer"], seen["parts"]
    form = (
        _FORM.search(row["gloss"])
        if len(rarer) < len(definition) or (definition and seen["lexname"] == "adj.pert")
        else None
    )
    purpose = _PURPOSE.search(row["gloss"].partition(";")[0])
    # a definition of one or two form words, as in `bear: have`, is a paraphrase; a longer one has nothing to be looked up
    simple = (
        len(rarer) <= 0.5 * strictness * len(definition)
        if definition
        else len(row["gloss"].split()) < 3
    )
    attempts = [
        {
            "kind": "analytic", "attempt": f"{label} = {' + '.join(definition) or row['gloss']}",
            "succeeded": simple or form is not None,
            "result": f"`{form[0]} ...` makes it of another word" if form else _analysis(label, definition, rarer, simple),
            "into": definition,
        },
        {
            "kind": "synthetic", "attempt": f"the parts of {label}: {', '.join(parts) or 'none named'}",
            "succeeded": len(seen["simpler_parts"]) > 1, "result": _parts(parts, seen["simpler_parts"]),
            "into": seen["simpler_parts"],
        },
        {
            "kind": "functional", "attempt": f"what {label} is for: {purpose[0] if purpose else 'nothing is said'}",
            "succeeded": purpose is not None, "result": f"it is {'' if purpose else 'not '}defined by a use", "into": definition,
        },
    ]  # fmt: skip
    won = [one["kind"] for one in attempts if one["succeeded"]]
    notes = (
        f"Taken apart by: {', '.join(map(str, won))}."
        if won
        else "None of the three takes it apart."
    )
    return {"attempts": attempts, "survived": not won, "notes": notes}


def _parts(parts: list[str], simpler: list[str]) -> str:
    if len(simpler) > 1:
        return f"{' and '.join(simpler[:4])} stand in more definitions than the whole"
    return (
        "its parts need more explanation than the whole does"
        if parts
        else "the dictionary names no parts of it"
    )


def _analysis(label: str, definition: list[str], rarer: list[str], analysed: bool) -> str:
    if not definition:
        return (
            "it is said with form words alone"
            if analysed
            else "there is nothing to take it apart into"
        )
    more = f"{len(definition) - len(rarer)} of {len(definition)} words of the definition stand in more definitions than {label}"
    if analysed:
        return more
    need = "needs" if len(rarer) == 1 else "need"
    return f"{', '.join(rarer[:4])} {need} more explanation than {label} does, so the definition describes and does not analyse"
