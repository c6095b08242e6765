"""A write that nothing later looks at (FDC-104); a warning.

Only where the automaton lets a look follow: where a cycle ends with its report, there is
nothing to ask for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..automata.model import Automaton
from ..diagnostics.diagnostic import Diagnostic
from ..linking.model import Act, Choice, Invoke, Loop, Node
from .solver.rule import Context

_LOOKS = ("read_op", "tool_exec")


def check(context: Context) -> Iterator[Diagnostic]:
    """The last writes of every plan that no reading, listing, searching or shell step follows."""
    seen: set[str] = set()
    for instance in context.order:
        unit = instance.unit
        automaton = unit.automaton or (context.default if unit.stated is None else None)
        if unit.key in seen or automaton is None or not _can_look(automaton):
            continue
        seen.add(unit.key)
        for act in _unseen(unit.body)[0]:
            message = f"no later step checks what `{act.step.tool}` wrote"
            yield Diagnostic(
                unit.span(act.step),
                "FDC441",
                message,
                help="follow it with `read_file`, `list_files` or `grep`",
            )


def _can_look(automaton: Automaton) -> bool:
    """True where a state that a write leads to can reach a look."""
    work = [target for target in automaton.table.get("write_op", ()) if target >= 0]
    seen = set(work)
    while work:
        state = work.pop()
        for symbol, row in automaton.table.items():
            target = row[state]
            if target < 0:
                continue
            if symbol in _LOOKS:
                return True
            if target not in seen:
                seen.add(target)
                work.append(target)
    return False


def _unseen(nodes: list[Node]) -> tuple[list[Act], bool]:
    """The writes that nothing in the body looks at afterwards, and whether every run of it looks at what came before."""
    pending: list[Act] = []
    looked = False
    for node in nodes:
        if isinstance(node, Act):
            if node.bound.action == "write_op":
                pending.append(node)
            elif node.bound.action in _LOOKS:
                pending, looked = [], True
        elif isinstance(node, Invoke):
            pending, looked = (
                [],
                True,
            )  # the callee may look; its own writes are judged in its own text
        elif isinstance(node, Loop | Choice):
            parts = (
                [_unseen(node.body)]
                if isinstance(node, Loop)
                else [_unseen(node.then), _unseen(node.orelse)]
            )
            if all(looks for _, looks in parts):
                pending, looked = [], True
            for writes, _ in parts:
                pending += writes
    return pending, looked
