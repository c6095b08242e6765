"""Layered layout, second half: from rows of boxes to coordinates and curves.

Along each row every piece is placed near the weighted mean of its neighbours in the rows
above and below; the closest places that keep the gaps are found exactly (isotonic regression,
pool adjacent violators), row by row, a fixed number of times.
"""

from __future__ import annotations

from itertools import pairwise

from ...named_tuples import NamedTuple
from .layers import Link, Rows, arrange

GAP = 26.0
LANE = 18.0
ROW = 24.0
_ROUNDS = 200
_WORK = 60_000
_POLISH = 4

Point = tuple[float, float]


class Box(NamedTuple):
    """How far a box reaches to the left and right of its axis and how high it is, and the size of its body.

    The reach may be more than the body: a mark at the left, a loop with its label at the right.
    """

    left: float
    right: float
    height: float
    body_width: float
    body_height: float


class Route(NamedTuple):
    """The way of a link, as stretches that alternate between curve and straight, and where its label stands."""

    points: list[Point]
    label: Point | None


class Layout(NamedTuple):
    """Centres of boxes, routes of links (None for a link from a box to itself), and the size of the drawing."""

    centres: list[Point]
    routes: list[Route | None]
    width: float
    height: float


def layout(boxes: list[Box], links: list[Link], first: list[int]) -> Layout:
    """Places boxes and links; `first` are the boxes where reading begins. Raises `layers.TooLarge`."""
    arranged = arrange(len(boxes), links, first)
    left: dict[int, float] = {}
    right: dict[int, float] = {}
    for row in arranged.rows:
        for piece in row:
            if piece < len(boxes):
                left[piece], right[piece] = boxes[piece].left, boxes[piece].right
            else:
                label = links[arranged.labelled[piece]].width if piece in arranged.labelled else 0.0
                left[piece] = right[piece] = label / 2
    x = _across(arranged, left, right)
    _straighten(arranged, left, right, x)
    edge = min((x[piece] - left[piece] for piece in x), default=0.0)
    x = {piece: place - edge for piece, place in x.items()}
    top, bottom = _down(arranged, boxes, links, x)
    middle = {row: (top[row] + bottom[row]) / 2 for row in range(len(arranged.rows))}
    row_of = {piece: index for index, row in enumerate(arranged.rows) for piece in row}
    centres = [(x[box], middle[row_of[box]]) for box in range(len(boxes))]
    routes = _routes(arranged, boxes, x, top, bottom, row_of, middle)
    width = max((x[piece] + right[piece] for piece in x), default=0.0)
    return Layout(centres, routes, width, bottom[-1] if bottom else 0.0)


def _gap(left: int, right: int, boxes: int) -> float:
    return GAP if left < boxes or right < boxes else LANE


