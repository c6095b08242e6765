"""`fdc graph` as a process."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import yaml

from tests.support.process import fdc

MACHINE = {
    "states": ["A", "B", "C"],
    "alphabet": ["x"],
    "transitions": {"A": {"x": "B"}},
    "start_state": "A",
    "accept_states": ["B"],
}


def test_a_shipped_automaton_is_drawn_from_any_folder(tmp_path: Path) -> None:
    done = fdc("graph", "tooling/fdc_fsm.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert 'n2 -->|"close_op"| n3' in done.stdout


def test_the_suffix_of_the_output_chooses_the_format(workspace: Path) -> None:
    for name, start in [
        ("a.svg", "<svg "),
        ("a.dot", "digraph "),
        ("a.mmd", "---\n"),
        ("a.txt", "---\n"),
    ]:
        done = fdc("graph", "tooling/fsm.json", "-o", name, cwd=workspace)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert (workspace / name).read_text(encoding="utf-8").startswith(start)
    assert sorted(path.name for path in workspace.iterdir()) == [
        "a.dot",
        "a.mmd",
        "a.svg",
        "a.txt",
        "knowledge_core",
    ]


def test_an_automaton_in_yaml_is_drawn_like_the_same_in_json(workspace: Path) -> None:
    held = {**MACHINE, "alphabet": ["x", "y"], "transitions": {"A": {"x": "C"}, "C": {"y": "B"}}}
    drawn = set()
    for name, text in (
        ("m.json", json.dumps(held)),
        ("m.yaml", yaml.safe_dump(held, sort_keys=False)),
    ):
        (workspace / name).write_text(text, encoding="utf-8")
        done = fdc("graph", name, cwd=workspace)
        assert (done.returncode, done.stderr) == (0, "")
        drawn.add(done.stdout.replace(name, "m"))
    assert 1 == len(drawn)


def test_a_warning_is_shown_and_the_automaton_drawn(workspace: Path) -> None:
    (workspace / "m.json").write_text(json.dumps(MACHINE), encoding="utf-8")
    done = fdc("graph", "m.json", "--format", "svg", cwd=workspace)
    assert done.returncode == 0
    assert "warning[FDC206] unreachable-state: no run reaches the state `C`" in done.stderr
    ET.fromstring(done.stdout)


def test_a_malformed_automaton_exits_1_with_the_place_and_no_drawing(workspace: Path) -> None:
    (workspace / "m.json").write_text(
        json.dumps({**MACHINE, "start_state": "Z"}, indent=1), encoding="utf-8"
    )
    done = fdc("graph", "m.json", "-o", "m.svg", cwd=workspace)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "error[FDC203] undeclared-state: the start state `Z` is not among the declared states"
        in done.stderr
    )
    assert "--> m.json:" in done.stderr
    assert not (workspace / "m.svg").exists()


def test_what_does_not_exist_is_wrong_usage(workspace: Path) -> None:
    for target in ("nothing.json", "nothing.plan", "no-such-name"):
        done = fdc("graph", target, cwd=workspace)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"`{target}`" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written_is_trouble_of_the_world(workspace: Path) -> None:
    done = fdc("graph", "tooling/fsm.json", "-o", "nowhere/a.svg", cwd=workspace)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_a_plan_is_drawn_with_its_sub_plans(workspace: Path) -> None:
    (workspace / "root.plan").write_text(
        "set_plan it\ncall_plan sub.plan\ncall_plan lost\n", encoding="utf-8"
    )
    (workspace / "sub.plan").write_text("read_file README.md\n", encoding="utf-8")
    done = fdc("graph", "root.plan", cwd=workspace)
    assert done.returncode == 1, "the call of a plan that does not exist is an error"
    assert "FDC321" in done.stderr
    assert done.stdout.count("subgraph") == 2
    assert "call#95;plan" not in done.stdout
    assert 'n1[["call_plan sub#46;plan<br/>line 2"]]' in done.stdout
    assert "n1 -.-> n4" in done.stdout


def test_a_drawing_too_large_to_read_is_refused_with_a_way_out(workspace: Path) -> None:
    states = [f"s{number}" for number in range(6_500)]
    moves = [{"source": "s0", "dest": state, "trigger": "x" + state} for state in states[:2]]
    machine = {
        "states": states,
        "initial_state": "s0",
        "final_states": states,
        "transitions": moves,
    }
    (workspace / "big.json").write_text(json.dumps(machine), encoding="utf-8")
    done = fdc("graph", "big.json", "--format", "svg", cwd=workspace)
    assert done.returncode == 2
    assert "too many to lay out; `--format dot` and `--format mermaid` have no limit" in done.stderr
