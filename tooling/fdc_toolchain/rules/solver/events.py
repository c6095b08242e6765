"""Whether a step is an event of a rule, according to its text: yes, no, or it depends on a value.

A value in a step's argument is any text at all, so an argument with one in it may fit a glob, must fit it
(`docs/{name}` and `docs/**`) or cannot (`src/{name}.py` and `*.md`); that is decided, never guessed.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from ...linking.model import Act
from ...linking.protocol_rules.obligation import Event, Obligation
from ...syntax.values import Value
from ...text import glob_match

Letters = tuple[int, ...]
"""The letters (`automata.declare`) that a step may be, ascending; one where that is certain."""

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
        elif (
            (not out or out[-1][1].endswith("/"))
            and number + 1 < len(parts)
            and parts[number + 1][1].startswith("/")
        ):
            text = "**/"
        out.append((literal, text))
    return tuple(out)


@lru_cache(maxsize=1 << 12)
def fits(pattern: Pattern, glob: str) -> bool | None:
    """True where every text of the pattern fits the glob, False where none does, None where some do."""
    if all(literal for literal, _ in pattern):
        return glob_match.matches("".join(text for _, text in pattern), glob)
    return glob_match.compare(glob_match.compiled(pattern), glob_match.compiled([(False, glob)]))


def is_event(event: Event, act: Act, known: tuple[str, str] | None = None) -> bool | None:
    """Whether a step is an event; None where that depends on a value. `known`: a parameter and what it is worth here."""
    tool = act.bound.tool
    if not event.may_be(tool.name, act.bound.action):
        return False
    verdict: bool | None = True
    for name, glob in event.arguments:
        value = act.bound.arguments.get(name)
        if value is None:
            return False
        if known is not None and known[0] == name:
            one: bool | None = glob_match.matches(known[1], glob)
        else:
            one = fits(pattern_of(value, kind_of(act, name)), glob)
        if one is False:
            return False
        verdict = None if one is None else verdict
    return verdict


def kind_of(act: Act, parameter: str) -> str:
    """The kind of a parameter of a step's tool."""
    return next((item.kind for item in act.bound.tool.parameters if item.name == parameter), "word")


def letters(rule: Obligation, act: Act, known: tuple[str, str] | None = None) -> Letters:
    """Every letter that a step may be under a rule, with what is known of one parameter."""
    out = [0]
    for number, group in enumerate(rule.events):
        found = {is_event(event, act, known) for event in group}
        choices = (1,) if True in found else (0, 1) if None in found else (0,)
        if choices != (0,):
            out = [letter | bit << number for letter, bit in product(out, choices)]
    return tuple(sorted(out))
