"""Which names a body binds."""

from __future__ import annotations

from collections.abc import Callable, Generator

from .model import Act, Choice, Invoke, Loop, Node


def bound_in(nodes: list[Node]) -> set[str]:
    """The names that a body binds: results, and the names of its loops."""
    names: set[str] = set()
    work = list(nodes)
    while work:
        node = work.pop()
        if isinstance(node, Act):
            if node.step.bind:
                names.add(node.step.bind)
        elif isinstance(node, Invoke):
            if node.call.bind:
                names.add(node.call.bind)
        elif isinstance(node, Loop):
            names.update(
                name for name in (node.name, node.alias, getattr(node.node, "bind", None)) if name
            )
            work += node.body
        elif isinstance(node, Choice):
            work += node.then + node.orelse
    return names


def rebound(node: Node) -> set[str]:
    """The names that may have another value after a node than before it."""
    if isinstance(node, Choice):
        return set().union(*map(rebound, [*node.then, *node.orelse]))
    if isinstance(node, Loop):
        body = [] if node.kind == "fork" else node.body
        names = set[str]().union(*map(rebound, body)) - {node.name or "", node.alias or ""}
        return names | set(filter(None, (getattr(node.node, "bind", None),)))
    return bound_in([node])


def while_kept(
    nodes: list[Node], names: frozenset[str], ends: Callable[[Act], bool]
) -> Generator[tuple[Act, frozenset[str]], None, frozenset[str]]:
    """The steps of a body, each with those of the names that may have their value from before the body, where no step that
    `ends` them came before. Returns those that may have it after the body."""
    for node in nodes:
        if isinstance(node, Act):
            yield node, names
            names = frozenset() if ends(node) else names - {node.step.bind}
        elif isinstance(node, Invoke):
            names -= {node.call.bind}
        elif isinstance(node, Loop):
            inner = yield from while_kept(node.body, names - {node.name, node.alias}, ends)
            kept = inner if node.least else names
            names = kept - {getattr(node.node, "bind", None)}
        elif isinstance(node, Choice):
            then = yield from while_kept(node.then, names, ends)
            names = then | (yield from while_kept(node.orelse, names, ends))
    return names
