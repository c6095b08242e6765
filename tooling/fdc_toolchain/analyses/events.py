"""Which events of a rule a step is, as far as its text tells: yes, no, or it depends on a value.

A value in a step's argument is any text at all, so an argument with one in it may fit a glob, must fit it
(`docs/{name}` and `docs/**`) or cannot (`src/{name}.py` and `*.md`); that is decided, never guessed.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from ..resolve.model import Act
from ..resolve.obligations import Event, Obligation
from ..syntax.values import Value
from ..text import glob_match

Letters = tuple[int, ...]
"""The letters (`machines.declare`) that a step may be, ascending; one where that is certain."""

Pattern = tuple[tuple[bool, str], ...]
"""An argument as stretches of text (True), and `**` for what a value stands for (False)."""


ANYTHING: Pattern = ((False, "**"),)


def pattern_of(value: Value, kind: str) -> Pattern:
    """An argument as a pattern; of paths, the plain forms (`glob_match.plain`) of all that the values may make of it."""
    is_path = kind in ("path", "glob")
    literal = value.literal
    if literal is not None:
        return ((True, glob_match.plain(literal) if is_path else literal),)
    out: list[tuple[bool, str]] = []
    for part in value.parts:
        if isinstance(part, str):
            out.append((True, part))
        elif not out or out[-1][0]:
            out.append((False, "**"))
    return _plain(out) if is_path else tuple(out)


def _plain(parts: list[tuple[bool, str]]) -> Pattern:
    """A value between two slashes may be nothing, and then one of them goes; where dots could meet, it may be anything."""
    out: list[tuple[bool, str]] = []
    for number, (literal, text) in enumerate(parts):
        if literal:
            names = text.split("/")
            if "." in names or "" in names[1:-1]:
                return ANYTHING
            if out and out[-1][1] == "**/":
                text = text[1:]
        elif (not out or out[-1][1].endswith("/")) and number + 1 < len(parts) and parts[number + 1][1].startswith("/"):
            text = "**/"
        out.append((literal, text))
    return tuple(out)


@lru_cache(maxsize=1 << 12)
def fits(pattern: Pattern, glob: str) -> bool | None:
    """True where every text of the pattern fits the glob, False where none does, None where some do."""
    if all(literal for literal, _ in pattern):
        return glob_match.matches("".join(text for _, text in pattern), glob)
    return glob_match.compare(glob_match.compiled(pattern), glob_match.compiled([(False, glob)]))


def is_event(event: Event, act: Act) -> bool | None:
    """Whether a step is an event; None where that depends on a value."""
    tool = act.bound.tool
    if not event.may_be(tool.name, act.bound.action):
        return False
    verdict: bool | None = True
    for name, glob in event.arguments:
        value = act.bound.arguments.get(name)
        if value is None:
            return False
        kind = next((item.kind for item in tool.parameters if item.name == name), "word")
        one = fits(pattern_of(value, kind), glob)
        if one is False:
            return False
        verdict = None if one is None else verdict
    return verdict


def letters(rule: Obligation, act: Act) -> Letters:
    """Every letter that a step may be under a rule."""
    out = [0]
    for number, group in enumerate(rule.events):
        found = {is_event(event, act) for event in group}
        choices = (1,) if True in found else (0, 1) if None in found else (0,)
        if choices != (0,):
            out = [letter | bit << number for letter, bit in product(out, choices)]
    return tuple(sorted(out))
