"""What a method lost that it hands to the same method of its base class: a value that it keeps itself afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..calls import with_argument
from ..known import Known
from ..source import OWN, name_of
from ..values import Row

KEPT_LATER = 0.45
"""How common it is that the base class needs a member when it is made, where the method stores it too late."""


def handed_up(known: Known, node: ast.Call) -> Iterator[Row]:
    """`super().__init__(x=value)` where `self.x = value` stands behind it."""
    around, called, owner = known.function(node), node.func, known.owner(node)
    if around is None or owner is None or name_of(called) != around.name:
        return
    base = called.value if isinstance(called, ast.Attribute) else None
    if not isinstance(base, ast.Call) or name_of(base.func) != "super":
        return
    bases = [name_of(one.value if isinstance(one, ast.Subscript) else one) for one in owner.bases]
    taken = [known.parameters[one] for one in bases if one in known.parameters]
    given = {one.arg for one in node.keywords}
    stores = (
        one for one in ast.walk(around) if isinstance(one, ast.Assign) and one.lineno > node.lineno
    )
    for one in stores:
        to, text = one.targets[0], known.segment(one.value)
        if not isinstance(to, ast.Attribute) or name_of(to.value) not in OWN or to.attr in given:
            continue
        if (
            "\n" not in text
            and known.fits(one.value, node)
            and all(to.attr in names for names in taken)
        ):
            yield "added", node, with_argument(known, node, to.attr, text), KEPT_LATER
