"""Forgotten statements that the kind of the function asks for: of special methods, of bases, of names of other scopes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..known import Known
from ..source import OWN, Function, name_of
from .place import Place

BINARY = frozenset(
    f"__{side}{name}__" for side in ("", "r", "i")
    for name in ("add sub mul truediv floordiv mod divmod pow lshift rshift and or xor matmul eq ne lt le gt ge").split()
)  # fmt: skip
"""Special methods that say `NotImplemented` of what they do not know."""
KEPT = 0.5
"""How common it is that the maker of an object keeps a parameter, where the class has a member by its name."""
BEGINNING = ("__init__", "reset", "clear", "__enter__", "setUp", "begin")
"""Methods that give the members of an object the values with which they begin."""
EMPTY = ("None", "[]", "{}", "0", "False", "True", "''", "set()", "()", "1")


_BY_METHOD = {
    "append": "[]",
    "extend": "[]",
    "insert": "[]",
    "sort": "[]",
    "add": "set()",
    "update": "{}",
    "setdefault": "{}",
}


def begins(function: Function, name: str) -> Iterator[str]:
    """The empty values that a name may begin with, by what the function does with it."""
    for one in ast.walk(function):
        if isinstance(one, ast.Attribute) and name_of(one.value) == name and one.attr in _BY_METHOD:
            yield _BY_METHOD[one.attr]
        elif (
            isinstance(one, ast.Subscript)
            and name_of(one.value) == name
            and not isinstance(one.ctx, ast.Load)
        ):
            yield "{}"
            yield "[]"
        elif isinstance(one, ast.AugAssign) and name_of(one.target) == name:
            yield from ("''", "0") if isinstance(getattr(one.value, "value", None), str) else ("0", "''", "[]")  # fmt: skip
        elif (
            isinstance(one, ast.Compare)
            and name_of(one.left) == name
            and isinstance(one.ops[0], ast.Is | ast.IsNot)
        ):
            yield "None"
        elif (
            isinstance(one, ast.If | ast.While)
            and name_of(getattr(one.test, "operand", one.test)) == name
        ):
            yield from ("False", "None", "True")


def special(place: Place) -> Iterator[tuple[str, float]]:
    """Statements that functions of this kind have."""
    yield from _of_bases(place)
    yield from _begun(place)
    yield from _scopes(place)
    yield from _of_object(place)
    if place.function.name in BINARY and place.owner is not None:
        yield "return NotImplemented", 0.55


def _of_bases(place: Place) -> Iterator[tuple[str, float]]:
    """The method of a base by the same name, called of the base: as code from before `super()` does."""
    args = place.function.args
    if place.owner is None:
        return
    own = [one.arg for one in (*args.posonlyargs, *args.args)]
    stars = [f"*{args.vararg.arg}"] if args.vararg else []
    stars += [f"**{args.kwarg.arg}"] if args.kwarg else []
    for base in place.owner.bases:
        name = place.known.segment(base)
        if not name_of(base) or name == "object":
            continue
        latest = [f"self, {one}" for one in place.before[-1:]]
        for given in dict.fromkeys((", ".join([*own, *stars]), ", ".join(own[:2]), "self", *latest)):  # fmt: skip
            call = f"{name}.{place.function.name}({given})"
            said = 0.15 * (f"{name}.{place.function.name}(" in place.known.text)
            yield call, 0.35 + said
            yield f"return {call}", 0.4 + said


def _begun(place: Place) -> Iterator[tuple[str, float]]:
    """What `__init__` does not give a value, and other methods store or read; all that it takes together."""
    if place.owner is None:
        return
    methods, read, stored = place.known.owned(place.owner)
    here = {one.attr for one in ast.walk(place.function)
            if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load)}  # fmt: skip
    if place.function.name in BEGINNING:
        for name in sorted((read | stored) - methods - here):
            for rank, value in enumerate(EMPTY):
                yield f"self.{name} = {value}", 0.5 - 0.02 * rank
    for name in place.taken if place.function.name == "__init__" else ():
        if name in read | stored and name not in here:
            yield f"self.{name} = {name}", KEPT
    for name, value in _begin_with(place.known, place.owner).items():
        if name not in here and name in read | stored:
            yield f"self.{name} = {value}", 0.3  # as it was at first
    if place.ends:
        yield from ((f"return self.{name}", 0.3) for name in sorted((read | stored) - methods)[:16])
    if len(place.idle) > 1:
        together = ", ".join(place.idle)
        for name in sorted((read | stored) - methods - here):
            yield f"self.{name} = ({together})", 0.4
            yield f"self.{name} = {together}", 0.35


def _of_object(place: Place) -> Iterator[tuple[str, float]]:
    """What a member becomes of an object that the function makes of a class of the file."""
    known = place.known
    classes = {one.name: one for one in known.nodes if isinstance(one, ast.ClassDef)}
    for one in ast.walk(place.function):
        made = (
            one.value.func
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
            else None
        )
        kind = classes.get(made.id) if isinstance(made, ast.Name) else None
        to = one.targets[0] if isinstance(one, ast.Assign) else None
        if kind is None or not isinstance(to, ast.Name) or to.id not in place.before:
            continue
        begun = _begin_with(known, kind)
        for name, value in begun.items():
            yield f"{to.id}.{name} = {value}", 0.26
            if value in ("True", "False"):
                yield f"{to.id}.{name} = {value != 'True'}", 0.36
            yield from ((f"{to.id}.{name} = {one}", 0.32) for one in place.idle)


def _begin_with(known: Known, kind: ast.ClassDef) -> dict[str, str]:
    """The members of a class that begin with a constant, most 40, and that constant as it is written."""
    found: dict[str, str] = {}
    for one in ast.walk(kind):
        value = one.value if isinstance(one, ast.Assign) else None
        for to in one.targets if isinstance(one, ast.Assign) else ():
            plain = isinstance(value, ast.Constant | ast.List | ast.Dict) and value is not None
            if (
                plain
                and value is not None
                and len(text := known.segment(value)) < 12
                and name_of(to)
            ):
                found.setdefault(name_of(to), text)
    return dict(list(found.items())[:40])


def _scopes(place: Place) -> Iterator[tuple[str, float]]:
    """`global` and `nonlocal`, for names that the function binds and the module or a function around it binds, too."""
    known = place.known
    own = known.names_stored(place.function)
    declared = [
        one for one in ast.walk(place.function) if isinstance(one, ast.Global | ast.Nonlocal)
    ]
    for name in (name for one in declared for name in one.names if name not in own):
        for rank, value in enumerate((*place.idle, *place.before[-1:], "True", "None", "False")):
            yield f"{name} = {value}", 0.55 - 0.02 * rank
    outer = [one for one in known.around(place.node) if isinstance(one, Function)][1:]
    around = {name for one in outer for name in (*known.names_stored(one), *_taken(one))}
    for name in sorted(own):
        if name in around:
            yield f"nonlocal {name}", 0.6
        elif name in known.top and place.function.body[0] is place.node:
            yield f"global {name}", 0.6


def _taken(function: Function) -> list[str]:
    return [
        one.arg
        for one in ast.walk(function.args)
        if isinstance(one, ast.arg) and one.arg not in OWN
    ]
