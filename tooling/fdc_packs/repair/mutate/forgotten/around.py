"""Operators for what was forgotten beside what stands there: a line before a statement, a call, a condition of two."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator

from ..known import Known
from ..source import OWN, Edit, Function, Loop, simple
from ..statements import LEAVES, put_after, put_before
from ..values import Found, Row
from . import plainer
from .mirrored import asked_first, block_of, useful, written
from .statement import DONORS, donors, exchanged

CONDITIONS, INSERTED, GUARDS = 16, 24, 8
Asking = ast.If | ast.While | ast.IfExp | ast.comprehension


def inserted(known: Known, node: ast.stmt) -> Iterator[Edit]:
    """A line before a statement, or after the last one: a question that leaves the block, or what the class does elsewhere."""
    function = known.function(node)
    if (
        function is None
        or not (simple(node) or isinstance(node, ast.If | Loop))
        or isinstance(node, ast.Pass)
    ):
        return
    block = block_of(known, node)
    last = bool(block) and node is block[-1] and not isinstance(node, LEAVES)
    at = block.index(node) if block else 0
    beside = {
        written(known, one) for one in block[max(0, at - 1) : at + 1]
    }  # said twice, it says nothing
    for text, prior in _guards(known, node, function):
        if text not in beside:
            yield from put_before(known, node, "guarded", text, prior)
    donated = [
        row
        for row in donors(known, node, function)
        if row[1] >= 0.36 and not row[0].startswith("return")
    ]
    fresh = [row for row in donated if row[0] not in beside and useful(known, node, row[0])]
    near = [(text, prior * 0.12) for text, prior in fresh[:INSERTED]]
    near += [(text, 0.05) for text in asked_first(known, node) if text not in beside]
    near += [(text, prior * 0.6) for text, prior in plainer.first_read(known, node, function)]
    for text, prior in near:
        yield from put_before(known, node, "inserted", text, prior)
    for text, prior in near if last else ():
        yield from put_after(known, node, "inserted", text, prior)


def _guards(known: Known, node: ast.stmt, function: Function) -> list[tuple[str, float]]:
    """Questions that leave a block, of names that are known here, the likeliest first: those of the file, and of what the
    statement reads whether it is there."""
    owner, bound = known.owner(node), known.names(node)
    looped = any(isinstance(up, Loop) for up in known.around(node))
    reads = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    read = dict.fromkeys(one.id for one in reads if isinstance(one.ctx, ast.Load))
    names = [
        one for one in read if one not in OWN and bound.get(one, node.lineno + 1) <= node.lineno
    ]
    made = Found()
    wants = [name for name in known.told.wanted if name in known.everywhere][:1]
    often = Counter(said for _, said, _ in known.asked)
    for one, leave in known.leaving:
        test, left = known.segment(one.test), known.segment(leave)
        if not known.fits(one.test, node) or "\n" in test + left or len(test + left) > 140:
            continue
        same = known.function(one) is function
        asked = {part.id for part in ast.walk(one.test) if isinstance(part, ast.Name)}
        near = 0.1 if same else 0.08 if owner is not None and known.owner(one) is owner else 0.06
        near += 0.02 * bool(asked & read.keys()) + 0.01 * min(often[test], 5)
        if known.fits(leave, node) and not (isinstance(leave, ast.Continue) and not looped):
            wanted = isinstance(leave, ast.Raise) and any(
                name in left for name in known.told.wanted
            )
            made.raise_to(f"if {test}:\t{left}", near + 0.2 * wanted)
        for error in wants if same or near >= 0.08 else ():
            made.raise_to(f"if {test}:\traise {error}", near + 0.1)
        for name in sorted(asked & bound.keys())[:1]:
            made.raise_to(f"if {test}:\treturn {name}", near - 0.02)
    found = Found(dict(sorted(made.items(), key=lambda row: -row[1])[:GUARDS]))
    subjects = [*names[:3], *_lacking(known, owner, function, node)]
    for error in wants:
        for name in names[:3]:
            found.raise_to(f"if {name}:\traise {error}", 0.1)
    leaves = [*(f"raise {error}" for error in wants), *(["continue"] if looped else [])]
    leaves += ["return", *(f"return {name}" for name in names[:1]), *_left(known, node, function)]
    for name in subjects:
        for way in leaves:
            found.raise_to(f"if not {name}:\t{way}", 0.05)
            found.raise_to(f"if {name} is None:\t{way}", 0.05)
    return sorted(found.items(), key=lambda row: -row[1])


def _lacking(
    known: Known, owner: ast.ClassDef | None, function: Function, node: ast.stmt
) -> list[str]:
    """Members that the function reads and that are None unless the maker of the object gives them, before its first statement."""
    body = owner.body if owner is not None else []
    made = next((one for one in body if isinstance(one, Function) and one.name == "__init__"), None)
    if made is None or node not in function.body[:2]:
        return []
    placed = [*made.args.posonlyargs, *made.args.args][
        -len(made.args.defaults) or len(made.args.args) :
    ]
    pairs = [*zip(placed, made.args.defaults), *zip(made.args.kwonlyargs, made.args.kw_defaults)]
    none = {
        f"self.{one.arg}"
        for one, value in pairs
        if isinstance(value, ast.Constant) and value.value is None
    }
    read = (known.segment(one) for one in ast.walk(function) if isinstance(one, ast.Attribute))
    return [one for one in dict.fromkeys(read) if one in none][:2]


def _left(known: Known, node: ast.stmt, function: Function) -> list[str]:
    """What is given back at once elsewhere in the function, or in another one of its name."""
    given = [
        known.segment(one)
        for alike in known.nodes
        if isinstance(alike, Function) and alike.name == function.name
        for one in ast.walk(alike)
        if isinstance(one, ast.Return) and one.value is not None and not known.needs(one)
    ]
    return [one for one in dict.fromkeys(given) if "\n" not in one and len(one) < 30][:2]


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


def conditions(known: Known, node: Asking) -> Iterator[Row]:
    """A condition that was one of two, or that a comprehension had: what is asked elsewhere in the file of names that are known
    here."""
    through = node if isinstance(node, ast.comprehension) else None
    bare = through is not None and not through.ifs
    test = node.test if not isinstance(node, ast.comprehension) else (*node.ifs, node.iter)[0]
    text = known.segment(test)
    if "\n" in text or isinstance(test, ast.Lambda):
        return
    near, owner, bound = known.function(test), known.owner(test), known.names(test)
    asks = node.target if bare and isinstance(node, ast.comprehension) else test
    read = {one.id for one in ast.walk(asks) if isinstance(one, ast.Name)}
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
    found.raise_all(itertools.islice(_among(known, read), 8))
    for name in sorted(known.unused(test)):  # what nothing asks any more
        for said in ("{}", "not {}", "{} is None", "{} is not None"):
            found.raise_to(said.format(name), 0.4)
    for name in bound:
        if name not in (*OWN, "_"):
            fresh = 0.05 if (name in read) == bare else 0.0
            for said, prior in (
                ("{} is not None", 0.09),
                ("{} is None", 0.09),
                ("{}", 0.06 + fresh),
                ("not {}", 0.05 + fresh),
            ):
                found.raise_to(said.format(name), prior)
    whole = f"({text})" if isinstance(test, ast.BoolOp | ast.IfExp) else text
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    there, above = (
        {_compared(part) for part in parts},
        _decided(known, test),
    )  # of these another operator says all
    best = sorted(found, key=lambda one: -found[one])
    rest = (one for one in best if _compared(one) not in there and _positive(one) not in above)
    for said in itertools.islice(rest, CONDITIONS):
        if bare:
            yield "narrowed", test, f"{text} if {said}", found[said]
        for word in ("and", "or") if not bare else ():
            yield "narrowed", test, f"{whole} {word} {said}", found[said]
            yield "narrowed", test, f"{said} {word} {whole}", 0.6 * found[said]


def _among(known: Known, names: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Whether what is asked already is one of those that a collection of the module holds: as it is, or in small letters."""
    for one in getattr(known.tree, "body", ()):
        if not isinstance(one, ast.Assign) or not isinstance(one.targets[0], ast.Name):
            continue
        held = one.value.args[0] if isinstance(one.value, ast.Call) and one.value.args else one.value  # fmt: skip
        of = held.keys if isinstance(held, ast.Dict) else getattr(held, "elts", [])
        words = [each.value for each in of if isinstance(each, ast.Constant)]
        small = [each for each in words if isinstance(each, str) and each == each.lower()]
        for name in sorted(names) if words and len(words) == len(of) else ():
            yield f"{name} in {one.targets[0].id}", 0.1
            if len(small) == len(words) and "lower" in known.methods_called:
                yield f"{name}.lower() in {one.targets[0].id}", 0.12


def _decided(known: Known, test: ast.expr) -> set[str]:
    """What an `if` around has asked already, where nothing that it reads gets another value under it."""
    found: set[str] = set()
    for up in known.around(test):
        if isinstance(up, ast.If) and known.statement(test) is not up:
            named = [one for part in (*up.body, *up.orelse) for one in ast.walk(part) if isinstance(one, ast.Name)]  # fmt: skip
            stored = {one.id for one in named if isinstance(one.ctx, ast.Store)}
            asked, parts = up.test, [up.test]
            if isinstance(asked, ast.BoolOp) and isinstance(asked.op, ast.And):
                parts = asked.values
            for part in parts:
                read = {one.id for one in ast.walk(part) if isinstance(one, ast.Name)}
                found |= {_positive(ast.unparse(part))} if read.isdisjoint(stored) else set()
    return found


def _positive(condition: str) -> str:
    """A condition as it is written by Python, without a `not` in front; as it is, where it is none."""
    try:
        node = ast.parse(condition, mode="eval").body
    except SyntaxError:
        return condition
    return ast.unparse(node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else node)  # fmt: skip


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
