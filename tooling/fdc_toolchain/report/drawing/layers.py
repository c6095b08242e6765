"""Layered layout, first half: which row each box is in, and in which order along it.

The method is Sugiyama's, in four steps: turn around the links that close cycles, give each box
the row of its longest path, cut links into pieces of one row each, and order the rows by
barycentres until fewer links cross. Rows are doubled, so that between two rows of boxes lies
one where labels have room of their own: a label can then never lie on a box, a line or
another label. Everything is iterative and deterministic: equal input, equal drawing.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from ...named_tuples import NamedTuple

MAX_PIECES = 6_000
"""Maximum boxes and pieces of links in one drawing; a larger one cannot be read."""

_SWEEPS = 24


class TooLarge(ValueError):
    """The graph is too large for a drawing."""


class Link(NamedTuple):
    """From one box to another, by number, with the size of its label (0 by 0: none)."""

    source: int
    target: int
    width: float = 0.0
    height: float = 0.0


class Rows(NamedTuple):
    """Boxes and pieces in rows. Numbers below `boxes` are boxes, the others are pieces of links.

    `chains[i]` is the way of link number i from its upper to its lower end, ends included;
    `turned[i]` says that its upper end is its target. A link from a box to itself has no chain.
    `labelled[p]` is the link whose label piece p carries.
    """

    boxes: int
    rows: list[list[int]]
    chains: list[list[int]]
    turned: list[bool]
    labelled: dict[int, int]


def arrange(boxes: int, links: list[Link], first: list[int]) -> Rows:
    """The rows of `boxes` boxes. `first` are the boxes where reading begins. Raises TooLarge."""
    turned = _turned(boxes, links, first)
    downward = [
        (link.target, link.source) if back else (link.source, link.target)
        for link, back in zip(links, turned, strict=True)
    ]
    depth = _depths(boxes, [pair for pair in downward if pair[0] != pair[1]])
    pieces = sum(2 * (depth[low] - depth[high]) for high, low in downward)
    if boxes + pieces > MAX_PIECES:
        raise TooLarge(f"{boxes} boxes and {len(links)} links are too many to lay out")
    rows: list[list[int]] = [[] for _ in range(2 * max(depth, default=0) + 1)]
    for box in range(boxes):
        rows[2 * depth[box]].append(box)
    chains: list[list[int]] = []
    labelled: dict[int, int] = {}
    count = boxes
    for number, (high, low) in enumerate(downward):
        chain = [high] if high != low else []
        for row in range(2 * depth[high] + 1, 2 * depth[low]):
            rows[row].append(count)
            chain.append(count)
            count += 1
        if high != low:
            chain.append(low)
            if links[number].height:
                # A label belongs near the box that its arrow leaves.
                labelled[chain[-2] if turned[number] else chain[1]] = number
        chains.append(chain)
    return Rows(boxes, _ordered(count, rows, chains, first), chains, turned, labelled)


def _turned(boxes: int, links: list[Link], first: list[int]) -> list[bool]:
    """For each link, whether it leads back to a box on the path of a depth-first walk."""
    outgoing: list[list[int]] = [[] for _ in range(boxes)]
    for number, link in enumerate(links):
        if link.source != link.target:
            outgoing[link.source].append(number)
    turned = [False] * len(links)
    state = [0] * boxes  # 0 not seen, 1 on the way, 2 done
    for root in [*first, *range(boxes)]:
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(outgoing[root]))]
        while stack:
            box, rest = stack[-1]
            number = next(rest, -1)
            if number < 0:
                state[box] = 2
                stack.pop()
                continue
            target = links[number].target
            if state[target] == 1:
                turned[number] = True
            elif state[target] == 0:
                state[target] = 1
                stack.append((target, iter(outgoing[target])))
    return turned


def _depths(boxes: int, downward: list[tuple[int, int]]) -> list[int]:
    """The longest way down to each box; a box that nothing leads to stands just above what it leads to."""
    below: list[list[int]] = [[] for _ in range(boxes)]
    waiting = [0] * boxes
    for high, low in downward:
        below[high].append(low)
        waiting[low] += 1
    free = [box for box in range(boxes) if not waiting[box]]
    roots = list(free)
    depth = [0] * boxes
    for box in free:  # grows while it is read: a topological order
        for low in below[box]:
            depth[low] = max(depth[low], depth[box] + 1)
            waiting[low] -= 1
            if not waiting[low]:
                free.append(low)
    for box in roots:
        if below[box]:
            depth[box] = min(depth[low] for low in below[box]) - 1
    return depth


def _ordered(
    count: int, rows: list[list[int]], chains: list[list[int]], first: list[int]
) -> list[list[int]]:
    """The rows with few crossings: sweeps down and up, of which the best state is kept."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for chain in chains:
        for high, low in pairwise(chain):
            below[high].append(low)
            above[low].append(high)
    rows = _by_walk(rows, below, first)
    best, fewest = [list(row) for row in rows], _crossings(rows, below)
    idle = 0
    for sweep in range(_SWEEPS):
        if not fewest or idle == 4:
            break
        down = sweep % 2 == 0
        neighbours = above if down else below
        order = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for index in order:
            other = {
                piece: place for place, piece in enumerate(rows[index - 1 if down else index + 1])
            }
            rows[index] = _sorted(rows[index], neighbours, other, rightmost=sweep % 4 > 1)
        _switch(rows, above, below)
        crossings = _crossings(rows, below)
        idle += 1
        if crossings < fewest:
            best, fewest, idle = [list(row) for row in rows], crossings, 0
    return best


