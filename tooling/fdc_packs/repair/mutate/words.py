"""Operators that put another name, member or function in a place: what scope, class and file know."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator

from .kinds import PEERS
from .known import Known, alike
from .missing.special import BINARY
from .ranking.impossible import of_a_parent
from .source import OWN, Edit, Function, name_of
from .standard.members import fitted, lacked, members_of, of_types, public
from .standard.typed import among_types, is_type
from .values import MOST, Found, Row

_CALLABLE = (
    "len list tuple set dict str int float bool iter next range sorted reversed enumerate zip map filter min max sum any all abs"
    " isinstance hasattr getattr type repr divmod round frozenset bytes ord chr hash callable issubclass pow"
).split()
TWIN = 0.8
"""What a word is worth that often stands for this one, where no other does: `max` for `min`."""
_ASKED = ("isinstance", "hasattr", "callable", "any", "all", "issubclass")
_TWO = ("isinstance", "issubclass", "hasattr", "getattr", "divmod", "pow", "map", "filter")
"""What takes two arguments."""
_OF_TWO = ("min", "max", "divmod", "pow", "round")
"""What makes one value of two, also where one of them is computed."""
IDLE = 0.45
"""What a name is worth that the function binds and nothing reads."""
HIDDEN = 0.3
"""How often a special method means a member that every object has, beside one of its own."""
_CALLING = "map filter reduce starmap takewhile dropwhile filterfalse partial".split()
"""What is given a function first, and calls it."""
_OF_TYPES = "__name__ __qualname__ __mro__ __bases__ __subclasses__".split()
"""Members of types that objects have not."""
_CAUGHT = "StopIteration KeyError ValueError TypeError AttributeError IndexError".split()
_EXCEPTIONS = (*_CAUGHT, "RuntimeError", "NotImplementedError", "OverflowError")
_OF_ARGUMENTS = re.compile(
    r"(?:positional|keyword|required|unexpected) arguments?\b|\bgot an unexpected\b|not callable"
)
"""What Python says of a call that does not fit."""
_CHECKED = "str int list dict tuple bytes float".split()


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
    firm, idle = 1.6 if lost else 1.0, known.unused(node)
    for other, line in bound.items():
        if line <= node.lineno and other != "_":
            usual = (
                0.12 if other in OWN else IDLE if other in idle and line > function.lineno else 0.2
            )
            found.raise_to(other, usual * firm)
            if lost:
                found.raise_to(other, 0.6 * alike(node.id, other))
    for other in known.reads(function):
        if other in known.top or other in known.classes:
            found.raise_to(other, 0.14 * firm)
    if isinstance(up, ast.Return) and function.name in BINARY and known.owner(node) is not None:
        found.raise_to("NotImplemented", 0.4)
    found.raise_to(known.across(node), 0.4 if known.across(node) in bound else 0.0)
    if isinstance(up, ast.Attribute):
        for other in sorted(known.with_member.get(up.attr, ())):
            if other in bound or other in known.top:
                found.raise_to(other, 0.4 * firm)
        for other in known.imported:
            held = up.attr in members_of(known, other)
            found.raise_to(other, 0.3 * firm if held else 0.13 * (other in known.members))
        owner = known.owner(node)
        if (
            owner is not None
            and "self" in bound
            and any(up.attr in part for part in known.owned(owner))
        ):
            found.raise_to("self", 0.4 * firm)
    elif _is_function(up, node):
        for other in (*_CALLABLE, *sorted(known.called)):
            found.raise_to(other, (0.3 if other in known.called else 0.2) * firm)
    elif isinstance(up, ast.ExceptHandler):
        for other in _CAUGHT:
            found.raise_to(other, 0.3 * firm)
    elif isinstance(up, ast.Call) and node in up.args[1:2] and name_of(up.func) == "isinstance":
        for other in (*known.classes, *_CHECKED):
            found.raise_to(other, 0.12)
        own, asked = known.owner(node), name_of(up.args[0])
        if own is not None and asked in bound and asked not in OWN:  # is the other one of my class?
            found.raise_to(own.name, 0.6 if asked == node.id else 0.3)
    for other in sorted(known.top):
        near = alike(node.id, other) if other[:1] == node.id[:1] or lost else 0.0
        if near > 0.6:
            found.raise_to(other, 0.25 * near)
        elif other.isupper() and (lost or node.id.isupper()):
            found.raise_to(other, 0.1)
    return Found({other: prior for other, prior in found.items() if prior})


def _is_function(up: ast.AST | None, node: ast.Name) -> bool:
    """True where a function is given to another one, which calls it: `map(len, lines)`, `key=len`."""
    if isinstance(up, ast.keyword):
        return up.arg in ("key", "default_factory")
    return isinstance(up, ast.Call) and up.args[:1] == [node] and name_of(up.func) in _CALLING


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
    call = known.parents[node]
    assert isinstance(call, ast.Call)
    if isinstance(known.parents.get(call), ast.Raise):
        found = _raised(known, call)
        found.pop(node.id, None)
        yield from found.rows("callee", node)
        return
    for other in PEERS.get(node.id, ()):
        found.raise_to(other, TWIN if len(PEERS[node.id]) == 1 else 0.3)
    for other in _CALLABLE:
        found.raise_to(other, 0.13 if other in known.called else 0.09)
    for other, count in known.called.most_common(2 * MOST):
        found.raise_to(other, 0.12 + min(count, 10) * 0.003)
    near = (
        {name_of(one.func) for one in ast.walk(function) if isinstance(one, ast.Call)}
        if function
        else set()
    )
    scopes = (one.args.args for one in known.around(node) if isinstance(one, Function))
    taken = [one.arg for given in scopes for one in given]
    for other in (*known.names(node), *sorted(near)):
        if other in known.called or other in known.unused(node):
            found.raise_to(other, 0.25)
        elif other in taken and other not in OWN:
            found.raise_to(other, 0.16)
    for other in sorted(known.top):
        like = alike(node.id, other) if lost or other[:1] == node.id[:1] else 0.0
        if like > 0.6:
            found.raise_to(other, 0.3 * like)
    for other in (*known.taking(len(call.args)), *known.classes, *known.members_imported):
        found.raise_to(other, 0.11 if other in known.defined else 0.1)
    for other in known.idle_imports:
        found.raise_to(other, 0.6)
    if isinstance(up := known.parents.get(call), ast.Return):
        found.raise_to(known.owed(up), 0.5)
    found.raise_all(_answering(known, call, found))
    again = isinstance(up, ast.Call) and up.func is call  # what it gives is called
    found.raise_to("type", 0.9 if again and len(call.args) == 1 else 0.0)
    found.raise_to("super", 0.9 if of_a_parent(known, node) else 0.0)
    for other in _TWO if len(call.args) < 2 else ():
        found.pop(other, None)
    found.raise_all(_of_two(node, call))
    iterated = isinstance(up, ast.YieldFrom | ast.For)
    # what nothing calls any more, what can be iterated over
    for other in sorted(known.top & known.defined.keys()):
        gone = other not in known.called and other[:1] == "_"
        found.raise_to(other, 0.4 if gone else 0.3 * (iterated and known.yields(other)))
    found = Found({one: prior for one, prior in found.items() if prior and one != node.id and one})
    yield from found.rows("callee", node, 3 * MOST, 1.5 if lost else 1.0)


def _of_two(node: ast.Name, call: ast.Call) -> Iterator[tuple[str, float]]:
    """What makes one value of two, where a function is given its own result: `f(f(x), y)`."""
    copied = any(isinstance(one, ast.Call) and name_of(one.func) == node.id for one in call.args)
    yield from ((other, 0.3) for other in (_OF_TWO if len(call.args) > 1 and copied else ()))


def _answering(known: Known, call: ast.Call, found: Found) -> Iterator[tuple[str, float]]:
    """What answers a question, where one is asked; above all `callable` where what is asked about is called then."""
    up = known.parents.get(call)
    block = up.body if isinstance(up, ast.If) else []
    called = {known.segment(one.func) for at in block for one in ast.walk(at) if isinstance(one, ast.Call)}  # fmt: skip
    used = any(known.segment(one) in called for one in call.args[:1])
    named = [one for one in found if one.strip("_").startswith(("is", "has"))]
    for other in (*_ASKED, *named) if known.is_asked(call) else ():
        yield other, 0.6 if used and other == "callable" else 0.25
    if len(call.args) == 2 and is_type(known, call.args[1]):  # little else is given a type there
        yield "isinstance", 0.9
        yield "issubclass", 0.4
    if among_types(known, call):
        yield "type", 0.9


def _raised(known: Known, node: ast.AST) -> Found:
    """The exceptions that tests want, that the file raises, that are common; the one that Python raises with such words."""
    found = Found(dict.fromkeys(_EXCEPTIONS, 0.2))
    for other, count in known.raised.items():
        found.raise_to(other, 0.25 + 0.02 * min(count, 8) if other in known.everywhere else 0.0)
    for other in known.told.wanted:
        found.raise_to(other, 0.7 if other in known.everywhere else 0.0)
    if (
        "NotImplementedError" not in known.told.wanted
    ):  # said of what is left to others, and passes for its base
        found["NotImplementedError"] *= 0.4
    if _OF_ARGUMENTS.search(known.segment(node)):
        found.raise_to("TypeError", 0.8)
    return Found({name: prior for name, prior in found.items() if prior and not _is_no_error(name)})


def _is_no_error(name: str) -> bool:
    """True for what Python has by the name and that cannot be raised."""
    there = getattr(builtins, name, BaseException)
    return not (isinstance(there, type) and issubclass(there, BaseException))


_CHANGES = "append add extend update write remove discard insert pop clear".split()
"""Methods whose result nobody needs, the most common ones first."""


def member(known: Known, node: ast.Attribute) -> Iterator[Row]:  # noqa: C901
    """Of the same owner elsewhere, of the class, the method's own name, of a built-in type that has this one."""
    old = known.segment(node)
    if not old.endswith(node.attr):
        return
    found, up = Found(), known.parents.get(node)
    if node.attr in _OF_TYPES and isinstance(node.value, ast.Name):
        lost = f"no attribute '{node.attr}'" in known.message
        yield "wrapped", node.value, f"type({node.value.id})", 0.9 if lost else 0.2
    called = isinstance(up, ast.Call) and up.func is node
    base, function, owner = known.segment(node.value), known.function(node), known.owner(node)
    for other, count in known.members.get(base, Counter()).items():
        found.raise_to(
            other,
            (0.3 if (other in known.methods_called) == called else 0.12) + min(count, 5) * 0.01,
        )
    if isinstance(node.value, ast.Name) and node.value.id in OWN and owner is not None:
        methods, read, stored = known.owned(owner)
        for other in sorted(methods | read | stored):
            found.raise_to(other, 0.28 if (other in methods) == called else 0.1)
        if not isinstance(node.ctx, ast.Load):
            for other in sorted(read - stored - methods):
                found.raise_to(other, 0.8)
        elif node.attr not in methods | stored:
            found = Found({other: prior * 1.5 for other, prior in found.items()})
    if function is not None:
        above = isinstance(up, ast.Call) and called and name_of((up.args or [up])[0]) in OWN
        special = function.name.startswith("__") and node.attr.startswith("__")
        if base.startswith("super()") or (above and base not in OWN) or special:
            found.raise_to(function.name, 0.7)
        for one in ast.walk(function):
            if isinstance(one, ast.Attribute):
                found.raise_to(
                    one.attr, 0.16 if (one.attr in known.methods_called) == called else 0.06
                )
    for other in PEERS.get(node.attr, ()):
        found.raise_to(other, TWIN if len(PEERS[node.attr]) == 1 else 0.35)
    found.raise_to(known.across(node), 0.5)
    if called and isinstance(up, ast.Call):
        for other, prior in of_types(known, node, up):
            found.raise_to(other, prior)
        found.raise_all((other, 0.07) for other in sorted(known.methods_called))
        at = known.parents.get(up)
        if isinstance(at, ast.Expr) and base not in (*OWN, *known.imported):
            found.raise_all((other, 0.35 - 0.01 * rank) for rank, other in enumerate(_CHANGES))
        parts = at.targets[0] if isinstance(at, ast.Assign) and at.value is up else None
        if isinstance(parts, ast.Tuple) and len(parts.elts) == 3 and len(up.args) == 1:
            found.raise_all((other, 0.6) for other in ("partition", "rpartition"))
    found.raise_all(lacked(known, node, up if called and isinstance(up, ast.Call) else None))
    for other in public(known, node.value):
        found.raise_to(other, 0.4 if node.attr not in public(known, node.value) else 0.1)
    hidden = 1.0 if node.attr[:2] == "__" else HIDDEN if function is not None and function.name[:2] == "__" else 0.0  # fmt: skip
    kept = (known.across(node), "" if function is None else function.name, "__class__" * called)
    if called and owner is not None and name_of(node.value) in OWN:
        found.raise_to("__class__", 0.3)  # another object of the same class
    for other in [one for one in found if one[:2] == "__" == one[-2:]]:
        found[other] *= 1.0 if other in kept else hidden
    found = Found({other: prior for other, prior in found.items() if prior})
    found.pop(node.attr, None)
    found.pop("", None)
    if called and isinstance(up, ast.Call):
        found = fitted(known, node, up, found)
    stem = old.removesuffix(node.attr)
    yield from Found({stem + other: prior for other, prior in found.items()}).rows(
        "attribute", node, 2 * MOST
    )
