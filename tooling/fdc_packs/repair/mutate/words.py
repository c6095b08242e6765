"""Operators that put another name, member, function, number, text or pattern in a place: what scope, class and file know."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from . import expected, patterns
from .kinds import PEERS
from .known import Known
from .source import OWN, Edit, name_of
from .values import MOST, Found, Row

_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_CALLABLE = (
    "len list tuple set dict str int float bool iter next range sorted reversed enumerate zip map filter min max sum any all abs"
    " isinstance hasattr getattr type repr divmod round frozenset bytes ord chr hash callable issubclass pow"
).split()
_CAUGHT = "StopIteration KeyError ValueError TypeError AttributeError IndexError".split()
_EXCEPTIONS = (*_CAUGHT, "RuntimeError", "NotImplementedError", "OverflowError")
_OF_ARGUMENTS = re.compile(
    r"(?:positional|keyword|required|unexpected) arguments?\b|\bgot an unexpected\b|not callable"
)
"""What Python says of a call that does not fit."""
_CHECKED = "str int list dict tuple bytes float".split()
_CLOSE = {")": "(", "]": "[", "}": "{", ">": "<"}
_STANDARD = sys.stdlib_module_names
_TYPES = (str, bytes, list, dict, set, tuple, int, re.Pattern, re.Match)
_NAMED = {one.__name__: one for one in _TYPES}
_NO_MEMBER = re.compile(r"AttributeError: '(?:re\.)?(\w+)' object has no attribute '(\w+)'")


def alike(one: str, other: str) -> float:
    """How alike two words are, 0 to 1."""
    return SequenceMatcher(None, one, other).ratio()


def name(known: Known, node: ast.Name) -> Iterator[Row]:
    """Another name where one is read, bound or called."""
    up = known.parents.get(node)
    if isinstance(up, ast.Call) and up.func is node:
        yield from _callee(known, node)
    elif known.function(node) is not None:
        found = _read(known, node) if isinstance(node.ctx, ast.Load) else _bound(known, node)
        found.pop(node.id, None)
        yield from found.rows("name", node)


def _lost(known: Known, node: ast.Name) -> bool:
    return node.id not in known.everywhere and node.id not in known.names(node)


def parameter(known: Known, node: ast.arg) -> Iterator[Row]:
    """A parameter by the name that its function reads and that nothing binds."""
    for other in known.unknown(node):
        text = known.segment(node)
        yield "name", node, other + text.removeprefix(node.arg), 0.8


def parameters(known: Known, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
    """Two neighbouring parameters in each other's place, with nothing but their names."""
    plain = [*node.args.posonlyargs, *node.args.args]
    plain = [one for one in plain[: len(plain) - len(node.args.defaults)] if one.annotation is None]
    for one, other in zip(plain, plain[1:], strict=False):
        if one.arg not in OWN:
            spans = [(known.start(part), known.end(part), part.arg) for part in (one, other)]
            pieces = ((*spans[0][:2], other.arg), (*spans[1][:2], one.arg))
            old = f"{one.arg}, {other.arg}"
            yield Edit("arguments", one, pieces, old, f"{other.arg}, {one.arg}", 0.25)


def owned(known: Known, node: ast.Name) -> Iterator[Row]:
    """The member of `self` by the name that stands there."""
    owner = known.owner(node)
    if owner is None or "self" not in known.names(node):
        return
    methods, read, stored = known.owned(owner)
    if isinstance(node.ctx, ast.Store):
        prior = 0.7 if node.id in read - stored - methods else 0.15 * (node.id in stored)
    else:
        member = node.id in methods | read | stored
        prior = (0.9 if _lost(known, node) else 0.15) * member
    if prior:
        yield "name", node, f"self.{node.id}", prior


