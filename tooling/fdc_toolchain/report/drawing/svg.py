"""A graph as one self-contained SVG file, without scripts, fonts or links.

Colours follow the reader's light or dark scheme where the viewer supports it. The picture has its own
background, so it is legible on any page. Text is set in a monospaced font, whose widths are known
without measuring, so that labels fit into their boxes.
"""

from __future__ import annotations

from ...named_tuples import NamedTuple
from ..terminal.terminal_text import columns
from . import frames
from .drawing import Cluster, Edge, Graph, Node, full, numbered, shown, shown_lines
from .layers import Link
from .layout import Box, Point, Route, layout
from .svg_style import STYLE, body, escaped

CHARACTER = 7.9
SMALL = 7.0
LINE = 15.0
MARGIN = 24.0
TITLE = 40.0
HEAD = 34.0
LOOP = 26.0
MARK = 30.0


Size = tuple[float, float]


class _Part(NamedTuple):
    """The layout of one frame; places are relative to its corner."""

    cluster: Cluster
    edges: list[Edge]
    centres: dict[int, Point]
    routes: list[Route | None]
    width: float
    height: float


def render(graph: Graph) -> str:
    """SVG text, the same for the same graph. Raises `layers.TooLarge` for a graph that is too large."""
    number = numbered(graph)
    sizes = _sizes(graph, number)
    cluster_of = {node.id: node.cluster for node in graph.nodes}
    inner: list[Edge] = []
    crossing: list[Edge] = []
    for edge in graph.edges:
        stays = edge.kind != "call" and cluster_of[edge.source] == cluster_of[edge.target]
        (inner if stays else crossing).append(edge)
    parts = []
    for cluster in [Cluster("", ""), *graph.clusters]:
        inside = [at for at, node in enumerate(graph.nodes) if node.cluster == cluster.id]
        if inside:
            cluster_edges = [edge for edge in inner if cluster_of[edge.source] == cluster.id]
            parts.append(_part(graph, cluster, inside, cluster_edges, sizes))
    calls = [_call(graph, edge, parts, number, sizes) for edge in crossing]
    arrangement = frames.arrange([(part.width, part.height) for part in parts], calls)
    grounds, lines, words, shapes = [], [], [], []
    for part, origin in zip(parts, arrangement.origins, strict=True):
        if part.cluster.id:
            grounds += _frame(part, *origin)
        for at, centre in part.centres.items():
            shapes += _node(graph.nodes[at], sizes[at], _plus(centre, origin))
        for edge, route in zip(part.edges, part.routes, strict=True):
            if route is None:
                at = number[edge.source]
                x, y = _plus(part.centres[at], origin)
                x += sizes[at][0] / 2
                lines.append(_loop(edge, (x, y)))
                words += _text(shown_lines(edge.labels), x + LOOP - 2, y, "word left")
                continue
            lines.append(
                _path(edge, _alternating([_plus(point, origin) for point in route.points]))
            )
            if route.label is not None:
                words += _label(edge, _plus(route.label, origin))
    lines += [
        _path(edge, frames.rounded(way))
        for edge, way in zip(crossing, arrangement.ways, strict=True)
    ]
    width = max(arrangement.width, 9.2 * columns(shown(graph.title, 100))) + 2 * MARGIN
    height = arrangement.height + 2 * MARGIN + TITLE
    title = escaped(shown(graph.title, 100))
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="fdc-title">',
            f'<title id="fdc-title">{title}</title>',
            STYLE,
            f'<rect class="ground" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="10"/>',
            f'<text class="title" x="{MARGIN:.0f}" y="{MARGIN + 12:.0f}">{title}</text>',
            f'<g transform="translate({MARGIN:.0f} {MARGIN + TITLE:.0f})">',
            *grounds,
            *lines,
            *shapes,
            *words,
            "</g>",
            "</svg>",
            "",
        ]
    )


def _plus(point: Point, offset: Point) -> Point:
    return point[0] + offset[0], point[1] + offset[1]


def _part(
    graph: Graph, cluster: Cluster, inside: list[int], edges: list[Edge], sizes: list[Size]
) -> _Part:
    number = numbered(graph)
    local = {at: index for index, at in enumerate(inside)}
    loops = {number[edge.source]: edge for edge in edges if edge.source == edge.target}
    boxes = [_box(graph.nodes[at], sizes[at], loops.get(at)) for at in inside]
    links = []
    for edge in edges:
        lines = shown_lines(edge.labels) if edge.source != edge.target else []
        source, target = local[number[edge.source]], local[number[edge.target]]
        links.append(Link(source, target, _width(lines), _height(lines)))
    first = [local[at] for at in inside if graph.nodes[at].start]
    place = layout(boxes, links, first)
    width, height, corner = place.width, place.height, (0.0, 0.0)
    if cluster.id:
        head = max(columns(shown(cluster.label)) * CHARACTER, columns(shown(cluster.note)) * SMALL)
        corner = (MARGIN + max(0.0, head - width) / 2, HEAD + 12)
        width, height = max(width, head) + 2 * MARGIN, height + corner[1] + MARGIN
    centres = {at: _plus(centre, corner) for at, centre in zip(inside, place.centres, strict=True)}
    routes = [route and _moved(route, corner) for route in place.routes]
    return _Part(cluster, edges, centres, routes, width, height)


def _moved(route: Route, corner: Point) -> Route:
    return Route(
        [_plus(point, corner) for point in route.points], route.label and _plus(route.label, corner)
    )


