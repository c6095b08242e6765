"""What a program can still reach: its steps and the predicates of its conditions. Nothing is evaluated.

Both ways of a condition count, and every round of a loop that is under way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..program.model import Instruction, Program
from .state import RunState, Strand


class Reach(NamedTuple):
    """`steps`: the instructions that are steps, each once. `predicates`: the names of those that may be asked.
    `paths`: of which plan's text a step is, by the `id` of its instruction."""

    steps: list[Instruction]
    predicates: set[str]
    paths: dict[int, str]


def reach(program: Program, state: RunState | None = None) -> Reach:
    """What a run of the program can reach; for a run under way (`state`), what it has not done yet."""
    walk = _Walk(program)
    if state is None:
        walk.plan(program["root"])
    else:
        seen: set[int] = set()
        for wants in (state.pending, state.dangling, state.running, state.parked):
            for want in wants.values():
                walk.strand(want.strand, seen)
    return Reach(list(walk.steps.values()), walk.predicates, walk.paths)


class _Walk:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.steps: dict[int, Instruction] = {}
        self.predicates: set[str] = set()
        self.plans: set[str] = set()
        self.paths: dict[int, str] = {}

    def plan(self, plan_id: str) -> None:
        if plan_id not in self.plans:
            self.plans.add(plan_id)
            self.block(
                self.program["plans"][plan_id]["body"], self.program["plans"][plan_id]["path"]
            )

    def strand(self, strand: Strand, seen: set[int]) -> None:
        """Visits the rest of a strand, from its current instruction on, and of the strands that wait for its end."""
        inner, current = True, strand
        while id(current) not in seen:
            seen.add(id(current))
            for frame in reversed(current.frames):
                again = frame.loop is not None and frame.loop.at + 1 < len(frame.loop.items)
                self.block(
                    frame.block if again else frame.block[frame.at if inner else frame.at + 1 :],
                    frame.scope.path,
                )
                self.condition(None if frame.loop is None else frame.loop.until)
                inner = False
            if current.join is None:
                return
            current = current.join.strand

    def block(self, items: list[Instruction], path: str) -> None:
        for item in items:
            op = item["op"]
            if op == "step":
                self.steps[id(item)] = item
                self.paths[id(item)] = path
            elif op == "call":
                self.plan(item["plan"])
            elif op == "if":
                self.condition(item["cond"])
                self.block(item["then"], path)
                self.block(item["else"], path)
            elif op == "require":
                self.condition(item["cond"])
            elif "body" in item:
                self.condition(item.get("until"))
                self.block(item["body"], path)

    def condition(self, cond: object) -> None:
        """The predicates of a condition, wherever they stand in it."""
        for part in _parts(cond):
            name = part.get("call")
            if isinstance(name, str):
                self.predicates.add(name)


def _parts(cond: object) -> Iterator[dict[str, object]]:
    """Every object of a condition that is not a constant."""
    if isinstance(cond, dict) and "const" not in cond:
        yield cond
        for value in cond.values():
            yield from _parts(value)
    elif isinstance(cond, list):
        for value in cond:
            yield from _parts(value)
