"""Laws of the layered layout: nothing lies on anything, and every link goes where it should."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

from fdc_toolchain.report.drawing import dot, mermaid, svg
from fdc_toolchain.report.drawing.drawing import Cluster, Edge, Graph, Node
from fdc_toolchain.report.drawing.frames import Call, arrange
from fdc_toolchain.report.drawing.layers import Link
from fdc_toolchain.report.drawing.layout import Box, layout
from hypothesis import given
from hypothesis import strategies as st

Rect = tuple[float, float, float, float]
SLACK = 0.01


@st.composite
def boxes_and_links(draw: st.DrawFn) -> tuple[list[Box], list[Link]]:
    number = draw(st.integers(1, 9))
    boxes = []
    for _ in range(number):
        width, mark, loop = draw(
            st.tuples(st.integers(10, 300), st.integers(0, 30), st.integers(0, 200))
        )
        height, more = draw(st.tuples(st.integers(10, 60), st.integers(0, 100)))
        boxes.append(Box(width / 2 + mark, width / 2 + loop, height + more, width, height))
    ends = st.integers(0, number - 1)
    size = st.sampled_from([(0.0, 0.0), (40.0, 20.0), (200.0, 20.0), (80.0, 90.0)])
    links = draw(st.lists(st.builds(lambda a, b, s: Link(a, b, *s), ends, ends, size), max_size=18))
    return boxes, links


def apart(one: Rect, two: Rect) -> bool:
    return (
        one[2] <= two[0] + SLACK
        or two[2] <= one[0] + SLACK
        or one[3] <= two[1] + SLACK
        or two[3] <= one[1] + SLACK
    )


@given(boxes_and_links(), st.lists(st.integers(0, 0), max_size=1))
def test_boxes_labels_and_straight_stretches_never_touch_each_other(
    drawn: tuple[list[Box], list[Link]], first: list[int]
) -> None:
    boxes, links = drawn
    place = layout(boxes, links, first)
    rects: list[tuple[str, Rect]] = []
    for box, (x, y) in zip(boxes, place.centres, strict=True):
        rects.append(("box", (x - box.left, y - box.height / 2, x + box.right, y + box.height / 2)))
    lines = []
    for number, (link, route) in enumerate(zip(links, place.routes, strict=True)):
        assert (route is None) == (link.source == link.target)
        if route is None:
            continue
        if link.height:
            assert route.label is not None
            x, y = route.label
            half = link.width / 2
            rects.append(
                (f"label {number}", (x - half, y - link.height / 2, x + half, y + link.height / 2))
            )
        for (x0, y0), (x1, y1) in zip(route.points[2::2], route.points[3:-2:2], strict=False):
            assert x0 == x1
            lines.append((number, (x0, min(y0, y1), x0, max(y0, y1))))
    for (name, one), (other, two) in combinations(rects, 2):
        assert apart(one, two), (name, other)
    for number, line in lines:
        for name, rect in rects:
            assert name == f"label {number}" or apart(line, rect), (number, name)
    for _, (left, top, right, bottom) in rects:
        assert left >= -SLACK
        assert top >= -SLACK
        assert right <= place.width + SLACK
        assert bottom <= place.height + SLACK


@given(boxes_and_links())
def test_every_link_goes_from_the_side_of_its_source_to_the_side_of_its_target(
    drawn: tuple[list[Box], list[Link]],
) -> None:
    boxes, links = drawn
    place = layout(boxes, links, [0])
    for link, route in zip(links, place.routes, strict=True):
        if route is None:
            continue
        for box, point in ((link.source, route.points[0]), (link.target, route.points[-1])):
            x, y = place.centres[box]
            assert abs(point[0] - x) <= boxes[box].body_width / 2
            assert abs(abs(point[1] - y) - boxes[box].body_height / 2) < SLACK


@st.composite
def framed(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[Call]]:
    sizes = draw(
        st.lists(st.tuples(st.just(200.0), st.sampled_from([100.0, 300.0])), min_size=1, max_size=6)
    )
    frame = st.integers(0, len(sizes) - 1)
    leave = st.tuples(st.sampled_from([60.0, 150.0]), st.sampled_from([40.0, 80.0]))
    calls = draw(
        st.lists(
            st.builds(lambda a, b, at: Call(a, b, at, (20.0, 50.0), ()), frame, frame, leave),
            max_size=8,
        )
    )
    return sizes, calls


@given(framed())
def test_calls_cross_no_frame_but_their_own_two(
    drawn: tuple[list[tuple[float, float]], list[Call]],
) -> None:
    sizes, calls = drawn
    whole = arrange(sizes, calls)
    rects = [
        (x, y, x + wide, y + high)
        for (x, y), (wide, high) in zip(whole.origins, sizes, strict=True)
    ]
    for one, two in combinations(rects, 2):
        assert apart(one, two)
    for call, way in zip(calls, whole.ways, strict=True):
        assert way[-1] == (rects[call.target][0] + 20.0, rects[call.target][1] + 50.0)
        for (x0, y0), (x1, y1) in pairwise(way):
            assert x0 == x1 or y0 == y1
            stretch = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
            assert stretch[0] >= 0
            assert stretch[1] >= 0
            for frame, rect in enumerate(rects):
                assert frame in (call.source, call.target) or apart(stretch, rect)


labels = st.text(max_size=30) | st.sampled_from(
    ['"', "<b>", "&amp;", "\\", "\x1b[0m", "\n", "#quot;", "]]>", "\ud800"]
)
kinds = st.sampled_from(
    ["state", "accept", "step", "call", "loop", "fork", "branch", "gate", "end"]
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    clusters = tuple(
        Cluster(f"c{n}", *draw(st.tuples(labels, labels))) for n in range(draw(st.integers(0, 3)))
    )
    inside = st.sampled_from(["", *(cluster.id for cluster in clusters)])
    parts = st.tuples(labels, kinds, labels, inside, st.booleans())
    nodes = tuple(Node(str(number), *draw(parts)) for number in range(draw(st.integers(0, 6))))
    if not nodes:
        return Graph(draw(labels), (), (), clusters)
    end = st.sampled_from([node.id for node in nodes])
    lines = st.lists(labels, max_size=3).map(tuple)
    edges = draw(
        st.lists(
            st.builds(Edge, end, end, lines, st.sampled_from(["flow", "back", "call"])), max_size=8
        )
    )
    return Graph(draw(labels), nodes, tuple(edges), clusters)


@given(graphs())
def test_any_graph_is_drawn_in_every_format_and_svg_is_xml(graph: Graph) -> None:
    ET.fromstring(svg.render(graph).encode("utf-8"))
    for text in (dot.render(graph), mermaid.render(graph)):
        assert text.encode("utf-8").endswith(b"\n")
        assert len([line for line in text.splitlines() if "->" in line or ".->" in line]) >= len(
            graph.edges
        )
