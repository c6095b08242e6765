"""Operators for a slice that lost its bounds, or one of them."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from ..known import Known
from ..values import MOST, Found, Row

_CHANGES = "append|extend|insert|add|update|pop|remove|discard|sort|reverse|clear|setdefault"


def bounded(known: Known, node: ast.Subscript) -> Iterator[Row]:
    """A slice without bounds with one: as other slices of the file have it, or a small number of the file."""
    whole = node.slice
    if not isinstance(whole, ast.Slice) or whole.step or (whole.lower and whole.upper):
        return
    if whole.lower or whole.upper:
        yield from _other(known, node, whole)
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


def _other(known: Known, node: ast.Subscript, whole: ast.Slice) -> Iterator[Row]:
    """The bound that a slice lost of its two: what the other one is compared with, or what bounds other slices."""
    kept, function, found = whole.lower or whole.upper, known.function(node), Found()
    assert kept is not None
    said = known.segment(kept)
    for one in ast.walk(function) if function is not None else ():
        if isinstance(one, ast.Compare) and len(one.comparators) == 1:
            sides = (one.left, one.comparators[0])
            texts = [known.segment(side) for side in sides]
            for side, text in zip(sides, texts[::-1], strict=True):
                if text == said and known.fits(side, node):
                    found.raise_to(known.segment(side), 0.5)
    for one in known.nodes:
        if isinstance(one, ast.Slice):
            near = known.function(one) is function
            for bound in (one.lower, one.upper):
                if bound is not None and known.fits(bound, node):
                    found.raise_to(known.segment(bound), 0.4 if near else 0.15)
    colon = known.text.find(":", known.end(whole.lower or node.value))
    place = colon + 1 if whole.lower else colon
    for text in [one for one in found if "\n" not in one and one != said][:MOST]:
        yield "slice", node, known.cut(node, (place, place, text)), found[text]


def part(known: Known, node: ast.Name | ast.Attribute) -> Iterator[Row]:
    """What is gone through, handed on, or stored, without its first or its last one; and a copy of it, most of all where what
    is stored is changed then."""
    up, text = known.parents.get(node), known.segment(node)
    gone_through = isinstance(up, ast.For | ast.comprehension) and node is up.iter
    handed_on = isinstance(up, ast.Call) and node in up.args
    stored = isinstance(up, ast.Assign) and node is up.value
    if not (gone_through or handed_on or stored):
        return
    found = Found(dict.fromkeys((f"{text}[:-1]", f"{text}[1:]"), 0.16 if gone_through else 0.06))
    for one in _parts(known).get(text, ()):  # the same thing has such a part elsewhere
        if known.fits(one, node):
            found.raise_to(known.segment(one), 0.35)
    yield from found.rows("slice", node, 6)
    function = known.function(node)
    if isinstance(up, ast.Assign) and stored and function is not None:
        changed = rf"{re.escape(known.segment(up.targets[0]))}(?:\.(?:{_CHANGES})\(|\[.*\] =)"
        sure = 0.4 if re.search(changed, known.segment(function)) else 0.05
        for form in ("{}[:]", "{}.copy()", "list({})", "dict({})"):
            yield "wrapped", node, form.format(text), sure * (1.0 if form[:3] == "{}[" else 0.8)


@functools.lru_cache(maxsize=2)
def _parts(known: Known) -> dict[str, list[ast.Subscript]]:
    """The slices of the file, by what they are of."""
    found: dict[str, list[ast.Subscript]] = {}
    for one in known.nodes:
        if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Slice):
            found.setdefault(known.segment(one.value), []).append(one)
    return found


def starred(known: Known, node: ast.Starred) -> Iterator[Row]:
    """A number that is gone through, which none can be, with another sign: `rows[*1]`."""
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int):
        text = known.segment(node.value)
        yield "bound", node, f"-{text}", 0.9
        yield "bound", node, text, 0.5
