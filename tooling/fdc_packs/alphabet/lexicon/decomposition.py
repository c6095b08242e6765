"""The decomposition attack of the critic (ALPH-12): whether what a dictionary says of a word takes the word apart. Pure."""

from __future__ import annotations

import re

from fdc_toolchain.api.text import narrow

_PURPOSE = re.compile(
    r"\b(?:used (?:for|to|in|as|by)|serv(?:es|ing) (?:to|as|for)|(?:intended|designed) (?:for|to)"
    r"|for the purpose of|whose function)\b"
)

_OF_USE = frozenset([
    "noun.artifact", "noun.body", "noun.food", "noun.group", "noun.object", "noun.possession", "noun.substance",
])  # fmt: skip
"""What a thing of these fields is for can be what it is. `used of a single unit` says nothing of the kind."""


def attacked(label: str, row: dict[str, object]) -> dict[str, object]:
    """The attempts to take a word apart, whether it survived all of them, and a sentence on it."""
    seen, gloss = narrow(row["evidence"], dict), str(row["gloss"])
    definition, knot, parts = seen["definition"], seen["knot"], seen["parts"]
    clause = gloss.partition(";")[0]
    purpose = _PURPOSE.search(clause) if seen["lexname"] in _OF_USE else None
    definable = bool(definition) and not seen["grounding"]
    attempts = [
        {
            "kind": "analytic", "attempt": f"{label} = {' + '.join(definition) or gloss}",
            "succeeded": definable, "result": _analysis(label, definition, knot, definable),
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


def _analysis(label: str, definition: list[str], knot: list[str], definable: bool) -> str:
    if not definition:
        return "there is nothing to take it apart into"
    if definable:
        return f"the grounding set of the dictionary does without {label}: its words define it and lead nowhere back"
    if len(knot) > 1:
        return f"whatever else is known, its definition leads back to it: {' > '.join(knot)}"
    return f"no word of the grounding set stands for {label}"
