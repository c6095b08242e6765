"""What a task asks for and a skeleton has no form for: conditions, repetitions, exceptions, tests, changes elsewhere."""

from __future__ import annotations

import re

from ..named_tuples import NamedTuple

_CONDITION = re.compile(
    r"\b(?:only )?(?:if|unless|in case|provided|as long as|as soon as)\b[^.,;!?]*"
)
_ASKED = re.compile(
    r"\b(?:ask|check|find out|know|look|say|see|show|tell|test|verify|wonder)\b(?: me| us| them| the user)?\s*$"
)
"""Before an `if` that means `whether`."""
_REPEATED = re.compile(
    r"\b(?:until|while)\b[^.,;!?]*"
    r"|\b(?:at most |at least |up to )?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|several|many) times\b"
    r"|\btwice\b|\brepeatedly\b|\bagain and again\b"
)
_SPARED = re.compile(
    r"\b(?:except(?:ing)?|excluding|excepted|apart from|aside from|other than"
    r"|(?:but|and|only) (?:not|never|keep|leave|spare)"
    r"|(?:do not|don['’]t|must not|never)\s+(?:ever\s+)?(?!ask)[a-z]+"
    r"|without\s+(?:alter|chang|delet|edit|modify|mov|overwrit|remov|renam|touch)ing)\b[^.,;!?]*"
    r"|\b(?:not|instead of|rather than)\s{3,}"  # a name
)
"""What is to be left as it is."""
_ONE = re.compile(
    r"\b(?:(?:and|or|then) )*[a-z]+ the (?:[a-z]+er|[a-z]+est|first|second|last|other|wrong|duplicate)"
    r"(?: one\b| of (?:them|the two|both)\b)[^.,;!?]*"
)
"""A choice between files."""
_APPENDED = re.compile(r"\b(?:append|prepend|add)\b[^.,;!?]*\bcontents?\b[^.,;!?]*")
_TESTED = re.compile(
    r"\b(?:(?:with|including|plus)(?: (?:an?|some|its))?|and(?: (?:add|write|create|make))? (?:an?|some|its|new))"
    r" (?:(?:new|unit|regression) )*tests?\b"
    r"(?: for (?:it|them|this|that))?(?!\s+(?:in|to|at|case|data|file|suite|run))"
)
_USERS = re.compile(
    r"\b(?:update|adjust|fix|change|correct|rewrite) (?:(?:the|all|its|their|every|any) )*"
    r"(?:imports?|references?|callers?|call sites?|usages?|uses|links?)\b(?!\s+(?:in|of|at|from)\b)"
)
_EACH = re.compile(r"\b(?:for )?(?:each|every)(?: of)?(?: \w+){1,2}")


class Unplanned(NamedTuple):
    """Words of a task (their place) that no step is for, and what to write instead."""

    start: int
    end: int
    instead: str


def unplanned(plain: str, text: str = "") -> list[Unplanned]:
    """The parts of a task (in small letters, without names; `text`: with them) that a skeleton has no form for."""
    kinds = (
        (_CONDITION, "a skeleton has no conditions: write an `if` or a `require`"),
        (_REPEATED, "a skeleton repeats nothing: write an `iterate`"),
        (_SPARED, "no step is for these words; check that none changes what they name"),
        (_ONE, "name the file"),
        (_APPENDED, "a skeleton writes whole files: write the step"),
        (_TESTED, "name the file of the test, or write the step"),
        (_USERS, "name the files, or write the steps"),
    )
    out: list[Unplanned] = []
    for kind, instead in kinds:
        for found in kind.finditer(plain):
            whether = kind is _CONDITION and _ASKED.search(plain[: found.start()])
            words = text[found.start() : found.end()] or found[0]
            end = found.start() + len(words.rstrip(" \t,;:."))
            if not whether and all(end <= one.start or found.start() >= one.end for one in out):
                out.append(Unplanned(found.start(), end, instead))
    return sorted(out)


def each(plain: str) -> Unplanned | None:
    """Where a task wants something for each of several things."""
    found = _EACH.search(plain)
    return found and Unplanned(
        found.start(), found.end(), "name a folder, a glob or a kind of files"
    )