def _read(known: Known, node: ast.Name) -> Found:  # noqa: C901
    """Of the function, of the module, with the member that is asked for."""
    found, function, up = Found(), known.function(node), known.parents.get(node)
    assert function is not None
    bound, lost = known.names(node), _lost(known, node)
    firm = 1.6 if lost else 1.0
    for other, line in bound.items():
        if line <= node.lineno and other != "_":
            found.raise_to(other, (0.12 if other in OWN else 0.2) * firm)
            if lost:
                found.raise_to(other, 0.6 * alike(node.id, other))
    for other in known.reads(function):
        if other in known.top or other in known.classes:
            found.raise_to(other, 0.14 * firm)
    if isinstance(up, ast.Attribute):
        for other in known.with_member.get(up.attr, ()):
            if other in bound or other in known.top:
                found.raise_to(other, 0.4 * firm)
        for other in known.imported:
            if up.attr in _members_of(known, other):
                found.raise_to(other, 0.3 * firm)
        owner = known.owner(node)
        if (
            owner is not None
            and "self" in bound
            and any(up.attr in part for part in known.owned(owner))
        ):
            found.raise_to("self", 0.4 * firm)
    elif isinstance(up, ast.ExceptHandler):
        for other in _CAUGHT:
            found.raise_to(other, 0.3 * firm)
    elif isinstance(up, ast.Call) and node in up.args[1:2] and name_of(up.func) == "isinstance":
        for other in (*known.classes, *_CHECKED):
            found.raise_to(other, 0.12)
    for other in known.top:
        near = alike(node.id, other) if other[:1] == node.id[:1] or lost else 0.0
        if near > 0.6:
            found.raise_to(other, 0.25 * near)
        elif other.isupper() and (lost or node.id.isupper()):
            found.raise_to(other, 0.1)
    return found


def _bound(known: Known, node: ast.Name) -> Found:
    """One that is read and never bound, above all."""
    found = Found(dict.fromkeys(known.unknown(node), 0.8))
    bound = known.names(node)
    odd = (
        node.id in known.unused(node)
        or node.id in OWN
        or bound.get(node.id, node.lineno) < node.lineno
    )
    for other in bound:
        if other not in OWN and other != "_":
            found.raise_to(other, 0.2 if odd else 0.05)
    return found


def _callee(known: Known, node: ast.Name) -> Iterator[Row]:
    """What this function, this file or everybody calls; what is raised, where it is raised."""
    found, function, lost = Found(), known.function(node), _lost(known, node)
    if isinstance(known.parents.get(known.parents[node]), ast.Raise):
        found = _raised(known, known.parents[node])
        found.pop(node.id, None)
        yield from found.rows("callee", node)
        return
    for other in PEERS.get(node.id, ()):
        found.raise_to(other, 0.3)
    for other in _CALLABLE:
        found.raise_to(other, 0.13 if other in known.called else 0.09)
    for other, count in known.called.most_common(2 * MOST):
        found.raise_to(other, 0.12 + min(count, 10) * 0.003)
    near = (
        {name_of(one.func) for one in ast.walk(function) if isinstance(one, ast.Call)}
        if function
        else set()
    )
    taken = [one.arg for one in function.args.args] if function is not None else []
    for other in (*known.names(node), *near):
        if other in known.called or other in known.unused(node):
            found.raise_to(other, 0.25)
        elif other in taken and other not in OWN:
            found.raise_to(other, 0.16)
    for other in known.top:
        like = alike(node.id, other) if lost or other[:1] == node.id[:1] else 0.0
        if like > 0.6:
            found.raise_to(other, 0.3 * like)
    for other in (*known.taking_one, *known.classes, *known.members_imported):
        found.raise_to(other, 0.11 if other in known.taking_one else 0.1)
    if isinstance(up := known.parents.get(known.parents[node]), ast.Return):
        found.raise_to(known.owed(up), 0.5)
    iterated = isinstance(up, ast.YieldFrom | ast.For)
    for other in (
        known.top & known.defined.keys()
    ):  # what nothing calls any more, what can be iterated over
        gone = other not in known.called and other[:1] == "_"
        found.raise_to(other, 0.4 if gone else 0.3 * (iterated and known.yields(other)))
    found = Found({one: prior for one, prior in found.items() if prior and one != node.id and one})
    yield from found.rows("callee", node, 3 * MOST, 1.5 if lost else 1.0)


def _raised(known: Known, node: ast.AST) -> Found:
    """The exceptions that tests want, that the file raises, that are common; the one that Python raises with such words."""
    found = Found(dict.fromkeys(_EXCEPTIONS, 0.2))
    for other, count in known.raised.items():
        found.raise_to(other, 0.25 + 0.02 * min(count, 8) if other in known.everywhere else 0.0)
    for other in known.told.raises:
        found.raise_to(other, 0.7 if other in known.everywhere else 0.0)
    if _OF_ARGUMENTS.search(known.segment(node)):
        found.raise_to("TypeError", 0.8)
    return Found({name: prior for name, prior in found.items() if prior and not _is_no_error(name)})


