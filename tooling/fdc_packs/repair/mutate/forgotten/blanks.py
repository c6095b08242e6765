"""What may have stood where `pass` is, made of what the function has and the failing comparison misses: texts, items, growth."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from .. import expected
from ..known import Known
from ..source import OWN, Function, Loop, name_of
from ..values import Found

CONSTANTS, PLACES, VALUES, FUNCTIONS, COMPOSED = 12, 8, 6, 24, 120
_NAME = re.compile(r"[^\W\d]\w*")
_GROWS = {
    "list": ("{}.append({})", "{}.extend({})", "{} += {}"), "set": ("{}.add({})", "{}.update({})"),
    "dict": ("{}.update({})",), "int": ("{} += {}",), "str": ("{} += {}",), "deque": ("{}.append({})",),
}  # fmt: skip
"""How what a name holds grows, by what it was given first."""


def constants(known: Known, function: ast.AST) -> list[str]:
    """Plain values as they are written: what the failing comparison misses, then those of the function, each once."""
    mark = "'" if known.text.count("'") > known.text.count('"') else '"'
    lost = [repr(one) for one in expected.missing(known.message)]
    told = [one if mark in one else f"{mark}{one[1:-1]}{mark}" for one in lost]
    held = [
        known.segment(one)
        for one in ast.walk(function)
        if isinstance(one, ast.Constant)
        and not isinstance(known.parents.get(one), ast.Expr | ast.JoinedStr)
    ]
    return list(dict.fromkeys(one for one in (*told, *held) if "\n" not in one and len(one) < 40))[
        :CONSTANTS
    ]


def given(known: Known, function: ast.AST, wanted: Sequence[str]) -> Iterator[tuple[str, float]]:
    """A plain value that is returned, or that a name gets that has none here."""
    returned = [one.value for one in ast.walk(function) if isinstance(one, ast.Return)]
    plain = any(isinstance(one, ast.Constant) for one in returned)
    lost = len(list(expected.missing(known.message)))
    for rank, text in enumerate(constants(known, function)):
        sure = 0.65 if rank < lost else 0.5 if plain else 0.3
        yield f"return {text}", sure - 0.01 * rank
        for name in wanted:
            yield f"{name} = {text}", sure + 0.1 - 0.01 * rank


def stored(
    known: Known, node: ast.stmt, function: ast.AST, wanted: Sequence[str], plain: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """An item that is stored where the function looks for one: `d[k] = v`, and the name that gets the same value."""
    idle = known.unused(node)
    values = sorted(plain, key=lambda name: name not in idle)[:VALUES]
    for rank, place in enumerate(_items(known, node, function)[:PLACES]):
        own = set(_NAME.findall(place))
        for name in wanted:
            yield f"{name} = {place}", 0.5 - 0.02 * rank
        for value in (*values, "None", "True", "[]", "{}"):
            worth = (0.55 if value in idle else 0.36 if value in plain else 0.25) - 0.02 * rank
            if value not in own:
                yield f"{place} = {value}", worth
                for name in (one for one in wanted if one != value):
                    yield f"{place} = {name} = {value}", worth + 0.1
        for end in ("+= 1", *(f"+= {value}" for value in values[:2])):
            yield f"{place} {end}", 0.25 - 0.02 * rank
        yield f"del {place}", 0.3 - 0.02 * rank


def counted(known: Known, node: ast.stmt, function: ast.AST) -> Iterator[tuple[str, float]]:
    """One more, or less, of what begins with a number: of a name of the function, or a member of the object."""
    owner = known.owner(node)
    for one in known.nodes:
        to = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if to is None or type(getattr(getattr(one, "value", None), "value", None)) is not int:
            continue
        here = known.function(one) is function if isinstance(to, ast.Name) else known.owner(one) is owner is not None  # fmt: skip
        if here and (isinstance(to, ast.Name) or name_of(getattr(to, "value", to)) == "self"):
            yield f"{known.segment(to)} += 1", 0.5
            yield f"{known.segment(to)} -= 1", 0.25


def _items(known: Known, node: ast.stmt, function: ast.AST) -> list[str]:
    """The items that a function reads, stores, asks for or looks up: `d[k]` also of `k in d` and `d.get(k)`."""
    found: list[tuple[ast.AST, ast.AST]] = []
    for one in ast.walk(function):
        if isinstance(one, ast.Subscript) and not isinstance(one.slice, ast.Slice | ast.Constant):
            found.append((one.value, one.slice))
        elif isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.In | ast.NotIn):
            found.append((one.comparators[0], one.left))
        elif (
            isinstance(one, ast.Call)
            and name_of(one.func) in ("get", "pop", "setdefault")
            and one.args
        ):
            found += [(one.func.value, one.args[0])] if isinstance(one.func, ast.Attribute) else []
    simple = ast.Name | ast.Attribute | ast.Subscript
    texts = [
        f"{known.segment(base)}[{known.segment(key)}]"
        for base, key in found
        if isinstance(base, simple) and known.fits(base, node) and known.fits(key, node)
    ]
    return [one for one in dict.fromkeys(texts) if "\n" not in one and len(one) <= 40]


def grown(
    known: Known, node: ast.stmt, function: ast.AST, plain: Sequence[str], values: Found
) -> Iterator[tuple[str, float]]:
    """What a name of the function gathers, above all one that begins empty and that nothing adds to."""
    looped = [up for up in known.around(node) if isinstance(up, ast.For | ast.AsyncFor)]
    near = [one.id for up in looped for one in ast.walk(up.target) if isinstance(one, ast.Name)]
    made = sorted(values, key=lambda text: -values[text])[:VALUES]
    added = list(dict.fromkeys((*near, *sorted(known.unused(node)), *plain)))[:VALUES]
    texts = constants(known, function)[:VALUES]
    grows = {name_of(one.func.value) for one in ast.walk(function)
             if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)}  # fmt: skip
    grows |= {name_of(one.target) for one in ast.walk(function) if isinstance(one, ast.AugAssign)}
    for one in ast.walk(function):
        to = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if (
            not isinstance(one, ast.Assign)
            or not isinstance(to, ast.Name)
            or one.lineno > node.lineno
        ):
            continue
        kind = _kind(one.value)
        firm = (0.3 if to.id in grows else 0.55) - 0.1 * (not near)
        plainly = {"int": ["1"], "dict": []}.get(kind, [one for one in texts if one[0] in "'\""])
        for form, part in itertools.product(_GROWS.get(kind, ()), (*added, *made, *plainly)):
            if part != to.id:
                rank = added.index(part) if part in added else 3
                yield (
                    form.format(to.id, part),
                    firm - 0.03 * rank - 0.05 * (form != _GROWS[kind][0]),
                )


def _kind(value: ast.AST) -> str:
    """The type of what a name is given, where that can be read."""
    if isinstance(value, ast.Constant):
        return type(value.value).__name__
    if isinstance(value, ast.List | ast.ListComp | ast.Set | ast.SetComp | ast.Dict | ast.DictComp):
        return type(value).__name__.removesuffix("Comp").lower()
    return name_of(value.func) if isinstance(value, ast.Call) else ""


def yielded(
    known: Known, node: ast.stmt, function: ast.AST, plain: Sequence[str], values: Found
) -> Iterator[tuple[str, float]]:
    """What a generator yields, above all what the loop goes through."""
    gives = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(function))
    returns = any(isinstance(one, ast.Return) and one.value for one in ast.walk(function))
    iterated = "is not iterable" in known.message or "not an iterator" in known.message
    if not gives and (returns or not iterated):
        return
    looped = [up for up in known.around(node) if isinstance(up, Loop)]
    targets = (up.target for up in looped if not isinstance(up, ast.While))
    bound = [[one.id for one in ast.walk(to) if isinstance(one, ast.Name)] for to in targets]
    near = [name for names in bound for name in names]
    if len(near) > 1:
        every = ", ".join(name for names in reversed(bound) for name in names)
        yield f"yield {every}", 0.6
    for rank, name in enumerate(list(dict.fromkeys((*near, *reversed(plain))))[:VALUES]):
        yield f"yield {name}", (0.6 if gives else 0.5) - 0.03 * rank
        yield f"yield from {name}", 0.35 - 0.03 * rank
    for text, prior in sorted(values.items(), key=lambda row: -row[1])[:VALUES]:
        yield f"yield {text}", 0.7 * prior
        yield f"yield from {text}", 0.6 * prior


def composed(
    known: Known, node: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[str, float]]:
    """What two functions of the module make of the parameter one after the other, where nothing else is left of the body;
    those that the docstring or the function's own name speaks of come first."""
    own = [one.arg for one in function.args.args if one.arg not in OWN]
    said = f"{ast.get_docstring(function) or ''} {function.name}".lower()
    rest = [one for one in function.body if one is not node and not isinstance(one, ast.Expr)]
    if rest or not own or function.body[-1] is not node:
        return
    names = [one for one in known.taking_one if one != function.name]
    worth = {one: _spoken(one, said) for one in names}
    names = sorted(names, key=lambda one: -worth[one])[:FUNCTIONS]
    for name in names:
        yield f"return {name}({own[0]})", 0.4 + 0.15 * worth[name]
    pairs = sorted(
        itertools.permutations(names, 2), key=lambda pair: -worth[pair[0]] - worth[pair[1]]
    )
    for rank, (outer, inner) in enumerate(pairs[:COMPOSED]):
        firm = 0.3 + 0.12 * (worth[outer] + worth[inner]) - 0.0005 * rank
        stands = f"{inner}({own[0]})" in known.text  # as a part of another function
        yield f"return {outer}({inner}({own[0]}))", firm if stands else 0.6 * firm


