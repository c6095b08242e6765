"""Which plans the flow analysis has to look at, and which of them are called where a failure is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ....linking.commands import pieces
from ....linking.model import Choice, Invoke, Loop, Node, Unit
from .earlier import of_earlier_run


def heard(units: Mapping[str, Unit], calls: Mapping[str, Collection[str | None]]) -> set[str]:
    """The plans that have something to follow, and all that calls tie to one of them, up or down. Among the others
    there is the workspace's text at most, and that as an argument of a command at most, which it may choose."""
    tied: dict[str, set[str]] = {}
    for caller, callees in calls.items():
        for callee in callees:
            if callee is not None and callee in units:
                tied.setdefault(caller, set()).add(callee)
                tied.setdefault(callee, set()).add(caller)
    found: set[str] = set()
    work = [key for key, unit in units.items() if not _quiet(unit, alone=key not in tied)]
    while work:
        key = work.pop()
        if key not in found:
            found.add(key)
            work += tied.get(key, ())
    return found


def _quiet(unit: Unit, *, alone: bool) -> bool:
    """True where no step brings what could choose, or has data in the place of a command's text.

    `alone`: no call leads here or from here, so what its parameters hold is its user's.
    """
    for act in unit.acts:
        tool = act.bound.tool
        if tool.trust in ("model", "untrusted") or of_earlier_run(act):
            return False
        for parameter in tool.parameters:
            value = act.bound.arguments.get(parameter.name) if parameter.sink == "command" else None
            if value is not None and "{" in value.text:
                for piece in pieces(unit, value):
                    if (piece.place.wrong or piece.place.leads) and not (alone and piece.is_text):
                        return False
    return True


def kept(units: Mapping[str, Unit], keys: Collection[str]) -> set[str]:
    """The plans among `keys` that run, directly or through calls, in a branch of a fork that keeps failures."""
    found: set[str] = set()
    work = [
        key
        for unit in units.values()
        if unit.key in keys and "keep" in unit.text
        for key in _kept(unit.body, False)
    ]
    while work:
        key = work.pop()
        if key in units and key not in found:
            found.add(key)
            work += [call.key for call in units[key].calls if call.key is not None]
    return found


def _kept(nodes: list[Node], inside: bool) -> Iterator[str]:
    """The keys of the plans called in branches whose failures are kept."""
    for node in nodes:
        if isinstance(node, Invoke):
            if inside and node.key is not None:
                yield node.key
        elif isinstance(node, Loop):
            yield from _kept(node.body, inside or node.keeps)
        elif isinstance(node, Choice):
            yield from _kept(node.then, inside)
            yield from _kept(node.orelse, inside)
