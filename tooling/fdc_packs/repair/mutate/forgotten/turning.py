"""What a loop forgot to change: a `while` whose condition asks of names that nothing in its body changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..known import Known
from ..source import OWN, Edit, Function, name_of
from ..statements import put_after

_STEPS = (
    ("{} += 1", 0.5), ("{} -= 1", 0.5), ("{} = {}[1:]", 0.3), ("{}.pop()", 0.3), ("{} //= 10", 0.2), ("{} //= 2", 0.2),
)  # fmt: skip
GATHERED, LINKED = 0.6, 0.4
"""How common it is that the name should become another one of the body, and a member of what it is."""


def forgotten(known: Known, loop: ast.While) -> Iterator[Edit]:
    """Statements at the end of the body that change what the condition asks of."""
    for text, prior in changes(known, loop):
        yield from put_after(known, loop.body[-1], "inserted", text, prior)


def changes(known: Known, loop: ast.While) -> Iterator[tuple[str, float]]:
    """What would change the condition, each with how common that is; nothing where the body changes it."""
    asked = [one for one in ast.walk(loop.test) if isinstance(one, ast.Name | ast.Attribute)]
    if not asked or any(
        isinstance(one, ast.Call) and not _plain(one) for one in ast.walk(loop.test)
    ):
        return  # a call may give another answer each time
    body = [part for one in loop.body for part in ast.walk(one)]
    stored = {name_of(one) for one in body if isinstance(getattr(one, "ctx", None), ast.Store)}
    touched = {
        name_of(one.value)
        for one in body
        if isinstance(one, ast.Attribute)
        or (isinstance(one, ast.Subscript) and not isinstance(one.ctx, ast.Load))
    }
    names = list(dict.fromkeys(one.id for one in asked if isinstance(one, ast.Name)))
    names = [one for one in names if one not in (*OWN, *known.everywhere)]
    if stored & set(names) or any(isinstance(one, ast.Attribute) for one in asked):
        return
    given = {
        one.id
        for call in body
        if isinstance(call, ast.Call)
        for one in call.args
        if isinstance(one, ast.Name)
    }
    leaves = any(isinstance(one, ast.Break | ast.Return | ast.Raise) for one in body)
    counted = any(isinstance(one, ast.Constant) and one.value == 0 for one in ast.walk(loop.test))
    for name in names:
        doubt = 0.5 if name in touched | given else 1.0  # a method or a function may change it
        doubt = 1.0 if counted else doubt  # what is compared with 0 is a number
        doubt *= 0.3 if leaves else 1.0
        for other in sorted(stored - {name, ""}):
            yield f"{name} = {other}", GATHERED * doubt
        for member in known.members.get(name, {}):
            yield f"{name} = {name}.{member}", LINKED * doubt
        for other in sorted(stored - {name, ""}):
            yield f"{name} -= len({other})", LINKED * (1.0 if counted else 0.5) * doubt
        for form, prior in _STEPS:
            yield form.replace("{}", name), prior * doubt


def around(known: Known, node: ast.stmt) -> ast.While | None:
    """The innermost loop of the function that a statement stands in, if it is a `while`."""
    for up in known.around(node):
        if isinstance(up, ast.For | ast.AsyncFor | Function):
            return None
        if isinstance(up, ast.While):
            return up
    return None


def _plain(call: ast.Call) -> bool:
    return name_of(call.func) in ("len", "bool", "abs", "any", "all", "min", "max", "sum")
