"""Operators on statements: how a target comes to its value, which exception, which jump, what is returned, what stands where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from .known import Known
from .source import OWN, Compound, Edit, Function, Loop, Source, name_of, simple
from .values import Row, exchanged, token_of, widened

_EXCEPTIONS = {
    "KeyError": "IndexError LookupError AttributeError", "IndexError": "KeyError LookupError ValueError",
    "LookupError": "KeyError IndexError", "ValueError": "TypeError KeyError Exception",
    "TypeError": "ValueError AttributeError Exception", "AttributeError": "TypeError KeyError NameError",
    "OSError": "ValueError FileNotFoundError Exception", "FileNotFoundError": "OSError PermissionError",
    "StopIteration": "IndexError Exception", "ImportError": "ModuleNotFoundError AttributeError",
    "UnicodeDecodeError": "UnicodeEncodeError ValueError", "UnicodeEncodeError": "UnicodeDecodeError ValueError",
    "ZeroDivisionError": "ValueError ArithmeticError OverflowError", "OverflowError": "ValueError ZeroDivisionError",
    "RuntimeError": "ValueError Exception", "NotImplementedError": "TypeError ValueError", "AssertionError": "ValueError",
    "Exception": "BaseException",
}  # fmt: skip
_COMMON = (
    "TypeError ValueError KeyError IndexError AttributeError RuntimeError StopIteration".split()
)
_ERROR = re.compile(r"(?:[\w]+\.)*([A-Z]\w*(?:Error|Exception|Iteration|Interrupt))\b")
_PURE = frozenset(
    "join format replace lower upper strip lstrip rstrip split title get items keys values copy sub match search encode decode"
    " from_iterable".split()
)
_LASTING = frozenset("list tuple set frozenset dict sorted split splitlines str range".split())
"""Calls of these give what can be gone through again."""
_RESULTS = "result results out output ret res value".split()
_GIVES = ast.Yield | ast.YieldFrom
LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break
BURIES = 0.8
"""How common a fault is where a statement leaves its block before its end, so that the rest is never run."""


def augmented(known: Known, node: ast.AugAssign) -> Iterator[Row]:
    """Another operator before the `=`."""
    token = token_of(node.op)
    yield from exchanged(
        known, "assignment", node, node.target, node.value, f"{token}=" if token else ""
    )


def assigned(known: Known, node: ast.Assign) -> Iterator[Row]:
    """A value that should be added to the one before."""
    target = node.targets[0]
    place = known.between(target, node.value, "=") if len(node.targets) == 1 else None
    fresh = (
        isinstance(target, ast.Name)
        and known.names(node).get(target.id, node.lineno) >= node.lineno
    )
    if (
        place
        and known.function(node) is not None
        and isinstance(target, ast.Name | ast.Attribute)
        and not fresh
    ):
        for token, prior in (("+=", 0.3), ("-=", 0.1)):
            yield "assignment", node, known.cut(node, (*place, token)), prior


def gone_through(known: Known, node: ast.Assign) -> Iterator[Row]:
    """What a call gives, as a list or tuple, where it is gone through more than once: an iterator is empty by then."""
    function, target, value = known.function(node), node.targets[0], node.value
    if function is None or len(node.targets) > 1 or not isinstance(target, ast.Name):
        return
    if not isinstance(value, ast.Call) or name_of(value.func) in _LASTING:
        return
    loops = (one for one in ast.walk(function) if isinstance(one, ast.For | ast.comprehension))
    if sum(name_of(one.iter) == target.id for one in loops) > 1:
        made = "tuple" if known.called["tuple"] > known.called["list"] else "list"
        yield "wrapped", value, f"{made}({known.segment(value)})", 0.45


def exceptions(known: Known, node: ast.ExceptHandler | ast.Raise) -> Iterator[Row]:
    """Another exception, one more, one around a text."""
    if isinstance(node, ast.Raise) and isinstance(
        node.exc, ast.Constant | ast.BinOp | ast.Name | ast.JoinedStr
    ):
        names = dict.fromkeys(
            (
                *(one for one, _ in known.raised.most_common(6)),
                "ValueError",
                "TypeError",
                "RuntimeError",
            )
        )
        for rank, name in enumerate(one for one in names if one):
            yield "wrapped", node.exc, f"{name}({known.segment(node.exc)})", 0.5 - 0.02 * rank
    whole = node.type if isinstance(node, ast.ExceptHandler) else node.exc
    whole = whole.func if isinstance(node, ast.Raise) and isinstance(whole, ast.Call) else whole
    prior = 0.45 if isinstance(node, ast.ExceptHandler) else 0.4
    for one in whole.elts if isinstance(whole, ast.Tuple) else [whole] if whole is not None else ():
        near = _EXCEPTIONS.get(name_of(one), "").split() if isinstance(one, ast.Name) else []
        if isinstance(node, ast.ExceptHandler) and _is_value(known, one):
            there = known.segment(whole) if whole is not None else ""
            yield from (("exception", one, other, 0.7) for other in _COMMON if other not in there)
        for other in (
            known.told.wanted if isinstance(node, ast.Raise) and isinstance(one, ast.Name) else ()
        ):
            if other in known.everywhere:
                yield "exception", one, other, 0.7
        if isinstance(node, ast.ExceptHandler):  # what the file itself raises
            own = [other for other, _ in known.raised.most_common(4) if other in known.classes]
            yield from (("exception", one, other, 0.35) for other in own)
        for other in (*near, *(name for name in _COMMON if near and name not in near)):
            yield "exception", one, other, prior if other in near else prior / 2
    if isinstance(node, ast.ExceptHandler) and whole is not None:
        told = _ERROR.match(known.message)
        if told is not None and told[1] in known.everywhere:
            yield "exception", whole, told[1], 0.8
        yield from widened(known, whole, _COMMON, 0.3)


def _is_value(known: Known, node: ast.expr) -> bool:
    """True for a name where an exception is caught that is none: of a value, a module or a function."""
    name = node.id if isinstance(node, ast.Name) else "Exception"
    return name not in known.classes and (name in known.names(node) or name[:1].islower())


def jump(known: Known, node: ast.Break | ast.Continue) -> Iterator[Row]:
    """`break` for `continue`."""
    yield "flow", node, "continue" if isinstance(node, ast.Break) else "break", 0.5


def ended(known: Known, node: ast.Return | ast.Pass | ast.Continue) -> Iterator[Row]:
    """A case that ends silently raises what a test wants, imported there where the module does not know it."""
    up = known.parents.get(node)
    alone = isinstance(up, ast.If) and [node] in (up.body, up.orelse)
    if not alone or (isinstance(node, ast.Return) and node.value is not None):
        return
    for name, module in known.told.wanted.items():
        words = known.told.words.get(name, "")
        raised = f"raise {name}({words!r})" if words else f"raise {name}"
        if name in known.everywhere:
            yield "flow", node, raised, 0.7
        elif module:
            begin = known.text.rfind("\n", 0, known.start(node)) + 1
            indent = known.text[begin : known.start(node)]
            yield "flow", node, f"from {module} import {name}\n{indent}{raised}", 0.7


def value(known: Known, node: ast.Expr) -> Iterator[Row]:
    """A value that no one takes and that should be returned, or a comparison that should store it."""
    function = known.function(node)
    side = node.value if isinstance(node.value, ast.Compare) else None
    if side is not None and isinstance(side.ops[0], ast.Eq) and len(side.ops) == 1:
        place = known.between(side.left, side.comparators[0], "==")
        if place and isinstance(side.left, ast.Name | ast.Attribute | ast.Subscript):
            yield "assignment", node, known.cut(node, (*place, "=")), 0.95
    if (
        function is None
        or _says(known, node, function)
        or isinstance(node.value, _GIVES | ast.Await)
    ):
        return
    gives = any(isinstance(one, ast.Return) and one.value is not None for one in ast.walk(function))
    prior = 0.9 if idle(node) else 0.45 if gives or function.body[-1] is node else 0.25
    yield "return", node, f"return {known.segment(node)}", prior


def idle(node: ast.Expr) -> bool:
    """True for a statement that does nothing: a value that is computed, and that no one takes."""
    called = node.value.func if isinstance(node.value, ast.Call) else None
    return called is None or (isinstance(called, ast.Attribute) and called.attr in _PURE)


def _says(known: Known, node: ast.Expr, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """True for a text that is a docstring or a remark of several lines, and for `...`."""
    said = node.value.value if isinstance(node.value, ast.Constant) else None
    if said is ...:
        return True
    return isinstance(said, str) and ("\n" in known.segment(node) or function.body[0] is node)


def function(known: Known, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
    """A function that ends with a return; one that begins with a case that ends it."""
    inside = [one for one in ast.walk(node) if one is not node]
    yields = any(isinstance(one, _GIVES) for one in inside)
    gives = yields or any(isinstance(one, ast.Return) and one.value for one in inside)
    last = node.body[-1]
    if (
        not yields
        and not isinstance(last, ast.Return | ast.Raise)
        and not (isinstance(last, ast.Expr) and idle(last))  # it is what is given back (`value`)
        and not (gives and isinstance(last, ast.If | ast.Try | ast.With))
    ):
        local = [name for name in known.names(last) if name not in OWN]
        stored = [
            one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        ]
        for name in list(
            dict.fromkeys([*(one for one in _RESULTS if one in local), *stored[:1], *stored[-1:]])
        )[:3]:
            indent, end = known.indent(last), known.end(last)
            text = f"return {name}" if indent is None else f"{known.newline}{indent}return {name}"
            yield Edit(
                "return",
                last,
                ((end, end, f"; {text}" if indent is None else text),),
                "the end of the function",
                text.strip(),
                0.35,
            )
    documented = len(node.body) > 1 and ast.get_docstring(node, clean=False) is not None
    first = node.body[documented]
    names = [one.arg for one in node.args.args if one.arg not in OWN]
    guards = {
        f"if {name} is None:\treturn {result}": 0.06
        for name in names[:4]
        for result in ("None", name)
    }
    guards |= {f"if not {name}:\treturn {name}": 0.06 for name in names[:4]}
    owner = known.owner(node)
    if owner is not None and node.name.startswith("__") and len(names) == 1:
        guards[f"if not isinstance({names[0]}, {owner.name}):\treturn NotImplemented"] = 0.3
    recursive = any(isinstance(one, ast.Call) and name_of(one.func) == node.name for one in inside)
    if recursive and names and not isinstance(first, ast.If):
        cases = (
            (f"not {names[0]}", names[0]),
            (f"{names[0]} <= 0", "0"),
            (f"{names[0]} <= 1", "1"),
            (f"{names[0]} == 0", "1"),
        )
        guards |= {f"if {test}:\treturn {result}": 0.15 for test, result in cases}
    for text, prior in guards.items():
        yield from put_before(known, first, "base", text, prior)


def as_others(
    known: Known, node: ast.AST, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[str, float]]:
    """What gives a name its value as others get theirs: a twin's assignment with the one word for the other, a number of the
    file, a function that takes all that this one does."""
    for one in known.nodes:
        to = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if not isinstance(one, ast.Assign) or not isinstance(to, ast.Name) or to.id == name:
            continue
        twin, text = known.segment(one), known.segment(one.value)
        word = rf"(?<![A-Za-z0-9]){re.escape(to.id)}(?![A-Za-z0-9])"
        if (
            "\n" not in twin
            and len(twin) <= 100
            and re.search(word, text)
            and known.fits(one, node)
        ):
            yield re.sub(word, name, twin), 0.8 if known.function(one) is function else 0.55
        if "\n" not in twin and len(twin) <= 100 and known.function(one) is function:
            yield from _next_of(known, twin, to.id, name, one.value)
    for rank, (number, _) in enumerate(known.numbers.most_common(16)):
        yield f"{name} = {number}", 0.4 - 0.01 * rank
    given = [one.arg for one in function.args.args if one.arg not in OWN]
    called = (*known.members_imported, *known.called) if 1 < len(given) < 4 else ()
    for rank, other in enumerate(list(dict.fromkeys(called))[:60]):
        yield f"{name} = {other}({', '.join(given)})", 0.5 - 0.002 * rank


def _next_of(
    known: Known, twin: str, target: str, name: str, value: ast.expr
) -> Iterator[tuple[str, float]]:
    """The assignment after a twin: `minute = f(hour)` before, `second = f(minute)` here."""
    for read in known.needs(value):
        if read not in (target, name) and read not in known.everywhere:
            later = re.sub(rf"(?<![\w.]){re.escape(target)}\b", "\0", twin)
            later = re.sub(rf"(?<![\w.]){re.escape(read)}\b", target, later)
            yield later.replace("\0", name), 0.6


def _deeper(known: Known, node: ast.stmt) -> str:
    """By what the block of the function around a statement is indented."""
    function = known.function(node)
    outer, inner = (
        (known.indent(one) for one in (function, function.body[0])) if function else (None, None)
    )
    return inner[len(outer) :] if outer is not None and inner is not None else "    "


def put_before(known: Known, node: ast.stmt, kind: str, text: str, prior: float) -> Iterator[Edit]:
    """A statement before another one that begins its line; behind a tab what stands under it."""
    indent, start = known.indent(node), known.start(node)
    own = known.names_stored(node.target) if isinstance(node, ast.For) else ()
    if indent is not None and text.partition(" = ")[0] not in own:  # which the loop binds itself
        said = text.replace("\t", f"{known.newline}{indent}{_deeper(known, node)}")
        yield Edit(kind, node, ((start, start, f"{said}{known.newline}{indent}"),), "", said, prior)


def put_after(known: Known, node: ast.stmt, kind: str, text: str, prior: float) -> Iterator[Edit]:
    """The same after one that ends its line."""
    indent, end = known.indent(node), known.end(node)
    if indent is not None and known.text[end : end + 1] in ("", "\r", "\n"):
        said = text.replace("\t", f"{known.newline}{indent}{_deeper(known, node)}")
        yield Edit(kind, node, ((end, end, f"{known.newline}{indent}{said}"),), "", said, prior)


def blocks(known: Known, node: ast.AST) -> Iterator[Edit]:
    """Statements of a block: one less, two exchanged, the last one out of it, the next one into it."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield from _fewer(known, block)
            yield from _moved(known, node, block)