def _is_no_error(name: str) -> bool:
    """True for what Python has by the name and that cannot be raised."""
    there = getattr(builtins, name, BaseException)
    return not (isinstance(there, type) and issubclass(there, BaseException))


def member(known: Known, node: ast.Attribute) -> Iterator[Row]:  # noqa: C901
    """Of the same owner elsewhere, of the class, the method's own name, of a built-in type that has this one."""
    old = known.segment(node)
    if not old.endswith(node.attr):
        return
    found, up = Found(), known.parents.get(node)
    called = isinstance(up, ast.Call) and up.func is node
    base, function, owner = known.segment(node.value), known.function(node), known.owner(node)
    for other, count in known.members.get(base, Counter()).items():
        found.raise_to(
            other,
            (0.3 if (other in known.methods_called) == called else 0.12) + min(count, 5) * 0.01,
        )
    if isinstance(node.value, ast.Name) and node.value.id in OWN and owner is not None:
        methods, read, stored = known.owned(owner)
        for other in methods | read | stored:
            found.raise_to(other, 0.28 if (other in methods) == called else 0.1)
        if not isinstance(node.ctx, ast.Load):
            for other in read - stored - methods:
                found.raise_to(other, 0.8)
        elif node.attr not in methods | stored:
            found = Found({other: prior * 1.5 for other, prior in found.items()})
    if function is not None:
        if base.startswith("super()") or (
            function.name.startswith("__") and node.attr.startswith("__")
        ):
            found.raise_to(function.name, 0.7)
        for one in ast.walk(function):
            if isinstance(one, ast.Attribute):
                found.raise_to(
                    one.attr, 0.16 if (one.attr in known.methods_called) == called else 0.06
                )
    for other in PEERS.get(node.attr, ()):
        found.raise_to(other, 0.35)
    if called:
        for kind in _TYPES if any(hasattr(kind, node.attr) for kind in _TYPES) else ():
            for other in dir(kind) if hasattr(kind, node.attr) else ():
                if not other.startswith("_"):
                    found.raise_to(other, 0.12 if other in known.methods_called else 0.04)
        for other in known.methods_called:
            found.raise_to(other, 0.07)
    told = _NO_MEMBER.search(known.message)
    if told is not None and told[2] == node.attr and told[1] in _NAMED:
        for other in dir(_NAMED[told[1]]):
            found.raise_to(other, 0.35 if other in known.methods_called else 0.3)
    for other in _public(known, node.value):
        found.raise_to(other, 0.4 if node.attr not in _public(known, node.value) else 0.1)
    hidden = node.attr[:2] == "__" or (function is not None and function.name[:2] == "__")
    for other in [one for one in found if one[:2] == "__" == one[-2:] and not hidden]:
        found.pop(other)  # what every object has is seldom meant
    found.pop(node.attr, None)
    stem = old.removesuffix(node.attr)
    yield from Found({stem + other: prior for other, prior in found.items()}).rows(
        "attribute", node, 2 * MOST
    )


def _public(known: Known, node: ast.expr) -> list[str]:
    """The public members of what a dotted name of the standard library stands for, where it is loaded here."""
    return _members_of(known, known.segment(node))


def _members_of(known: Known, dotted: str) -> list[str]:
    """The same of the dotted name as it is written."""
    first, *rest = dotted.split(".")
    module, _, member = known.imported.get(first, "").partition(":")
    found: Any = sys.modules.get(module) if module.partition(".")[0] in _STANDARD else None
    for part in (member, *rest) if member else rest:
        found = getattr(found, part, None)
    return [one for one in dir(found) if one[0] != "_"] if found is not None else []


def constant(known: Known, node: ast.Constant) -> Iterator[Row]:
    """Another number, truth value or text."""
    value, up = node.value, known.parents.get(node)
    if isinstance(up, ast.Expr):
        return  # a docstring
    if isinstance(value, bool):
        yield "constant", node, str(not value), 0.7
        yield "constant", node, "None", 0.2
    elif isinstance(value, int):
        yield from _number(known, node)
    elif isinstance(value, float):
        for other in {-value, value * 10, value / 10, 0.0, 1.0} - {value}:
            yield "constant", node, repr(other), 0.1
    elif isinstance(value, str):
        yield from (
            patterns.pattern(known, node)
            if patterns.is_pattern(known, node)
            else _text(known, node)
        )
    elif value is None:
        for truth in ("False", "True"):
            yield "constant", node, truth, 0.1 if isinstance(up, ast.Compare) else 0.25


