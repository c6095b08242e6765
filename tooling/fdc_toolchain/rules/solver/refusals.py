"""What is said of a plan whose runs its automaton refuses: the shortest such run, and what would be allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...diagnostics.diagnostic import Diagnostic, Label
from ...diagnostics.span import Span
from ...linking.graph import Instance
from ...linking.model import Act, Loop
from .counterexample import Refusal, Search
from .trace import Leaf, doubt_in, labels
from .words import Machine, Summaries

_HELP = "use `for` instead of `fork`, or move the branch to a plan with its own automaton"

MOST = 20
"""Refused steps reported for one plan."""


def explained(
    instance: Instance, summaries: Summaries, named: Mapping[str, str], closing: str
) -> Iterator[Diagnostic]:
    """The findings about a root that has a run which its automaton does not accept.

    `named`: how an action is written in a help line; one that is not there by its own name. `closing`: the help line
    where the shortest run that ends too early does not close either; empty where it does.
    """
    machine = summaries.machine
    unit = instance.unit
    finding = Search(summaries).root(instance)
    for refusal in finding.refusals[:MOST]:
        yield _refused(refusal, unit.key, machine, named)
    if finding.unfinished is not None:
        state, length, path = finding.unfinished
        accepting = [
            name for number, name in enumerate(machine.states) if machine.accept >> number & 1
        ]
        wanted = " or ".join(f"`{name}`" for name in accepting[:4]) or "no state at all"
        last = last_line(instance)
        ends = "a run" if length else "the empty run"
        message = f"{ends} ends in state `{machine.states[state]}` of `{machine.name}`, which accepts in {wanted}"
        help_ = "\n".join(filter(None, (_way_on(machine, state, named), closing))) or None
        found = Diagnostic(last, "FDC402", message, trace=labels(path), help=help_)
        fork = doubt_in(path)
        yield (
            found
            if fork is None
            else _unsure(found, fork, machine, f"may end in state `{machine.states[state]}`")
        )


def _unproved(refusal: Refusal, machine: Machine) -> Diagnostic:
    assert isinstance(refusal.node, Loop)
    fork = refusal.instance.unit.span(refusal.node.node)
    labels_ = () if refusal.outer == fork else (Label(fork, "this fork"),)
    message = f"the branches of a fork may interleave in an order that `{machine.name}` refuses"
    return Diagnostic(refusal.outer, "FDC405", message, labels_, labels(refusal.path), _HELP)


def _unsure(found: Diagnostic, fork: Leaf, machine: Machine, what: str) -> Diagnostic:
    """The finding as what it is where only some order of a fork's steps, if any, shows it."""
    place = Span(fork.key, fork.line, fork.column, fork.line, fork.column + 1)
    message = f"the branches of a fork may interleave in an order after which a run {what} of `{machine.name}`"
    labels_ = () if place[:2] == found.span[:2] else (Label(place, "this fork"),)
    return found._replace(
        code="FDC405", message=message, labels=(*found.labels, *labels_), help=_HELP
    )


def _named(actions: Iterable[str], named: Mapping[str, str]) -> list[str]:
    return [named.get(action, action) for action in sorted(actions)]


def _way_on(machine: Machine, state: int, named: Mapping[str, str]) -> str | None:
    """The actions that lead on from a state, for the help line."""
    leave = (
        symbol for symbol, row in machine.table.items() if row[state] >= 0 and row[state] != state
    )
    on = _named(leave, named)
    return f"from `{machine.states[state]}` it continues with {', '.join(on)}" if on else None


def _refused(refusal: Refusal, root: str, machine: Machine, named: Mapping[str, str]) -> Diagnostic:
    node = refusal.node
    if isinstance(node, Loop):
        return _unproved(refusal, machine)
    assert isinstance(node, Act)
    unit = refusal.instance.unit
    symbol = node.bound.action or ""
    state = machine.states[refusal.state]
    step = unit.span(node.step)
    trace = (*labels(refusal.path), Label(step, f"{state} -> refused"))
    here = "" if unit.key == root else f" (reached in `{unit.name}`, line {node.step.line})"
    if symbol not in machine.table:
        known = ", ".join(sorted(machine.table))
        message = f"`{node.step.tool}` is a {symbol}, which is not in the alphabet of `{machine.name}`{here}"
        return Diagnostic(
            refusal.outer,
            "FDC404",
            message,
            _labels(refusal, step),
            trace,
            f"its alphabet: {known}",
        )
    on = _named((name for name, row in machine.table.items() if row[refusal.state] >= 0), named)
    message = (
        f"`{node.step.tool}` ({symbol}) is refused in state `{state}` of `{machine.name}`{here}"
    )
    help_ = (
        f"in `{state}` it allows {', '.join(on)}"
        if on
        else f"in `{state}` no further step is allowed"
    )
    found = Diagnostic(refusal.outer, "FDC401", message, _labels(refusal, step), trace, help_)
    fork = doubt_in(refusal.path)
    what = f"reaches `{node.step.tool}` ({symbol}) in state `{state}`"
    return found if fork is None else _unsure(found, fork, machine, what)


def _labels(refusal: Refusal, step: Span) -> tuple[Label, ...]:
    return () if refusal.outer == step else (Label(step, "this step"),)


def last_line(instance: Instance) -> Span:
    """Where a plan's text ends: its last statement."""
    unit = instance.unit
    nodes = unit.plan.statements if unit.plan else []
    for node in reversed(nodes):
        if type(node).__name__ not in ("Comment", "Header"):
            return unit.span(node)
    return Span(unit.key, 1, 1, 1, 1)
