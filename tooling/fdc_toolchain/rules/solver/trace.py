"""The path of a run through plans, shared between all runs that begin alike, and its lines as a trace.

A path is None or (path before, leaf), and a leaf may be the path through a called plan: a run of 2^60 steps
is counted without being walked, and its trace shows its ends.
"""

from __future__ import annotations

from typing import Optional

from ...diagnostics.diagnostic import Label
from ...diagnostics.span import Span
from ...named_tuples import NamedTuple


class Leaf(NamedTuple):
    """One line of a trace: a step or call (it counts), or a remark about a branch or loop (it does not)."""

    key: str
    line: int
    column: int
    text: str
    counts: bool
    doubt: str = ""
    """Why no run may go this way after all; empty: one does."""


class Nested(NamedTuple):
    """The path through a called plan, or (`deeper` 0) through rounds of a loop."""

    path: Path
    deeper: int = 1


Path = Optional[tuple["Path", Leaf | Nested]]  # noqa: UP045 - a type that names itself in quotes


Reached = dict[int, tuple[int, Path]]
"""By state: the length of the shortest run that leads there, and its path."""


def labels(path: Path, most: int = 24) -> tuple[Label, ...]:
    """The path as a trace, its middle left out where it is longer than `most` lines."""
    half = most // 2
    tail = _take(path, most + 1)
    if len(tail) <= most:
        return tuple(_label(leaf, depth) for leaf, depth in tail)
    head = _first(path, half)
    ending = tail[-half:]
    gap = Label(
        _label(*ending[0]).span,
        f"... {_count(path) - _counting(head) - _counting(ending)} more steps ...",
    )
    return (*(_label(*item) for item in head), gap, *(_label(*item) for item in ending))


def _label(leaf: Leaf, depth: int) -> Label:
    text = leaf.text if len(leaf.text) <= 160 else leaf.text[:159] + "…"
    span = Span(leaf.key, leaf.line, leaf.column, leaf.line, leaf.column + 1)
    return Label(span, "  " * depth + (text if leaf.counts else f"({text})"))


def doubt_in(path: Path) -> Leaf | None:
    """The first leaf on a path with a doubt, without walking a shared path twice."""
    memo: dict[int, Leaf | None] = {}

    def find(here: Path) -> Leaf | None:
        found: Leaf | None = None
        key = id(here)
        if key not in memo:
            while here is not None:
                leaf = here[1]
                inner = (
                    find(leaf.path) if isinstance(leaf, Nested) else leaf if leaf.doubt else None
                )
                found = inner or found
                here = here[0]
            memo[key] = found
        return memo[key]

    return find(path)


def _counting(items: list[tuple[Leaf, int]]) -> int:
    return sum(leaf.counts for leaf, _ in items)


def _take(path: Path, most: int) -> list[tuple[Leaf, int]]:
    """The last `most` leaves in order, with their call depth."""
    out: list[tuple[Leaf, int]] = []
    stack: list[tuple[Path, int]] = [(path, 0)]
    while stack and len(out) < most:
        here, depth = stack.pop()
        if here is None:
            continue
        before, leaf = here
        stack.append((before, depth))
        if isinstance(leaf, Nested):
            stack.append((leaf.path, depth + leaf.deeper))
        else:
            out.append((leaf, depth))
    return out[::-1]


def _first(path: Path, most: int) -> list[tuple[Leaf, int]]:
    """The first `most` leaves."""
    chain: list[Leaf | Nested] = []
    while path is not None:
        chain.append(path[1])
        path = path[0]
    out: list[tuple[Leaf, int]] = []
    for leaf in reversed(chain):
        if len(out) >= most:
            break
        if isinstance(leaf, Nested):
            out += [
                (item, depth + leaf.deeper) for item, depth in _first(leaf.path, most - len(out))
            ]
        else:
            out.append((leaf, 0))
    return out


def _count(path: Path) -> int:
    """How many steps and calls, without walking a shared path twice."""
    memo: dict[int, int] = {}

    def count(here: Path) -> int:
        key = id(here)
        if key not in memo:
            total = 0
            while here is not None:
                leaf = here[1]
                total += count(leaf.path) if isinstance(leaf, Nested) else leaf.counts
                here = here[0]
            memo[key] = total
        return memo[key]

    return count(path)


def merge(into: Reached, more: Reached) -> Reached:
    """Keeps in `into` the shorter way to each state; returns what was improved."""
    improved: Reached = {}
    for state, (length, path) in more.items():
        known = into.get(state)
        if known is None or length < known[0]:
            into[state] = improved[state] = (length, path)
    return improved
