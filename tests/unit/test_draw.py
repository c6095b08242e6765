"""Drawings: what is in them, and that no label gets out of its place."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from fdc_toolchain import resources
from fdc_toolchain.automata.load import load
from fdc_toolchain.diagnostics.source import Limits
from fdc_toolchain.report.drawing import dot, mermaid
from fdc_toolchain.report.drawing import svg as draw_svg
from fdc_toolchain.report.drawing.automaton import automaton_graph
from fdc_toolchain.report.drawing.drawing import (
    MAX_LABEL,
    MAX_LINES,
    Cluster,
    Edge,
    Graph,
    Node,
    shown,
    shown_lines,
)
from fdc_toolchain.report.drawing.layers import TooLarge
from fdc_toolchain.report.drawing.plan import Drawn, plan_graph
from fdc_toolchain.syntax.parse import parse

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "\"quoted\" and 'single'",
    "<script>alert(1)</script>",
    "a & b &amp; &#60; &lt;",
    "two\nlines\r\nthree",
    "\x1b[31mred\x1b[0m\x07",
    "x" * 5_000,
    'back\\slash \\N \\G \\l \\"',
    "1. a list `code` **bold** #quot; #35;",
    "end",
    "--> n1 |x| ]) }} subgraph",
    "%%{init: {}}%% click n0 href",
    "]]> <!-- -->",
    "a\u202eb\u2066c\u200bd",
    "宽い字 🙂 é",
    "\ud800",
    "{y} [x] (z) ; // ///",
    "",
]
RENDERERS: list[Callable[[Graph], str]] = [dot.render, mermaid.render, draw_svg.render]


def hostile() -> Graph:
    kinds = ["state", "accept", "step", "call", "loop", "fork", "branch", "gate", "end"]
    clusters = tuple(Cluster(f"c{label}", label, label) for label in HOSTILE[:4])
    nodes = tuple(
        Node(
            f"{number}{label}",
            label,
            kinds[number % 9],
            label * (number % 2),
            f"c{HOSTILE[number % 4]}",
            number == 0,
        )
        for number, label in enumerate(HOSTILE)
    )
    edges = [Edge(one.id, two.id, (one.label, two.label)) for one in nodes for two in nodes[::5]]
    edges += [
        Edge(nodes[0].id, nodes[1].id, (), "call"),
        Edge(nodes[3].id, nodes[3].id, tuple(HOSTILE), "back"),
    ]
    return Graph(HOSTILE[0] + HOSTILE[1] + HOSTILE[3] + HOSTILE[4], nodes, tuple(edges), clusters)


def automaton(name: str) -> Graph:
    machine, _ = load(resources.read(f"tooling/{name}.json"), f"tooling/{name}.json")
    assert machine is not None
    return automaton_graph(machine)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


# -- labels --


@pytest.mark.parametrize("render", RENDERERS)
def test_no_hidden_character_of_a_label_reaches_a_drawing(render: Callable[[Graph], str]) -> None:
    text = render(hostile())
    assert [character for character in text.replace("\n", "") if not character.isprintable()] == []
    text.encode("utf-8")


@pytest.mark.parametrize("render", RENDERERS)
def test_a_very_long_label_does_not_make_a_very_long_drawing(
    render: Callable[[Graph], str],
) -> None:
    label = "x" * 100_000
    assert (
        len(
            render(Graph(label, (Node(label, label, note=label),), (Edge(label, label, (label,)),)))
        )
        < 20_000
    )


def test_labels_are_shortened_and_lines_counted() -> None:
    assert shown("x" * 49) == "x" * (MAX_LABEL - 3) + "..."
    assert shown("x" * 48) == "x" * MAX_LABEL
    assert shown_lines([f"s{number}" for number in range(20)])[-2:] == ["s10", "and 9 more"]
    assert len(shown_lines(["s"] * 20)) == MAX_LINES


# -- SVG --


def test_svg_with_hostile_labels_is_xml_and_holds_the_labels_as_text() -> None:
    svg = draw_svg.render(hostile())
    found = texts(svg)
    for label in HOSTILE:
        assert shown(label) in found
    names = {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}
    assert names <= {
        "svg",
        "title",
        "style",
        "defs",
        "marker",
        "path",
        "rect",
        "text",
        "g",
        "circle",
        "polygon",
    }


def test_svg_refers_to_nothing_outside_itself() -> None:
    svg = draw_svg.render(hostile())
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    for element in ET.fromstring(svg).iter():
        assert not [
            name
            for name in element.attrib
            if name.lower().startswith("on") or "href" in name.lower()
        ]
    assert set(re.findall(r"url\(([^)]*)\)", svg)) <= {"#fdc-flow", "#fdc-back", "#fdc-call"}


def test_svg_doubles_accepting_states_and_marks_the_start() -> None:
    root = ET.fromstring(draw_svg.render(automaton("fsm")))
    groups = {
        group.findtext(f"{SVG}title"): group for group in root.iter(f"{SVG}g") if group.get("class")
    }
    assert len(groups) == 12
    doubled = {name for name, group in groups.items() if len(group.findall(f"{SVG}rect")) == 2}
    assert doubled == {"AWAITING_SUBMISSION", "ERROR"}
    assert {name for name, group in groups.items() if group.find(f"{SVG}circle") is not None} == {
        "START"
    }


def test_svg_has_both_colour_schemes() -> None:
    style = ET.fromstring(draw_svg.render(automaton("fdc_fsm"))).findtext(f"{SVG}style") or ""
    assert "@media (prefers-color-scheme:dark)" in style


@pytest.mark.parametrize("name", ["fdc_fsm", "research_fsm", "fsm", "fsm_model_a", "fsm_model_b"])
def test_svg_of_a_shipped_automaton_shows_every_state_and_symbol_once(name: str) -> None:
    machine, _ = load(resources.read(f"tooling/{name}.json"), name)
    assert machine is not None
    symbols = [symbol for row in machine.transitions.values() for symbol in row]
    assert sorted(texts(draw_svg.render(automaton(name)))) == sorted(
        [name, *machine.states, *symbols]
    )


def test_svg_of_an_empty_graph_is_a_picture_with_a_title() -> None:
    assert texts(draw_svg.render(Graph("nothing", (), ()))) == ["nothing"]


def test_svg_refuses_what_nobody_could_read() -> None:
    nodes = tuple(Node(str(number), str(number)) for number in range(7_000))
    with pytest.raises(TooLarge, match="7000 boxes"):
        draw_svg.render(Graph("large", nodes, ()))


def test_drawings_are_the_same_under_every_hash_seed() -> None:
    program = (
        "import hashlib; from tests.unit.test_draw import *\n"
        "print(hashlib.sha256('|'.join(r(g) for r in RENDERERS for g in (automaton('fsm'), plans()))"
        ".encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": f"{resources.ROOT}/tooling:{resources.ROOT}",
            },
            cwd=resources.ROOT,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1


# -- Mermaid and DOT --


def test_mermaid_labels_hold_no_mark_of_mermaid_markdown_or_html() -> None:
    text = mermaid.render(hostile())
    labels = re.findall(r'"([^"\n]*)"', text.split("flowchart TD", 1)[1])
    assert len(labels) >= 2 * len(HOSTILE)
    for label in labels:
        assert re.fullmatch(r"(?:#\d+;|<br/>|[ _,=/]|[^\W_]|[^\x00-\x7f])+", label), label


def test_mermaid_title_is_one_yaml_string() -> None:
    yaml = pytest.importorskip("yaml")
    _, front, _ = mermaid.render(hostile()).split("---\n", 2)
    assert yaml.safe_load(front) == {"title": shown(hostile().title, 120)}


def test_mermaid_of_the_development_cycle_is_as_documented() -> None:
    assert mermaid.render(automaton("fdc_fsm")) == (
        "---\n"
        'title: "fdc_fsm"\n'
        "---\n"
        "flowchart TD\n"
        '  n0("IDLE")\n'
        "  s0(( ))\n"
        "  s0 --> n0\n"
        '  n1("PLANNING")\n'
        '  n2("EXECUTING")\n'
        '  n3("POST_MORTEM")\n'
        '  n4((("DONE")))\n'
        '  n0 -->|"plan_op"| n1\n'
        '  n1 -->|"step_op"| n2\n'
        '  n2 -->|"step_op<br/>read_op<br/>write_op<br/>delete_op<br/>move_op<br/>tool_exec"| n2\n'
        '  n2 -->|"close_op"| n3\n'
        '  n3 -->|"submit_op"| n4\n'
    )


def test_dot_strings_are_closed_where_they_should_be() -> None:
    for line in dot.render(hostile()).splitlines():
        outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert '"' not in outside
        assert re.fullmatch(r"[A-Za-z0-9_ \[\]{}=,;.>#-]*", outside), outside


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("graph", ["hostile", "automaton", "plans"])
def test_graphviz_reads_our_dot_and_finds_the_labels_again(graph: str) -> None:
    value = {"hostile": hostile, "automaton": lambda: automaton("fsm"), "plans": plans}[graph]()
    done = subprocess.run(
        ["dot", "-Tsvg"],
        input=dot.render(value).encode(),
        capture_output=True,
        check=True,
        timeout=300,
    )
    assert b"syntax error" not in done.stderr
    found = {text.replace("\xa0", " ").strip() for text in texts(done.stdout.decode())}
    for node in value.nodes:
        assert shown(node.label).strip() in found | {""}
    for edge in value.edges:
        assert {line.strip() for line in shown_lines(edge.labels)} <= found | {""}


# -- plans --

TEXTS = {
    "root": """\
