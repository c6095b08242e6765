"""A workflow script as a plan of another tool: its findings, and the sentences about its bound."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from ...diagnostics.diagnostic import Diagnostic, Label
from ...diagnostics.span import Span
from ..kinds import WORKFLOW
from ..model import Found, Unreadable
from .bound import Bound, bound_of
from .formula import Formula
from .script import NotBounded, NotJavaScript

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_LABELS = 10


def read(path: str, text: str) -> Found:
    """The findings about a script, and what it can start at most. Raises Unreadable."""
    bound = bounded(path, text)
    if isinstance(bound, Diagnostic):
        return Found(WORKFLOW, [bound], [f"Agents: {bound.message}"], [])
    return Found(WORKFLOW, findings(bound), facts(bound), [])


def bounded(path: str, text: str) -> Bound | Diagnostic:
    """The bound of a script, or why there can be none. Raises Unreadable."""
    try:
        bound = bound_of(text, path)
    except NotJavaScript as wrong:
        span = Span(path, wrong.line, wrong.column, wrong.line, wrong.column + 1)
        message = f"line {wrong.line} cannot be read as JavaScript"
        help_ = "workflow scripts are plain JavaScript, without types"
        raise Unreadable(span, message, help_) from wrong
    if isinstance(bound, NotBounded):
        line = bound.node.start_point[0] + 1
        message = f"cannot be bounded: line {line}, {bound.reason}"
        return Diagnostic(Span(path, line, 1, line, 2), "FDC803", message)
    return bound


def findings(bound: Bound) -> list[Diagnostic]:
    """What is wrong with the script, as far as the number of its agents goes."""
    script, out = bound.script, []
    for node, reason in bound.unbounded:
        help_ = "count the rounds: `for (let round = 0; round < 10 && again; round++)`"
        out.append(Diagnostic(script.span(point(node)), "FDC802", reason, help=help_))
    if bound.unknown is not None:
        node, reason = bound.unknown
        message = f"cannot be bounded: line {script.line(node)}, {reason}"
        help_ = "how many agents the script starts is not known; write this part in a plainer form"
        out.append(Diagnostic(script.span(node), "FDC803", message, help=help_))
    for node, most in bound.fans:
        names = ", ".join(f"`{name}`" for name in sorted(most.names))
        if all(bound.sizes[name].kind == "rounds" for name in most.names):
            message = "this loop starts agents until the token budget is used up, and nothing else ends it"
            help_ = "count the rounds as well: `round < 10 && budget.remaining() > 50_000`"
        else:
            message = f"starts agents as often as {names} says, and fdc sees no limit on that"
            help_ = "cut the list with `.slice(0, 20)`, or the number with `Math.min(20, ...)`"
        out.append(Diagnostic(script.span(point(node)), "FDC804", message, help=help_))
    if bound.sessions:
        first, *rest = bound.sessions
        number = len(bound.sessions)
        places = "1 call of `agent` names" if number == 1 else f"{number} calls of `agent` name"
        message = f"{places} no model: what they cost depends on the session that starts them"
        labels = tuple(Label(script.span(node), "and here") for node in rest[:MOST_LABELS])
        help_ = "name one: `{ model: 'haiku' }`"
        out.append(Diagnostic(script.span(first), "FDC805", message, labels, help=help_))
    return out


def point(node: Node) -> Node:
    """The part of a node that is marked: what is called, or what a loop runs to."""
    for name in ("function", "condition", "right"):
        found = node.child_by_field_name(name)
        if found is not None and found.type != "empty_statement":
            return found
    return node


def facts(bound: Bound) -> list[str]:
    """The worst case as sentences."""
    if bound.cost is None:
        found = bound.unknown or bound.unbounded[0]
        where = f"line {bound.script.line(found[0])}, {found[1]}"
        return [f"Worst case, agents: cannot be bounded: {where}"]
    out = [
        f"Worst case, agents: {bound.cost.agents}",
        f"Worst case, rounds: {rounded(bound.cost.rounds)}",
        f"Worst case, tokens: {tokens(bound)}",
    ]
    for name, size in sorted(bound.sizes.items()):
        if name in bound.cost.agents.names or name in bound.cost.rounds.names:
            line = bound.script.line(size.node)
            out.append(f"  {name}: {_MEANS[size.kind]}, line {line}")
    return out


_MEANS = {
    "items": "the most items that this list has where the script goes through it",
    "loop": "the most items that one loop over it takes",
    "value": "the largest value that this has where the script counts to it",
    "rounds": "the rounds that the token budget allows",
}


def rounded(formula: Formula) -> str:
    """A formula without fractions, rounded up part by part."""
    return str(Formula({names: Fraction(ceil(number)) for names, number in formula.terms.items()}))


def tokens(bound: Bound) -> str:
    """The worst case in tokens: agents of each model, times what one agent of it takes."""
    assert bound.cost is not None
    parts = []
    for model, number in sorted(bound.cost.models):
        text = str(number)
        parts.append(f"({text}) x t[{model}]" if " + " in text else f"{text} x t[{model}]")
    return f"{' + '.join(parts)}, where t is the most tokens of one agent" if parts else "0"
