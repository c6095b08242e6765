"""The last work step closes the task; at most a submit follows (FDC-10, C-06).

Asked of plans whose automaton knows `close_op` at all (C-09). The rule is a machine over the
same word that the automaton reads, so it holds for every run, through calls and loops.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..text.diagnostic import Diagnostic
from .rule import Context
from .words import Machine


class _Rows(dict[str, list[int]]):
    """Every symbol that is not named counts as work."""

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


def check(context: Context) -> Iterator[Diagnostic]:
    """One finding for each root with a run that does not end closed."""
    summaries = context.summaries(CLOSURE)
    for instance, automaton in context.roots:
        if automaton is None or "close_op" not in automaton.table:
            continue
        if summaries.root(instance) & ~CLOSURE.accept:
            from .refusals import last_line
            from .shortest import Search, labels

            finding = Search(summaries).root(instance)
            if finding.unfinished is None:
                continue
            _, _, path = finding.unfinished
            message = "the plan must end with the 'close' command; a run of it does not"
            help_ = "end with `run_in_bash_session python3 tooling/fdc_cli.py close --task-id ID` or `close_task`"
            if "submit_op" in automaton.table:
                help_ += ", then `submit`"
            yield Diagnostic(last_line(instance), "FDC403", message, trace=labels(path), help=help_)
