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

HOLDERS = (
    "options",
    "opts",
    "params",
    "config",
    "conf",
    "settings",
    "data",
    "info",
    "state",
    "attrs",
    "environ",
    "headers",
)
"""How names end that hold values by their names."""
WHOLE, HELD = 0.5, 0.4
"""How common it is that a name comes from all that was given by name, and from another holder."""
NOTHING = ("None", "False", "True", "dict", "list", "''", "0")
"""What it is where nothing is held."""
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
        yield from _taken_from(place, name)
    scale = 0.5 if firm else 1.0  # a statement that binds nothing leaves the name without a value
    for found in (alone(place), exchanged(place, wanted)):
        yield from ((text, prior * scale) for text, prior in found)
    yield from special(place)


def _taken_from(place: Place, name: str) -> Iterator[tuple[str, float]]:
    """What holds values by their names gives the one by this name: `size = kwargs.pop("size", None)`."""
    rest = place.function.args.kwarg
    by_name = [] if rest is None else [rest.arg]
    for holder in dict.fromkeys((*by_name, *place.before)):
        whole = holder in (*by_name, "kwargs", "kw")
        if not whole and not holder.lower().endswith(HOLDERS):
            continue
        firm = WHOLE if whole else HELD
        yield f"{name} = {holder}[{name!r}]", firm
        for way, share in (("get", 1.0), ("pop", 1.1 if whole else 0.7)):
            for rank, value in enumerate(NOTHING):
                yield f"{name} = {holder}.{way}({name!r}, {value})", (firm - 0.03 * rank) * share
            yield f"{name} = {holder}.{way}({name!r})", firm * share
