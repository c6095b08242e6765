"""Bounds: what the worst run costs, as a polynomial in the numbers of files not known yet (FDC-13 to FDC-15).

A cost is a sum of monomials: the sizes it multiplies (one for each `for_each_file` without
`max`) to a coefficient. Branches take the larger coefficient, calls add their callee's cost,
computed once. All terms are positive, so the sum is an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..linking.catalogue import Tool
from ..linking.graph import Instance
from ..linking.model import Act, Choice, Invoke, Loop, Node, Unit
from ..named_tuples import NamedTuple
from ..program.polynomial import Polynomial, constant, poly_max, poly_sum, poly_times
from .solver.rule import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_STEPS, MOST_ONCE = 1_000_000, 1_000
"""Steps in all, and rounds around a step whose effect happens once, beyond which a plan has to state a budget."""

_BOUNDING = frozenset(("steps", "seconds"))
"""The budgets that bound every step."""

MEASURES = ("steps", "model_calls", "tokens", "money")
_CAPPED = frozenset(MEASURES)
"""The measures of the worst case."""

_BUDGET = "lower a loop's `max`, or add a budget above the first step: `budget steps {}`"

WRITES = frozenset(("write_op", "delete_op", "move_op"))
CHANGES = frozenset(("create", "write", "edit", "delete"))


class Cost(NamedTuple):
    """The worst case of each measure, and what is touched.

    `shell`: commands of which it is unknown what they touch; `writes`: a file is or may be changed.
    `nesting` counts all file loops around the deepest step, `degree` those without a `max`.
    """

    steps: Polynomial
    model_calls: Polynomial
    tokens: Polynomial
    money: Polynomial
    nesting: int
    degree: int
    writes: bool
    shell: bool


_FREE = Cost({}, {}, {}, {}, 0, 0, False, False)


class Bounds:
    """Costs of plans and bodies, each plan once. Without `held` no call is held to its plan's budget."""

    def __init__(self, held: bool = True) -> None:
        self._held = held
        self._known: dict[int, Cost] = {}
        self._often: dict[int, int] = {}

    def plan(self, instance: Instance) -> Cost:
        """The worst case of a whole plan."""
        found = self._known.get(id(instance))
        if found is None:
            found = self._known[id(instance)] = self.body(instance, instance.unit.body)
        return found

    def called(self, instance: Instance) -> Cost:
        """The worst case of a call: at most the plan's own budget, which every call enforces."""
        cost = self.plan(instance)
        for measure, (limit, _) in instance.unit.budget.items() if self._held else ():
            if measure in _CAPPED:
                changed: dict[str, Any] = {measure: held(getattr(cost, measure), limit)}
                cost = cost._replace(**changed)
        return cost

    def body(self, instance: Instance, nodes: list[Node]) -> Cost:
        """The worst case of a body in order."""
        steps = calls = tokens = 0
        money = 0.0
        writes = shell = False
        total = _FREE
        for node in nodes:
            if type(node) is Act:
                bound = node.bound
                tool = bound.tool
                steps += 1
                calls += tool.model_calls
                tokens += tool.tokens
                money += tool.money
                if tool.left:
                    total = _sum(total, _left(tool))
                command = (
                    tool.writes_unknown and bound.action == tool.action
                )  # not one that the catalogue knows, as `close`
                shell = shell or (command and tool.row.get("writes") == "unknown")
                writes = (
                    writes
                    or command
                    or bound.action in WRITES
                    or any(access in CHANGES for access, _ in bound.files)
                )
                continue
            if isinstance(node, Invoke):
                callee = instance.callees[node.number]
                inner = _FREE if callee is None else self.called(callee)
            elif isinstance(node, Loop):
                inner = self.loop(instance, node)
            elif isinstance(node, Choice):
                then, orelse = self.body(instance, node.then), self.body(instance, node.orelse)
                inner = (
                    _worse(then, orelse)
                    if node.known is None
                    else _chosen(then, orelse, node.known)
                )
            else:
                continue
            total = _sum(total, inner)
        here = Cost(
            constant(steps),
            constant(calls),
            constant(tokens),
            constant(money),
            0,
            0,
            writes,
            shell,
        )
        return here if total is _FREE else _sum(total, here)

    def repeated(self, instance: Instance, node: Loop | Invoke) -> int:
        """How many rounds are made at most around a step whose effect happens once; sizes that are not known count as one."""
        if isinstance(node, Invoke):
            callee = instance.callees[node.number]
            return 0 if callee is None else self._once(callee, callee.unit.body)
        return self._once(instance, [node])

    def _once(self, instance: Instance, nodes: list[Node]) -> int:
        most = 0
        for node in nodes:
            if isinstance(node, Act):
                most = max(most, node.bound.tool.effect == "once")
            elif isinstance(node, Loop):
                most = max(most, (node.most or 1) * self._once(instance, node.body))
            elif isinstance(node, Choice):
                most = max(most, self._once(instance, node.then), self._once(instance, node.orelse))
            elif isinstance(node, Invoke):
                callee = instance.callees[node.number]
                if callee is not None:
                    found = self._often.get(id(callee))
                    if found is None:
                        found = self._often[id(callee)] = self._once(callee, callee.unit.body)
                    most = max(most, found)
        return most

    def loop(self, instance: Instance, node: Loop | Invoke) -> Cost:
        """The worst case of a loop, or of a call."""
        if isinstance(node, Invoke):
            callee = instance.callees[node.number]
            return _FREE if callee is None else self.called(callee)
        body = self.body(instance, node.body)
        size: str | int
        if node.most is not None:
            size = node.most
        else:
            size = node.over.text if node.over is not None else "n"
        file_loop = node.kind == "each"
        return Cost(
            poly_times(body.steps, size),
            poly_times(body.model_calls, size),
            poly_times(body.tokens, size),
            poly_times(body.money, size),
            body.nesting + file_loop,
            body.degree + (file_loop and node.most is None),
            body.writes,
            body.shell,
        )


