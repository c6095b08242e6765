"""What the form of a question says about the form of its answer: a why wants a because, a how many a number."""

from __future__ import annotations

import re
from collections.abc import Callable

Cue = Callable[[str], float]
"""From a sentence (on one line) to the factor that its form is worth, 1.0 or a little more."""

_SAYS_WHAT = re.compile(
    r"^[\W_]*(?:(?:an?|the)\s+)?[\W_]*(?P<term>\w[\w.-]*(?:[ /]\w[\w.-]*){0,3}?)[\W_]{0,4}(?:\s*\([^)]{0,60}\))?[\W_]{0,3}"
    r"(?:\s*[:=–—]\s|\s+(?:is|are|was|means?|refers?\s+to|stands?\s+for|describes?|consists?\s+of)\b)",
    re.IGNORECASE,
)
_FORMS: tuple[tuple[re.Pattern[str], re.Pattern[str], float], ...] = tuple(
    (re.compile(question, re.IGNORECASE), re.compile(answer, re.IGNORECASE), factor)
    for question, answer, factor in (
        (
            r"\bwhy\b|\breason\b",
            r"\bbecause\b|\bso that\b|\bsince\b|\breasons?\b|\btherefore\b|\bin order\b|\botherwise\b|\bto avoid\b",
            1.15,
        ),
        (
            r"\bhow (?:many|much|long|fast|large|big|often|deep|old|high)\b|\bwhen\b|\bwhich version\b|\bat (?:most|least)\b",
            r"\d",
            1.12,
        ),
        (
            r"\bhow (?:do|can|could|should|would|to|does one|is it)\b",
            r"\byou can\b|^\W*(?:use|run|set|add|call|pass|install|write|type|create)\b|`[^`]+`",
            1.06,
        ),
        (r"\bwhere\b", r"[\w.-]+/[\w.-]+|\b(?:in|under|below|inside) (?:the|a|an|your|`)", 1.08),
        (
            r"\b(?:must|should|may|can|allowed|possible|safe)\b",
            r"\b(?:must|should|may|can|cannot|never|not|only|always)\b",
            1.04,
        ),
    )
)
_WHAT = re.compile(
    r"^\W*(?:what|who)\s+(?:is|are|was|were|does)\b|\bdefine|\bdefinition|\bmeaning of\b|\bmean\b",
    re.IGNORECASE,
)


def cue_of(question: str) -> Cue:
    """The cue of a question; several may apply, and their factors multiply."""
    head = question[:2000]
    forms = [(answer, factor) for asks, answer, factor in _FORMS if asks.search(head)]

    def cue(sentence: str) -> float:
        value = 1.0
        for answer, factor in forms:
            if answer.search(sentence):
                value *= factor
        return value

    return cue


def asks_what(question: str) -> bool:
    """True for a question about what something is or means."""
    return _WHAT.search(question[:2000]) is not None


def defined_term(sentence: str) -> str | None:
    """What a sentence says the meaning of, where it begins like a definition: `X is ...`, `**X**: ...`."""
    found = _SAYS_WHAT.match(sentence[:200])
    return found["term"] if found else None
