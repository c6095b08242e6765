"""Data of packs: found by name wherever a pack lies, under old names too; verdicts follow it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fdc_toolchain import resources
from fdc_toolchain.packs import shipped
from fdc_toolchain.packs.index import index

from tests.support.foreign_pack import HEAD, install
from tests.support.process import fdc
from tests.support.repository import PACKS

POUR = {
    "summary": "Pours water.",
    "action": "pour",
    "effect": "pure",
    "trust": "trusted",
    "parameters": [{"name": "what", "kind": "word", "sink": "data"}],
    "result": "text",
}
AUTOMATON = {
    "states": ["IDLE", "DONE"],
    "alphabet": ["pour"],
    "start_state": "IDLE",
    "accept_states": ["DONE"],
    "transitions": {"IDLE": {"pour": "DONE"}, "DONE": {}},
}
PACK = """
catalogues = ["tools.json"]
[tools]
pour = "deeds:pour"
[automata]
tea = "fsm.json"
[plans]
one-cup = "plans/cup.plan"
"""
WATER = "\npour water\n"
CUP = f"use fragment tea\n{WATER}"


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    folder = install(tmp_path / "site", "tea", HEAD + PACK)
    (folder / "tools.json").write_text(
        json.dumps({"format": 1, "name": "tea", "tools": {"pour": POUR}})
    )
    (folder / "fsm.json").write_text(json.dumps(AUTOMATON))
    (folder / "plans").mkdir()
    (folder / "plans" / "cup.plan").write_text(CUP)
    (folder / "deeds.py").write_text(
        "def pour(args, context):\n    context.say(args['what'] + '!')\n    return ''\n"
    )
    return folder


def test_each_file_that_a_pack_names_is_there() -> None:
    found = index()
    names = [*found.catalogues, *found.automata.values(), *found.plans.values()]
    assert len(names) > 30 and [] == [name for name in names if shipped.path(name) is None]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plans/library/lgtm.plan", "lgtm/plans/lgtm.plan"),
        ("plans/library/lgtm_init.plan", "lgtm/plans/lgtm_init.plan"),
        ("plans/library/lgtm/areas.jinja", "lgtm/prompts/areas.jinja"),
        ("plans/library/fix/checklist.json", "repair/prompts/checklist.json"),
        ("plans/library/alphabet.plan", "alphabet/plans/alphabet.plan"),
        ("plans/library/explore_track.plan", "research/explore/plans/explore_track.plan"),
        ("plans/library/research/note.jinja", "research/prompts/note.jinja"),
        ("tooling/repair_plain_fsm.json", "repair/repair_plain_fsm.json"),
        ("grammar/explore_tools.json", "research/explore/explore_tools.json"),
    ],
)
def test_what_0_1_0_shipped_is_found_under_its_old_name(old: str, new: str) -> None:
    assert f"packs/{new}" == shipped.current(old)
    assert (PACKS / new).read_bytes() == shipped.read(old) == shipped.read(f"packs/{new}")


@pytest.mark.parametrize(
    "name",
    [
        "packs/lgtm/../lgtm/pack.toml",
        "packs/lgtm//etc/passwd",
        "packs/lgtm",
        "packs/nobody/pack.toml",
        "plans/library/lgtm_nothing.plan",
        "/etc/passwd",
        "packs/lgtm/\0",
    ],
)
def test_what_is_not_shipped_has_no_file(name: str) -> None:
    assert shipped.read(name) is None and name == shipped.current(name)


def test_the_core_s_own_files_are_found_too() -> None:
    name = "tooling/research_fsm.json"
    assert name == shipped.current(name) and resources.read(name) == shipped.read(name)


@pytest.mark.long
def test_a_plan_of_a_workspace_uses_the_data_of_an_installed_pack(
    tea: Path, workspace: Path
) -> None:
    (workspace / "a.plan").write_text("use fsm tea\n\ncall_plan one-cup\n")
    (workspace / "b.plan").write_text(f"use fsm tea\nuse pack tea\n{WATER}")
    env = {"PYTHONPATH": str(tea.parent), "FDC_CACHE_DIR": str(workspace / ".cache")}

    def lint() -> tuple[int, str]:
        done = fdc("lint", "a.plan", "b.plan", cwd=workspace, env=env)
        return done.returncode, done.stdout + done.stderr

    assert (0, "2 plans proved, no findings\n") == lint() == lint()
    done = fdc("run", "b.plan", "--format", "json", cwd=workspace, env=env)
    assert 0 == done.returncode and ["water!"] == json.loads(done.stdout)["said"], done.stderr

    (tea / "plans" / "cup.plan").write_text(CUP + WATER)  # once too often
    assert 1 == lint()[0] and 1 == lint()[0]
    (tea / "plans" / "cup.plan").write_text(CUP)
    assert 0 == lint()[0]

    (tea / "tools.json").write_text("{")  # no catalogue: nothing is declared, and doctor says why
    assert 1 == lint()[0] and "declares such a tool" in lint()[1]
    done = fdc("doctor", cwd=workspace, env=env)
    assert 1 == done.returncode and f"{tea}/tools.json" in done.stdout, done.stdout

    shutil.rmtree(tea.parent / "tea-1.0.dist-info")
    code, said = lint()
    assert 1 == code and "the automaton `tea` does not exist" in said
