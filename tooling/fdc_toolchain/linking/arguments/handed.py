"""Files of called plans whose path a call decides: the path of a step, with what the calls on its way give put into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...syntax.values import Ref, Value
from ..graph import Instance
from ..model import Act, Invoke, Unit


class Handed(NamedTuple):
    """A use of a file by a step, of `unit`."""

    unit: Unit
    act: Act
    access: str
    value: Value


def handed(order: list[Instance]) -> Iterator[tuple[Unit, Invoke, Handed]]:
    """The files that come to be known at a call, each with the plan that calls. `order`: callees before callers."""
    waiting: dict[int, list[Handed]] = {}
    for instance in order:
        unit = instance.unit
        params = {*unit.params} - {*unit.results, *unit.loops}
        found = {
            (id(act), access, value.parts): Handed(unit, act, access, value)
            for act in unit.acts if params
            for access, value in act.bound.files if _given(value, params)
        }  # fmt: skip
        for call in unit.calls:
            callee = instance.callees[call.number]
            for use in waiting[id(callee)] if callee is not None else ():
                value = _filled(use.value, call.arguments, callee.unit)  # type: ignore[union-attr]
                if value is None:
                    continue
                if _given(value, params):
                    found[id(use.act), use.access, value.parts] = use._replace(value=value)
                elif all(ref.path == ("run",) for ref in value.refs):
                    yield unit, call, use._replace(value=value)
        waiting[id(instance)] = [*found.values()]


def _given(value: Value, params: set[str]) -> bool:
    """Whether callers decide a path: some parameter is in it, and nothing that a run finds out."""
    paths = {part.path for part in value.parts if type(part) is Ref} - {("run",)}
    return bool(paths) and all(len(path) == 1 and path[0] in params for path in paths)


def _filled(value: Value, arguments: Mapping[str, Value], callee: Unit) -> Value | None:
    """The path in the words of a caller; None where an argument is missing."""
    parts: list[str | Ref] = []
    for part in value.parts:
        if not isinstance(part, Ref) or part.path == ("run",):
            parts.append(part)
            continue
        name = part.path[0]
        argument = arguments.get(name)
        default = callee.params[name].default
        if argument is None and default is None:
            return None
        parts += [str(default)] if argument is None else argument.parts
    text = "".join(
        part if isinstance(part, str) else "{" + ".".join(part.path) + "}" for part in parts
    )
    return Value(text, tuple(parts), value.start, value.end)
