"""`fdc diff --old-workspace`: a plan that stays as it is does more, or is held less, where its workspace changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.process import fdc

PLAN = """\
# FSM: own_fsm.json
budget steps 500
set_plan Weigh the tea
plan_step_complete ready
weight <- weigh docs/tea.md
require heavy({weight}) else "too light"
said <- ask_it tea
message_user {said}
call_plan ship
run_in_bash_session make tea
close_task
submit
"""
SHIP = """\
use fsm own_fsm.json
param to = "home"
set_plan Ship
plan_step_complete ready
ok <- request_user_input Ship to {to}?
require ok == "yes" else "no"
iterate max 3
  git_add docs/tea.md
close_task
submit
"""
TOOLS = {
    "weigh": {"summary": "weigh", "action": "read_op", "effect": "read", "trust": "workspace", "result": "number",
              "parameters": [{"name": "path", "kind": "path", "access": "read"}], "run": {"python": "scales:weigh"}},
    "ask_it": {"summary": "ask", "action": "step_op", "effect": "read", "trust": "model", "result": "text",
               "parameters": [{"name": "what", "kind": "word"}], "cost": {"model_calls": 1, "tokens": 100},
               "run": {"prompt": "ask.md", "role": "speaker"}},
}  # fmt: skip
HEAVY = {"summary": "heavy", "parameters": ["value"], "run": {"python": "scales:heavy"}}
SETTINGS = """\
test-command = "make tea"
protect = ["docs/kept.md"]
secret = ["docs/hidden.md"]
assumptions = ["fitting-diff"]
[models]
speaker = { max-tokens = 100 }
"""
UNTRUSTED = 'untrusted = ["in/**"]\n'
FSM = Path(__file__).resolve().parents[2] / "tooling" / "fdc_fsm.json"


def laid(root: Path) -> Path:
    rows = {"format": 1, "name": "own", "tools": TOOLS, "predicates": {"heavy": HEAVY}}
    files = {
        "p.plan": PLAN, "ship.plan": SHIP, "light.plan": SHIP.replace('require ok == "yes" else "no"\n', 'hello_world {ok}\n'),
        "fdc_tools.json": json.dumps(rows), "fdc.toml": SETTINGS, "own_fsm.json": FSM.read_text("utf-8"),
        "scales.py": "def weigh(path):\n    return 3\n\n\ndef heavy(value):\n    return value > 2\n",
        "ask.md": "You answer.\n---\nWhat is {{ what }}?\n", "docs/tea.md": "tea\n", "Makefile": "tea:\n\ttrue\n",
        "knowledge_core/plan_registry.json": '{"ship": "ship.plan"}',
    }  # fmt: skip
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        text = (root / name).read_text("utf-8")
        assert old in text, (name, old)
        (root / name).write_text(text.replace(old, new), "utf-8")

    return edit


EDITS = {
    "the registry names a plan without the gate": (
        "weaker-gate",
        replaced("knowledge_core/plan_registry.json", "ship.plan", "light.plan"),
    ),
    "the called plan asks no more": (
        "weaker-gate",
        replaced("ship.plan", 'require ok == "yes" else "no"\n', "hello_world {ok}\n"),
    ),
    "the called plan has another default": (
        "weaker-gate",
        replaced("ship.plan", '"home"', '"away"'),
    ),
    "the called plan goes round more often": ("more-cost", replaced("ship.plan", "max 3", "max 4")),
    "a tool may write": (
        "more-access",
        replaced(
            "fdc_tools.json",
            '"run": {"python": "scales:weigh"}',
            '"access": {"read": [], "write": ["out/**"]}, "run": {"python": "scales:weigh"}',
        ),
    ),
    "a tool costs more": (
        "more-cost",
        replaced("fdc_tools.json", '"tokens": 100', '"tokens": 101'),
    ),
    "a tool reads another prompt": ("more-access", replaced("ask.md", "What", "Where")),
    "a predicate runs other code": ("weaker-gate", replaced("scales.py", "> 2", "> 1")),
    "a predicate names another function": (
        "weaker-gate",
        replaced("fdc_tools.json", "scales:heavy", "scales:weigh"),
    ),
    "the tests are another command": (
        "more-access",
        replaced("fdc.toml", '"make tea"', '"make coffee"'),
    ),
    "a file is protected no more": ("more-access", replaced("fdc.toml", '"docs/kept.md"', "")),
    "a file is secret no more": ("more-access", replaced("fdc.toml", '"docs/hidden.md"', "")),
    "files count as trusted": ("more-access", replaced("fdc.toml", UNTRUSTED, "")),
    "a model may say more": (
        "more-cost",
        replaced("fdc.toml", "max-tokens = 100", "max-tokens = 101"),
    ),
    "an assumption is no error any more": (
        "weaker-gate",
        replaced("fdc.toml", '"fitting-diff"', ""),
    ),
    "the automaton accepts more": (
        "weaker-gate",
        replaced(
            "own_fsm.json",
            '{ "step_op": "EXECUTING" }',
            '{ "step_op": "EXECUTING", "plan_op": "PLANNING" }',
        ),
    ),
}


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    old = laid(tmp_path / "old")
    return old, Path(shutil.copytree(old, tmp_path / "new"))


def diffed(old: Path, new: Path, *options: str) -> tuple[int, dict[str, dict[str, list[str]]]]:
    done = fdc(
        "diff",
        str(old / "p.plan"),
        "p.plan",
        "--old-workspace",
        str(old),
        "--format",
        "json",
        *options,
        cwd=new,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("what", EDITS)
def test_each_change_of_a_workspace_is_told(sides: tuple[Path, Path], what: str) -> None:
    old, new = sides
    kind, edit = EDITS[what]
    if what == "files count as trusted":  # with them, a command and a tool that writes are refused
        for side in sides:
            replaced("fdc.toml", "[models]", UNTRUSTED + "[models]")(side)
    edit(new)
    code, found = diffed(old, new, "--fail-on", kind)
    assert found["grown"][kind] and found["differences"] and code == 1
    code, found = diffed(old, new, "--exit-code")
    assert code == 1


def test_a_copy_of_a_workspace_gives_the_same(sides: tuple[Path, Path]) -> None:
    old, new = sides
    code, found = diffed(
        old, new, "--exit-code", "--fail-on", "more-access", "--fail-on", "weaker-gate"
    )
    assert (code, found["differences"], any(found["grown"].values())) == (0, [], False)
    replaced("fdc_tools.json", '"summary": "weigh"', '"summary": "say how heavy it is"')(new)
    replaced("fdc.toml", "protect = [", 'protect = ["docs/more.md", ')(new)
    automaton = json.loads((new / "own_fsm.json").read_text("utf-8"))
    automaton["states"].reverse()
    (new / "own_fsm.json").write_text(json.dumps(automaton), "utf-8")
    code, found = diffed(
        old, new, "--fail-on", "more-access", "--fail-on", "more-cost", "--fail-on", "weaker-gate"
    )
    assert code == 0 and found["differences"]


def test_runs_have_no_old_workspace(workspace: Path) -> None:
    done = fdc("diff", "a", "b", "--old-workspace", ".", cwd=workspace)
    assert done.returncode == 2 and "need two plans" in done.stderr
