"""Forgotten statements that are as another one of the function, with one name in place of another."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ..known import Known, alike
from .place import Place

LONGEST, MOST = 90, 40
"""Characters of a statement, and statements, that are taken."""
OWN = 0.5
"""How common it is that a parameter is made another one of itself as a second one is."""
SPELLED = 0.8
"""How common it is that what is said of a parameter and its name is said of another one."""
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")
_MEMBER = re.compile(r"(?<=\bself\.)[A-Za-z_]\w*")


def exchanged(place: Place, wanted: Sequence[str] = ()) -> Iterator[tuple[str, float]]:
    """The statements of the function, the nearest first, each with one of its names exchanged for one that nothing reads, and one
    member for one that the function does not store. Those of other functions: a name of the module for one that nothing reads."""
    known, line = place.known, place.node.lineno
    own = [(one, text) for one, inside, text in known.on_a_line if inside is place.function]
    rows = [row for row in own if len(row[1]) <= LONGEST]
    rows.sort(key=lambda row: abs(getattr(row[0], "lineno", 0) - line))
    members = _members(place)
    for rank, (one, text) in enumerate(rows[:MOST]):
        firm = 0.5 - 0.015 * rank
        names = [name for name in dict.fromkeys(_WORD.findall(text)) if name in place.plain]
        for name in names:
            again = text.startswith(f"{name} = ") and name in place.taken  # `pat = f(pat)`
            for other in (*place.idle, *(place.taken if again else ())):
                if other not in names:
                    made = re.sub(rf"(?<![\w.\"']){re.escape(name)}\b", other, text)
                    yield made, max(firm + 0.1 * _alike(name, other), OWN if again else 0.0)
                    spelled = re.sub(rf"(?<=[\"']){re.escape(name)}(?=[\"'])", other, made)
                    if spelled != made:  # `put("a", a)`, `put("b", b)`
                        yield spelled, SPELLED
        for name in (
            dict.fromkeys(_MEMBER.findall(text)) if isinstance(one, ast.Assign | ast.Expr) else ()
        ):
            for other in sorted(members, key=lambda one: -alike(one, name))[:4]:
                made = re.sub(rf"(?<=\bself\.){re.escape(name)}\b", other, text)
                yield made, firm - 0.1
    yield from _of_module(place, wanted)


def _members(place: Place) -> list[str]:
    """The members of the object that the function neither stores nor calls, but its class does."""
    if place.owner is None:
        return []
    methods, read, stored = place.known.owned(place.owner)
    here = {one.attr for one in ast.walk(place.function) if isinstance(one, ast.Attribute)}
    return sorted((read | stored) - methods - here)


def _of_module(place: Place, wanted: Sequence[str]) -> Iterator[tuple[str, float]]:
    """A statement with a name of the module that nothing reads, in place of one of its kind; it binds a name without a value."""
    known = place.known
    lost = idle_of_module(known)
    for name in (name for name in lost if name in known.data and place.ends):
        for rank, other in enumerate(place.before[::-1][:2]):
            for form in ("{0} in {1}", "{1}[{0}]", "{1}.get({0})"):
                yield f"return {form.format(other, name)}", 0.42 - 0.05 * rank
    for one, inside, text in known.on_a_line:
        near = 0.5 if inside is place.function else 0.4
        for name in known.needs(one) if len(text) <= LONGEST else ():
            for other in (part for part in lost if name in lost[part]):
                made = re.sub(rf"(?<![\w.\"']){re.escape(name)}\b", other, text)
                if known.fits(one, place.node):
                    yield made, near
                    target = _target(one)
                    for to in wanted if target else ():
                        yield f"{to}{made[len(target) :]}", near + 0.1


def _target(one: ast.AST) -> str:
    """The name that a statement gives a value to; empty where it is none, or not one."""
    to = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
    return to.id if isinstance(to, ast.Name) else ""


def idle_of_module(known: Known) -> dict[str, set[str]]:
    """Names that the module binds and that nothing in it reads or exports, most 4, each with the names of its kind: data; or
    functions, or classes, where its name begins with `_`."""
    read = {one.id for one in known.nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}  # fmt: skip
    functions = {name for name in known.defined if name in known.top}
    kinds = (known.data, functions, set(known.classes))
    lost = [
        (name, kind)
        for kind in kinds
        for name in sorted(kind - read - known.texts)
        if name[:2] != "__" and (kind is known.data or name.startswith("_"))
    ]
    return dict(lost[:4])


def _alike(one: str, other: str) -> bool:
    """Whether two names begin or end alike, or are one letter each."""
    return one[:2] == other[:2] or one[-2:] == other[-2:] or len(one) == len(other) == 1
