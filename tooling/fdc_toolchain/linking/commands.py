"""Computed pieces of a command: each is command text, or data that stays one word (security.md G-SH)."""

from __future__ import annotations

from ..named_tuples import NamedTuple
from ..syntax.shell_text import Place, data_places
from ..syntax.values import Ref, Value
from .model import BUILT_IN, Unit


class Piece(NamedTuple):
    """A reference in a command. `is_text`: a parameter of the plan where it names the program, or where the shell reads
    code: there it is part of the command, and the caller of the plan is trusted with it. Everything else is data."""

    ref: Ref
    place: Place
    is_text: bool


def pieces(unit: Unit, value: Value) -> list[Piece]:
    """The computed pieces of a command, in order; the folder of the run is plain text."""
    ref_places = data_places(value.parts, lambda ref: ref.path[0] not in BUILT_IN)
    return [
        Piece(ref, place, ref.path[0] in unit.params and (place.leads or place.wrong is not None))
        for ref, place in ref_places
    ]
