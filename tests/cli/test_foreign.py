"""`fdc lint`, `fdc analyze`, `fdc import` and `fdc hook claude-workflow` on files of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.cli.hooks import claude_workflow
from fdc_toolchain.cli.hooks.hook_answer import Event

from tests.support import process

HEAD = "export const meta = { name: 'a', description: 'a' }\n"
SCRIPT = f"{HEAD}await parallel(args.files.map((f) => () => agent(f, {{ model: 'x' }})))\n"
ENDLESS = "export const meta = { name: 'b', description: 'b' }\nwhile (true) await agent('x', { model: 'y' })\n"
COUNTED = "const n = args.n ?? 3\nfor (let i = 0; i < n; i++) await agent(i, { model: 'y' })\n"
PLAN = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete y\nclose_task\nsubmit\n"


def fdc(root: Path, *words: str, stdin: str = "") -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command in the workspace."""
    run = process.fdc(*words, cwd=root, stdin=stdin)
    return run.returncode, run.stdout, run.stderr


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "knowledge_core").mkdir()
    for path, text in {
        ".claude/workflows/a.js": SCRIPT,
        "src/other.js": "console.log(1)\n",
        "specs/001/tasks.md": "- [ ] T001 a (depends on T002)\n",
        "specs/001/notes.md": "# nothing\n",
        "tea.plan": PLAN,
        "package.json": "{}\n",
        "docs/specs/tasks.md": "# Tasks of the committee\n",
        "AGENTS.md": "# Rules\n\n- [ ] Be kind\n",
    }.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def test_a_folder_is_searched_for_plans_of_other_tools_too(workspace: Path) -> None:
    (workspace / ".claude" / "workflows" / "loop.js").symlink_to("loop.js")
    for _ in range(2):  # the second time our own plans come from the cache
        code, out, err = fdc(workspace, "lint", "-f", "json")
        assert "" == err
        report = json.loads(out)
        assert 1 == code and 3 == report["summary"]["files"]
        places = {(item["path"], item["code"]) for item in report["diagnostics"]}
        assert {(".claude/workflows/a.js", "FDC804"), ("specs/001/tasks.md", "FDC811")} <= places
    (workspace / "specs" / "001" / "tasks.md").write_text("- [ ] T001 a\n", "utf-8")
    code, out, _ = fdc(workspace, "lint", "specs")
    assert (0, "1 plan of other tools checked, no findings\n") == (code, out)
    code, out, _ = fdc(workspace, "lint", "specs", "tea.plan")
    assert (0, "1 plan proved, 1 plan of other tools checked, no findings\n") == (code, out)


def test_what_is_no_plan_is_said_and_is_no_finding(workspace: Path) -> None:
    code, out, err = fdc(workspace, "lint", "package.json", "AGENTS.md", "src/other.js")
    assert (0, "no plans found\n") == (code, out)
    assert "AGENTS.md" in err and "not checked" in err
    (workspace / "plan.md").write_text(PLAN, "utf-8")
    assert (0, "1 plan proved, no findings\n") == fdc(workspace, "lint", "plan.md")[:2]


def test_a_text_from_stdin_is_known_by_its_name(workspace: Path) -> None:
    name = "--stdin-filename=.claude/workflows/b.js"
    code, out, _ = fdc(workspace, "lint", "-", name, stdin=ENDLESS)
    assert 1 == code and "FDC802" in out and "2 | while (true)" in out
    code, out, _ = fdc(workspace, "lint", "--fix", "specs/001/tasks.md")
    assert 1 == code and "FDC811" in out


def test_analyze_prints_the_formula(workspace: Path) -> None:
    code, out, _ = fdc(workspace, "analyze", ".claude/workflows/a.js")
    assert 0 == code and "Worst case, agents: |args.files|\n" in out
    code, out, _ = fdc(workspace, "analyze", "--format", "json", "specs/001/tasks.md")
    assert 1 == code and 1 == json.loads(out)["errors"]
    assert 2 == fdc(workspace, "analyze", "AGENTS.md")[0]


