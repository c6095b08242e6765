"""Operators for what lost a part: a call its argument, a value the call around it or the other one, a comparison the next."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from . import expected
from .hints import lacks
from .known import Known
from .source import OWN, Function, Scoped, name_of
from .standard.members import made_with
from .standard.typed import among_types
from .values import BINDS, Found, Row, wrong_way

ARGUMENTS = 48
_OF_MEMBERS = frozenset(("getattr", "hasattr"))
_SIMPLE_VALUES = ("None", "True", "False", "0", "1")
_WRAPS = "list tuple sorted set frozenset str int len iter dict reversed bool next sum max min abs bytes float".split()
_ITERATED = "range enumerate reversed sorted list iter set zip".split()
_SINGLE = "len int bool sum abs float next".split()
_BARE = "groups groupdict group lower upper strip items keys values copy split encode decode pop popitem".split()
_ASKED = "isdigit isalpha isalnum isascii isspace islower isupper isidentifier".split()
"""Methods of texts that answer a question."""
_VALUED = (
    ast.Return | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.BinOp | ast.Compare | ast.keyword | ast.IfExp | ast.Tuple
    | ast.BoolOp | ast.UnaryOp | ast.Lambda | ast.Dict | ast.List | ast.Yield | ast.ListComp | ast.GeneratorExp
)  # fmt: skip


def arguments(known: Known, node: ast.Call) -> Iterator[Row]:  # noqa: C901
    """One more argument, at each place: what other calls of the function have there, a name of the scope, a plain value."""
    yield from _handed_on(known, node)
    yield from _like_its_twin(known, node)
    if any(isinstance(one, ast.Starred) for one in node.args):
        return
    found: dict[tuple[int | str, str], float] = {}
    passed = {known.segment(one) for one in (*node.args, *(part.value for part in node.keywords))}
    named = {one.arg for one in node.keywords}
    bound = known.names(node)
    count = len(node.args)
    for other in [one for one in known.calls.get(known.segment(node.func), ()) if one is not node][
        :40
    ]:
        for at, one in enumerate(other.args[: count + 1]):
            text = known.segment(one)
            if (
                "\n" not in text
                and text not in passed
                and known.fits(one, node)
                and not isinstance(one, ast.Starred)
            ):
                found.setdefault((at, text), 0.45 if len(other.args) > count else 0.2)
        for word in other.keywords:
            text = known.segment(word.value)
            if (
                word.arg
                and word.arg not in named
                and "\n" not in text
                and known.fits(word.value, node)
            ):
                found.setdefault((word.arg, text), 0.3)
    defined, short = known.defined.get(name_of(node.func)), 1.0
    if defined is not None:
        method = (
            bool(defined.args.args)
            and defined.args.args[0].arg in OWN
            and isinstance(node.func, ast.Attribute)
        )
        wanted = [one.arg for one in defined.args.args][method:]
        if count + len(node.keywords) < len(wanted) - len(defined.args.defaults):
            short = 2.5
        for at, name in enumerate(wanted[: count + 1]):
            if name in bound and name not in passed:
                found[at, name] = 0.5
        for name in (*wanted[count + 1 :], *(one.arg for one in defined.args.kwonlyargs)):
            if name in bound and name not in passed:
                found.setdefault((name, name), 0.4)
    if name_of(node.func) in _OF_MEMBERS and count == 1 and known.given_to(node):
        found[1, repr(known.given_to(node))] = 0.6
    around = known.function(node)
    counts = known.reads(around) if around is not None else {}
    values = sorted(
        bound.keys() - passed - {"_"}, key=lambda one: (one in OWN, -counts.get(one, 0), one)
    )
    for at in range(count + 1):
        for rank, name in enumerate(values[:10]):
            idle = name in known.unused(node) and bound[name] <= node.lineno
            found.setdefault((at, name), 0.5 if idle else 0.16 - 0.008 * rank)
        for value in (*_SIMPLE_VALUES, *known.texts_given):
            found.setdefault((at, value), 0.08)
    for rank, text in enumerate(_held(known, node)):  # the last one: a member, one less or more
        found.setdefault((count, text), 0.12 - 0.004 * rank)
    for rank, text in enumerate(known.given_calls):
        if text not in passed and text != known.segment(node):
            found.setdefault((count, text), 0.09 - 0.002 * rank)
    held = [known.segment(one) for one in node.args if isinstance(one, ast.Name)]
    for name in known.taking_one[
        :12
    ]:  # what a function of the module makes of what is passed, or of another name
        for given in dict.fromkeys((*held, *values[:2])) if name != name_of(node.func) else ():
            found.setdefault((count, f"{name}({given})"), 0.15 if given in held else 0.1)
    if around is not None:  # what the caller was given is handed on
        for name in (one.arg for one in (*around.args.args, *around.args.kwonlyargs)):
            if name not in (*OWN, *passed, *named):
                found.setdefault((name, name), 0.14 if name in known.unused(node) else 0.05)
    taken = {one.arg: at for at, one in enumerate(around.args.args)} if around is not None else {}
    places = [taken.get(one.id) if isinstance(one, ast.Name) else None for one in node.args]
    for (place, text), prior in sorted(found.items(), key=lambda row: -row[1])[:ARGUMENTS]:
        mine = taken.get(text)
        turned = (
            isinstance(place, int)
            and mine is not None
            and any(
                at is not None and (at > mine) == (number < place)
                for number, at in enumerate(places)
            )
        )  # what a function takes it hands on in the same order, mostly
        worth = (
            min(0.9, prior * short) * (0.7 if turned else 1.0) * (0.3 if wrong_way(node) else 1.0)
        )
        yield "added", node, with_argument(known, node, place, text), worth


def _like_its_twin(known: Known, node: ast.Call) -> Iterator[Row]:
    """One more keyword, which gets what another one gets, with its own word: `g(x=-a.x, y=-a.y)`. The words are those of the
    class that is called, of other calls, and of the members that stand beside this one."""
    given = {one.arg for one in node.keywords}
    taken = known.parameters.get(name_of(node.func), ())
    calls = known.calls.get(known.segment(node.func), ())
    words = dict.fromkeys((*taken, *(one.arg for call in calls for one in call.keywords)))
    for part in node.args:  # `f(a.x, y=a.y)`
        if isinstance(part, ast.Attribute):
            for word in [
                one
                for one in words
                if one and one in known.members.get("self", ()) and one not in given
            ][:4]:
                text = f"{known.segment(part.value)}.{word}"
                yield "added", node, with_argument(known, node, word, text), 0.3
    for one in node.keywords:
        text = known.segment(one.value)
        said = re.compile(rf"\b{one.arg}\b") if one.arg else None
        if said is None or "\n" in text or text == one.arg or not said.search(text):
            continue
        for rank, other in enumerate([word for word in words if word and word not in given][:6]):
            fitted = said.sub(other, text)
            yield "added", node, with_argument(known, node, other, fitted), 0.5 - 0.02 * rank


def _held(known: Known, node: ast.Call) -> list[str]:
    """Members of `self` that the function around reads, methods of it that need nothing, and, where it calls itself, its
    parameters by one less."""
    around, owner = known.function(node), known.owner(node)
    members = [
        known.segment(one) for one in (ast.walk(around) if around is not None and owner is not None else ())
        if isinstance(one, ast.Attribute) and name_of(one.value) in OWN and isinstance(one.ctx, ast.Load)
    ]  # fmt: skip
    again = around is not None and name_of(node.func) == around.name
    less = [f"{one.arg} - 1" for one in around.args.args] if around is not None and again else []
    own = next((name for name in OWN if name in known.names(node)), "") if owner is not None else ""
    asked = [f"{own}.{name}()" for name in _bare_methods(known, node)] if own else []
    return [*list(dict.fromkeys([*less, *members, "-1"]))[:8], *asked]


def _bare_methods(known: Known, node: ast.Call) -> list[str]:
    """The methods of the class that need no argument: those that the file calls so before the others, special ones not."""
    owner, around = known.owner(node), known.function(node)
    found = [
        one for one in (owner.body if owner is not None else ())
        if isinstance(one, Function) and one is not around and one.name[:2] != "__" and not one.decorator_list
        and len(one.args.args) - len(one.args.defaults) == 1
    ]  # fmt: skip
    return [
        one.name for one in sorted(found, key=lambda one: one.name not in known.methods_called)
    ][:8]


def _handed_on(known: Known, node: ast.Call) -> Iterator[Row]:
    """`*args` and `**kwargs` that a function around the call takes and that the call does not hand on."""
    taken = [one.args for one in known.around(node) if isinstance(one, Function | ast.Lambda)]
    every, end = known.segment(node), known.end(node) - 1
    for mark, given in (("*", [one.vararg for one in taken]), ("**", [one.kwarg for one in taken])):
        for name in (one.arg for one in given if one is not None):
            if f"{mark}{name}" not in every:
                bare = known.text[known.end(node.func) : end].rstrip()[-1:] in ("(", ",")
                text = f"{mark}{name}" if bare else f", {mark}{name}"
                place = end
                if mark == "*" and node.keywords:
                    place = known.start(node.keywords[0])
                    text = f"*{name}, " if known.text[place - 1 : place] != "*" else ""
                if text:
                    yield "added", node, known.cut(node, (place, place, text)), 0.35


def with_argument(known: Known, node: ast.Call, place: int | str, text: str) -> str:
    end = known.end(node) - 1
    if isinstance(place, int) and place < len(node.args):
        start = known.start(node.args[place])
        return known.cut(node, (start, start, f"{text}, "))
    if isinstance(place, str):
        bare = known.text[known.end(node.func) : end].rstrip()[-1:] in ("(", ",")
        return known.cut(node, (end, end, f"{place}={text}" if bare else f", {place}={text}"))
    if node.args:
        start = known.end(node.args[-1])
        return known.cut(node, (start, start, f", {text}"))
    start = known.text.index("(", known.end(node.func), end + 1) + 1
    return known.cut(node, (start, start, f"{text}, " if node.keywords else text))


def wrapped(known: Known, node: ast.expr) -> Iterator[Row]:
    """A call around a value: an argument, a returned or an assigned value, an operand, what is iterated over or asked."""
    up, text = known.parents.get(node), known.segment(node)
    iterated = isinstance(up, ast.For | ast.comprehension) and node is up.iter
    held = isinstance(up, ast.Subscript) and node is up.value
    asked = isinstance(up, ast.If | ast.While | ast.IfExp) and node is up.test
    lost = lacks(up, known.message)
    valued = node in up.args if isinstance(up, ast.Call) else lost or isinstance(up, _VALUED)
    constant = isinstance(node, ast.Constant)
    odd = isinstance(node, ast.Constant) and not isinstance(node.value, int | str)
    bound = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    if odd or bound or "\n" in text or not (valued or held or iterated or asked):
        return
    found = _wraps(known, node)
    if ":" not in known.imported.get(text, ":") and not isinstance(
        up, ast.Call
    ):  # a module is no value
        for called in known.calls_of_members.get(text, ()):
            yield "wrapped", node, f"{called}()", 0.6
    if isinstance(node, ast.Attribute | ast.Name) and not constant:
        often = name_of(node) in known.methods_called or name_of(node) in known.called
        yield "wrapped", node, f"{text}()", 0.35 if often else 0.05
    for name in known.members.get(text, ()):
        yield "wrapped", node, f"{text}.{name}()", 0.25 if name in known.methods_called else 0.12
    found.raise_to("type", 0.9 if among_types(known, node) else 0.0)
    for name in _SINGLE if iterated else ():
        found.pop(name, None)  # it gives nothing to go through, or one element of what was meant
    for rank, name in enumerate(_ITERATED if iterated else ()):
        found.raise_to(name, 0.3 - 0.02 * rank)
    own = {name_of(one.func) for one in (up, node) if isinstance(one, ast.Call)} | {text, ""}
    for name in [name for name in found if name not in own]:
        yield "wrapped", node, f"{name}({text})", found[name] * (0.5 if constant else 1.0)
    if constant:
        return
    truth = asked or isinstance(up, ast.BoolOp | ast.UnaryOp)
    likely = (*expected.cased(known.message), *sorted(known.methods_called & set(_BARE)))
    for name in dict.fromkeys((*likely, *_BARE)):
        yield "wrapped", node, f"{text}.{name}()", 0.1 if name in known.methods_called else 0.05
    for name in _ASKED if truth else ():
        yield "wrapped", node, f"{text}.{name}()", 0.06
    if not truth and not isinstance(up, ast.Compare):
        for empty in ("[]", "()", "{}", "''") if isinstance(node, ast.Name) else ():
            yield "wrapped", node, f"({text} or {empty})", 0.03
        yield "wrapped", node, f"({text} or None)", 0.04


def awaited(known: Known, node: ast.Call) -> Iterator[Row]:
    """The result of a coroutine function, in another one."""
    if isinstance(known.function(node), ast.AsyncFunctionDef) and not isinstance(
        known.parents.get(node), ast.Await
    ):
        called = known.defined.get(name_of(node.func))
        sure = isinstance(called, ast.AsyncFunctionDef) or "coroutine" in known.message
        up = known.parents.get(node)
        tight = isinstance(up, ast.Attribute | ast.Subscript | ast.Call) and node not in getattr(up, "args", ())  # fmt: skip
        text = f"await {known.segment(node)}"
        yield "wrapped", node, f"({text})" if tight else text, 0.9 if sure else 0.1


def _wraps(known: Known, node: ast.expr) -> Found:
    """What could be called with the value, as the file calls it, defines it or takes it as a parameter."""
    found, up, function = Found(), known.parents.get(node), known.function(node)
    found.raise_all((name, 0.08) for name in _WRAPS)
    for rank, (name, count) in enumerate(known.called.most_common(40)):
        found.raise_to(name, 0.08 + 0.005 * min(count, 8) if rank < 12 else 0.05)
    for name in known.defined:  # private, and nothing calls it any more
        if name.startswith("_") and not name.startswith("__") and name in known.top:
            found.raise_to(name, 0.3 if name not in known.called else 0.0)
    found.raise_all((name, 0.05) for name in known.members_imported)
    lost = 0.36 if lacks(up, known.message) else 0.09
    for name in known.taking_one:
        found.raise_to(name, 0.9 if lost > 0.09 and name not in known.called else lost)
    found.raise_all((name, 0.5) for name in known.idle_imports)
    for name in [one for one in known.classes if one in known.top and one not in known.called]:
        found.raise_to(name, 0.3)  # nothing makes an object of it any more
    found.raise_all((name, 0.3) for name in known.unused(node))
    if isinstance(up, ast.Raise):
        found.raise_all((name, 0.6) for name in (*known.told.wanted, *known.raised, *_RAISED))
    takers = [one.args for one in (function, *known.above(node)) if isinstance(one, Scoped)]
    for name in (one.arg for args in takers for one in args.args):
        idle = name in known.unused(node) or not known.is_read(name, node)
        if name != OWN[0]:  # a class method may make one of its class
            found.raise_to(name, (0.45 if name in OWN else 0.3) if idle else 0.08)
    for name, beside in _called_alike(known, node, function):
        found.raise_to(name, beside)
    found.raise_all((name, 0.9) for name in made_with(known, node))
    if isinstance(up, ast.Return):
        found.raise_to(known.owed(up), 0.4)
    return Found({name: prior for name, prior in found.items() if prior})


_RAISED = ("ValueError", "TypeError", "RuntimeError", "KeyError", "AttributeError", "IndexError")


def _called_alike(known: Known, node: ast.expr, function: ast.AST | None) -> Iterator[tuple[str, float]]:  # fmt: skip
    """What the file calls with one argument: the function around with a part of the same thing, or a method."""
    base = _base(known, node)
    for text, one in known.calls_of_one:
        if not known.fits(one[0].func, node):
            continue
        near = [call for call in one if base and known.function(call) is function is not None]
        if any(_base(known, call.args[0]) == base for call in near):
            yield text, 0.3
        elif "." in text:
            yield text, 0.06 + 0.005 * min(len(one), 8)


def _base(known: Known, node: ast.expr) -> str:
    """What a member or an item is of; empty for anything else."""
    return known.segment(node.value) if isinstance(node, ast.Attribute | ast.Subscript) else ""


def likewise(known: Known, node: ast.Compare) -> Iterator[Row]:
    """A comparison of two owners' member that goes on with another member: `a.x == b.x and a.y == b.y`."""
    owner, right = known.owner(node), node.comparators[0]
    sides = isinstance(node.left, ast.Attribute) and isinstance(right, ast.Attribute)
    if owner is None or not sides or len(node.ops) > 1 or known.text.count("\n", known.start(node), known.end(node)):  # fmt: skip
        return
    name, up, text = name_of(right), known.parents.get(node), known.segment(node)
    whole = known.segment(up) if isinstance(up, ast.BoolOp) else text
    methods, read, stored = known.owned(owner)
    if name_of(node.left) == name and isinstance(up, ast.BoolOp | ast.Return):
        every: dict[str, int] = known.members.get("self", Counter())
        around = known.function(node)
        beside = _of_special_methods(known, owner, around)
        rest = sorted((read | stored) - methods - {name}, key=lambda one: (-every.get(one, 0), one))
        rest.sort(key=lambda one: one not in beside)
        for other in rest[:8]:
            fitted = re.sub(rf"\.{name}\b", f".{other}", text)
            if fitted not in whole:
                yield "narrowed", node, f"{text} and {fitted}", 0.4 if other in beside else 0.15


