"""The edits of a file, the best first: how suspect the statement of each is, times how common its kind of fault is.

There are some ten thousand edits in a large file, of which the best 1,800 are wanted. What costs most to know of an edit
is asked only of those that can still be among the next ones by the rest.
"""

from __future__ import annotations

import ast
import heapq
import itertools
import math
import re
from collections.abc import Iterator, Sequence

from ...weighing import TURNED
from .. import named, operators
from ..hints import Said
from ..known import Known
from ..source import Edit, Function, Piece, Source
from .meaning import is_not
from .naming import names_it

AGAIN, RESTORED = 0.985, 0.994
"""What each further edit of a statement is worth, by the one before it; where a statement is lost, many may have stood there."""
RAISED = 1.5
"""How much more credible an edit is of the lines that the first error was raised in."""
DEFAULTS = 0.8
"""How suspect a function's header is by its most suspect line: its defaults are evaluated before any test runs."""
LAST = TURNED
"""What an edit is worth that turns a condition round, drops a statement or moves one: such edits pass weak tests (E17)."""
COPIED = (1.0, 2.0, 3.0)
"""How much more credible an edit is that makes a line the copy of another one (`Known.copies`)."""
NAMED = 2.5
"""How much more credible an edit is that says what the name says that gets the value: `numerator = part.numerator`."""
_NAMED = frozenset(("attribute", "callee", "wrapped"))


def ranked(
    source: Known,
    scores: dict[int, float],
    order: dict[int, int],
    message: str = "",
    line: int = 0,
    others: tuple[tuple[str, str], ...] = (),
) -> Iterator[tuple[Edit, float]]:
    """Edits with what they are worth, the best first."""
    by_statement: dict[ast.stmt, list[Edit]] = {}
    suspicion = {
        one: suspect(source, one, scores) for one in source.nodes if isinstance(one, ast.stmt)
    }
    for table, most in _tables(source, suspicion).items():
        suspicion[table] = max(suspicion[table], most)
    said_types = _types(source)
    nodes = [
        one
        for one in source.nodes
        if one not in said_types
        and (near := source.statement(one)) is not None
        and suspicion[near] > 0
    ]
    lost = list(named.edits(source, message, dict(others)))
    for one in lost:
        statement = source.statement(one.node)
        if statement is not None:  # whatever ran it: the error names what is missing
            suspicion[statement] = max([suspicion[statement], *scores.values()])
    for edit in itertools.chain(lost, operators.edits(source, nodes)):
        statement = source.statement(edit.node)
        if (
            edit.kind == "nesting" and statement is not None
        ):  # what is nested too deep may not be run at all
            statement = source.statement(source.parents[statement])
        if statement is not None and suspicion[statement] > 0:
            by_statement.setdefault(statement, []).append(edit)
    said = Said(message)
    streams = []
    for number, (statement, edits) in enumerate(by_statement.items()):
        first, last = source.head(statement)
        place = min(
            (order[line] for line in range(first, last + 1) if line in order), default=len(order)
        )
        early = 0.8 + 0.2 / (1 + place / 8)  # suspects that score alike stand by the traceback
        raised = first <= line <= last
        early *= RAISED if raised else 1.0
        prior = _Prior(source, said, raised)
        streams.append(
            _Stream(edits, prior, suspicion[statement] * early, (statement.lineno, number))
        )
    yield from _merged(streams)


class _Prior:
    """How common the fault of an edit is, by all that is known of it."""

    def __init__(self, source: Known, said: Said, raised: bool) -> None:
        self._source, self._said, self._raised = source, said, raised

    def most(self, edit: Edit) -> tuple[float, tuple[float, ...]]:
        """What it is at most, where the file says everywhere what the edit puts there; and what else it is made of. The product
        is the same but for that factor, and in the same order, so that no rounding makes this less than `exact`."""
        source = self._source
        named = edit.kind in _NAMED and names_it(source.given_to(edit.node), edit.old, edit.new)
        parts = (
            self._said.weight(edit.kind, edit.old, edit.new, self._raised),
            NAMED ** int(named),
            LAST if risky(source, edit) else 1.0,
            COPIED[source.copies(edit.node, edit.pieces)],
        )
        return math.prod((edit.prior, 2.0, *parts)), parts

    def exact(self, edit: Edit, parts: tuple[float, ...]) -> float:
        """What it is. `parts`: as `most` gives them."""
        return math.prod((edit.prior, 2 ** self._source.lines.likelier(edit.pieces), *parts))


class _Stream:
    """The edits of one statement, the best first; each further one is worth less (`AGAIN`, `RESTORED`)."""

    def __init__(
        self, edits: Sequence[Edit], prior: _Prior, suspect: float, place: tuple[int, int]
    ) -> None:
        self.place = place
        self._prior, self._suspect = prior, suspect
        most = ((*prior.most(one), number, one) for number, one in enumerate(edits))
        self._waiting = sorted(most, key=lambda row: row[0])  # the last one may be the best
        self._known: list[tuple[float, int, Edit]] = []
        self._seen: set[tuple[Piece, ...]] = set()

    def bound(self) -> float | None:
        """What no further edit is worth more than; None where there is none."""
        if not self._waiting and not self._known:
            return None
        best = max(
            self._waiting[-1][0] if self._waiting else 0.0,
            -self._known[0][0] if self._known else 0.0,
        )
        return self._suspect * best * RESTORED ** len(self._seen)

    def next(self) -> tuple[float, int, Edit] | None:
        """The next edit, with what it is worth and its number; None where it says what one before it says."""
        while self._waiting and (not self._known or self._waiting[-1][0] >= -self._known[0][0]):
            _, parts, number, edit = self._waiting.pop()
            heapq.heappush(self._known, (-self._prior.exact(edit, parts), number, edit))
        prior, _, edit = heapq.heappop(self._known)
        number = len(self._seen)
        if edit.pieces in self._seen:
            return None
        self._seen.add(edit.pieces)
        again = (RESTORED if edit.kind in ("restored", "lost") else AGAIN) ** number
        return self._suspect * -prior * again, number, edit