def _spoken(name: str, said: str) -> float:
    """How much a text speaks of a name: 1 where it has it as a word, less for a part of it."""
    if re.search(rf"\b{re.escape(name.lower())}\b", said):
        return 1.0
    parts = [one for one in name.lower().split("_") if len(one) > 2]
    return 0.5 * sum(one in said for one in parts) / len(parts) if parts else 0.0


def members(
    known: Known, wanted: Sequence[str], plain: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The member by the name that has no value here; several such names that get the parts of one value."""
    for name, owner in itertools.product(wanted, plain):
        if name != owner:
            often = name in known.members.get(owner, ())
            yield f"{name} = {owner}.{name}", 0.6 if often else 0.3
    if 1 < len(wanted) < 4:
        for owner in plain:
            firm = 0.5 if owner not in wanted else 0.0
            yield f"{', '.join(wanted)} = {owner}", firm
            yield f"{', '.join(wanted[::-1])} = {owner}", firm / 2


def of_functions(
    known: Known, node: ast.stmt, function: ast.AST, plain: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The member of an inner function that the function asks for and nothing stores: `wrapper.cache = cache`."""
    inner = [
        one.name for one in ast.walk(function) if isinstance(one, Function) and one is not function
    ]
    asked = [
        one
        for one in ast.walk(function)
        if isinstance(one, ast.Attribute) and name_of(one.value) in inner
    ]
    stored = {(name_of(one.value), one.attr) for one in asked if not isinstance(one.ctx, ast.Load)}
    for owner, member in dict.fromkeys((name_of(one.value), one.attr) for one in asked):
        for value in (
            (*plain, "0", "None", "False", "[]", "{}") if (owner, member) not in stored else ()
        ):
            said = value in plain and (
                value.strip("_") == member.strip("_") or value in known.unused(node)
            )
            yield f"{owner}.{member} = {value}", 0.6 if said else 0.35


def handed_up(
    known: Known, node: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[str, float]]:
    """The method of the base by the same name, with what this one was given; a method of the class that needs nothing."""
    owner = known.owner(node)
    if owner is None or not function.args.args or function.args.args[0].arg not in OWN:
        return
    own = ", ".join(one.arg for one in function.args.args[1:])
    if function.args.args[0].arg == "cls":  # an object of the class, as a class method gives one
        for text in dict.fromkeys((own, *own.split(", "), "")):
            yield f"return cls({text})", 0.6 if text == own else 0.3
    if function.name in ("__repr__", "__str__"):
        named = (
            "__name__"
            if any(name_of(one) == "type" for one in owner.bases)
            else "__class__.__name__"
        )
        yield f"return {function.args.args[0].arg}.{named}", 0.4
    if owner.bases:
        firm = 0.5 if function.name == "__init__" else 0.35
        for text in dict.fromkeys((own, "")):
            yield f"super().{function.name}({text})", firm
            yield f"return super().{function.name}({text})", firm - 0.1
    for one in owner.body:
        if isinstance(one, Function) and one is not function and not one.decorator_list:
            needed = len(one.args.args) - len(one.args.defaults)
            if needed == 1 and one.name[:2] != "__":
                prefix = function.args.args[0].arg
                firm = 0.4 if one.name[:1] == "_" else 0.3
                yield f"{prefix}.{one.name}()", firm
                yield f"return {prefix}.{one.name}()", firm - 0.05


def called_otherwise(
    known: Known, node: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[str, float]]:
    """What a method of the class that takes the same does, with another method that takes as much as the one that it calls:
    `self.drop(x)` of one stands for `self.keep(x)` of another."""
    owner = known.owner(node)
    methods = [one for one in owner.body if isinstance(one, Function)] if owner is not None else []
    taken = {one.name: ast.dump(one.args) for one in methods}
    alike = [
        one
        for one in methods
        if one is not function and taken[one.name] == taken.get(function.name)
    ]
    for call in (part.value for one in alike for part in one.body if isinstance(part, ast.Expr)):
        called = call.func if isinstance(call, ast.Call) else call
        own = isinstance(called, ast.Attribute) and name_of(called.value) in OWN
        if called is call or not own or "\n" in known.segment(call):
            continue
        said = name_of(called)
        for name in taken:
            if (
                name not in (said, function.name)
                and name[:2] != "__"
                and taken[name] == taken.get(said)
            ):
                yield known.segment(call).replace(f".{said}(", f".{name}(", 1), 0.4