def _of_special_methods(known: Known, owner: ast.ClassDef, around: ast.AST | None) -> set[str]:
    """The members of `self` that other special methods of the class read, but for `__init__`."""
    return {
        part.attr for one in owner.body
        if isinstance(one, Function) and one is not around and one.name[:2] == "__" and one.name != "__init__"
        for part in ast.walk(one) if isinstance(part, ast.Attribute) and name_of(part.value) in OWN
    }  # fmt: skip


def as_elsewhere(known: Known, node: ast.Call) -> Iterator[Row]:
    """What the file does elsewhere with the result of a call of the same name: `at.isoweekday() % 7`, `line.split()[0]`."""
    name, text, here = name_of(node.func), known.segment(node), known.parents.get(node)
    found = Found()
    for other in known.named.get(name, ())[:40] if name and "\n" not in text else ():
        up = known.parents.get(other)
        if other is node or up is None:
            continue
        method = known.parents.get(up)
        if isinstance(up, ast.Attribute) and isinstance(method, ast.Call) and method.func is up:
            bare = not method.args and not method.keywords
            found.raise_to(f"{text}.{up.attr}()", 0.25 * bare)
        elif isinstance(up, ast.BinOp | ast.Subscript) and _plain_beside(up, other):
            form = known.cut(up, (known.start(other), known.end(other), text))
            found.raise_to(f"({form})" if isinstance(here, BINDS) else form, 0.3)
    whole = known.segment(here) if isinstance(here, ast.BinOp | ast.Subscript) else ""
    made = {
        one: prior for one, prior in found.items() if prior and one != whole and "\n" not in one
    }
    yield from Found(made).rows("wrapped", node, 8)


def defaulted(known: Known, node: ast.expr) -> Iterator[Row]:
    """The default that a part of the same thing has elsewhere: `groups["minute"] or 0`."""
    base, up = _base(known, node), known.parents.get(node)
    said = known.segment(node)
    for one in known.ors if base and not isinstance(up, ast.BoolOp) else ():
        rest = known.text[known.end(one.values[0]) : known.end(one)]
        if (
            _base(known, one.values[0]) == base
            and "\n" not in rest + said
            and known.fits(one, node)
        ):
            text = f"{said}{rest}"
            near = known.function(one) is known.function(node)
            bare = isinstance(up, ast.Return | ast.Assign | ast.Call | ast.keyword)
            yield "wrapped", node, text if bare else f"({text})", 0.35 if near else 0.12


def _plain_beside(up: ast.BinOp | ast.Subscript, part: ast.expr) -> bool:
    """True where all but the part is numbers and texts."""
    rest = [up.left, up.right] if isinstance(up, ast.BinOp) else [up.value, up.slice]
    plain = ast.Constant | ast.UnaryOp | ast.USub | ast.Slice
    return all(
        isinstance(one, plain) for side in rest if side is not part for one in ast.walk(side)
    )
