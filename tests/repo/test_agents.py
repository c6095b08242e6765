"""AGENTS.md and the protocols of this repository: current, small enough, and true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths
from fdc_toolchain.cli.main import commands
from fdc_toolchain.diagnostics.codes import CODES
from fdc_toolchain.protocols.load import load
from jsonschema import Draft202012Validator

from tests.support import repository
from tests.support.process import fdc
from tests.support.repository import ROOT
from tests.support.seeds import seed

SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_bytes()
    for path in (ROOT / "protocols").glob("*.protocol.*")
}
PROSE = {name: data.decode("utf-8") for name, data in SOURCES.items() if name.endswith(".md")}
TEXT = "\n".join(data.decode("utf-8") for data in SOURCES.values())


def test_it_is_what_the_protocols_compile_to() -> None:
    """FDC-102. `make agents` writes it."""
    done = fdc("protocols", "check", cwd=ROOT)
    assert (0, "AGENTS.md is up to date\n", "") == (done.returncode, done.stdout, done.stderr)


def test_agents_read_all_of_it_and_learn_whose_it_is() -> None:
    """FDC-94, and the limit at which agents cut it off."""
    data = (ROOT / "AGENTS.md").read_bytes()
    assert (
        len(data) < 32_768
        and b"Advanced Orientation and Research Protocol" in data
        and b"AORP" in data
    )


def test_the_sources_are_sound_and_in_pairs() -> None:
    """FDC-96."""
    sources, findings = load(SOURCES)
    assert [] == findings
    assert [item.path[:-5] for item in sources.protocols] == [
        item.path[:-3] for item in sources.prose
    ]
    named = {
        tool
        for item in sources.protocols
        for tool in item.body.get("associated_tools", [])
        if "/" in tool
    }
    assert [] == sorted(tool for tool in named if not repository.shipped(tool).is_file())


SEED_RULES = {
    "aorp-header": "aorp-identity aorp-versioning",
    "core-directive-001": "mandatory-fdc-start",
    "decidability-constraints-001": "non-turing-completeness bounded-recursion fsm-adherence",
    "orientation-cascade-001": (
        "l1-self-awareness l2-repository-sync l3-environmental-probing l4-deep-research-cycle"
    ),
    "fdc-protocol-001": (
        "fdc-entry-point fdc-state-transitions phase1-deconstruction phase2-planning phase3-execution phase4-post-mortem"
    ),
    "standing-orders-001": "aorp-mandate rag-mandate fdc-toolchain-mandate",
    "cfdc-protocol-001": "hierarchical-planning-via-call-plan max-recursion-depth",
    "plan-registry-001": "registry-definition registry-first-resolution registry-management-tool",
    "self-correction-protocol-001": (
        "structured-lessons programmatic-updates automated-orchestration programmatic-rule-refinement "
        "autonomous-code-suggestion"
    ),
    "research-protocol-001": "mandate-research-tools",
    "deep-research-cycle-001": "structured-research-phases",
    "research-fdc-001": "specialized-fsm executable-plans l4-invocation",
}
"""The ids by which lessons and audits of older repositories know the rules: no rename, no loss."""


def test_the_set_has_the_protocols_and_rules_of_the_seeds_under_their_ids() -> None:
    found = {
        item.body["protocol_id"]: {rule["rule_id"] for rule in item.body["rules"]}
        for item in load(SOURCES)[0].protocols
    }
    assert set(SEED_RULES) == set(found) - {
        "exploration-001"
    }  # the one that the seed has no protocol for
    assert {} == {
        name: ids for name, rules in SEED_RULES.items() if (ids := set(rules.split()) - found[name])
    }
    assert 34 == sum(len(rules.split()) for rules in SEED_RULES.values())


def test_the_ids_are_those_that_the_seed_has() -> None:
    """The table above, compared with the document that it is from."""
    text = seed("agents_protocol.md").read_text("utf-8")
    owner, rows = "", {}
    for kind, name in re.findall(r'"(protocol_id|rule_id)": "([^"]+)"', text):
        owner = name if kind == "protocol_id" else owner
        rows.setdefault(owner, []).extend([name] if kind == "rule_id" else [])
    assert rows == {name: rules.split() for name, rules in SEED_RULES.items()}


def test_every_code_they_cite_exists() -> None:
    cited = re.findall(r"FDC\d+", TEXT)
    assert cited and [] == sorted({code for code in cited if code not in CODES})
    for code, name in re.findall(r"(FDC\d+) \(([a-z-]+)\)", TEXT):
        assert CODES[code].name == name


def test_every_command_they_name_exists() -> None:
    named = set(re.findall(r"`fdc ([a-z]+)", TEXT))
    assert {"start", "lint", "run", "close"} <= named <= set(commands())


@pytest.mark.parametrize("name", sorted(name for name, text in PROSE.items() if "```plan" in text))
def test_every_plan_they_show_is_proved(name: str, tmp_path: Path) -> None:
    """The example is linted as a plan of this repository, by the default automaton."""
    for number, plan in enumerate(re.findall(r"```plan\n(.*?)```", PROSE[name], re.S)):
        path = tmp_path / f"{number}.plan"
        path.write_text(plan, "utf-8")
        assert [] == [
            f"{item.span}: {item.message}"
            for item in check_paths([str(path)], str(ROOT)).diagnostics
        ]


SCHEMA = json.loads((ROOT / "protocols" / "protocol.schema.json").read_bytes())
RULE = {"rule_id": "r", "description": "d", "enforcement": "e"}


def test_the_schema_is_one() -> None:
    """FDC-96: draft 2020-12 by its metaschema."""
    assert "https://json-schema.org/draft/2020-12/schema" == SCHEMA["$schema"]
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", sorted(name for name in SOURCES if name.endswith(".json")))
def test_an_editor_finds_the_schema_from_each_source_and_nothing_is_wrong(name: str) -> None:
    """FDC-96: `$schema` is a path from the source's own folder, which editors follow, and the source obeys what is there."""
    body = json.loads(SOURCES[name])
    schema = (ROOT / name).parent / body["$schema"]
    assert SCHEMA == json.loads(schema.read_bytes())
    assert [] == [
        error.json_path + ": " + error.message
        for error in Draft202012Validator(SCHEMA).iter_errors(body)
    ]


@pytest.mark.parametrize(
    "check",
    [
        {},
        {"code": []},
        {"code": "fdc401"},
        {"code": "FDC401", "template": "absence", "a": "x"},
        {"template": "absense", "a": "x"},
        {"template": "absence"},
        {"template": "absence", "a": []},
        {"template": "absence", "a": {}},
        {"template": "absence", "a": {"tool": "x", "arguments": {}}},
        {"template": "absence", "a": "x", "n": 0},
        {"template": "absence", "a": "x", "severity": "info"},
        {"template": "absence", "a": "x", "wher": {}},
        {"template": "absence", "a": "x", "where": {"automaton": ["y"]}},
    ],
)
def test_an_editor_marks_a_check_that_is_none(check: dict[str, object]) -> None:
    body = {"protocol_id": "p", "description": "d", "rules": [{**RULE, "check": check}]}
    assert not Draft202012Validator(SCHEMA).is_valid(body)
    assert Draft202012Validator(SCHEMA).is_valid(
        {**body, "rules": [{**RULE, "check": {"code": "FDC401"}}]}
    )
