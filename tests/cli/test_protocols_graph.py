"""`fdc protocols graph`: the four formats read by public readers, and the loose ends (C-10, FDC-101)."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import networkx
import pytest
import rdflib

from tests.support.process import fdc
from tests.support.repository import ROOT

PROTOCOLS = [
    json.loads(path.read_bytes()) for path in sorted((ROOT / "protocols").glob("*.protocol.json"))
]
RULES = {
    f"rule:{body['protocol_id']}/{rule['rule_id']}": rule
    for body in PROTOCOLS
    for rule in body["rules"]
}
TEA = "urn:fdc:protocols:"


def graph(cwd: Path, *arguments: str) -> tuple[int, str, str]:
    done = fdc("protocols", "graph", *arguments, cwd=cwd)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def workspace_with(root: Path, *bodies: dict[str, Any]) -> Path:
    (root / "protocols").mkdir()
    for number, body in enumerate(bodies):
        (root / "protocols" / f"{number}.protocol.json").write_text(json.dumps(body), "utf-8")
    return root


def protocol(name: str = "tea", **more: Any) -> dict[str, Any]:
    rule = {"rule_id": "draw", "description": "Three minutes.", "enforcement": "A clock."}
    return {"protocol_id": name, "description": "How tea is made.", "rules": [rule], **more}


def test_nothing_hangs_loose_in_this_repository() -> None:
    assert (0, "", "") == graph(ROOT, "--check")


def test_graphml_has_every_protocol_rule_check_and_tool() -> None:
    """Read by networkx."""
    code, out, err = graph(ROOT, "--format", "graphml")
    assert (0, "") == (code, err)
    read = networkx.read_graphml(io.BytesIO(out.encode()))
    kinds = networkx.get_node_attributes(read, "kind")
    assert set(RULES) == {name for name, kind in kinds.items() if kind == "rule"}
    assert {f"protocol:{body['protocol_id']}" for body in PROTOCOLS} == {
        n for n, kind in kinds.items() if kind == "protocol"
    }
    assert {name: "check" in rule for name, rule in RULES.items()} == {
        name: read.nodes[name]["enforced"] for name in RULES
    }
    for name, rule in RULES.items():
        checks = {
            target for _, target, kind in read.out_edges(name, data="kind") if kind == "enforced_by"
        }
        codes = rule.get("check", {}).get("code", [])
        wanted = {f"check:{code}" for code in ([codes] if isinstance(codes, str) else codes)}
        assert (wanted or ({f"check:{name[5:]}"} if "check" in rule else set())) == checks
    used = {target for _, target, kind in read.edges(data="kind") if kind == "uses"}
    assert {"tool", "file", "function"} == {kinds[name] for name in used}
    check = "check:self-correction-protocol-001/autonomous-code-suggestion"
    assert {"tool:replace_with_git_merge_diff": {"kind": "names"}} == {
        name: dict(row) for name, row in read[check].items()
    }


def test_turtle_says_the_same_as_graphml() -> None:
    """Read by rdflib."""
    plain = networkx.read_graphml(io.BytesIO(graph(ROOT, "--format", "graphml")[1].encode()))
    triples = rdflib.Graph().parse(data=graph(ROOT, "--format", "turtle")[1], format="turtle")
    named = {
        (str(s).removeprefix(TEA), str(p).removeprefix(TEA), str(o).removeprefix(TEA))
        for s, p, o in triples
        if isinstance(o, rdflib.URIRef) and p != rdflib.RDF.type
    }
    assert named == {(source, kind, target) for source, target, kind in plain.edges(data="kind")}
    labels = {
        str(s).removeprefix(TEA): str(o) for s, o in triples.subject_objects(rdflib.RDFS.label)
    }
    assert labels == dict(plain.nodes(data="label"))


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.dot", "digraph "), ("a.mmd", "---\n"), ("a.ttl", "@prefix"), ("a.graphml", "<?xml")],
)
def test_the_suffix_chooses_the_format_and_the_bytes_are_the_same_each_time(
    name: str, start: str, tmp_path: Path
) -> None:
    root = workspace_with(tmp_path, protocol(associated_tools=["read_file", "grep"]), protocol("b"))
    assert (0, "", "") == graph(root, "-o", name)
    first = (root / name).read_bytes()
    assert first.startswith(start.encode())
    assert (0, "", "") == graph(root, "-o", name) and first == (root / name).read_bytes()


def test_a_drawing_has_a_frame_for_each_protocol_and_a_node_for_each_rule(tmp_path: Path) -> None:
    root = workspace_with(
        tmp_path, protocol(protocol_name='Tea "time"', associated_tools=["read_file"])
    )
    assert 'label="Tea \\"time\\"\\ntea";' in graph(root, "--format", "dot")[1]
    out = graph(root)[1]
    assert (
        "subgraph c0[" in out and '("draw<br/>advice")' in out and '["read_file<br/>tool"]' in out
    )


@pytest.mark.parametrize("form", ["dot", "mermaid", "graphml", "turtle"])
def test_names_of_any_characters_are_drawn(form: str, tmp_path: Path) -> None:
    odd = "a\u0001\"'<>&\\ é\u202e.b|c;\n\U0001f375"
    code, out, err = graph(
        workspace_with(tmp_path, protocol(protocol_name=odd, associated_tools=[odd])),
        "--format",
        form,
    )
    assert 0 == code and "FDC532" in err and "\u0001" not in out and "\u202e" not in out
    if form == "graphml":
        assert 3 == len(networkx.read_graphml(io.BytesIO(out.encode())))
    if form == "turtle":
        assert 3 == len(set(rdflib.Graph().parse(data=out, format="turtle").subjects()))


def test_the_three_kinds_of_tools_resolve_and_what_is_none_is_found(tmp_path: Path) -> None:
    """C-10."""
    names = [
        "read_file", "pots/kettle.py", "tooling/fdc_fsm.json", "pots.kettle.boil", "pots.Lid", "pots.kettle.HOT",
        "raed_file", "pots/kettel.py", "pots.kettle.cool", "pots.boil", "../pots/kettle.py", "/etc/hostname", "pots", "a.b.",
    ]  # fmt: skip
    root = workspace_with(tmp_path, protocol(associated_tools=names))
    (root / "pots").mkdir()
    (root / "pots" / "kettle.py").write_text("HOT: int = 100\ndef boil() -> None: ...\n", "utf-8")
    (root / "pots" / "__init__.py").write_text("from .kettle import HOT as Lid\n", "utf-8")
    code, _, err = graph(root, "--check")
    assert 1 == code
    assert names[6:] == [name for name in names if f"FDC532] `{name}` is not a tool" in err]
    assert "help: did you mean `read_file`?" in err


def test_a_tool_is_owned_by_the_rule_that_names_it_or_by_its_protocol(tmp_path: Path) -> None:
    check = {"template": "precedence", "a": ["read_op", {"tool": "grep"}], "b": "delete_file"}
    rule = {"rule_id": "look", "description": "d", "enforcement": "e", "check": check}
    found = {}
    for name, rule_tools, tools in [
        ("nobody", [], []), ("rule", ["grep", "delete_file"], []), ("protocol", [], ["grep", "delete_file"]),
        ("both", ["grep"], ["delete_file"]), ("dotted", [], ["x.grep", "delete_file"]),
    ]:  # fmt: skip
        (tmp_path / name).mkdir()
        body = protocol(rules=[{**rule, "associated_tools": rule_tools}], associated_tools=tools)
        _, _, err = graph(workspace_with(tmp_path / name, body), "--check")
        found[name] = err.count("FDC531")
    assert {"nobody": 2, "rule": 0, "protocol": 0, "both": 0, "dotted": 0} == found


def test_the_tools_of_the_workspaces_own_catalogue_are_asked_for_and_those_of_fdc_are_not(
    tmp_path: Path,
) -> None:
    row = {
        "summary": "boils water",
        "action": "step_op",
        "effect": "pure",
        "trust": "trusted",
        "parameters": [],
    }
    root = workspace_with(tmp_path, protocol(associated_tools=["boil"]))
    catalogue = {"format": 1, "name": "kitchen", "tools": {"boil": row, "pour": row}}
    (root / "fdc_tools.json").write_text(json.dumps(catalogue, indent=1), "utf-8")
    code, _, err = graph(root, "--check")
    assert 1 == code and 1 == err.count("FDC530")
    line = (
        json.dumps(catalogue, indent=1)[: json.dumps(catalogue, indent=1).index('"pour"')].count(
            "\n"
        )
        + 1
    )
    assert f"fdc_tools.json:{line}:" in err and "`pour`" in err


def test_a_protocol_that_names_a_catalogue_owns_its_tools(tmp_path: Path) -> None:
    row = {
        "summary": "boils water",
        "action": "step_op",
        "effect": "pure",
        "trust": "trusted",
        "parameters": [],
    }
    check = {"template": "precedence", "a": {"tool": "boil"}, "b": "read_op"}
    rule = {"rule_id": "look", "description": "d", "enforcement": "e", "check": check}
    for tools, loose in (["fdc_tools.json"], 0), (["read_file"], 1):
        folder = tmp_path / str(loose)
        folder.mkdir()
        root = workspace_with(folder, protocol(rules=[rule], associated_tools=tools))
        (root / "fdc_tools.json").write_text(
            json.dumps({"format": 1, "name": "kitchen", "tools": {"boil": row}}), "utf-8"
        )
        assert loose == graph(root, "--check")[2].count("FDC531")


def test_a_source_with_an_error_is_not_drawn(tmp_path: Path) -> None:
    root = workspace_with(tmp_path, {"protocol_id": "tea"})
    code, out, err = graph(root, "-o", "a.dot")
    assert (1, "") == (code, out) and "FDC501" in err and not (root / "a.dot").exists()


def test_no_folder_is_wrong_usage_and_no_protocols_an_empty_graph(tmp_path: Path) -> None:
    assert (2, "") == graph(tmp_path)[:2]
    (tmp_path / "rules").mkdir()
    code, out, err = graph(tmp_path, "--source", "rules", "--format", "turtle")
    assert (0, "") == (code, err) and 0 == len(rdflib.Graph().parse(data=out, format="turtle"))