def _number(known: Known, node: ast.Constant) -> Iterator[Row]:
    up = known.parents.get(node)
    signed = isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.USub)
    at: ast.AST = up if signed and up is not None else node
    assert isinstance(node.value, int)
    number, around = -node.value if signed else node.value, known.parents.get(at)
    if known.segment(node)[:2].lower() in ("0x", "0b", "0o") and number > 255:
        return
    found = Found()
    firm = 1.2 if isinstance(around, ast.Subscript | ast.Slice | ast.Compare | ast.BinOp) else 1.0
    for other, prior in ((1, 0.5), (-1, 0.5), (-2 * number, 0.2), (-2, 0.25), (2, 0.12)):
        found.raise_to(str(number + other), prior * firm)
    if number > 1 and isinstance(around, ast.Subscript):
        found.raise_to("0", 0.45)
    bounds = set(found)
    if number and number % 10 == 0:
        found.raise_to(str(number // 10), 0.3)
    if abs(number) > 2:
        for other, prior in ((0, 0.12), (1, 0.12), (number * 10, 0.06), (number * 2, 0.06)):
            found.raise_to(str(other), prior)
    if not signed:
        for other, count in known.numbers.most_common(MOST):
            if 0 <= other < 10**6:
                found.raise_to(str(other), 0.14 + min(count, 10) * 0.004)
    for text, prior in found.items():
        loose = text.startswith("-") and isinstance(around, ast.BinOp | ast.UnaryOp | ast.Attribute)
        if text != str(number):
            yield (
                "bound" if text in bounds else "constant",
                at,
                f"({text})" if loose else text,
                prior,
            )


def _text(known: Known, node: ast.Constant) -> Iterator[Row]:
    said, value = known.segment(node), str(node.value)
    if said[:1] not in "'\"" or said[1:-1] != value or not value.isprintable():
        return
    found = Found()
    near = sorted(
        ((alike(value, text), text) for text in known.texts if text != value and len(text) < 40),
        reverse=True,
    )
    for ratio, text in near[:2]:
        if ratio > 0.5:
            found.raise_to(text, 0.2 * ratio)
    for match in _WORD.finditer(value):
        for word, ratio in _like(known, match[0]) if value.count(match[0]) == 1 else ():
            found.raise_to(value.replace(match[0], word), 0.4 * ratio)
    if len(value) <= 2:
        found.raise_to(" " if value == "" else "", 0.2)
        short = sorted(text for text in known.texts if 0 < len(text) <= 2)
        for text in (*_CLOSE, *short[:MOST]):  # a bracket that another text of the statement opens
            whole = known.segment(known.statement(node) or node)
            opened = _CLOSE.get(text, "?") in whole and text not in whole
            found.raise_to(text, 0.5 if opened else 0.1 if text in short else 0.0)
    if len(value) < 4:
        found.raise_to(value.strip(), 0.15)
        found.raise_to(f"{value} ", 0.15)
    for mark in "-_.,:/%" if len(value) < 2 else ():
        found.raise_to(value + mark, 0.12)
    for text in (value.rstrip(), value.strip(), value.swapcase(), value.removesuffix(" ")):
        if text:
            found.raise_to(text, 0.35)
    for text in expected.mended(value, known.message):
        found.raise_to(text, 0.6)
    for text, prior in found.items():
        if text != value and text.isprintable() and "\\" not in text and said[0] not in text:
            yield "constant", node, f"{said[0]}{text}{said[0]}", prior


def _like(known: Known, word: str) -> list[tuple[str, float]]:
    """Words of the file that are as if misspelt, the nearest first."""
    if len(word) < 4:
        return []
    ends = {word[0], word[-1]}
    near = [
        one
        for one in known.words
        if abs(len(one) - len(word)) <= 1 and one != word and {one[0], one[-1]} & ends
    ]
    rated = sorted(((alike(word, one), one) for one in near), reverse=True)
    return [(one, ratio) for ratio, one in rated[:3] if ratio > 0.8]
