"""All statements that may have been forgotten, by what their place lacks and has in vain."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..known import Known
from ..source import Function
from .bare import alone
from .exchanged import exchanged
from .place import Place
from .special import begins, special
from .values import called_so, values

RETURNED, BINDS, LATEST, BEGINS = 0.9, 0.1, 0.75, 0.75
"""How common it is to give back a value at the end of a block, beside giving it to a name that lacks one, and what that counts;
to give back what was bound last; and to begin with what is empty."""


def lost(
    known: Known, node: ast.stmt, function: Function, wanted: Sequence[str], missing: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """Statements with how common they are; `wanted`: names that may have no value there; `missing`: all that have none."""
    place, firm = Place(known, node, function), bool(missing)
    for text, prior, said in values(place):
        if 1 < len(missing) < 5:
            yield f"{', '.join(missing)} = {text}", prior
        for name in wanted:
            yield f"{name} = {text}", prior + BINDS + called_so(name, said)
        if not firm:
            yield f"return {text}", (RETURNED if place.ends else 0.5) * prior
    for name in place.before if len(missing) > 3 else ():
        yield f"{', '.join(missing)} = {name}", 0.7 if name in place.idle else 0.5
    for rank, name in enumerate(place.before[::-1][:3] if place.last and not firm else ()):
        yield f"return {name}", LATEST - 0.1 * rank
    for name in wanted:
        yield from ((f"{name} = {value}", BEGINS) for value in begins(function, name))
        for kind in (int, str, bytes, dict, list, float):
            if name in vars(kind) and name[:1] != "_":
                yield f"{name} = {kind.__name__}.{name}", 0.4
    scale = 0.5 if firm else 1.0  # a statement that binds nothing leaves the name without a value
    for found in (alone(place), exchanged(place, wanted)):
        yield from ((text, prior * scale) for text, prior in found)
    yield from special(place)
