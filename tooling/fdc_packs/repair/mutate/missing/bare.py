"""Forgotten statements that stand alone: calls of methods and functions that change something."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from ..known import Known
from ..source import name_of
from .place import Place
from .values import values

METHODS, RECEIVERS, GIVEN, NAMES = 24, 10, 8, 5
"""Methods, what they are called of, what they are given, and names they are called of: the most of each that is tried."""

_TAKEN_OUT = ("{1}.remove({0})", "del {1}[{0}]", "{1}.discard({0})", "{1}.pop({0})")
_PUT_IN = (
    "{1}.append({0})",
    "{1}.add({0})",
    *(f"{{1}}[{{0}}] = {one}" for one in ("None", "[]", "0")),
)


def alone(place: Place) -> Iterator[tuple[str, float]]:
    """Calls whose value nobody reads: of methods and functions that the file calls so."""
    known = place.known
    receivers = _receivers(place)
    made = sorted(values(place), key=lambda row: -row[1])[:GIVEN]
    given = list(dict.fromkeys((*place.useful(), *(text for text, _, _ in made), *_members(place))))
    uncalled = [
        row for row in values(place) if row[2] in known.defined and not known.named.get(row[2])
    ]
    yield from ((text, prior) for text, prior, _ in uncalled if text.endswith(")"))
    if _tried(place):
        yield from ((text, prior) for text, prior, _ in values(place) if text.endswith(")"))
    for rank, ((method, count), often) in enumerate(_methods(known).most_common(METHODS)):
        for receiver, near in receivers:
            has = known.members.get(receiver, Counter()).get(method, 0)
            firm = 0.2 + 0.2 * bool(has) + 0.05 * near + 0.01 * min(often, 6) - 0.004 * rank
            if not count:
                yield f"{receiver}.{method}()", firm
            for at, one in enumerate(given if count == 1 else ()):
                if one != receiver:
                    yield f"{receiver}.{method}({one})", firm + 0.12 * (one in place.idle) - 0.02 * at  # fmt: skip
    idle = ", ".join(place.idle)
    for text, often in _functions(known).most_common(METHODS):
        if place.idle:
            yield f"{text}({idle})", 0.35 + 0.01 * min(often, 6)
        for at, one in enumerate(given):
            yield f"{text}({one})", 0.3 + 0.12 * (one in place.idle) - 0.02 * at
        for one in place.idle[:2]:
            for other in [part for part in place.before[-4:] if part != one]:
                yield f"{text}({other}, {one})", 0.34
                yield f"{text}({one}, {other})", 0.32
    yield from _guarded(place)
    for name in place.idle:  # a function that was given and that nothing calls
        for at, one in enumerate([part for part in given if part != name]):
            yield f"{name}({one})", 0.4 - 0.04 * at


def _members(place: Place) -> list[str]:
    """Members of the object that the function does not read, and the class reads most often: most 4."""
    if place.owner is None:
        return []
    methods, read, stored = place.known.owned(place.owner)
    text, whole = (place.known.segment(one) for one in (place.function, place.owner))
    found = [
        one for name in sorted((read & stored) - methods) if (one := f"self.{name}") not in text
    ]
    return sorted(found, key=lambda one: -whole.count(one))[:4]


def _guarded(place: Place) -> Iterator[tuple[str, float]]:
    """What is done to something because another one is in it, or is not."""
    up = place.known.parents.get(place.node)
    test = up.test if isinstance(up, ast.If) else None
    if (
        isinstance(test, ast.Name | ast.Attribute)
        and isinstance(up, ast.If)
        and place.node in up.body
    ):
        said = place.known.segment(test)
        for rank, way in enumerate(("return {}", "return {}.pop()", "return {}.pop(0)", "return {}()")):  # fmt: skip
            yield way.format(said), 0.45 - 0.05 * rank
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In | ast.NotIn):
        return
    within = isinstance(test.ops[0], ast.In) is (isinstance(up, ast.If) and place.node in up.body)
    one, other = place.known.segment(test.left), place.known.segment(test.comparators[0])
    if "\n" in one + other:
        return
    ways = _TAKEN_OUT if within else _PUT_IN
    for rank, way in enumerate(ways):
        yield way.format(one, other), 0.5 - 0.03 * rank


def _tried(place: Place) -> bool:
    """Whether nothing else is tried by the `try` around the place: then something is called that may fail."""
    up = place.known.parents.get(place.node)
    return isinstance(up, ast.Try) and up.body == [place.node]


def _receivers(place: Place) -> list[tuple[str, int]]:
    """What a method may be called of, and how near it is: names of the function, and members of the object."""
    inside = (one for one in ast.walk(place.function) if isinstance(one, ast.Attribute))
    used = {place.known.segment(one.value) for one in inside}
    found = {
        name: 1 + int(name in place.idle or name in used)
        for name in place.before[: -1 - NAMES : -1]
    }
    if place.owner is not None:
        methods, read, stored = place.known.owned(place.owner)
        text = place.known.segment(place.function)
        found |= {f"self.{name}": int(f"self.{name}" in text) for name in sorted((read | stored) - methods)}  # fmt: skip
    return sorted(found.items(), key=lambda row: -row[1])[:RECEIVERS]


def _methods(known: Known) -> Counter[tuple[str, int]]:
    """The methods that stand alone in the file, with how many arguments, and how often."""
    found: Counter[tuple[str, int]] = Counter()
    for one in known.nodes:
        call = one.value if isinstance(one, ast.Expr) else None
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and not call.keywords
        ):
            found[call.func.attr, len(call.args)] += 1
    return found


def _functions(known: Known) -> Counter[str]:
    """The functions that stand alone in the file, as they are written, and how often."""
    found: Counter[str] = Counter()
    for one in known.nodes:
        call = one.value if isinstance(one, ast.Expr) else None
        if isinstance(call, ast.Call) and call.args and not call.keywords:
            text = known.segment(call.func)
            if text.partition(".")[0] in known.top and name_of(call.func) and len(text) < 40:
                found[text] += 1
    return found
