"""Which names a body binds."""

from __future__ import annotations

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