def cases(known: Known, node: ast.If) -> Iterator[Edit]:
    """Two neighbouring cases of `if` and `elif` in each other's place: the first that holds is taken."""
    other = node.orelse[0] if len(node.orelse) == 1 else None
    if isinstance(other, ast.If) and known.text.startswith("elif", known.start(other)):
        spans = [(known.start(one.test), known.end(one.body[-1])) for one in (node, other)]
        texts = [known.text[start:end] for start, end in spans]
        if "\\\n" not in "".join(texts):
            pieces = ((*spans[0], texts[1]), (*spans[1], texts[0]))
            yield Edit("order", node, pieces, texts[0], texts[1], 0.4)


def _fewer(known: Known, block: list[ast.stmt]) -> Iterator[Edit]:
    fixed = ast.Pass | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal
    for one, following in zip(block, [*block[1:], None], strict=True):
        said = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if not simple(one) or isinstance(one, fixed) or said or known.function(one) is None:
            continue
        text = known.segment(one)
        yield known.change("removed", one, "pass", 0.15)
        if (
            following is not None
            and simple(following)
            and not isinstance(following, ast.Return | ast.Raise)
        ):
            other = known.segment(following)
            in_vain = {one, following} <= known.overwritten  # and so would be the other one
            if "\n" not in text + other and not in_vain:
                pieces = (
                    (known.start(one), known.end(one), other),
                    (known.start(following), known.end(following), text),
                )
                yield Edit("order", one, pieces, text, other, 0.12)