def _call(
    graph: Graph, edge: Edge, parts: list[_Part], number: dict[str, int], sizes: list[Size]
) -> frames.Call:
    """A call: from the side of the step to the side of the plan's first box, or to its start mark."""
    source, target = number[edge.source], number[edge.target]
    at = {node: index for index, part in enumerate(parts) for node in part.centres}
    caller = parts[at[source]].centres
    x, y = caller[source]
    wide, high = sizes[source]
    blocked = tuple(
        (
            cx - sizes[other][0] / 2,
            cy - sizes[other][1] / 2,
            cx + sizes[other][0] / 2,
            cy + sizes[other][1] / 2,
        )
        for other, (cx, cy) in caller.items()
        if cx > x and abs(cy - y) < (sizes[other][1] + high) / 2
    )
    enter = parts[at[target]].centres[target]
    near = enter[0] - sizes[target][0] / 2 - (MARK + 1 if graph.nodes[target].start else 0.0)
    return frames.Call(at[source], at[target], (x + wide / 2, y), (near, enter[1]), blocked)


def _sizes(graph: Graph, number: dict[str, int]) -> list[Size]:
    """Width and height of each node's body: room for its text, and for the arrows that meet it."""
    arrows = [[0, 0] for _ in graph.nodes]
    for edge in graph.edges:
        if edge.source != edge.target and edge.kind != "call":
            arrows[number[edge.source]][0] += 1
            arrows[number[edge.target]][1] += 1
    sizes = []
    for node, ends in zip(graph.nodes, arrows, strict=True):
        text = max(columns(shown(node.label)) * CHARACTER, columns(shown(node.note)) * SMALL)
        sides = 44.0 if node.kind in ("branch", "gate", "loop", "fork", "end") else 30.0
        sizes.append(
            (max(70.0, text + sides, min(max(ends), 30) * 20.0), 52.0 if node.note else 36.0)
        )
    return sizes


def _box(node: Node, size: Size, loop: Edge | None) -> Box:
    width, height = size
    left = width / 2 + (MARK if node.start else 0.0)
    right, tall = width / 2, height
    if loop is not None:
        lines = shown_lines(loop.labels)
        right += LOOP + _width(lines)
        tall = max(height, _height(lines))
    return Box(left, right, tall, width, height)


def _width(lines: list[str]) -> float:
    return max(columns(line) for line in lines) * SMALL + 14 if lines else 0.0


def _height(lines: list[str]) -> float:
    return len(lines) * LINE + 6 if lines else 0.0


def _frame(part: _Part, left: float, top: float) -> list[str]:
    note = shown(part.cluster.note)
    place = f'x="{left:.1f}" y="{top:.1f}" width="{part.width:.1f}" height="{part.height:.1f}"'
    lines = [
        f'<rect class="frame" {place} rx="12"/>',
        f'<text class="head" x="{left + 14:.1f}" y="{top + 22:.1f}">{escaped(shown(part.cluster.label))}</text>',
    ]
    if note:
        lines.append(
            f'<text class="note left" x="{left + 14:.1f}" y="{top + 37:.1f}">{escaped(note)}</text>'
        )
    return lines


def _node(node: Node, size: Size, centre: Point) -> list[str]:
    x, y = centre
    width, height = size
    lines = [f'<g class="node {node.kind}">', f"<title>{escaped(full(node))}</title>"]
    if node.start:
        left = x - width / 2
        lines.append(f'<circle class="dot" cx="{left - 24:.1f}" cy="{y:.1f}" r="5"/>')
        lines.append(
            f'<path class="edge flow" d="M{left - 19:.1f} {y:.1f}H{left:.1f}" marker-end="url(#fdc-flow)"/>'
        )
    lines += body(node.kind, x, y, width, height)
    shift = -4.0 if node.note else 4.5
    lines.append(
        f'<text class="label" x="{x:.1f}" y="{y + shift:.1f}">{escaped(shown(node.label))}</text>'
    )
    if node.note:
        lines.append(
            f'<text class="note" x="{x:.1f}" y="{y + 15:.1f}">{escaped(shown(node.note))}</text>'
        )
    return [*lines, "</g>"]


def _path(edge: Edge, way: str) -> str:
    return f'<path class="edge {edge.kind}" d="{way}" marker-end="url(#fdc-{edge.kind})"/>'


def _alternating(points: list[Point]) -> str:
    """Straight through a row, then a curve to the next, and so on: the shape of every `layout.Route`."""
    way = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for index in range(1, len(points)):
        (x0, y0), (x1, y1) = points[index - 1], points[index]
        if index % 2:
            if abs(y0 - y1) > 0.05:  # a stretch of no length would turn the arrow head
                way += f"V{y1:.1f}"
        else:
            middle = (y0 + y1) / 2
            way += f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return way


def _loop(edge: Edge, side: Point) -> str:
    x, y = side
    out = LOOP - 2
    far = x + out
    return _path(
        edge,
        f"M{x:.1f} {y - 9:.1f}C{far:.1f} {y - 22:.1f} {far:.1f} {y + 22:.1f} {x:.1f} {y + 9:.1f}",
    )


def _label(edge: Edge, centre: Point) -> list[str]:
    lines = shown_lines(edge.labels)
    width, height = _width(lines) - 4, _height(lines)
    x, y = centre[0] - width / 2, centre[1] - height / 2
    ground = f'<rect class="plate" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"/>'
    return [ground, *_text(lines, centre[0], centre[1], "word")]


def _text(lines: list[str], x: float, y: float, name: str) -> list[str]:
    top = y - len(lines) * LINE / 2 + 11.5
    return [
        f'<text class="{name}" x="{x:.1f}" y="{top + at * LINE:.1f}">{escaped(line)}</text>'
        for at, line in enumerate(lines)
    ]
