"""The shortest run that a machine refuses, or that ends where it does not accept.

The same walk as `rules.solver.words`, with a length beside every state: a shortest-path search in
which a plan called a million times is still gone through once for each entry state. Paths are
shared, never copied (`rules.solver.trace`), so that a run of 2^60 steps has its exact length.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Self

from ...diagnostics.span import Span
from ...linking.graph import Instance
from ...linking.model import Act, Choice, Gate, Invoke, Loop, Node
from ...named_tuples import NamedTuple
from ...syntax import tree
from .rounds import shortest_after
from .trace import Leaf, Nested, Path, Reached, merge
from .words import Machine, Summaries

FEW = 16
"""Maximum number of rounds that a trace shows one by one."""
DEEP = 3
"""Loops in so many others: each of them multiplies the rounds, and what a round does is remembered."""
UNSURE = 1 << 80
"""What it costs to go where there is a doubt: a run that is certain is always the shorter one."""

MAYBE = "it depends on a value"
"""The doubt of a step that means one thing or another, as a value says that is known when the plan runs."""

SOME_ORDER = "in some order"
"""The text, and the doubt, of a leaf for a fork whose steps may come in an order that was not looked into."""


class Refusal(NamedTuple):
    """A step that some run makes and the machine refuses, with the shortest such run before it.

    Or a gate that may stop it there (`node` is a Gate), or a fork (`node` is a Loop) whose branches may
    interleave in an order that it might refuse.
    """

    instance: Instance
    node: Act | Loop | Gate
    state: int
    length: int
    path: Path
    outer: Span
    """Where the run leaves the root's own text: the step itself, or the root's call that leads to it."""


class Finding(NamedTuple):
    """The errors in the runs of one root."""

    refusals: list[Refusal]
    unfinished: tuple[int, int, Path] | None
    """(state, length, path) of the shortest run that ends outside the accepting states."""


Refusals = dict[int, Refusal]
"""By node, the shortest run that it refuses."""

Turn = Callable[[Reached, Refusals], Reached]
"""One round of a loop, from where runs are to where they end; it adds the steps that are refused."""


class _Summary(NamedTuple):
    exits: Reached
    refusals: Refusals
    passed: Reached


class Search:
    """Shortest runs under one machine. `summaries` answers the questions about forks.

    Branches whose failures are kept are walked by a twin, which notes all that it comes by, as there.
    """

    def __init__(self, summaries: Summaries) -> None:
        self.summaries = summaries
        self.machine: Machine = summaries.machine
        self.passed: Reached = {}
        self._depth = 0  # of loops in loops
        self._known: dict[tuple[int, int, int], _Summary] = {}
        self._twin: Self | None = None

    def branches(self) -> Self:
        """The same search through branches that may stop anywhere."""
        if self._twin is None:
            twin = self._twin = (
                self if self.summaries.noting else type(self)(self.summaries.branches())
            )
            twin._twin = twin
        return self._twin

    def root(self, instance: Instance, start: int | None = None) -> Finding:
        """All errors in a plan's runs from a state (None: the start state), shortest first."""
        refusals: Refusals = {}
        begun: Reached = {self.machine.start if start is None else start: (0, None)}
        exits = self._body(instance, instance.unit.body, begun, refusals)
        bad = [
            (length, state, path)
            for state, (length, path) in exits.items()
            if not self.machine.accept >> state & 1
        ]
        worst = min(bad, key=lambda item: item[:2], default=None)
        return Finding(
            sorted(refusals.values(), key=lambda item: (item.length, item.outer, _line(item.node))),
            worst and (worst[1], worst[0], worst[2]),
        )

    def _leaf(self, instance: Instance, node: object, text: str, counts: bool) -> Leaf:
        return Leaf(instance.unit.key, node.line, node.column, text, counts)  # type: ignore[attr-defined]

    def _body(
        self, instance: Instance, nodes: list[Node], here: Reached, refusals: Refusals
    ) -> Reached:
        noting = self.summaries.noting
        for node in nodes:
            if not here:
                break
            if noting:
                merge(self.passed, here)
            if isinstance(node, Act):
                here = self._act(instance, node, here, refusals)
            elif isinstance(node, Invoke):
                here = self._call(instance, node, here, refusals)
            elif isinstance(node, Loop):
                here = self._loop(instance, node, here, refusals)
            elif isinstance(node, Choice):
                here = self._choice(instance, node, here, refusals)
            elif isinstance(node, Gate) and self.summaries.gate is not None:
                here = self._read(instance, node, node.node, self.summaries.gate, here, refusals)
        return here

    def _act(self, instance: Instance, node: Act, here: Reached, refusals: Refusals) -> Reached:
        symbol = self.summaries.symbol(instance, node)
        if symbol is None:
            leaf = self._leaf(instance, node.step, "", True)
            return {state: (length + 1, (path, leaf)) for state, (length, path) in here.items()}
        return self._read(instance, node, node.step, symbol, here, refusals)

    def _read(
        self,
        instance: Instance,
        node: Act | Gate,
        statement: tree.Step | tree.Require,
        symbol: Hashable,
        here: Reached,
        refusals: Refusals,
    ) -> Reached:
        rows = self.summaries.steps(symbol).rows
        believed = rows[0] if self.summaries.believed(symbol) else None
        cost = int(isinstance(node, Act))
        out: Reached = {}
        names = self.machine.states
        for state, (length, path) in here.items():
            targets = {-1 if row is None else row[state] for row in rows}
            for target in sorted(targets):
                doubt = (
                    MAYBE
                    if len(targets) > 1 and (believed is None or believed[state] != target)
                    else ""
                )
                total = length + (UNSURE if doubt else 0)
                if target < 0:
                    outer = instance.unit.span(statement)
                    _keep(refusals, id(node), Refusal(instance, node, state, total, path, outer))
                    continue
                found = out.get(target)
                if found is None or total + cost < found[0]:
                    text = self._move(names[state], names[target])
                    leaf = Leaf(
                        instance.unit.key, statement.line, statement.column, text, bool(cost), doubt
                    )
                    out[target] = (total + cost, (path, leaf))
        return out

    def _move(self, before: str, after: str) -> str:
        return f"{before} -> {after}"

    def _call(self, instance: Instance, node: Invoke, here: Reached, refusals: Refusals) -> Reached:
        callee = self.summaries.enter(instance, node)
        leaf = self._leaf(instance, node.call, f"enters `{node.name}`", True)
        if callee is None:
            return {state: (length + 1, (path, leaf)) for state, (length, path) in here.items()}
        out: Reached = {}
        outer = instance.unit.span(node.call)
        for state, (length, path) in here.items():
            self._behind(
                self._summary(callee, state), length + 1, (path, leaf), out, refusals, outer
            )
        return out

    def _behind(
        self,
        summary: _Summary,
        before: int,
        entered: Path,
        out: Reached,
        refusals: Refusals,
        outer: Span | None = None,
    ) -> None:
        """Adds what is behind a way of `before` steps into a summary: that of a called plan, if the call is at `outer`."""
        deeper = int(outer is not None)
        for into, ways in ((out, summary.exits), (self.passed, summary.passed)):
            for target, (more, inner) in ways.items():
                path = (entered, Nested(inner, deeper)) if inner else entered
                merge(into, {target: (before + more, path)})
        for key, refusal in summary.refusals.items():
            joined = (entered, Nested(refusal.path, deeper)) if refusal.path else entered
            length = before + refusal.length
            there = refusal._replace(length=length, path=joined, outer=outer or refusal.outer)
            _keep(refusals, key, there)

    def _summary(self, callee: Instance, state: int) -> _Summary:
        key = (id(callee), 0, state)
        return self._remembered(key, partial(self._body, callee, callee.unit.body), state)

    def _remembered(self, key: tuple[int, int, int], go: Turn, state: int) -> _Summary:
        found = self._known.get(key)
        if found is None:
            refusals: Refusals = {}
            before, self.passed = self.passed, {}
            depth, self._depth = self._depth, self._depth if key[1] else 0
            exits = go({state: (0, None)}, refusals)
            found = self._known[key] = _Summary(exits, refusals, self.passed)
            self.passed, self._depth = before, depth
        return found

    def _remembering(self, key: tuple[int, int], go: Turn) -> Turn:
        """The same round, gone through once for each state, however often it is made."""

        def turn(here: Reached, refusals: Refusals) -> Reached:
            out: Reached = {}
            for state, (length, path) in here.items():
                self._behind(
                    self._remembered((*key, state), go, state), length, path, out, refusals
                )
            return out

        return turn

    def _choice(
        self, instance: Instance, node: Choice, here: Reached, refusals: Refusals
    ) -> Reached:
        out: Reached = {}
        for wanted, body in ((True, node.then), (False, node.orelse)):
            if node.known is (not wanted):
                continue
            remark = self._leaf(instance, node.node, "holds" if wanted else "does not hold", False)
            entered = {state: (length, (path, remark)) for state, (length, path) in here.items()}
            merge(out, self._body(instance, body, entered, refusals))  # type: ignore[arg-type]
        return out

    def _loop(self, instance: Instance, node: Loop, here: Reached, refusals: Refusals) -> Reached:
        if node.kind == "fork" and node.most != 1:
            mask = sum(1 << state for state in here)
            if not self.summaries.commutes(instance, node, mask):
                return self._interleaved(instance, node, here, mask, refusals)
        return self._each(instance, node, here, refusals)

    def _each(self, instance: Instance, node: Loop, here: Reached, refusals: Refusals) -> Reached:
        """One turn, or one branch, after the other."""
        branch = partial(self._branch, instance, node)
        if node.keeps:
            return self._turns(instance, node, here, refusals, branch, stopping=True)
        if self.summaries.noting and node.kind == "fork":  # as in `words`
            merge(self.passed, self._turns(instance, node, here, refusals, branch, stopping=True))
        return self._turns(instance, node, here, refusals, partial(self._body, instance, node.body))

    def _branch(self, instance: Instance, fork: Loop, here: Reached, refusals: Refusals) -> Reached:
        """A branch that may stop anywhere."""
        twin = self.branches()
        before, twin.passed = twin.passed, {}
        out = dict(twin._body(instance, fork.body, here, refusals))
        stop = self._leaf(instance, fork.node, "the branch stops", False)
        merge(out, {state: (length, (path, stop)) for state, (length, path) in twin.passed.items()})
        twin.passed = before
        return out

    def _turns(
        self,
        instance: Instance,
        node: Loop,
        here: Reached,
        refusals: Refusals,
        go: Turn,
        *,
        stopping: bool = False,
    ) -> Reached:
        if self._depth >= DEEP:
            go = self._remembering((id(instance), -id(node) if stopping else id(node)), go)
        self._depth += 1
        try:
            if node.exact and node.most is not None:
                return self._exactly(instance, node, node.most, here, refusals, go)
            return self._some_turns(instance, node, here, refusals, go)
        finally:
            self._depth -= 1

    def _exactly(
        self,
        instance: Instance,
        node: Loop,
        times: int,
        here: Reached,
        refusals: Refusals,
        go: Turn,
    ) -> Reached:
        """Just so many turns: one by one where they are few; else `go` is asked once for each state."""
        if times <= FEW:
            for turn in range(times):
                if turn:
                    remark = self._leaf(instance, node.node, f"turn {turn + 1}", False)
                    here = {
                        state: (length, (path, remark)) for state, (length, path) in here.items()
                    }
                here = go(here, refusals)
            return here
        # What is refused, with the run that leads there from the start, and what is passed.
        self._some_turns(instance, node, here, refusals, go)
        remark = self._leaf(instance, node.node, "a turn", False)
        passed = self.passed

        def turn_from(state: int) -> Reached:
            self.passed = {}
            return go({state: (0, (None, remark))}, {})

        out = shortest_after(times, here, turn_from, lambda way, behind: (way, Nested(behind, 0)))
        self.passed = passed
        return out

    def _some_turns(
        self, instance: Instance, node: Loop, here: Reached, refusals: Refusals, go: Turn
    ) -> Reached:
        if node.least:
            here = go(here, refusals)
            reached: Reached = dict(here)
        else:
            none = self._leaf(instance, node.node, "no turn", False)
            reached = {state: (length, (path, none)) for state, (length, path) in here.items()}
        left = (node.most - node.least) if node.most is not None else self.machine.size
        frontier = here
        turn = 0
        while frontier and left > 0:
            left -= 1
            turn += 1
            remark = self._leaf(instance, node.node, f"turn {turn + node.least}", False)
            begun: Reached = {
                state: (length, (path, remark)) for state, (length, path) in frontier.items()
            }
            after = go(begun, refusals)
            frontier = merge(reached, after)
        return reached

    def _interleaved(
        self, instance: Instance, node: Loop, here: Reached, mask: int, refusals: Refusals
    ) -> Reached:
        """Branches one after the other are real runs; what only some other order might do is marked as such."""
        certain: Refusals = {}
        out = self._each(instance, node, here, certain)
        for key, refusal in certain.items():
            _keep(refusals, key, refusal)
        after = self.summaries.interleaved(instance, node, mask)
        leaf = self._leaf(instance, node.node, SOME_ORDER, True)._replace(doubt=SOME_ORDER)
        state, (length, path) = min(here.items(), key=lambda item: (item[1][0], item[0]))
        if after & self.machine.sink and not certain:
            outer = instance.unit.span(node.node)
            _keep(refusals, id(node), Refusal(instance, node, state, length, path, outer))
        for state in range(self.machine.size):
            if after >> state & 1 and state not in out:
                out[state] = (length + UNSURE, (path, leaf))
        return out


def _line(node: Act | Loop | Gate) -> int:
    return node.step.line if isinstance(node, Act) else node.node.line


def _keep(refusals: Refusals, key: int, refusal: Refusal) -> None:
    """Keeps the shorter run that a step refuses."""
    known = refusals.get(key)
    if known is None or (refusal.length, refusal.state) < (known.length, known.state):
        refusals[key] = refusal
