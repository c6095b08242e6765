"""What may have stood where `pass` is: an object of a class of the module, made of what is known there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..known import Known
from ..source import OWN, Function

LIKELY, IDLE = 0.4, 0.2
"""How common it is for a class that takes what is there, and what it counts that nothing makes an object of it."""


def made(
    known: Known, node: ast.stmt, function: Function, wanted: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The object returned, and given to each name that has no value here: with all parameters that have their name here."""
    names = set(known.names(node)) - set(OWN)
    for init in known.nodes:
        owner = (
            known.owner(init) if isinstance(init, Function) and init.name == "__init__" else None
        )
        if owner is None or owner is known.owner(node) or not isinstance(init, Function):
            continue
        taken = [one.arg for one in (*init.args.posonlyargs, *init.args.args) if one.arg not in OWN]
        needed = taken[: len(taken) - len(init.args.defaults)]
        if not needed or not set(needed) <= names:
            continue
        rest = [*taken[len(needed) :], *(one.arg for one in init.args.kwonlyargs)]
        given = [*needed, *(f"{one}={one}" for one in rest if one in names)]
        firm = LIKELY + (0.0 if known.called[owner.name] else IDLE)
        for text in dict.fromkeys(
            (f"{owner.name}({', '.join(given)})", f"{owner.name}({', '.join(needed)})")
        ):
            yield f"return {text}", firm if function.body[-1] is node else firm / 2
            yield from ((f"{name} = {text}", firm) for name in wanted)
