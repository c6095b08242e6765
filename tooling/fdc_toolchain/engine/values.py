"""Templates and conditions over JSON values: the whole expression language, pure.

Every function is total but for `Unusable`: an operation that has no meaning for the values that
the run brought (an order between a list and a number). It stops the run; nothing is guessed.
Plan parameters arrive as text, so a number beside a text that spells a number is compared as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..program.model import Condition, Ref, Template, Value
from ..program.operators import Unusable as Unusable
from ..program.operators import length, test, text
from ..program.operators import same as same

_REFERENCE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")


MOST_TEXT = 32 * 1024 * 1024
"""Characters of a text, or of the texts of a list, that a run makes: as many as a file has bytes at most."""


class TooLong(Unusable):
    """A value that would be longer than `MOST_TEXT`; the message is one sentence."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} would have more than {MOST_TEXT} characters")


class PredicateWanted(Exception):
    """A condition needs the answer of a predicate that it does not have yet."""

    def __init__(self, name: str, args: list[object]) -> None:
        super().__init__(name)
        self.name = name
        self.wanted = args


def render(template: Template, names: Mapping[str, object]) -> object:
    """The value of a template: one reference alone has that value, everything else is text. Raises TooLong."""
    if len(template) == 1:
        part = template[0]
        if isinstance(part, str):
            return part
        if "quote" not in part:
            return lookup(part["ref"], names)
    pieces: list[str] = []
    left = MOST_TEXT
    for part in template:
        piece = part if isinstance(part, str) else _text(part, names)
        left -= len(piece)
        if left < 0:
            raise TooLong("the text")
        pieces.append(piece)
    return "".join(pieces)


def bounded(made: list[object]) -> list[object]:
    """A list that a run made, as it is. Raises TooLong: lists of lists can double in every round and share what they hold."""
    left = MOST_TEXT
    work: list[object] = [made]
    while work:
        found = work.pop()
        left -= len(found) if isinstance(found, (str, list, dict)) else 1
        if left < 0:
            raise TooLong("the list")
        if isinstance(found, list):
            work += found
        elif isinstance(found, dict):
            work += found.values()
    return made


def _text(part: Ref, names: Mapping[str, object]) -> str:
    """A reference as text; in a command quoted, so that it stays one word of it."""
    value = text(lookup(part["ref"], names))
    if "quote" in part:
        from ..syntax.shell_text import quoted

        return quoted(value, part["quote"])
    return value


def lookup(ref: list[str], names: Mapping[str, object]) -> object:
    """The value of a name, or of a field of it. What nothing has bound is null, and so are its fields."""
    value = names.get(ref[0])
    for field in ref[1:]:
        value = value.get(field) if type(value) is dict else None
    return value


def truth(value: object) -> bool:
    """True for true, what is not empty, and numbers other than zero."""
    return bool(value)


def holds(cond: Condition, names: Mapping[str, object], answers: list[object]) -> bool:
    """Whether a condition holds, read from left to right and no further than needed.

    `answers` are those of the predicates asked so far, in the order in which they are reached.
    Raises PredicateWanted for the first that has none, Unusable for values without a meaning here.
    """
    return _holds(cond, names, iter(answers))


def _holds(cond: Condition, names: Mapping[str, object], answers: Iterator[object]) -> bool:
    if "test" in cond:
        left = _value(cond["left"], names, answers)
        return test(cond["test"], left, _value(cond["right"], names, answers))
    if "value" in cond:
        return truth(_value(cond["value"], names, answers))
    if "not" in cond:
        return not _holds(cond["not"], names, answers)
    if "and" in cond:
        return all(_holds(part, names, answers) for part in cond["and"])
    return any(_holds(part, names, answers) for part in cond["or"])


def _value(value: Value, names: Mapping[str, object], answers: Iterator[object]) -> object:
    if "ref" in value:
        return lookup(value["ref"], names)
    if "const" in value:
        return value["const"]
    if "len" in value:
        return length(_value(value["len"], names, answers))
    args = [_value(argument, names, answers) for argument in value["args"]]
    for answer in answers:
        return answer
    raise PredicateWanted(value["call"], args)


def resolved(template: Template, names: Mapping[str, object]) -> str:
    """A template with what is known filled in; the rest stays a reference in braces."""
    parts = []
    for part in template:
        if isinstance(part, str) or (
            len(part["ref"]) == 1 and names.get(part["ref"][0]) is not None
        ):
            parts.append(text(render([part], names)))
        else:
            parts.append("{" + ".".join(part["ref"]) + "}")
    return "".join(parts)


def granted(glob: str, names: Mapping[str, object]) -> tuple[tuple[bool, str], ...]:
    """A glob of an `allow` line, its references replaced by their values where the plan begins."""
    parts = _REFERENCE.split(glob)
    return tuple(
        (number % 2 == 1, text(lookup(part.split("."), names)) if number % 2 else part)
        for number, part in enumerate(parts)
        if part
    )
