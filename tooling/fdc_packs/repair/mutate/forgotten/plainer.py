"""A parameter that a function makes plain before it uses it: `name = name.strip()`, `items = list(items)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..known import Known
from ..source import OWN, Function, name_of

_OF_TEXT = ("strip", "lower", "upper")
_TEXT = frozenset(
    "split rsplit splitlines strip lstrip rstrip replace startswith endswith lower upper title capitalize isdigit isalpha isupper"
    " islower encode partition rpartition removeprefix removesuffix casefold zfill".split()
)
_ASKS = re.compile(r"^_*(is|has|can|should|may|does|all|any|eq|ne|lt|le|gt|ge|bool|contains)(_|$)")
_COUNTS = re.compile(
    r"size|count|len|num|index|hash|total|weight|width|height|depth|level|^__(int|index|len)__$"
)
LIKELY, ODD = 0.3, 0.1
"""How common it is for a parameter that the function treats as of the kind, and for another one."""


def made(function: Function) -> Iterator[tuple[str, float]]:
    """Statements that exchange a parameter for its plain form, each with how common that is."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names = [one for one in given if one.arg not in OWN]
    texts, looped, counted = _treated(function)
    for rank, one in enumerate(names[:6]):
        name, said = one.arg, ast.unparse(one.annotation) if one.annotation else ""
        text = LIKELY if name in texts or said == "str" else ODD
        for way in _OF_TEXT:
            yield f"{name} = {name}.{way}()", text - 0.01 * rank
        kinds = {"list": looped, "tuple": looped, "int": counted, "abs": counted, "str": texts}
        for kind, treated in kinds.items():
            firm = LIKELY - 0.05 if name in treated else ODD / 2
            yield f"{name} = {kind}({name})", firm - 0.01 * rank


def first_read(known: Known, node: ast.stmt, function: Function) -> Iterator[tuple[str, float]]:
    """The likely ones before the first statement that reads the parameter."""
    if node not in function.body[:4]:
        return
    before = [part for one in function.body[: function.body.index(node)] for part in ast.walk(one)]
    earlier = {name_of(one) for one in before if isinstance(one, ast.Name)}
    reads = {name_of(one) for one in ast.walk(node) if isinstance(one, ast.Name)} - earlier
    for text, prior in made(function):
        if prior > ODD and text.partition(" ")[0] in reads:
            yield text, prior


def _treated(function: Function) -> tuple[set[str], set[str], set[str]]:
    """Names that a function treats as texts, that it goes through or indexes, and that it counts with."""
    texts, looped, counted = set[str](), set[str](), set[str]()
    for one in ast.walk(function):
        if isinstance(one, ast.Attribute) and one.attr in _TEXT:
            texts.add(name_of(one.value))
        elif isinstance(one, ast.For | ast.comprehension):
            looped.add(name_of(one.iter))
        elif isinstance(one, ast.Subscript):
            looped.add(name_of(one.value))
        elif isinstance(one, ast.Compare | ast.BinOp):
            sides = [one.left, *(one.comparators if isinstance(one, ast.Compare) else [one.right])]
            names = {name_of(side) for side in sides if isinstance(side, ast.Name)}
            plain = {type(side.value) for side in sides if isinstance(side, ast.Constant)}
            texts |= names if str in plain else set()
            counted |= names if plain & {int, float} else set()
        elif isinstance(one, ast.Call):
            _given(one, texts, looped)
    return texts, looped, counted


def _given(call: ast.Call, texts: set[str], looped: set[str]) -> None:
    """What calls of well-known functions tell of their arguments."""
    names = [one.id for one in call.args if isinstance(one, ast.Name)]
    owner = name_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if owner == "re" or owner.endswith(("pattern", "regex", "_re", "_RE")):
        texts.update(names)
    if name_of(call.func) in (
        "len",
        "sum",
        "sorted",
        "max",
        "min",
        "any",
        "all",
        "enumerate",
        "zip",
    ):
        looped.update(names)


def results(function: Function) -> Iterator[tuple[str, float]]:
    """Plain values that a function may give back: truth values where its name asks, numbers where it counts."""
    asks, counts = (bool(kind.search(function.name)) for kind in (_ASKS, _COUNTS))
    truth, number = (0.3, 0.2) if asks == counts else (0.4, 0.1) if asks else (0.1, 0.4)
    for text, prior in (("True", truth), ("False", truth), ("1", number), ("0", number)):
        yield f"return {text}", prior
    yield from (("return self", 0.3), ("return", 0.2), ("return None", 0.05))
