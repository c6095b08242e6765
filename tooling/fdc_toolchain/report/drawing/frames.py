"""Places the frames of a drawing, and routes the arrows between them.

Frames stand in columns by depth of calls, from left to right. A call leaves its step to the
right, and runs in the free gaps only: between columns, and along the top past columns that it
skips. Calls of one plan share its lane. No call crosses a node.
"""

from __future__ import annotations

from ...named_tuples import NamedTuple

Point = tuple[float, float]
Rect = tuple[float, float, float, float]  # left, top, right, bottom

STACK = 24.0
LANE = 8.0
EDGE = 22.0
_CORNER = 7.0


class Arrangement(NamedTuple):
    """Top left corners of the frames, the route of each call as points, and the size of the drawing."""

    origins: list[Point]
    ways: list[list[Point]]
    width: float
    height: float


class Call(NamedTuple):
    """From a frame to a frame, by number; `leave` and `enter` are points relative to the frames' corners.

    `blocked` are the rectangles in the calling frame that stand to the right of `leave`.
    """

    source: int
    target: int
    leave: Point
    enter: Point
    blocked: tuple[Rect, ...]


def arrange(sizes: list[tuple[float, float]], calls: list[Call]) -> Arrangement:
    """Places frames of these sizes, in their order within each column, and finds the calls' ways."""
    column = _depths(len(sizes), calls)
    skips = [column[call.target] != column[call.source] + 1 for call in calls]
    last = max(column, default=0)
    # Lanes before a column, one for each plan called in it; lanes after it for calls that go over the top.
    entering: list[list[tuple[int, float]]] = [[] for _ in range(last + 1)]
    leaving: list[list[int]] = [[] for _ in range(last + 1)]
    over: list[tuple[int, float]] = []
    for call, skip in zip(calls, skips, strict=True):
        door = (call.target, call.enter[1])
        if door not in entering[column[call.target]]:
            entering[column[call.target]].append(door)
        if skip:
            if call.source not in leaving[column[call.source]]:
                leaving[column[call.source]].append(call.source)
            if door not in over:
                over.append(door)
    top = LANE * len(over) + 10 if over else 0.0
    origins: list[Point] = [(0.0, 0.0)] * len(sizes)
    starts, ends = [], []
    left = height = 0.0
    for depth in range(last + 1):
        if depth or entering[0]:
            left += EDGE + LANE * len(entering[depth])
        at, widest = top, 0.0
        for frame, (wide, high) in enumerate(sizes):
            if column[frame] == depth:
                origins[frame] = (left, at)
                at += high + STACK
                widest = max(widest, wide)
        starts.append(left)
        ends.append(left + widest)
        left += widest + (
            EDGE + LANE * len(leaving[depth]) if leaving[depth] or depth < last else 0.0
        )
        height = max(height, at - STACK)
    ways = []
    detours: dict[tuple[int, float], int] = {}
    for call, skip in zip(calls, skips, strict=True):
        depth, deep = column[call.source], column[call.target]
        door = (call.target, call.enter[1])
        lane = starts[deep] - EDGE / 2 - LANE * entering[deep].index(door)
        out = ends[depth] + EDGE / 2 + LANE * leaving[depth].index(call.source) if skip else lane
        x, y = _plus(call.leave, origins[call.source])
        enter = _plus(call.enter, origins[call.target])
        way = [(x, y)]
        if call.blocked:
            bottom = max(rect[3] for rect in call.blocked) + origins[call.source][1]
            nth = detours[call.source, bottom] = detours.get((call.source, bottom), -1) + 1
            y = bottom + 6.0 + 3.0 * min(nth, 2)
            way += [(x + 12.0, way[0][1]), (x + 12.0, y)]
        way.append((out, y))
        if skip:
            bus = top - 10 - LANE * over.index(door)
            way += [(out, bus), (lane, bus)]
        ways.append([*way, (lane, enter[1]), enter])
    return Arrangement(origins, ways, left, height)


def rounded(points: list[Point]) -> str:
    """The path through these points, its corners rounded."""
    way = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        enter, leave = _towards(corner, before), _towards(corner, after)
        way += f"L{enter[0]:.1f} {enter[1]:.1f}Q{corner[0]:.1f} {corner[1]:.1f} {leave[0]:.1f} {leave[1]:.1f}"
    return way + f"L{points[-1][0]:.1f} {points[-1][1]:.1f}"


def _depths(frames: int, calls: list[Call]) -> list[int]:
    """The depth of each frame's deepest caller plus one. Terminates for cycles too, which lint refuses."""
    column = [0] * frames
    pairs = sorted({(call.source, call.target) for call in calls if call.source != call.target})
    for _ in range(frames):
        moved = False
        for caller, callee in pairs:
            if column[callee] <= column[caller] and column[caller] + 1 < frames:
                column[callee] = column[caller] + 1
                moved = True
        if not moved:
            break
    used = {depth: at for at, depth in enumerate(sorted(set(column)))}  # a cycle may leave gaps
    return [used[depth] for depth in column]


def _plus(point: Point, offset: Point) -> Point:
    return point[0] + offset[0], point[1] + offset[1]


def _towards(corner: Point, target: Point) -> Point:
    """The point at a corner's radius from `corner` towards `target`, or half-way where that is nearer."""
    across, down = target[0] - corner[0], target[1] - corner[1]
    length = max(abs(across), abs(down))
    share = min(_CORNER / length, 0.5) if length else 0.0
    return corner[0] + across * share, corner[1] + down * share
