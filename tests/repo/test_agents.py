"""AGENTS.md and the protocols of this repository: current, small enough, and true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths
from fdc_toolchain.cli.main import COMMANDS
from fdc_toolchain.protocols.load import load
from fdc_toolchain.text.codes import CODES

from tests.support.process import fdc
from tests.support.repository import ROOT

SOURCES = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in (ROOT / "protocols").glob("*.protocol.*")}
PROSE = {name: data.decode("utf-8") for name, data in SOURCES.items() if name.endswith(".md")}
TEXT = "\n".join(data.decode("utf-8") for data in SOURCES.values())


def test_it_is_what_the_protocols_compile_to() -> None:
    """FDC-102. `make agents` writes it."""
    done = fdc("protocols", "check", cwd=ROOT)
    assert (0, "AGENTS.md is up to date\n", "") == (done.returncode, done.stdout, done.stderr)


def test_agents_read_all_of_it_and_learn_whose_it_is() -> None:
    """FDC-94, and the limit at which agents cut it off."""
    data = (ROOT / "AGENTS.md").read_bytes()
    assert len(data) < 32_768 and b"Advanced Orientation and Research Protocol" in data and b"AORP" in data


def test_the_sources_are_sound_and_in_pairs() -> None:
    """FDC-96."""
    sources, findings = load(SOURCES)
    assert [] == findings
    assert [item.path[:-5] for item in sources.protocols] == [item.path[:-3] for item in sources.prose]
    named = {tool for item in sources.protocols for tool in item.body.get("associated_tools", []) if "/" in tool}
    assert [] == sorted(tool for tool in named if not (ROOT / tool).is_file())


def test_the_rules_of_the_seeds_that_this_set_covers_are_there() -> None:
    ids = {rule["rule_id"] for item in load(SOURCES)[0].protocols for rule in item.body["rules"]}
    assert {
        "aorp-identity", "aorp-versioning", "mandatory-fdc-start", "non-turing-completeness", "bounded-recursion",
        "fsm-adherence", "fdc-entry-point", "fdc-state-transitions", "fdc-toolchain-mandate", "registry-definition",
        "registry-first", "registry-management",
    } <= ids  # fmt: skip


def test_every_code_they_cite_exists() -> None:
    cited = re.findall(r"FDC\d+", TEXT)
    assert cited and [] == sorted({code for code in cited if code not in CODES})
    for code, name in re.findall(r"(FDC\d+) \(([a-z-]+)\)", TEXT):
        assert CODES[code].name == name


def test_every_command_they_name_exists() -> None:
    named = set(re.findall(r"`fdc ([a-z]+)", TEXT))
    assert {"start", "lint", "run", "close"} <= named <= set(COMMANDS)


@pytest.mark.parametrize("name", sorted(name for name, text in PROSE.items() if "```plan" in text))
def test_every_plan_they_show_is_proved(name: str, tmp_path: Path) -> None:
    """The example is linted as a plan of this repository, by the default automaton."""
    for number, plan in enumerate(re.findall(r"```plan\n(.*?)```", PROSE[name], re.S)):
        path = tmp_path / f"{number}.plan"
        path.write_text(plan, "utf-8")
        assert [] == [f"{item.span}: {item.message}" for item in check_paths([str(path)], str(ROOT)).diagnostics]


def test_the_schema_is_one() -> None:
    """FDC-96: draft 2020-12, and editors find it from each source."""
    from jsonschema import Draft202012Validator

    schema = json.loads((ROOT / "protocols" / "protocol.schema.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    assert {"./protocol.schema.json"} == {
        json.loads(data).get("$schema") for name, data in SOURCES.items() if name.endswith(".json")
    }
