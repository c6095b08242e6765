"""Operators for what was forgotten beside what stands there: a line before a statement, a call, a condition of two."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from ..known import Known
from ..source import OWN, Edit, Function, Loop, simple
from ..statements import put_before
from ..values import Found, Row
from .statement import DONORS, donors, exchanged

CONDITIONS, INSERTED, GUARDS = 16, 24, 8


def inserted(known: Known, node: ast.stmt) -> Iterator[Edit]:
    """A line before a statement: a question that leaves the block, or a statement of the function or class."""
    function = known.function(node)
    if (
        function is None
        or not (simple(node) or isinstance(node, ast.If | Loop))
        or isinstance(node, ast.Pass)
    ):
        return
    read = {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }
    names = [
        name
        for name, line in known.names(node).items()
        if name in read and name not in OWN and line <= node.lineno
    ]
    leaves = ["continue"] if any(isinstance(up, Loop) for up in known.around(node)) else []
    leaves += ["return", *(f"return {name}" for name in names[:1])]
    for name in names[:3] if function.body[0] is not node else ():
        for leave in leaves:
            yield from put_before(known, node, "guarded", f"if not {name}: {leave}", 0.05)
            yield from put_before(known, node, "guarded", f"if {name} is None: {leave}", 0.05)
    before = known.text[: known.start(node)].rstrip().rpartition("\n")[2].strip()
    beside = (before, known.segment(node))  # said twice, it says nothing
    for text, prior in [row for row in _guards(known, node) if row[0] not in beside][:GUARDS]:
        yield from put_before(known, node, "guarded", text, prior)
    near = [
        row
        for row in donors(known, node, function)
        if row[1] >= 0.36 and not row[0].startswith("return")
    ]
    for text, prior in [row for row in near if row[0] not in beside][:INSERTED]:
        yield from put_before(known, node, "inserted", text, prior * 0.12)


def _guards(known: Known, node: ast.stmt) -> list[tuple[str, float]]:
    """Questions of the file that leave a block, on one line, of names that are known here: the nearest first."""
    owner, function = known.owner(node), known.function(node)
    looped = any(isinstance(up, Loop) for up in known.around(node))
    read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    made: dict[str, float] = {}
    for one, leave in known.leaving:
        if not known.fits(one, node):
            continue
        text = f"if {known.segment(one.test)}: {known.segment(leave)}"
        same = known.function(one) is function
        if "\n" in text or len(text) > 140 or (isinstance(leave, ast.Continue) and not looped):
            continue
        asked = {part.id for part in ast.walk(one.test) if isinstance(part, ast.Name)}
        near = 0.1 if same else 0.08 if owner is not None and known.owner(one) is owner else 0.06
        wanted = isinstance(leave, ast.Raise) and any(name in text for name in known.told.raises)
        made[text] = max(made.get(text, 0.0), near + 0.02 * bool(asked & read) + 0.2 * wanted)
    return sorted(made.items(), key=lambda row: -row[1])


def idle(known: Known, node: ast.Expr) -> Iterator[Row]:
    """A call of what stands there as a statement and does nothing: of itself, of a member, with it as the argument."""
    text, owner = known.segment(node), known.owner(node)
    if not isinstance(node.value, ast.Name | ast.Attribute):
        return
    found = Found({f"{text}()": 0.5})
    for name in known.members.get(text, {}):
        found.raise_to(f"{text}.{name}()", 0.4 if name in known.methods_called else 0.2)
    for one in owner.body if owner is not None and text in OWN else ():
        if isinstance(one, Function) and len(one.args.args) - len(one.args.defaults) == 1:
            found.raise_to(f"{text}.{one.name}()", 0.3)
    for name in (*known.called, *known.taking_one):
        found.raise_to(f"{name}({text})", 0.2)
    yield from found.rows("restored", node, DONORS)


def conditions(known: Known, node: ast.If | ast.While | ast.IfExp) -> Iterator[Row]:
    """A condition that was one of two: what is asked elsewhere in the file of names that are known here."""
    test, text = node.test, known.segment(node.test)
    if "\n" in text or isinstance(test, ast.Lambda):
        return
    near, owner, bound = known.function(test), known.owner(test), known.names(test)
    read = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
    found = Found()
    for one, said, names in known.asked:
        strange = [name for name in names if name not in bound and name not in known.everywhere]
        same = owner is not None and known.owner(one) is owner
        prior = 0.2 if known.function(one) is near else 0.14 if same else 0.1
        for name in (
            sorted(read - known.everywhere) if len(strange) == 1 else ("",) if not strange else ()
        ):
            fitted = exchanged(said, {strange[0]: name}) if name else said
            if fitted not in text:
                worth = prior + (0.04 if name or read & names else 0.0)
                found.raise_to(fitted, worth * (0.9 if name else 1.0))
    for name in sorted(known.unused(test)):  # what nothing asks any more
        for said in ("{}", "not {}", "{} is None", "{} is not None"):
            found.raise_to(said.format(name), 0.4)
    for name in bound:
        if name not in (*OWN, "_"):
            fresh = 0.0 if name in read else 0.05
            for said, prior in (
                ("{} is not None", 0.09),
                ("{} is None", 0.09),
                ("{}", 0.06 + fresh),
                ("not {}", 0.05 + fresh),
            ):
                found.raise_to(said.format(name), prior)
    whole = f"({text})" if isinstance(test, ast.BoolOp | ast.IfExp) else text
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    there = {_compared(part) for part in parts}  # of these another operator says all
    rest = (one for one in sorted(found, key=lambda one: -found[one]) if _compared(one) not in there)  # fmt: skip
    for said in itertools.islice(rest, CONDITIONS):
        for word in ("and", "or"):
            yield "narrowed", test, f"{whole} {word} {said}", found[said]
            yield "narrowed", test, f"{said} {word} {whole}", 0.6 * found[said]


def _compared(condition: str | ast.expr) -> frozenset[str]:
    """The operands of a condition, whatever it asks of them: those of a comparison, else the value itself."""
    try:
        node = ast.parse(condition, mode="eval").body if isinstance(condition, str) else condition
    except SyntaxError:
        return frozenset()
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node]
    return frozenset(map(ast.unparse, sides))
