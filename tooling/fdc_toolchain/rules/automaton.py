"""Checks that the automaton accepts every run of a plan (FDC-16, FDC-30, FDC-31).

Findings: a step that the automaton refuses in some run (FDC401), an action that it does not
know at all (FDC404), a run that ends where it does not accept (FDC402), parallel branches
whose order it would notice (FDC405). Each comes with the shortest such run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..automata.model import Automaton
from ..diagnostics.diagnostic import Diagnostic
from ..linking.catalogue import Tool
from ..linking.graph import Instance
from .closure import SENTENCE, how_to_end, open_run
from .solver.rule import Context
from .solver.words import Machine

_NAMED = 3
"""Maximum number of tools that are named for an action; with more, only the first is."""


def _by_action(tools: Iterable[Tool]) -> dict[str, str]:
    """Each action with the tools that make it, for the help line of a refused step."""
    named: dict[str, list[str]] = {}
    for tool in tools:
        if tool.action is not None:
            named.setdefault(tool.action, []).append(f"`{tool.name}`")
    return {
        action: f"{action} ({', '.join(names if len(names) <= _NAMED else (names[0], '...'))})"
        for action, names in named.items()
    }


def check(context: Context) -> Iterator[Diagnostic]:
    """The findings of every root and of every plan with an automaton of its own that it calls.

    A plan under stated recursion is judged once for each number of times that its calls have been made: where
    they are skipped, it spells other words.
    """
    judged: set[tuple[int, str]] = set()
    roots = len(context.roots)
    subjects = list(context.roots) + [
        (instance, instance.unit.automaton)
        for instance in context.order
        if instance.unit.automaton is not None and instance.unit.body
    ]
    for number, (instance, automaton) in enumerate(subjects):
        if automaton is None or (id(instance), automaton.path) in judged:
            continue
        judged.add((id(instance), automaton.path))
        machine = Machine.of(automaton)
        summaries = context.summaries(machine)
        if summaries.root(instance) & ~machine.accept:
            from .solver.refusals import explained  # loaded where there is something to explain

            tools = context.linker.using(instance.unit.packs).tools
            named = _by_action(tools.values())
            closing = _closing(context, instance, automaton) if number < roots else ""
            yield from explained(instance, summaries, named, closing)


def _closing(context: Context, instance: Instance, automaton: Automaton) -> str:
    """What FDC402 says of a run that does not close its task either; empty for other runs."""
    found = open_run(context, instance, automaton)
    return f"{SENTENCE}: {how_to_end(automaton)}" if found and found.is_refused else ""
