"""What may have stood where `pass` is, in a loop: what a dictionary gathers that begins empty, and what becomes of a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..known import Known
from ..source import OWN, Function, name_of
from ..values import Found

KEYS = 8
_FORMS = {
    "int": ("{at} += 1", "{at} += {one}"),
    "list": ("{at}.append({one})", "{at}.extend({one})", "{at} += {one}"),
    "set": ("{at}.add({one})", "{at}.update({one})"),
    "dict": ("{at}.update({one})",),
    "": ("{at} = {one}", "{name}.setdefault({key}, []).append({one})", "{at} = {name}.get({key}, 0) + 1"),
}  # fmt: skip
"""How the item of a key grows, by what it is where there is none; with nothing there it is stored."""
_EMPTY = frozenset("dict OrderedDict".split())
_COLLECTIONS = _EMPTY | frozenset("iter next list tuple set frozenset defaultdict Counter".split())
_OF_DEFAULT = {"list": "list", "set": "set", "int": "int", "float": "int", "dict": "dict"}


def gathered(
    known: Known, node: ast.stmt, function: ast.AST, plain: Sequence[str], values: Found
) -> Iterator[tuple[str, float]]:
    """Statements that put something into the dictionary: the items of the loop, or what is made of them, are keys and values."""
    looped = [up for up in known.around(node) if isinstance(up, ast.For | ast.AsyncFor)]
    near = [one.id for up in looped for one in ast.walk(up.target) if isinstance(one, ast.Name)]
    if not near:
        return
    idle = known.unused(node)
    made = [text for text in values if text.partition("(")[2].rstrip(")") in near]
    made = [text for text in made if text.partition("(")[0].rpartition(".")[2] not in _COLLECTIONS]
    made.sort(key=lambda text: -values[text])
    others = [one for one in (*sorted(idle), *plain) if one not in OWN]
    keys = list(dict.fromkeys((*near, *made, *others)))[:KEYS]
    for one in ast.walk(function):
        to = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if not isinstance(one, ast.Assign) or not isinstance(to, ast.Name):
            continue
        kind = _kind(one.value)
        if kind is None or one.lineno > node.lineno:
            continue
        firm = 0.6 if to.id in idle or not _used(function, to.id) else 0.35
        for rank, key in enumerate(one for one in keys if one != to.id):
            at = f"{to.id}[{key}]"
            worth = firm - 0.02 * rank + (0.1 if set(near) & idle and key in idle else 0.0)
            for value in [part for part in keys if part != to.id]:
                less = 0.02 * keys.index(value) + (0.15 if value == key else 0.0)
                for step, form in enumerate(_FORMS[kind]):
                    text = form.format(at=at, name=to.id, key=key, one=value)
                    yield text, worth - 0.05 * step - (less if "{one}" in form else 0.0)


def _kind(value: ast.AST) -> str | None:
    """Of which kind the items are that a new dictionary has for unknown keys; empty: none, None: it is no dictionary."""
    if isinstance(value, ast.Dict):
        return "" if not value.keys else None
    called = name_of(value.func) if isinstance(value, ast.Call) else ""
    if called == "Counter":
        return "int"
    if called in _EMPTY:
        return ""
    if called != "defaultdict" or not isinstance(value, ast.Call) or not value.args:
        return None
    return _OF_DEFAULT.get(name_of(value.args[0]), "")


def _used(function: ast.AST, name: str) -> bool:
    """Whether something is stored in what a name holds, or a member of it is called."""
    return any(
        isinstance(one, ast.Subscript | ast.Attribute) and name_of(one.value) == name
        for one in ast.walk(function)
    )


def folded(
    known: Known, node: ast.stmt, function: Function, plain: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The next value of a name that is bound before the loop and read after it: of itself and the item of the loop."""
    looped = [up for up in known.around(node) if isinstance(up, ast.For | ast.AsyncFor)]
    if not looped:
        return
    loop, idle = looped[0], known.unused(node)
    near = [one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)]
    end = loop.end_lineno or loop.lineno
    after = {
        one.id for one in ast.walk(function)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and one.lineno > end
    }  # fmt: skip
    taken = [one.arg for one in function.args.args if one.arg not in (*OWN, *near)]
    for name in [one for one in plain if one in after and one not in near]:
        for item in near:
            firm = 0.55 if item in idle else 0.35
            forms = [
                f"{item}({name})",
                f"{name}[{item}]",
                f"{name} + {item}",
                f"getattr({name}, {item})",
            ]
            forms += [f"{one}({name}, {item})" for one in taken if one != name]
            for rank, form in enumerate(forms):
                yield f"{name} = {form}", firm - 0.03 * rank
