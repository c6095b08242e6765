"""What defines a plan's world is read from no secret file and through no link that leads out of the workspace: findings quote
it, models are given it, and AGENTS.md is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.process import fdc

TOKEN = "s-3kr1t"
PLAN = "set_plan Look\nplan_step_complete ready\nlist_files\nclose_task\nsubmit\n"
RULE = {
    "protocol_id": "house", "description": "x",
    "rules": [{"rule_id": "none", "description": "x", "enforcement": "x", "check": {"template": "absence", "a": "list_files"}}],
}  # fmt: skip
TOOLS = {
    "format": 1, "name": "own", "tools": {"judge": {
        "summary": "x", "action": "step_op", "effect": "read", "trust": "model",
        "parameters": [{"name": "text", "kind": "word"}], "run": {"prompt": "judge.md", "role": "critic"},
    }},
}  # fmt: skip


@pytest.fixture(params=["outside", "secret"])
def target(
    request: pytest.FixtureRequest, workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A file to which a link leads: of another folder, or one of the workspace that holds secrets."""
    place = workspace if request.param == "secret" else tmp_path_factory.mktemp("outside")
    return place / ".vault-token"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("fdc_tools.json", ["lint"]),
        ("knowledge_core/plan_registry.json", ["lint"]),
        ("protocols/house.protocol.json", ["lint"]),
        ("protocols/house.protocol.json", ["protocols", "build"]),
        ("protocols/house.protocol.md", ["protocols", "build"]),
        ("protocols/VERSION", ["protocols", "build"]),
        ("VERSION", ["protocols", "check"]),
    ],
)
def test_a_definition_is_not_read_through_a_link(
    workspace: Path, target: Path, link: str, words: list[str]
) -> None:
    (workspace / "a.plan").write_text(PLAN)
    target.write_text(f"{TOKEN}\n")
    (workspace / "protocols").mkdir(exist_ok=True)
    (workspace / link).parent.mkdir(exist_ok=True)
    (workspace / link).unlink(missing_ok=True)
    (workspace / link).symlink_to(target)
    done = fdc(*words, cwd=workspace)
    assert 3 == done.returncode, done.stdout + done.stderr
    assert TOKEN not in done.stdout + done.stderr and not (workspace / "AGENTS.md").exists()
    assert "read" in done.stderr and str(workspace / link) in done.stderr


def test_a_rule_behind_a_link_is_not_left_out(workspace: Path, target: Path) -> None:
    (workspace / "a.plan").write_text(PLAN)
    target.write_text(json.dumps(RULE))
    (workspace / "protocols").mkdir(exist_ok=True)
    (workspace / "protocols/house.protocol.json").symlink_to(target)
    assert 3 == fdc("lint", "a.plan", cwd=workspace).returncode


@pytest.mark.parametrize("linked", [True, False])
def test_an_automaton_that_a_plan_names_does_not_show_a_file(
    workspace: Path, target: Path, linked: bool
) -> None:
    """A model may have written the plan, and reads what lint says of it."""
    if not linked and target.parent != workspace:
        pytest.skip("no plan can name a file outside of the workspace")
    target.write_text(f"{TOKEN}\n")
    name = "own.json" if linked else ".vault-token"
    if linked:
        (workspace / name).symlink_to(target)
    (workspace / "a.plan").write_text(f"# FSM: {name}\n{PLAN}")
    for words in (["lint", "a.plan"], ["lint", "--format", "json", "a.plan"], ["run", "a.plan"]):
        done = fdc(*words, cwd=workspace)
        assert 1 == done.returncode, done.stdout + done.stderr
        assert f"the automaton `{name}` cannot be used: " in done.stdout + done.stderr
        assert TOKEN not in done.stdout + done.stderr


def test_a_prompt_behind_a_link_is_given_to_no_model(workspace: Path, target: Path) -> None:
    target.write_text(f"{TOKEN}\n---\nGrade {{{{ text | data }}}}\n")
    (workspace / "judge.md").symlink_to(target)
    (workspace / "fdc_tools.json").write_text(json.dumps(TOOLS))
    (workspace / "a.plan").write_text(PLAN.replace("list_files", "judge tea"))
    for words in (["lint", "a.plan"], ["expand", "a.plan", "--format", "json"]):
        done = fdc(*words, cwd=workspace)
        assert 1 == done.returncode, done.stdout + done.stderr
        assert "FDC309" in done.stdout + done.stderr and TOKEN not in done.stdout + done.stderr


def test_a_link_within_the_workspace_is_followed(workspace: Path) -> None:
    (workspace / "a.plan").write_text(PLAN)
    (workspace / "kept.json").write_text(json.dumps(RULE))
    (workspace / "protocols").mkdir(exist_ok=True)
    (workspace / "protocols/house.protocol.json").symlink_to("../kept.json")
    done = fdc("lint", "a.plan", cwd=workspace)
    assert 1 == done.returncode and "breaks the rule `none`" in done.stdout


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("a.plan", ["lint"], 1),
        ("a.plan", ["analyze"], 1),
        ("a.plan", ["expand"], 1),
        ("a.plan", ["fmt", "--diff"], 1),
        ("a.plan", ["fmt"], 1),
        ("a.plan", ["migrate", "--write"], 2),
        ("specs/1/tasks.md", ["lint"], 1),
        ("specs/1/tasks.md", ["analyze"], 2),
        ("specs/1/tasks.md", ["import"], 2),
        (".claude/workflows/w.js", ["lint"], 1),
        (".claude/workflows/w.js", ["analyze"], 2),
        ("tooling/own.json", ["graph"], 2),
    ],
)
def test_no_command_shows_or_changes_what_a_link_leads_to(
    workspace: Path, target: Path, name: str, words: list[str], code: int
) -> None:
    text = f"set_plan   {TOKEN}\n- [ ] T001 {TOKEN}\n{TOKEN.partition('-')[2]}()\n"
    target.write_text(text)
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / name).symlink_to(target)
    done = fdc(*words, name, cwd=workspace)
    assert code == done.returncode, done.stdout + done.stderr
    assert TOKEN.partition("-")[2] not in done.stdout + done.stderr
    assert text == target.read_text()


def test_a_file_that_the_settings_call_secret_is_no_source_of_agents_md(workspace: Path) -> None:
    (workspace / "vault").mkdir()
    (workspace / "vault/note.md").write_text(f"{TOKEN}\n")
    (workspace / "fdc.toml").write_text('secret = ["vault/**"]\n')
    (workspace / "VERSION").write_text("1.0.0\n")
    (workspace / "protocols").mkdir(exist_ok=True)
    (workspace / "protocols/note.protocol.md").symlink_to("../vault/note.md")
    done = fdc("protocols", "build", cwd=workspace)
    assert 3 == done.returncode and "is secret in this workspace" in done.stderr, done.stderr
    assert not (workspace / "AGENTS.md").exists()