use fsm tooling/fdc_fsm.json
param topic
# a comment
set_plan about {topic}
if len(topic) > 3
    read_file a.md
else
    call_plan sub
for_each_file **/*.md
    if len(topic) > 9
        call_plan sub
iterate max 2
    grep x
found <- fork item in {topic} max 2
    yield {item}
require len(found) > 1 else "why"
call_plan lost
""",
    "sub": "# only a comment\n",
}


def plans() -> Graph:
    drawn = []
    for key, text in TEXTS.items():
        plan = parse(text.encode(), key, Limits()).plan
        assert plan is not None
        drawn.append(
            Drawn(key, key, "", plan, {8: "sub", 11: "sub", 17: None} if key == "root" else {})
        )
    return plan_graph("root", drawn)


def test_a_plan_is_drawn_with_every_line_that_runs_and_every_way_through_it() -> None:
    graph = plans()
    assert [(node.id, node.label, node.kind, node.note) for node in graph.nodes] == [
        ("root:4", "set_plan about {topic}", "step", "line 4"),
        ("root:5", "if len(topic) > 3", "branch", "line 5"),
        ("root:6", "read_file a.md", "step", "line 6"),
        ("root:8", "call_plan sub", "call", "line 8"),
        ("root:9", "for_each_file **/*.md", "loop", "line 9"),
        ("root:10", "if len(topic) > 9", "branch", "line 10"),
        ("root:11", "call_plan sub", "call", "line 11"),
        ("root:12", "iterate max 2", "loop", "line 12"),
        ("root:13", "grep x", "step", "line 13"),
        ("root:14", "found <- fork item in {topic} max 2", "fork", "line 14"),
        ("root:15", "yield {item}", "step", "line 15"),
        ("root:16", 'require len(found) > 1 else "why"', "gate", "line 16"),
        ("root:17", "call_plan lost", "call", "line 17, plan not found"),
        ("root:end", "end", "end", ""),
        ("sub:end", "end", "end", ""),
    ]
    flow = [
        (edge.source[5:], edge.target[5:], edge.labels, edge.kind)
        for edge in graph.edges
        if edge.kind != "call"
    ]
    assert sorted(flow) == sorted(
        [
            ("4", "5", (), "flow"),
            ("5", "6", ("true",), "flow"),
            ("5", "8", ("false",), "flow"),
            ("6", "9", (), "flow"),
            ("8", "9", (), "flow"),
            ("9", "10", ("each",), "flow"),
            ("10", "11", ("true",), "flow"),
            ("11", "9", (), "back"),
            ("10", "9", ("false",), "back"),
            ("9", "12", ("done",), "flow"),
            ("12", "13", ("again",), "flow"),
            ("13", "12", (), "back"),
            ("12", "14", ("done",), "flow"),
            ("14", "15", ("each",), "flow"),
            ("15", "14", (), "back"),
            ("14", "16", ("done",), "flow"),
            ("16", "17", (), "flow"),
            ("17", "end", (), "flow"),
        ]
    )
    assert [(edge.source, edge.target) for edge in graph.edges if edge.kind == "call"] == [
        ("root:8", "sub:end"),
        ("root:11", "sub:end"),
    ]
    assert [node.id for node in graph.nodes if node.start] == ["root:4", "sub:end"]


def test_every_renderer_frames_the_plans() -> None:
    graph = plans()
    assert dot.render(graph).count("subgraph cluster_") == 2
    assert mermaid.render(graph).count("  subgraph c") == 2
    root = ET.fromstring(draw_svg.render(graph))
    assert len([rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "frame"]) == 2
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "edge call"]) == 2


def test_plans_that_call_each_other_without_end_can_be_drawn() -> None:
    nodes = tuple(Node(key, key, "call", "", key, start=True) for key in "abc")
    calls = [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")]
    graph = Graph(
        "cycle",
        nodes,
        tuple(Edge(*pair, (), "call") for pair in calls),
        tuple(Cluster(k, k) for k in "abc"),
    )
    root = ET.fromstring(draw_svg.render(graph))
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "edge call"]) == 4
