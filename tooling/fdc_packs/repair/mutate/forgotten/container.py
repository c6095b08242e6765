"""The collection that a lost name holds, by what is called of it: one of its own, or one made of what is here. And the item
that it holds of an iterator."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..known import Known
from ..source import Function

_KINDS = {
    "set": "add discard difference_update intersection_update symmetric_difference_update issubset issuperset "
    "difference union intersection isdisjoint",
    "list": "append extend insert sort reverse",
    "dict": "items keys values setdefault popitem",
}
_CALLED = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_EMPTY = {"set": "set()", "list": "[]", "dict": "{}"}
_GROWS = frozenset("add append extend insert update setdefault".split())


def held(
    known: Known, node: ast.stmt, function: Function, name: str, plain: list[str]
) -> Iterator[tuple[str, float]]:
    """Assignments to `name`: empty where something is put into it later, else a copy of a parameter or another name."""
    called = [
        one.attr
        for one in ast.walk(function)
        if isinstance(one, ast.Attribute) and getattr(one.value, "id", "") == name
    ]
    kinds = [_CALLED[one] for one in called if one in _CALLED]
    if not kinds:
        return
    kind = max(dict.fromkeys(kinds), key=kinds.count)
    grows = any(one in _GROWS for one in called)
    yield f"{name} = {_EMPTY[kind]}", 0.6 if grows else 0.3
    taken = [one.arg for one in (*function.args.args, *function.args.kwonlyargs)]
    others = sorted((one for one in plain if one != name), key=lambda one: one not in taken)
    for rank, other in enumerate(others[:8]):
        yield f"{name} = {kind}({other})", (0.35 if grows else 0.6) - 0.02 * rank


def drawn(function: Function, names: Sequence[str]) -> Iterator[tuple[str, float]]:
    """The next item of what the function made an iterator of, for a name that is bound late or not at all."""
    for one in ast.walk(function):
        if not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Call):
            continue
        if getattr(one.value.func, "id", "") != "iter":
            continue
        for target in (to.id for to in one.targets if isinstance(to, ast.Name)):
            for rank, name in enumerate(names):
                yield f"{name} = next({target})", 0.6 - 0.02 * min(rank, 9)
