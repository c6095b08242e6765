"""YAML is read as JSON is: the same tree of the same values, with places, and nothing that JSON could not say."""

from __future__ import annotations

import json

import pytest
import yaml
from fdc_toolchain.automata.load import load as load_automaton
from fdc_toolchain.protocols.load import load
from fdc_toolchain.text.json_text import Places, plain
from fdc_toolchain.text.yaml_text import parse

VALUE = {"a": [1, 2.5, "x: y", True, None, {"b": []}], "c d": {"e": "1.0", "f": "two\nlines\n"}}
FSM = {
    "states": ["IDLE", "DONE"], "alphabet": ["plan_op"], "start_state": "IDLE", "accept_states": ["DONE"],
    "transitions": {"IDLE": {"plan_op": "DONE"}},
}  # fmt: skip
PROTOCOL = """\
'@context':
  proto: https://example.org/ns/
  associated_tools: {'@id': proto:tool, '@type': '@id'}
protocol_id: naming-002
version: 0.2.0
scope: repository
description: Names of
  branches.
rules:
- rule_id: Branch-Names
  description: In lower case.
  enforcement: Checked.
  tags: [core]
"""


@pytest.mark.parametrize("flow", [False, True])
def test_the_tree_has_the_values_of_the_writer(flow: bool) -> None:
    root, problems = parse("x.yaml", yaml.safe_dump(VALUE, default_flow_style=flow))
    assert root is not None and (VALUE, []) == (plain(root), problems)


def test_what_json_has_no_kind_for_is_a_text() -> None:
    root, _ = parse("x.yml", "a: 2025-10-06\nb: yes\nc: 0o7\nd: 1_000\n")
    assert root is not None
    assert {"a": "2025-10-06", "b": "yes", "c": "0o7", "d": "1_000"} == plain(root)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key `a` twice"),
        ("a: &x 1\nb: *x\n", 1, "alias"),
        ("a: !!python/object:os.system ls\n", 1, "is not read here"),
        ("a: [1\nb: 2\n", 2, "not YAML"),
        ("a:\n\t- 1\n", 2, "not YAML"),
        ("? [1]\n: 2\n", 1, "a key is a text"),
        ("", 1, "empty"),
        ("[" * 200_000, 1, "nested deeper"),
        ("- " * 200, 1, "nested deeper"),
        ('a: "\\UFFFFFFFF"\n', 1, "not YAML"),
        ('a: "\\uD800"\n', 1, "not YAML"),
        ("%YAML 1." + "9" * 5000 + "\n---\na: 1\n", 1, "not YAML"),
        ("[" * 70 + "]" * 70, 1, "nested deeper"),
    ],
)
def test_what_is_refused_has_its_place(text: str, line: int, why: str) -> None:
    _, problems = parse("x.yaml", text)
    assert why in problems[0].message or "nested deeper" in problems[0].message
    span = Places("x.yaml", text).span(problems[0].start, problems[0].end)
    assert line == span.line


def test_an_automaton_in_yaml_is_the_one_in_json() -> None:
    ours, found = load_automaton(yaml.safe_dump(FSM).encode(), "tooling/tea_fsm.yaml")
    other, _ = load_automaton(json.dumps(FSM).encode(), "tooling/tea_fsm.json")
    assert ours is not None and other is not None and [] == found
    assert ("tea_fsm", set(ours.states), ours.start) == (ours.name, set(other.states), other.start)
    _, found = load_automaton(
        yaml.safe_dump({**FSM, "start_state": "IDEL"}).encode(), "tooling/tea_fsm.yaml"
    )
    assert ["FDC203"] == [item.code for item in found] and "IDEL" in found[0].message


def test_a_protocol_in_yaml_is_a_source_with_places() -> None:
    sources, found = load({"protocols/n.protocol.yaml": PROTOCOL.encode()})
    [one] = sources.protocols
    assert [] == found and ("naming-002", "0.2.0", "", "Names of branches.") == (
        one.body["protocol_id"], one.body["version"], one.scope, one.body["description"],
    )  # fmt: skip
    _, found = load({"n.protocol.yml": PROTOCOL.replace("  enforcement: Checked.\n", "").encode()})
    assert [(10, "FDC501")] == [(item.span.line, item.code) for item in found]
