"""Which words the runs of a plan spell, as a machine reads them: the heart of the proof.

A run is a sequence of steps; each contributes its action type; a machine (the plan's automaton,
the closure rule, ...) reads that word. Conditions may go either way, loops may run any number
of times within their bounds. The question is which states the machine can be in.

Sets of states are bit masks, with one bit more, the sink, for runs that the machine refused.
A plan is run once for each entry state and machine and remembered (`Summaries.exits`), however
often and from wherever it is called: a summary is exact, because the call graph has no cycle
and conditions are free. So the work is linear in the text times the machine's states.

A loop is a breadth-first search: a state first reached in round r goes through the body again
only while rounds are left, and never twice; what a loop does from one state is found out once.
A fork is checked as the same loop where the order of its branches cannot matter (every two
actions of its body commute in every state that can arise); otherwise any order of any of its
actions is assumed, which is sound, and a refusal under that assumption is reported as
unproved, not as wrong.

A branch of a fork that keeps failures may end before its first step and after any other: at a gate, at a
value that cannot be used, at a tool that fails. Such a body is walked by a twin (`Summaries.branches`) that
notes where it comes by (`passed`); there the branch may have ended. A gate in it stops no run.

The shortest offending run is sought only once one is known to exist (`rules.solver.counterexample`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from ...automata.model import Automaton
from ...linking.graph import Instance
from ...linking.model import Act, Choice, Gate, Invoke, Loop, Node
from .rounds import states_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self, TypeVar

    _N = TypeVar("_N")

Read = Callable[[Instance, Act], Hashable]
"""What a step contributes to the word; None: nothing."""


class Machine:
    """A deterministic machine as the prover reads it: `table[symbol][state]` is the next state or -1."""

    __slots__ = ("name", "states", "table", "start", "accept", "sink", "size", "key")

    def __init__(
        self,
        name: str,
        states: tuple[str, ...],
        table: Mapping[str, list[int]],
        start: int,
        accept: int,
        key: str,
    ) -> None:
        self.name = name
        self.states = states
        self.table = table
        self.start = start
        self.accept = accept
        self.size = len(states)
        self.sink = 1 << self.size
        self.key = key

    @classmethod
    def of(cls, automaton: Automaton) -> Machine:
        """The machine of an automaton."""
        return cls(
            automaton.name,
            automaton.states,
            automaton.table,
            automaton.start_index,
            automaton.accept_mask,
            automaton.path,
        )


Rows = tuple["list[int] | None", ...]
"""What a symbol does from each state; several where it is not known which of them it does. None: it is refused."""


class Steps(dict[int, int]):
    """For one symbol: mask before to mask after, filled as asked."""

    def __init__(self, rows: Rows, machine: Machine) -> None:
        super().__init__()
        self.rows = rows
        self.machine = machine

    def __missing__(self, mask: int) -> int:
        sink = self.machine.sink
        after = mask & sink
        for row in self.rows:
            rest = mask & ~sink
            if rest and row is None:
                after |= sink
            elif row is not None:
                while rest:
                    low = rest & -rest
                    rest ^= low
                    target = row[low.bit_length() - 1]
                    after |= sink if target < 0 else 1 << target
        self[mask] = after
        return after


class Summaries:
    """Exit states of plans and bodies under one machine.

    As it stands, the word is that of the plan's automaton: action types, without those of sub-plans with an
    automaton of their own. Another word is read with `read`, which sees all steps of the run, whatever
    automaton governs them; `gate` is then what a `require` contributes (None: nothing).
    """

    def __init__(self, machine: Machine, read: Read | None = None, gate: Hashable = None) -> None:
        self.machine = machine
        self.read = read
        self.gate = gate
        self.noting = False
        """Whether `passed` is kept: this is a twin that walks branches whose failures are kept."""
        self.passed = 0
        self._steps: dict[Hashable, Steps] = {}
        self._exits: dict[tuple[int, int], tuple[int, int]] = {}
        self._loops: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._alphabets: dict[int, frozenset[Hashable]] = {}
        self._twin: Self | None = None

    def branches(self) -> Self:
        """The same words as a branch spells them that may stop anywhere, and whose run goes on."""
        if self._twin is None:
            from copy import copy  # loaded where a fork keeps failures

            twin = self._twin = copy(self)
            twin.gate, twin.noting, twin.passed = None, True, 0
            twin._exits, twin._loops, twin._alphabets, twin._twin = {}, {}, {}, twin
        return self._twin

    def apart(
        self, work: Callable[[Instance, _N, int], int], instance: Instance, nodes: _N, mask: int
    ) -> tuple[int, int]:
        """Where `work` ends, and the states that it comes by on the way, which nothing else has noted.

        A plain call, and no `partial`: from Python 3.12 on, calls through C are on a stack that nothing deepens.
        """
        before, self.passed = self.passed, 0
        ends = work(instance, nodes, mask)
        passed, self.passed = self.passed, before
        return ends, passed

    def symbol(self, instance: Instance, node: Act) -> Hashable:
        """What a step contributes to the word; None: nothing."""
        return node.bound.action if self.read is None else self.read(instance, node)

    def rows(self, symbol: Hashable) -> Rows:
        """What one symbol does."""
        try:
            return (self.machine.table[symbol],)  # type: ignore[index]
        except KeyError:
            return (None,)

    def believed(self, symbol: Hashable) -> bool:
        """True where the first of several rows is certain to be possible."""
        return False

    def steps(self, symbol: Hashable) -> Steps:
        """The transitions of one symbol."""
        found = self._steps.get(symbol)
        if found is None:
            found = self._steps[symbol] = Steps(self.rows(symbol), self.machine)
        return found

    def enter(self, instance: Instance, node: Invoke) -> Instance | None:
        """The plan whose steps are part of the word where it is called; None: no such plan."""
        callee = instance.callees[node.number]
        return (
            None
            if callee is None or (callee.unit.stated is not None and self.read is None)
            else callee
        )

    def root(self, instance: Instance) -> int:
        """Where the runs of a plan that starts in the start state can end."""
        return self.body(instance, instance.unit.body, 1 << self.machine.start)

    def call(self, instance: Instance, mask: int) -> int:
        """Where a plan called in the states of `mask` can end."""
        out = mask & self.machine.sink
        rest = mask ^ out
        while rest:
            low = rest & -rest
            rest ^= low
            key = (id(instance), low)
            known = self._exits.get(key)
            if known is None:
                known = self._exits[key] = self.apart(self.body, instance, instance.unit.body, low)
            out |= known[0]
            self.passed |= known[1]
        return out

    def body(self, instance: Instance, nodes: list[Node], mask: int) -> int:
        """Where the runs of a body can end that start in the states of `mask`."""
        steps, read, noting = self._steps, self.read, self.noting
        for node in nodes:
            if noting:
                self.passed |= mask
            kind = type(node)
            if kind is Act:
                symbol = node.bound.action if read is None else read(instance, node)  # type: ignore[union-attr, arg-type]
                if symbol is not None:
                    row = steps.get(symbol)
                    mask = (self.steps(symbol) if row is None else row)[mask]
            elif kind is Invoke:
                callee = self.enter(instance, node)  # type: ignore[arg-type]
                if callee is not None:
                    mask = self.call(callee, mask)
            elif kind is Loop:
                mask = self.loop(instance, node, mask)  # type: ignore[arg-type]
            elif kind is Choice:
                mask = self.choice(instance, node, mask)  # type: ignore[arg-type]
            elif kind is Gate and self.gate is not None:
                mask = self.steps(self.gate)[mask]
        return mask

    def choice(self, instance: Instance, node: Choice, mask: int) -> int:
        """Both branches; one, where the condition is a constant."""
        out = 0
        if node.known is not False:
            out |= self.body(instance, node.then, mask)
        if node.known is not True:
            out |= self.body(instance, node.orelse, mask)
        return out

    def loop(self, instance: Instance, node: Loop, mask: int) -> int:
        """Between `least` (0 or 1) and `most` rounds of the body; `most`, where the loop is exact."""
        if node.kind == "fork" and node.most != 1:
            return self._once(instance, node, mask)
        out = mask & self.machine.sink
        rest = mask ^ out
        while rest:
            low = rest & -rest
            rest ^= low
            out |= self._once(instance, node, low)
        return out

    def _once(self, instance: Instance, node: Loop, mask: int) -> int:
        """The same, remembered: a loop goes through those inside of it several times, and they through theirs."""
        key = (id(instance), id(node), mask)
        found = self._loops.get(key)
        if found is None:
            found = self._loops[key] = self.apart(self._rounds, instance, node, mask)
        self.passed |= found[1]
        return found[0]

    def _rounds(self, instance: Instance, node: Loop, mask: int) -> int:
        if node.kind != "fork":
            return self._turns(node, mask, lambda before: self.body(instance, node.body, before))
        if node.most != 1 and not self.commutes(instance, node, mask):
            return self.interleaved(instance, node, mask)
        if node.keeps:
            return self._turns(node, mask, lambda before: self.branch(instance, node, before))
        if self.noting:  # a branch that stops lets the others end, or stop in their turn; then what is around them stops
            stopped = self._turns(node, mask, lambda before: self.branch(instance, node, before))
            self.passed |= stopped
        return self._turns(node, mask, lambda before: self.body(instance, node.body, before))

    def _turns(self, node: Loop, mask: int, turn: Callable[[int], int]) -> int:
        if node.exact and node.most is not None:
            return states_after(node.most, mask, self.machine.sink, turn)
        if node.least:
            mask = turn(mask)
        reached = mask
        frontier = mask & ~self.machine.sink
        left = (node.most - node.least) if node.most is not None else self.machine.size
        while frontier and left > 0:
            left -= 1
            after = turn(frontier)
            frontier = after & ~reached & ~self.machine.sink
            reached |= after
        return reached

    def branch(self, instance: Instance, fork: Loop, mask: int) -> int:
        """Where a branch can end that may stop anywhere."""
        twin = self.branches()
        ends, passed = twin.apart(twin.body, instance, fork.body, mask)
        return ends | passed

    # ---- forks -------------------------------------------------------------------------

    def alphabet(self, instance: Instance, nodes: list[Node]) -> frozenset[Hashable]:
        """Every symbol that a body can contribute, through the plans that it calls."""
        found: set[Hashable] = set()
        for node in nodes:
            if isinstance(node, Act):
                found.add(self.symbol(instance, node))
            elif isinstance(node, Gate):
                found.add(self.gate)
            elif isinstance(node, Invoke):
                callee = self.enter(instance, node)
                if callee is not None:
                    known = self._alphabets.get(id(callee))
                    if known is None:
                        known = self._alphabets[id(callee)] = self.alphabet(
                            callee, callee.unit.body
                        )
                    found |= known
            elif isinstance(node, Loop):
                found |= (self.branches() if node.keeps else self).alphabet(instance, node.body)
            elif isinstance(node, Choice):
                found |= self.alphabet(instance, node.then) | self.alphabet(instance, node.orelse)
        return frozenset(found - {None})

    def _closure(self, symbols: frozenset[Hashable], mask: int) -> int:
        reached = mask
        frontier = mask
        while frontier:
            after = 0
            for symbol in symbols:
                after |= self.steps(symbol)[frontier]
            frontier = after & ~reached
            reached |= after
        return reached

    def commutes(self, instance: Instance, fork: Loop, mask: int) -> bool:
        """True where no two actions of the fork's body can tell in which order they happened."""
        symbols = sorted(self.alphabet(instance, [fork]), key=repr)
        states = self._closure(frozenset(symbols), mask & ~self.machine.sink) & ~self.machine.sink
        rows = [self.steps(symbol) for symbol in symbols]
        while states:
            low = states & -states
            states ^= low
            for number, first in enumerate(rows):
                for second in rows[number + 1 :]:
                    if second[first[low]] != first[second[low]]:
                        return False
        return True

    def interleaved(self, instance: Instance, fork: Loop, mask: int) -> int:
        """Any order of any actions of the body: sound, and too much, so that a refusal means unproved, not wrong."""
        return self._closure(self.alphabet(instance, [fork]), mask)
