"""Resources other than files that branches of a fork share: an index, a service's cursor (`shares` in a catalogue's row; FDC413).

A branch may come between two steps of another one, so what such a step does is not what the plan's text says of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...diagnostics.diagnostic import Diagnostic, Label
from ...linking.graph import Instance
from ...linking.model import Act, Choice, Invoke, Loop, Node
from ..solver.rule import Context

Use = tuple[Instance, Act]


def check(context: Context) -> Iterator[Diagnostic]:
    """Each fork that may have two branches, and a step in them that shares something, through the plans that they call."""
    seen: set[str] = set()
    known: dict[int, dict[str, Use]] = {}
    for instance in context.order:
        if instance.unit.key not in seen:
            seen.add(instance.unit.key)
            yield from _forks(instance, instance.unit.body, known)


def _forks(
    instance: Instance, nodes: Sequence[Node], known: dict[int, dict[str, Use]]
) -> Iterator[Diagnostic]:
    for node in nodes:
        if type(node) is Act:
            continue
        if isinstance(node, Choice):
            yield from _forks(instance, [*node.then, *node.orelse], known)
        elif isinstance(node, Loop):
            yield from _forks(instance, node.body, known)
            if node.kind == "fork" and node.most != 1:
                for where, act in _shared(instance, node.body, known).values():
                    yield _finding(instance, node, where, act)


def _finding(instance: Instance, fork: Loop, where: Instance, act: Act) -> Diagnostic:
    shares = act.bound.tool.row["shares"]
    return Diagnostic(
        instance.unit.span(fork.node),
        "FDC413",
        f"branches of this fork may call `{act.step.tool}` at the same time, but all such calls share `{shares}`",
        (Label(where.unit.span(act.step), "this step"),),
        help=f"let the branches `yield` their results, and call `{act.step.tool}` after the fork",
    )


def _shared(
    instance: Instance, nodes: Sequence[Node], known: dict[int, dict[str, Use]]
) -> dict[str, Use]:
    """What the steps of a body share, each with its first step."""
    found: dict[str, Use] = {}
    for node in nodes:
        more: dict[str, Use] = {}
        if isinstance(node, Act):
            shares = node.bound.tool.row.get("shares")
            more = {} if shares is None else {shares: (instance, node)}
        elif isinstance(node, Loop):
            more = _shared(instance, node.body, known)
        elif isinstance(node, Choice):
            more = _shared(instance, [*node.then, *node.orelse], known)
        elif isinstance(node, Invoke):
            callee = instance.callees[node.number]
            if callee is not None:
                if id(callee) not in known:
                    known[id(callee)] = {}  # plans that call each other add nothing the second time
                    known[id(callee)] = _shared(callee, callee.unit.body, known)
                more = known[id(callee)]
        found = {**more, **found}
    return found