def _by_walk(rows: list[list[int]], below: list[list[int]], first: list[int]) -> list[list[int]]:
    """The first order: that of a depth-first walk from the start, which keeps connected boxes together."""
    place: dict[int, int] = {}
    for root in [*first, *(piece for row in rows for piece in row)]:
        stack = [root]
        while stack:
            piece = stack.pop()
            if piece not in place:
                place[piece] = len(place)
                stack += reversed(below[piece])
    return [sorted(row, key=place.__getitem__) for row in rows]


def _sorted(
    row: list[int], neighbours: list[list[int]], place: dict[int, int], rightmost: bool
) -> list[int]:
    """The row by barycentre. Those without neighbours keep their place; ties turn around when asked to."""
    near = {piece: [place[n] for n in neighbours[piece]] for piece in row if neighbours[piece]}
    centre = {piece: sum(places) / len(places) for piece, places in near.items()}
    moving = [piece for piece in row if piece in centre]
    if rightmost:
        moving.reverse()
    moving.sort(key=centre.__getitem__)
    following = iter(moving)
    return [next(following) if piece in centre else piece for piece in row]


def _switch(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Exchanges two neighbours wherever that alone saves a crossing."""
    if sum(len(row) for row in rows) > 600:
        return
    for _ in range(4):
        better = False
        for index, row in enumerate(rows):
            sides = []
            if index:
                sides.append((above, {piece: place for place, piece in enumerate(rows[index - 1])}))
            if index + 1 < len(rows):
                sides.append((below, {piece: place for place, piece in enumerate(rows[index + 1])}))
            for at in range(len(row) - 1):
                left, right = row[at], row[at + 1]
                saved = 0
                for neighbours, place in sides:
                    for left_end in neighbours[left]:
                        for right_end in neighbours[right]:
                            saved += (place[left_end] > place[right_end]) - (
                                place[left_end] < place[right_end]
                            )
                if saved > 0:
                    row[at], row[at + 1] = right, left
                    better = True
        if not better:
            return


def _crossings(rows: list[list[int]], below: list[list[int]]) -> int:
    """How many pairs of links cross: for each link, those before it that end to its right."""
    total = 0
    for index in range(len(rows) - 1):
        place = {piece: at for at, piece in enumerate(rows[index + 1])}
        ends: list[int] = []
        for piece in rows[index]:
            for end in sorted(place[low] for low in below[piece]):
                at = bisect_right(ends, end)
                total += len(ends) - at
                ends.insert(at, end)
    return total
