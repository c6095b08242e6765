"""The nodes of a body, at any depth, and the names that it binds."""

from __future__ import annotations

from .model import Act, Choice, Invoke, Loop, Node


def every(nodes: list[Node]) -> list[Node]:
    """The nodes and all that is in them, the last ones first."""
    found: list[Node] = []
    work = list(nodes)
    while work:
        node = work.pop()
        found.append(node)
        if type(node) is Loop:
            work += node.body
        elif type(node) is Choice:
            work += node.then + node.orelse
    return found


def bound_in(nodes: list[Node]) -> set[str]:
    """The names that a body binds: results, and the names of its loops."""
    names: set[str] = set()
    for node in every(nodes):
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


def always_rebound(node: Node) -> set[str]:
    """The names that have another value after a node, whichever way a run takes through it."""
    if isinstance(node, Choice):
        then, orelse = (
            set[str]().union(*map(always_rebound, part)) for part in (node.then, node.orelse)
        )
        return then & orelse
    if isinstance(node, Loop):
        names = rebound(node)
        if node.kind == "iterate":
            return names & set[str]().union(*map(always_rebound, node.body))
        return names & {getattr(node.node, "bind", None)}
    return bound_in([node])
