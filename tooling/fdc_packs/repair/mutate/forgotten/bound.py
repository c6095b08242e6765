"""Operators for a slice that lost its bounds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..known import Known
from ..values import MOST, Found, Row


def bounded(known: Known, node: ast.Subscript) -> Iterator[Row]:
    """A slice without bounds with one: as other slices of the file have it, or a small number of the file."""
    whole = node.slice
    if not isinstance(whole, ast.Slice) or whole.lower or whole.upper or whole.step:
        return
    found = Found({":-1": 0.4, "1:": 0.4})
    slices = (one.slice for one in known.nodes if isinstance(one, ast.Subscript))
    for one in (one for one in slices if isinstance(one, ast.Slice)):
        for form, bound in (("{}:", one.lower), (":{}", one.upper)):
            if bound is not None and known.fits(bound, node):
                found.raise_to(form.format(known.segment(bound)), 0.3)
    for number, _ in known.numbers.most_common(8):
        if 0 < number < 10:
            found.raise_to(f":{number}", 0.15)
            found.raise_to(f"{number}:", 0.12)
    colon = known.text.find(":", known.end(node.value))
    for text in [one for one in found if "\n" not in one][:MOST]:
        yield "slice", node, known.cut(node, (colon, colon + 1, text)), found[text]
