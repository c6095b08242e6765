"""The last work step must close the task; only a submit may follow, and no step after that (FDC-10, C-06).

The close is asked of plans whose automaton knows `close_op` at all (C-09). That rule is a machine over the
same word that the automaton reads, so it holds for every run, through calls and loops. Where the automaton
refuses the same run at its end (FDC402), that finding says it. That nothing follows a submit is asked of every
plan, also of steps that no automaton notices.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..automata.model import Automaton
from ..diagnostics.diagnostic import Diagnostic, Label
from ..diagnostics.span import Span
from ..linking.graph import Instance
from ..linking.model import Act, Choice, Invoke, Loop, Node
from ..named_tuples import NamedTuple
from ..syntax import tree
from ..text.glob_match import plain
from .solver.rule import Context
from .solver.words import Machine

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
    if summaries.root(instance) & ~CLOSURE.accept:
        return _shown(context, instance, automaton)
    return None


def _shown(context: Context, instance: Instance, automaton: Automaton) -> OpenRun | None:
    from .solver.counterexample import Search  # loaded where there is something to explain
    from .solver.refusals import last_line
    from .solver.trace import doubt_in, labels

    unclosed = Search(context.summaries(CLOSURE)).root(instance).unfinished
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


SCRIPT = "fdc_cli.py"
"""The name of the script that closes."""


def check(context: Context) -> Iterator[Diagnostic]:
    """One finding for each root with a run that does not end closed, one for each step behind a submit."""
    submits = _Submits()
    for instance in context.order:
        if not instance.context:
            yield from submits.behind(instance)
            yield from _absent(context, instance)
    for instance, automaton in context.roots:
        found = open_run(context, instance, automaton)
        if automaton is None or found is None or found.is_refused:
            continue
        message = f"{SENTENCE}, but a run does not"
        yield Diagnostic(
            found.end, "FDC403", message, trace=found.trace, help=how_to_end(automaton)
        )


_BEFORE, _AFTER = 1, 2


class _Submits:
    """Where runs stand, before or after a submit; a set of the two is a mask."""

    def __init__(self) -> None:
        self._exits: dict[int, int] = {}
        self._found: dict[int, dict[int, tuple[tree.Statement, str, str]]] = {}
        self._own: set[int] = set()
        """Plans of which a submit of their own was seen."""
        self._called: dict[int, str] = {}
        """The plan with the submit that a plan calls, by the caller."""

    def behind(self, instance: Instance) -> Iterator[Diagnostic]:
        """Every step of a plan that a run does after a submit of the same plan; the first after one of a plan that it calls."""
        self._plan(instance)
        for node, name, called in self._found[id(instance)].values():
            message = f"`{name}` comes after `submit`, which ends the work"
            help_ = "move it before the close, or remove it"
            if called:
                message = f"`{name}` comes after the `submit` of `{called}`, which ends the work"
                help_ = f"a called plan does a part of the work: remove `set_plan`, `close_task` and `submit` from `{called}`"
            yield Diagnostic(instance.unit.span(node), "FDC403", message, help=help_)

    def _plan(self, instance: Instance) -> int:
        known = self._exits.get(id(instance))
        if known is None:
            self._found[id(instance)] = {}
            known = self._exits[id(instance)] = self._body(instance, instance.unit.body, _BEFORE)
        return known

    def _body(self, instance: Instance, nodes: list[Node], here: int) -> int:
        for node in nodes:
            if type(node) is Act:
                submits = node.bound.action == "submit_op"
                if here & _AFTER and not submits:
                    self._say(instance, node.step, node.step.tool)
                if submits:
                    self._own.add(id(instance))
                    here = _AFTER
            elif isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is not None:
                    if here & _AFTER and (callee.unit.acts or callee.unit.calls):
                        self._say(instance, node.call, "call_plan")
                    out = self._plan(callee)
                    if out & _AFTER and callee.unit.stated is None:
                        self._called.setdefault(id(instance), callee.unit.key)
                    here = (
                        here
                        if callee.unit.stated is not None
                        else (here & _AFTER) | (out if here & _BEFORE else 0)
                    )
            elif isinstance(node, Loop):
                before, grown = here, -1
                while here != grown:
                    grown = here
                    out = self._body(instance, node.body, here)
                    if node.most != 1:  # a second turn begins where the first one ends
                        here |= out
                here = out | (before if node.least == 0 else 0)
            elif isinstance(node, Choice):
                then = self._body(instance, node.then, here) if node.known is not False else 0
                here = then | (
                    self._body(instance, node.orelse, here) if node.known is not True else 0
                )
        return here

    def _say(self, instance: Instance, node: tree.Statement, name: str) -> None:
        found = self._found[id(instance)]
        called = "" if id(instance) in self._own else self._called.get(id(instance), "")
        if not called or not any(before for _, _, before in found.values()):
            found.setdefault(node.line, (node, name, called))


def _absent(context: Context, instance: Instance) -> Iterator[Diagnostic]:
    """The assumption of a command that closes by a script which the workspace does not have."""
    for act in instance.unit.acts:
        if act.bound.action != "close_op" or act.bound.action == act.bound.tool.action:
            continue
        for value in act.bound.arguments.values():
            words = value.text.replace('"', " ").replace("'", " ").split()
            script = next((word for word in words if word.endswith(SCRIPT)), None)
            if script is None or script.startswith("/") or "{" in script:
                continue
            path = plain(script)
            context.probes.setdefault(instance.unit.key, set()).add(path)
            if not context.linker.files.exists(path):
                message = f"when this step runs, `{path}` exists; it does not exist now, and the step fails without it"
                help_ = "close with `close_task`, which needs no file"
                yield Diagnostic(instance.unit.span(act.step), "FDC715", message, help=help_)
