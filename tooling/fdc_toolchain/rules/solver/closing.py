"""Runs that do not close their task (FDC-10, C-06): the machine that reads them, and a plan's shortest such run."""

from __future__ import annotations

from ...automata.model import Automaton
from ...diagnostics.diagnostic import Label
from ...diagnostics.span import Span
from ...linking.graph import Instance
from ...named_tuples import NamedTuple
from .rule import Context
from .words import Machine

SENTENCE = "the plan must end with the 'close' command"


class _Rows(dict[str, list[int]]):
    """Every other symbol counts as work."""

    def __missing__(self, symbol: str) -> list[int]:
        return [0, 0, 0]


CLOSURE = Machine(
    "closure",
    ("open", "closed", "submitted"),
    _Rows({"close_op": [1, 1, 1], "submit_op": [0, 2, 0]}),
    0,
    0b110,
    "closure",
)


class OpenRun(NamedTuple):
    """A run that does not end closed. `end`: the last line of the plan; `is_refused`: FDC402 reports this run."""

    end: Span
    trace: tuple[Label, ...]
    is_refused: bool


def open_run(context: Context, instance: Instance, automaton: Automaton | None) -> OpenRun | None:
    """The shortest run of a root that does not end closed.

    None where every run does, or the automaton has no symbol for closing (C-09).
    """
    if automaton is None or "close_op" not in automaton.table:
        return None
    summaries = context.summaries(CLOSURE)
    if not summaries.root(instance) & ~CLOSURE.accept:
        return None
    from .counterexample import Search  # loaded where there is something to explain
    from .refusals import last_line
    from .trace import doubt_in, labels

    unclosed = Search(summaries).root(instance).unfinished
    if unclosed is None:
        return None
    refused = Search(context.summaries(Machine.of(automaton))).root(instance).unfinished
    trace = labels(unclosed[2])
    same = (
        refused is not None
        and doubt_in(refused[2]) is None
        and [step.span for step in labels(refused[2])] == [step.span for step in trace]
    )
    return OpenRun(last_line(instance), trace, same)


def how_to_end(automaton: Automaton) -> str:
    """The help line for a plan that does not close."""
    return "end with `close_task`" + (", then `submit`" if "submit_op" in automaton.table else "")