@pytest.mark.parametrize(
    ("given", "most", "answer"),
    [
        ({"name": "a", "args": {"files": ["x", "y"]}}, 2, None),
        ({"name": "a", "args": {"files": ["x", "y", "z"]}}, 2, "a.js:2: can start 3 agents"),
        ({"name": "a"}, 2, None),
        ({"name": "a", "args": "[]"}, 2, "a.js:2: starts up to `|args.files|` agents"),
        ({"script": COUNTED, "args": {"n": 2}}, 2, None),
        ({"script": COUNTED, "args": {}}, 2, "can start 3 agents (`args.n` with args.n = 3)"),
        ({"script": COUNTED, "args": {"n": "4"}}, 2, "with `Math.min(args.n, 1)`"),
        ({"script": ENDLESS}, 2, "script:2: the number of agents cannot be bounded"),
        ({"script": "let a: number"}, 2, "script:1: line 1 cannot be read as JavaScript"),
        ({"scriptPath": "src/gone.js"}, 2, "cannot be read"),
        ({"name": "../a"}, 2, "names no workflow"),
        ({}, 2, "names no workflow"),
    ],
)
def test_the_hook_refuses_what_starts_too_many(
    workspace: Path, given: Event, most: int, answer: str | None
) -> None:
    event = json.dumps({"tool_name": "Workflow", "tool_input": given, "cwd": str(workspace)})
    code, out, _ = fdc(workspace, "hook", "claude-workflow", "--most-agents", most, stdin=event)
    assert 0 == code
    if answer is None:
        assert "" == out
        return
    decision = json.loads(out)["hookSpecificOutput"]
    assert (
        "deny" == decision["permissionDecision"] and answer in decision["permissionDecisionReason"]
    )


def test_the_hook_has_no_opinion_of_other_tools(workspace: Path) -> None:
    assert claude_workflow.decide({"tool_name": "Bash"}, 0) is None
    for odd in ({}, {"tool_name": ["Workflow"]}, {"tool_name": None}):
        assert '"deny"' in fdc(workspace, "hook", "claude-workflow", stdin=json.dumps(odd))[1]
    hidden = {"script": "// one\rfor (const x of [1, 2]) await agent(x)"}
    event = {"tool_name": "Workflow", "tool_input": hidden, "cwd": str(workspace)}
    assert claude_workflow.decide(event, 1) is not None
    assert claude_workflow.decide(event, 2) is None
    assert (0, "") == fdc(workspace, "hook", "claude-workflow", stdin='{"tool_name": "Bash"}')[:2]
    code, out, _ = fdc(workspace, "hook", "claude-workflow", stdin="nothing")
    assert 0 == code and "deny" in out


def test_import_writes_a_plan_or_says_why_not(workspace: Path) -> None:
    code, out, err = fdc(workspace, "import", "specs/001/tasks.md")
    assert (1, "") == (code, out) and "this task does not exist" in err
    (workspace / "specs" / "001" / "tasks.md").write_text("- [ ] T001 a\n", "utf-8")
    code, out, _ = fdc(workspace, "import", "--from", "spec-kit", "specs/001/tasks.md")
    assert 0 == code and "request_user_input T001 a" in out
    for words in (["--from", "kiro", "specs/001/tasks.md"], ["AGENTS.md"], ["gone.md"]):
        assert 2 == fdc(workspace, "import", *words)[0]
    assert 1 == fdc(workspace, "import", ".claude/workflows/a.js")[0]


def test_a_file_with_any_name_is_read_as_the_tool_that_is_said(workspace: Path) -> None:
    (workspace / "list.json").write_text(
        '{"tasks": [{"id": 7, "title": "Boil", "status": "pending"}]}', "utf-8"
    )
    (workspace / "list.md").write_text("- [ ] 1. Boil\n- [ ] 2. Pour\n", "utf-8")
    code, _, err = fdc(workspace, "import", "list.json")
    assert 2 == code and "name the tool with `--from`" in err
    code, out, _ = fdc(workspace, "import", "--from", "task-master", "list.json")
    assert 0 == code and "request_user_input 7 Boil\n" in out
    code, out, _ = fdc(workspace, "import", "--from", "kiro", "list.md")
    assert 0 == code and "request_user_input 2 Pour\n" in out
    code, _, err = fdc(workspace, "import", "--from", "task-master", "list.md")
    assert 1 == code and "`fdc lint" not in err, "it does not read the file as that tool's"


def test_the_hook_reads_no_workflow_from_a_secret_file(workspace: Path) -> None:
    """The answer named words of the file to the agent, which may not read it."""
    (workspace / ".env").write_text("TOKEN_OF_ADA = 1\n")
    (workspace / ".claude/workflows/tea.js").symlink_to("../../.env")
    for given in ({"name": "tea"}, {"scriptPath": ".env"}):
        event = json.dumps({"tool_name": "Workflow", "tool_input": given})
        out = fdc(workspace, "hook", "claude-workflow", stdin=event)[1]
        assert "no workflow is read from it" in out and "ADA" not in out and '"deny"' in out
