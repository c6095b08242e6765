"""A statement that other blocks of the file have beside what stands here, and this one does not."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from ..known import Known
from ..source import Edit, Function, Loop, simple
from ..statements import LEAVES, put_after, put_before
from ..values import Found

MOST, LONGEST = 8, 100
_ASSIGNS = re.compile(r"(\w+) = ")
_BEGINS, _ENDS = "def", "end"
_Beside = dict[str, list[ast.stmt]]


def mirrored(known: Known, node: ast.stmt) -> Iterator[Edit]:
    """The statement, or the question of two lines, that follows elsewhere what stands before this place, or precedes what stands
    after it: with both of them most of all."""
    function, block = known.function(node), block_of(known, node)
    if function is None or not block:
        return
    at = block.index(node)
    before = _key(known, block[at - 1]) if at else _BEGINS * (block is function.body)
    yield from _between(known, node, before, _key(known, node), True)
    for text in _of_others(known, block[at - 1], block) if at else ():
        yield from put_before(known, node, "inserted", text, 0.08)
    if node is block[-1] and not isinstance(node, LEAVES):
        for text in _of_others(known, node, block):
            yield from put_after(known, node, "inserted", text, 0.08)
        yield from _between(known, node, _key(known, node), _ENDS * (block is function.body), False)


def _between(known: Known, node: ast.stmt, before: str, after: str, ahead: bool) -> Iterator[Edit]:
    """Edits before a statement (`ahead`), or after it."""
    follow, precede = _beside(known)
    behind, above = follow.get(before, []), precede.get(after, [])
    block, owner, found = block_of(known, node), known.owner(node), Found()
    near = {_key(known, one) for one in block}
    made: dict[str, ast.stmt] = {}
    for donors, others in ((behind, above), (above, behind)):
        said = {written(known, one) for one in others}
        for one in donors:
            text = written(known, one)
            known_here = text and _key(known, one) not in near and known.fits(one, node)
            if not known_here or not useful(known, node, text):
                continue
            often = sum(written(known, other) == text for other in donors)
            alone = before in ("", _BEGINS) or after in ("", _ENDS)
            if text not in said and alone and often < 2:
                continue  # one function begins, or ends, so: this says nothing of another one
            sure = 0.7 if text in said else 0.45 if alone else 0.35
            same = owner is not None and known.owner(one) is owner
            found.raise_to(text, sure * (1.0 if same else 0.7) + 0.02 * min(often, 4))
            made[text] = one
    put = put_before if ahead else put_after
    for text, prior in sorted(found.items(), key=lambda row: -row[1])[:MOST]:
        one = made[text]
        leaves = isinstance(one, ast.If) and isinstance(one.body[0], LEAVES)
        yield from put(known, node, "guarded" if leaves else "inserted", text, prior)


def _of_others(known: Known, one: ast.stmt, block: list[ast.stmt]) -> list[str]:
    """A call that stands as a statement, of what else is known there: `self.drop(x)`, and `other.drop(x)` beside it."""
    called = (
        one.value.func if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) else one
    )
    base = called.value if isinstance(called, ast.Attribute) else None
    if not isinstance(base, ast.Name) or base.id not in known.names(one) or not written(known, one):
        return []
    there = {written(known, other) for other in block}
    read = [
        name for name, line in known.names(one).items() if line < one.lineno and name != base.id
    ]
    texts = [known.swap(one, {base: name}) for name in read[:4]]
    return [text for text in texts if text not in there]


def asked_first(known: Known, node: ast.stmt) -> list[str]:
    """Statements that stand under a question elsewhere, each with its question: those of the same class or function."""
    function, owner = known.function(node), known.owner(node)
    found: dict[str, None] = {}
    for one, inner, text in _asked(known):
        near = known.function(one) is function or (owner is not None and known.owner(one) is owner)
        if (
            near
            and known.fits(one.test, node)
            and known.fits(inner, node)
            and useful(known, node, text.partition("\t")[2])
        ):
            found[text] = None
    return list(found)[:MOST]


@functools.lru_cache(maxsize=2)
def _asked(known: Known) -> list[tuple[ast.If, ast.stmt, str]]:
    """The questions of the file without another branch, each with a statement under it, and both as `put_before` takes them."""
    found: list[tuple[ast.If, ast.stmt, str]] = []
    asked = (one for one in known.nodes if isinstance(one, ast.If) and not one.orelse)
    for one, inner in ((up, part) for up in asked for part in up.body):
        text = f"if {known.segment(one.test)}:\t{written(known, inner)}"
        if simple(inner) and text[-1] != "\t" and "\n" not in text and len(text) <= LONGEST:
            found.append((one, inner, text))
    return found


def useful(known: Known, node: ast.stmt, text: str) -> bool:
    """False for an assignment to a name that nothing reads from here on."""
    target = _ASSIGNS.match(text)
    function = known.function(node)
    if target is None or function is None:
        return True
    looped = any(isinstance(up, Loop) for up in known.around(node))
    return looped or _last_read(known, function).get(target[1], 0) >= node.lineno


@functools.lru_cache(maxsize=64)
def _last_read(known: Known, function: ast.AST) -> dict[str, int]:
    """The last line of a function where each name is read."""
    named = (one for one in ast.walk(function) if isinstance(one, ast.Name))
    read = sorted((one.lineno, one.id) for one in named if isinstance(one.ctx, ast.Load))
    return {name: line for line, name in read}


def written(known: Known, one: ast.stmt) -> str:
    """A statement on one line, or a question with one, as `put_before` takes it; nothing for any other."""
    if isinstance(one, ast.If) and not one.orelse and len(one.body) == 1 and simple(one.body[0]):
        text = f"{known.segment(one.test)}:\t{known.segment(one.body[0])}"
        return f"if {text}" if "\n" not in text and len(text) <= LONGEST else ""
    text = known.segment(one) if simple(one) and not isinstance(one, LEAVES | ast.Pass) else ""
    said = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    return text if "\n" not in text and len(text) <= LONGEST and not said else ""


def block_of(known: Known, node: ast.stmt) -> list[ast.stmt]:
    """The statements among which one stands."""
    up = known.parents.get(node)
    blocks = (getattr(up, name, None) for name in ("body", "orelse", "finalbody"))
    return next((one for one in blocks if isinstance(one, list) and node in one), [])


@functools.lru_cache(maxsize=2)
def _beside(known: Known) -> tuple[_Beside, _Beside]:
    """The statements of the file that follow, and that precede, those of a key."""
    follow: _Beside = {}
    precede: _Beside = {}
    for node in known.nodes:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and known.function(block[0]) is not None:
                whole = name == "body" and isinstance(node, Function)
                keys = [_key(known, one) for one in block]
                for one, key in zip(block, [_BEGINS * whole, *keys], strict=False):
                    follow.setdefault(key, []).append(one)
                for one, key in zip(block, [*keys[1:], _ENDS * whole], strict=True):
                    precede.setdefault(key, []).append(one)
    follow.pop("", None)
    precede.pop("", None)
    return follow, precede


def _key(known: Known, one: ast.stmt) -> str:
    """What a statement is about: what it stores to, what it calls, what it asks; else all of it."""
    if isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign):
        target = one.targets[0] if isinstance(one, ast.Assign) else one.target
        return f"{known.segment(target)} ="
    if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
        return f"{known.segment(one.value.func)}()"
    if isinstance(one, ast.If | ast.While):
        return f"if {known.segment(one.test)}"
    if isinstance(one, ast.For | ast.AsyncFor):
        return f"for {known.segment(one.iter)}"
    return "" if isinstance(one, ast.Pass) else known.segment(one)[:LONGEST]