def held(poly: Polynomial, limit: float | None) -> Polynomial:
    """A cost that a budget holds to a limit: the limit, where one file for each size not known may cost more already."""
    if limit is None or sum(poly.values()) <= limit:
        return poly
    return constant(int(limit) if limit == int(limit) else limit)


def _sum(left: Cost, right: Cost) -> Cost:
    return _both(left, right, poly_sum)


def _worse(left: Cost, right: Cost) -> Cost:
    return _both(left, right, poly_max)


def _left(tool: Tool) -> Cost:
    """What a step uses of which only a budget says how much: a size of its own, called as the tool is."""
    some: Polynomial = {(tool.name,): 1}
    steps, calls, tokens, money = (some if one in tool.left else {} for one in MEASURES)
    return Cost(steps, calls, tokens, money, 0, 0, False, False)


def _both(left: Cost, right: Cost, join: Callable[[Polynomial, Polynomial], Polynomial]) -> Cost:
    return Cost(
        join(left.steps, right.steps),
        join(left.model_calls, right.model_calls),
        join(left.tokens, right.tokens),
        join(left.money, right.money),
        max(left.nesting, right.nesting),
        max(left.degree, right.degree),
        left.writes or right.writes,
        left.shell or right.shell,
    )


def _chosen(then: Cost, orelse: Cost, known: bool) -> Cost:
    """The cost of the branch that runs; writes in the other branch still count as writes (FDC-15)."""
    return _both(then, orelse, lambda left, right: left if known else right)


def shown(poly: Polynomial) -> str:
    """The polynomial as text, highest degree first: `3*|src/*.py|^2 + 5`."""
    terms = []
    for sizes, coefficient in sorted(poly.items(), key=lambda item: (-len(item[0]), item[0])):
        powers = [
            f"|{name}|" + (f"^{sizes.count(name)}" if sizes.count(name) > 1 else "")
            for name in dict.fromkeys(sizes)
        ]
        number = f"{coefficient:g}" if isinstance(coefficient, float) else str(coefficient)
        terms.append("*".join(powers if number == "1" and powers else [number, *powers]))
    return " + ".join(terms) or "0"


def check(context: Context) -> Iterator[Diagnostic]:
    """A stated budget that the worst run certainly exceeds (files not counted yet are left to the runner), and one that
    a plan needs and does not state."""
    bounds = Bounds(
        held=False
    )  # what is certain, whatever the sizes: a budget that a call comes to is not
    stated = False
    for instance in context.order:
        unit = instance.unit
        if instance.context or not unit.budget:
            stated = stated or bool(unit.budget)
            continue
        stated = True
        cost = bounds.plan(instance)
        for measure, (limit, span) in unit.budget.items():
            poly: Polynomial | None = getattr(cost, measure, None)
            worst = (poly or {}).get((), 0)
            if worst > limit:
                message = f"the worst run takes {worst:g} {measure.replace('_', ' ')}, more than the budget of {limit:g}"
                yield Diagnostic(
                    span, "FDC421", message, help="lower a loop's `max`, or raise the budget"
                )
            elif measure == "seconds" and not limit and cost.steps.get(()):
                message = "a budget of 0 seconds is used up before the first step"
                yield Diagnostic(span, "FDC421", message, help="raise the budget")
    bounds = Bounds() if stated else bounds
    for instance, _ in context.roots:
        if not _BOUNDING & instance.unit.budget.keys():
            yield from _unbudgeted(instance, bounds)


def _unbudgeted(instance: Instance, bounds: Bounds) -> Iterator[Diagnostic]:
    """A root without a budget that may take very many steps, or perform very many irreversible ones."""
    unit = instance.unit
    worst = sum(bounds.plan(instance).steps.values())
    if worst > MOST_STEPS:
        node = max(
            _loops(unit.body),
            key=lambda node: sum(bounds.loop(instance, node).steps.values()),
            default=None,
        )
        span = _head(unit, node) if node is not None else _head(unit, unit.body[0])
        message = f"the worst run takes {worst:g} steps, more than {MOST_STEPS:,}, and the plan has no budget"
        yield Diagnostic(span, "FDC422", message, help=_BUDGET.format(MOST_STEPS))
        return
    for node in _loops(unit.body):
        rounds = bounds.repeated(instance, node)
        if rounds > MOST_ONCE:
            message = (
                f"the worst run performs {rounds:g} irreversible steps, more than {MOST_ONCE:,}"
            )
            message += ", and the plan has no budget"
            yield Diagnostic(_head(unit, node), "FDC422", message, help=_BUDGET.format(MOST_ONCE))


def _loops(nodes: list[Node]) -> Iterator[Loop | Invoke]:
    """The loops and calls of a body that are in no other loop."""
    for node in nodes:
        if type(node) is Act:
            continue
        if isinstance(node, Loop | Invoke):
            yield node
        elif isinstance(node, Choice):
            yield from _loops(node.then if node.known is not False else [])
            yield from _loops(node.orelse if node.known is not True else [])


def _head(unit: Unit, node: Node) -> Span:
    """The position of a node."""
    return unit.span(
        node.step if isinstance(node, Act) else node.call if isinstance(node, Invoke) else node.node
    )