def _moved(known: Known, owner: ast.AST, block: list[ast.stmt]) -> Iterator[Edit]:
    def at_depth(kind: str, one: ast.stmt, deep: str | None, prior: float) -> Iterator[Edit]:
        now = known.indent(one)
        if now is not None and deep is not None:
            start = known.start(one)
            yield Edit(kind, one, ((start - len(now), start, deep),), known.segment(one), "", prior)

    inside = (
        not isinstance(owner, Function) or known.function(owner) is not None
    )  # a function in another one
    if (
        isinstance(owner, Compound)
        and inside
        and len(block) > 1
        and simple(block[-1])
        and _trailing(owner) is block
    ):
        deep = BURIES if alone_gives(known, block[-1]) else 0.25
        yield from at_depth("nesting", block[-1], known.indent(owner), deep)
    for one, following in zip(block, block[1:], strict=False):
        into: ast.stmt = one
        prior = BURIES if isinstance(following, LEAVES) and following is not block[-1] else 0.2
        while (
            isinstance(into, Compound)
            and simple(following)
            and known.function(following) is not None
        ):
            into = _trailing(into)[-1]
            yield from at_depth("nested", following, known.indent(into), prior)


def alone_gives(source: Source, node: ast.AST) -> bool:
    """True for a `return` of a value in the last `if` or loop of a function, which gives nothing back where it is not run."""
    owner = source.parents.get(node)
    up = source.parents.get(owner) if isinstance(owner, ast.If | Loop) else None
    if not isinstance(node, ast.Return) or node.value is None or not isinstance(up, Function):
        return False
    ends = isinstance(owner, ast.If) and all(
        block and isinstance(block[-1], LEAVES) for block in (owner.body, owner.orelse)
    )
    return up.body[-1] is owner and not ends


def buries(node: ast.AST) -> bool:
    """True where what stands behind a statement that leaves the block is never run."""
    blocks = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
    return any(
        isinstance(one, LEAVES) for block in blocks if isinstance(block, list) for one in block[:-1]
    )


def _trailing(owner: Any) -> list[ast.stmt]:
    """The block of a compound statement that stands last: what is indented behind it belongs to it."""
    handlers = getattr(owner, "handlers", None)
    ends = getattr(owner, "finalbody", None) or getattr(owner, "orelse", None)
    found: list[ast.stmt] = ends or (handlers[-1].body if handlers else owner.body)
    return found