def _across(arranged: Rows, left: dict[int, float], right: dict[int, float]) -> dict[int, float]:
    """An x for every piece: packed first, then drawn towards its neighbours without closing a gap."""
    x: dict[int, float] = {}
    offsets: list[list[float]] = []
    for row in arranged.rows:
        at = 0.0
        places = []
        for index, piece in enumerate(row):
            if index:
                before = row[index - 1]
                at += right[before] + _gap(before, piece, arranged.boxes) + left[piece]
            places.append(at)
            x[piece] = at
        offsets.append(places)
    near: dict[int, list[tuple[int, float]]] = {piece: [] for piece in x}
    for chain in arranged.chains:
        for high, low in pairwise(chain):
            bends = (high >= arranged.boxes) + (low >= arranged.boxes)
            weight = (1.0, 2.0, 8.0)[bends]
            near[high].append((low, weight))
            near[low].append((high, weight))
    for round_ in range(min(_ROUNDS, _WORK // max(1, len(x)) + 10)):
        down = round_ % 2 == 0
        order = range(len(arranged.rows)) if down else range(len(arranged.rows) - 1, -1, -1)
        for index in order:
            row = arranged.rows[index]
            wished, weights = [], []
            for piece in row:
                total = sum(weight for _, weight in near[piece])
                wished.append(
                    sum(x[n] * weight for n, weight in near[piece]) / total if total else x[piece]
                )
                weights.append(total or 0.1)
            for piece, place in zip(row, _keep_apart(wished, weights, offsets[index]), strict=True):
                x[piece] = place
    return x


def _straighten(
    arranged: Rows, left: dict[int, float], right: dict[int, float], x: dict[int, float]
) -> None:
    """Gives each link the fewest bends that its neighbours leave room for.

    Least squares spread a shift over all rows of a long link, which looks like a staircase.
    Here a strand (`_strands`) keeps one x for as long as some x suits all its pieces (greedy,
    and so the fewest changes), near the mean of where they stand.
    """
    index_of = {piece: (row, at) for row in arranged.rows for at, piece in enumerate(row)}
    strands = _strands(arranged)
    for _ in range(_POLISH):
        for strand in strands:
            run: list[int] = []
            low, high = float("-inf"), float("inf")
            for piece in strand:
                row, at = index_of[piece]
                least, most = float("-inf"), float("inf")
                if at:
                    before = row[at - 1]
                    least = (
                        x[before]
                        + right[before]
                        + _gap(before, piece, arranged.boxes)
                        + left[piece]
                    )
                if at + 1 < len(row):
                    after = row[at + 1]
                    most = (
                        x[after] - left[after] - _gap(piece, after, arranged.boxes) - right[piece]
                    )
                if max(low, least) > min(high, most) + 1e-6:
                    _settle(run, low, high, x)
                    run, low, high = [], least, most
                run.append(piece)
                low, high = max(low, least), min(high, most)
            _settle(run, low, high, x)


def _strands(arranged: Rows) -> list[list[int]]:
    """The inner pieces of each link, continued through boxes that one link enters and one leaves."""
    above: dict[int, list[list[int]]] = {}
    below: dict[int, list[list[int]]] = {}
    for chain in arranged.chains:
        if chain:
            below.setdefault(chain[0], []).append(chain)
            above.setdefault(chain[-1], []).append(chain)

    def passes(box: int) -> bool:
        return len(above.get(box, ())) == 1 == len(below.get(box, ()))

    strands = []
    for chain in arranged.chains:
        if not chain or passes(chain[0]):
            continue
        alone = chain[0] not in above and len(below[chain[0]]) == 1
        strand = chain[:-1] if alone else chain[1:-1]
        while passes(chain[-1]):
            chain = below[chain[-1]][0]
            strand = strand + chain[:-1]
        if chain[-1] not in below and len(above[chain[-1]]) == 1:
            strand = [*strand, chain[-1]]
        strands.append(strand)
    return strands


def _settle(run: list[int], low: float, high: float, x: dict[int, float]) -> None:
    if run:
        place = min(max(sum(x[piece] for piece in run) / len(run), low), high)
        for piece in run:
            x[piece] = place


def _keep_apart(wished: list[float], weights: list[float], offsets: list[float]) -> list[float]:
    """The places closest to the wished ones (least weighted squares) whose distances are at least the offsets'."""
    blocks: list[list[float]] = []  # [mean, weight, members]
    for wish, weight, offset in zip(wished, weights, offsets, strict=True):
        blocks.append([wish - offset, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, heavy, members = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * heavy) / (last[1] + heavy)
            last[1] += heavy
            last[2] += members
    means = [block[0] for block in blocks for _ in range(int(block[2]))]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _down(
    arranged: Rows, boxes: list[Box], links: list[Link], x: dict[int, float]
) -> tuple[list[float], list[float]]:
    """The top and bottom of each row. Rows are further apart where a link must go far to the side."""
    steep = [0.0] * len(arranged.rows)
    row_of = {piece: index for index, row in enumerate(arranged.rows) for piece in row}
    for chain in arranged.chains:
        for high, low in pairwise(chain):
            steep[row_of[low]] = max(steep[row_of[low]], abs(x[high] - x[low]))
    tops, bottoms = [], []
    at = 0.0
    for index, row in enumerate(arranged.rows):
        if index:
            at += ROW * 0.75 + min(34.0, steep[index] * 0.12)
        height = 0.0
        for piece in row:
            if piece < len(boxes):
                height = max(height, boxes[piece].height)
            elif piece in arranged.labelled:
                height = max(height, links[arranged.labelled[piece]].height)
        tops.append(at)
        at += height
        bottoms.append(at)
    return tops, bottoms


def _routes(
    arranged: Rows,
    boxes: list[Box],
    x: dict[int, float],
    top: list[float],
    bottom: list[float],
    row_of: dict[int, int],
    middle: dict[int, float],
) -> list[Route | None]:
    """The points that each link goes through: straight through rows, curved between them."""
    leaving: dict[int, list[tuple[float, int]]] = {}
    arriving: dict[int, list[tuple[float, int]]] = {}
    for number, chain in enumerate(arranged.chains):
        if chain:
            leaving.setdefault(chain[0], []).append((x[chain[1]], number))
            arriving.setdefault(chain[-1], []).append((x[chain[-2]], number))
    out = _ports(leaving, boxes, x)
    into = _ports(arriving, boxes, x)
    routes: list[Route | None] = []
    for number, chain in enumerate(arranged.chains):
        if not chain:
            routes.append(None)
            continue
        high, low = chain[0], chain[-1]
        half_high, half_low = boxes[high].body_height / 2, boxes[low].body_height / 2
        points = [
            (out[number], middle[row_of[high]] + half_high),
            (out[number], bottom[row_of[high]]),
        ]
        label = None
        for piece in chain[1:-1]:
            row = row_of[piece]
            points += [(x[piece], top[row]), (x[piece], bottom[row])]
            if arranged.labelled.get(piece) == number:
                label = (x[piece], middle[row])
        points += [(into[number], top[row_of[low]]), (into[number], middle[row_of[low]] - half_low)]
        if arranged.turned[number]:
            points.reverse()
        routes.append(Route(points, label))
    return routes


def _ports(
    ends: dict[int, list[tuple[float, int]]], boxes: list[Box], x: dict[int, float]
) -> dict[int, float]:
    """Where links meet a side of a box: in the order of where they come from, evenly spread."""
    ports: dict[int, float] = {}
    for box, arrivals in ends.items():
        arrivals.sort()
        room = min(boxes[box].body_width * 0.7, 30.0 * (len(arrivals) - 1))
        for place, (_, number) in enumerate(arrivals):
            share = place / (len(arrivals) - 1) - 0.5 if len(arrivals) > 1 else 0.0
            ports[number] = x[box] + room * share
    return ports