def _merged(streams: Sequence[_Stream]) -> Iterator[tuple[Edit, float]]:
    """The edits of all statements, the best first; of those that are worth as much, by their place."""
    open_: list[tuple[float, int]] = [
        (-(one.bound() or 0.0), number) for number, one in enumerate(streams)
    ]
    heapq.heapify(open_)
    ready: list[tuple[float, int, int, int, Edit]] = []
    while open_ or ready:
        while open_ and (not ready or open_[0][0] <= ready[0][0]):
            stream = streams[open_[0][1]]
            found = stream.next()
            if found is not None:
                line, place = stream.place
                heapq.heappush(ready, (-found[0], line, found[1], place, found[2]))
            if (bound := stream.bound()) is not None:
                heapq.heapreplace(open_, (-bound, open_[0][1]))
            else:
                heapq.heappop(open_)
        if ready:
            worth, _, _, _, edit = heapq.heappop(ready)
            yield edit, -worth


def _types(source: Source) -> set[ast.AST]:
    """What only says of which type something is: no fault of it fails a test."""
    roots = [getattr(one, name, None) for one in source.nodes for name in ("annotation", "returns")]
    return {one for root in roots if isinstance(root, ast.AST) for one in ast.walk(root)}


def risky(source: Known, edit: Edit) -> bool:
    """True for an edit that negates, drops or widens a condition or an answer, exchanges branches, drops or moves a statement,
    or leaves a loop otherwise.
    One `not` of two is none of these, nor is that of `not x is None`, which no one else in the file writes."""
    if edit.kind not in _RISKS:
        return _stops_updating(source, edit)
    near = (edit.node, source.parents.get(edit.node), getattr(edit.node, "operand", None))
    if edit.kind == "negation" and sum(is_not(one) for one in near) > 1:
        return False
    if edit.kind == "negation" and source.oddly_negated(edit.node):
        return False
    if edit.kind in ("negation", "branches", "removed", "nesting", "nested", "widened", "flow"):
        return True
    if edit.kind == "constant" and {edit.old, edit.new} == {"True", "False"}:
        return isinstance(source.parents.get(edit.node), ast.Return | ast.arguments)
    if edit.kind == "operand" and isinstance(edit.node, ast.BoolOp):
        return True  # a guard less
    compared = edit.kind == "comparison"
    pair = [_TOKENS.findall(one) if compared else [] for one in (edit.old, edit.new)]
    return any(
        _OPPOSITE.get(one) == other for one, other in zip(*pair, strict=False) if one != other
    )


def _stops_updating(source: Source, edit: Edit) -> bool:
    """True for `y = f(x)` in place of `x = f(x)`: for what reads `x` then, that drops the statement."""
    up = source.parents.get(edit.node)
    if not isinstance(up, ast.Assign) or edit.node not in up.targets:
        return False
    read = {one.id for one in ast.walk(up.value) if isinstance(one, ast.Name)}
    return isinstance(edit.node, ast.Name) and edit.node.id in read and edit.new not in read


_RISKS = frozenset(
    ("negation", "branches", "removed", "nesting", "nested", "widened", "flow", "constant", "operand", "comparison")
)  # fmt: skip
_TOKENS = re.compile(r"\bis not\b|\bnot in\b|\bis\b|\bin\b|[=!<>]=|[<>]")
_SIDES = (("is", "is not"), ("in", "not in"), ("==", "!="), ("<", ">="), (">", "<="))
_OPPOSITE = {one: other for pair in _SIDES for one, other in (pair, pair[::-1])}


def _tables(source: Source, suspicion: dict[ast.stmt, float]) -> dict[ast.stmt, float]:
    """How suspect the constants of a module are: by the most suspect statement that reads them."""
    tables = {
        to.id: one
        for one in getattr(source.tree, "body", ())
        if isinstance(one, ast.Assign)
        for to in one.targets
        if isinstance(to, ast.Name)
    }
    found: dict[ast.stmt, float] = {}
    for node in source.nodes if tables else ():
        if isinstance(node, ast.Name) and node.id in tables and isinstance(node.ctx, ast.Load):
            reader, table = source.statement(node), tables[node.id]
            if reader is not None and reader is not table:
                found[table] = max(found.get(table, 0.0), DEFAULTS * suspicion[reader])
    return found


def suspect(source: Source, statement: ast.stmt, scores: dict[int, float]) -> float:
    """How suspect a statement is by its own lines; a function's header also by those of its body."""
    first, last = source.head(statement)
    found = max((scores.get(line, 0.0) for line in range(first, last + 1)), default=0.0)
    if isinstance(statement, Function):
        body = (
            scores.get(line, 0.0) for line in range(last + 1, (statement.end_lineno or last) + 1)
        )
        found = max(found, DEFAULTS * max(body, default=0.0))
    return found
