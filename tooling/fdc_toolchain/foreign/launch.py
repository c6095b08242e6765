"""Whether a script may be launched with what it is given: not where it may start more agents than are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from ..diagnostics.diagnostic import Diagnostic
from .model import Unreadable
from .workflow.bound import Bound
from .workflow.check import bounded
from .workflow.given.settle import measured


def refusal(path: str, text: str, given: object, most: int) -> str | None:
    """Why the script may not be launched, naming the line; None where at most `most` agents are started.

    `given` is the value of `args`, as JSON values.
    """
    try:
        bound = bounded(path, text)
    except Unreadable as wrong:
        return f"{path}:{wrong.finding.span.line}: {wrong.finding.message}"
    if isinstance(bound, Diagnostic):
        return f"{path}:{bound.span.line}: {bound.message}"
    script = bound.script
    if bound.cost is None:
        node, reason = bound.why
        return f"{path}:{script.line(node)}: the number of agents cannot be bounded: {reason}"
    sizes = {name: measured(script, size, given) for name, size in bound.sizes.items()}
    formula = bound.cost.agents
    open_ = sorted(name for name in formula.names if sizes[name] is None)
    if open_:
        line = script.line(bound.sizes[open_[0]].node)
        names = ", ".join(f"`{name}`" for name in open_)
        cap = ""
        if bound.sizes[open_[0]].kind != "rounds":
            is_list, half = open_[0].startswith("|"), max(1, most // 2)
            cap = f".slice(0, {half})" if is_list else f"Math.min({open_[0]}, {half})"
            cap = f", for example with `{cap}`"
        return f"{path}:{line}: starts up to `{formula}` agents, and {names} is not known before the launch; cap it{cap}"
    known = {name: number for name, number in sizes.items() if number is not None}
    number = ceil(formula.value(known) - 1e-9)
    if number <= most:
        return None
    with_ = ", ".join(f"{name} = {known[name]:g}" for name in sorted(formula.names))
    detail = f" (`{formula}` with {with_})" if with_ else ""
    return f"{path}:{_line_of_most(bound, known)}: can start {number} agents{detail}, and {most} are allowed"


def _line_of_most(bound: Bound, known: Mapping[str, float]) -> int:
    """The line at which most of the agents are started."""
    script = bound.script
    groups = [(node, formula) for node, formula in bound.groups if formula.names <= known.keys()]
    if groups:
        return -max((formula.value(known), -script.line(node)) for node, formula in groups)[1]
    uses = script.free.get("agent", [])
    return script.line(uses[0]) if uses else 1
