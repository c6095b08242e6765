"""`--profile original`: the AGENTS.md of the first repository of this kind, from its sources; and builds without any."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.exits import Refused
from fdc_toolchain.protocols.build import build, check
from fdc_toolchain.protocols.compile import BuildOptions

HOW = BuildOptions(profile="original")
RULES = {
    "protocol_id": "tea", "description": "d \u2014 é", "associated_tools": ["x/absent.py"],
    "rules": [{"rule_id": "r", "description": "d", "enforcement": "by hand"}], "own": {"z": [], "a": 1},
}  # fmt: skip


def by_recipe(head: str, prose: list[str], rules: list[object]) -> str:
    """The recipe as `samples/README.md` states it; `head` is what stands before the first source."""
    parts = [head]
    for text in prose:
        parts += [text, "\n---\n"]
    for body in rules:
        parts += ["```json\n" + json.dumps(body, indent=2) + "\n```\n", "\n---\n"]
    return "\n".join(parts)


@pytest.fixture
def home(workspace: Path) -> Path:
    folder = workspace / "protocols"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / "b.protocol.md").write_text("# B\n\ntext\n---\n\nmore\n")
    (folder / "a.protocol.md").write_text("# A")
    (folder / "z.protocol.json").write_text(json.dumps(RULES))
    return workspace


def test_the_form_is_that_of_the_recipe_and_nothing_is_added(home: Path) -> None:
    done = build(str(home), HOW)
    assert [] == done.build.findings
    text = (home / "AGENTS.md").read_text("utf-8")
    head = text[: text.index("\n# A\n")]
    assert by_recipe(head, ["# A", "# B\n\ntext\n---\n\nmore"], [RULES]) == text
    assert all(not line or line.startswith("#") for line in head.splitlines())
    assert [] == check(str(home), HOW)[1]
    (home / "protocols" / "a.protocol.md").write_text("# A2")
    assert ["FDC504"] == [item.code for item in check(str(home), HOW)[1]]
    assert ("AGENTS.md",) == build(str(home), HOW).written


def test_a_file_of_somebody_else_is_left(home: Path) -> None:
    (home / "AGENTS.md").write_text("# Mine\n")
    assert ["FDC508"] == [item.code for item in build(str(home), HOW).build.findings]
    assert "# Mine\n" == (home / "AGENTS.md").read_text()


@pytest.mark.parametrize("how", [HOW, BuildOptions()])
def test_a_build_without_sources_empties_nothing_unless_it_is_asked_to(
    home: Path, how: BuildOptions
) -> None:
    """FDC-97: no sources give the notice alone, where there is nothing to lose."""
    (home / "VERSION").write_text("1.0.0\n")
    build(str(home), how._replace(force=True))
    before = (home / "AGENTS.md").read_bytes()
    for one in (home / "protocols").iterdir():
        one.unlink()
    with pytest.raises(Refused, match="no file below `protocols` is a protocol source"):
        build(str(home), how)
    assert before == (home / "AGENTS.md").read_bytes()
    build(str(home), how._replace(force=True))
    assert len(before) > len((home / "AGENTS.md").read_bytes())
    assert () == build(str(home), how).written
