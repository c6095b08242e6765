"""Which names a plan binds anywhere."""

from __future__ import annotations

from .model import Act, Choice, Invoke, Loop, Node, Unit

BUILT_IN = {"run": "the folder of the run"}
"""Names that every plan has."""


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
            names.update(name for name in (node.name, node.alias, getattr(node.node, "bind", None)) if name)
            work += node.body
        elif isinstance(node, Choice):
            work += node.then + node.orelse
    return names


def bound_names(unit: Unit) -> set[str]:
    """Every name that something in the plan binds, its parameters and the built-in names included."""
    return {*BUILT_IN, *unit.params, *bound_in(unit.body)}
