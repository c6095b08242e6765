"""`fdc hook`: what Claude Code and Codex are answered, also where the event is nothing that a hook can read."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.cli.hooks import (
    claude_exit_plan,
    claude_workflow,
    guarded_calls,
    hook,
    hook_answer,
)
from fdc_toolchain.cli.hooks.hook_answer import CannotDecide, Event
from fdc_toolchain.text.plan_fences import Fence, fences
from hypothesis import given
from hypothesis import strategies as st

from tests.support import inside
from tests.support.background import fdc_started
from tests.support.process import fdc
from tests.support.repository import ROOT

GOOD = "set_plan x\nplan_step_complete one\nhello_world\nclose_task\nsubmit\n"


def event(tool: str, workspace: Path, **given: Any) -> dict[str, Any]:
    """An event as Claude Code sends it."""
    return {
        "session_id": "s", "transcript_path": "/t.jsonl", "cwd": str(workspace), "permission_mode": "plan",
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, "tool_use_id": "u",
    }  # fmt: skip


def leaving(workspace: Path, **given: Any) -> dict[str, Any]:
    """The event of a plan that is shown."""
    return {**event("ExitPlanMode", workspace, **given), "hook_event_name": "PermissionRequest"}


def document(*plans: str) -> str:
    return "# Plan\n\nWords.\n\n" + "\nMore.\n\n".join(f"```plan\n{text}```\n" for text in plans)


def asked(name: str, sent: object, workspace: Path, *options: str) -> tuple[int, Any, str]:
    """What the hook answers to an event on stdin: its code, its JSON, its words on stderr."""
    text = sent if isinstance(sent, str) else json.dumps(sent)
    done = fdc("hook", name, *options, cwd=workspace, stdin=text)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


# ---- claude-exit-plan


def test_a_plan_with_an_error_is_refused_with_the_lines_of_the_document(workspace: Path) -> None:
    code, said, _ = asked(
        "claude-exit-plan", leaving(workspace, plan=document(GOOD, "raed_file a.md\n")), workspace
    )
    decision = said["hookSpecificOutput"]["decision"]
    assert (code, decision["behavior"]) == (0, "deny")
    assert "ExitPlanMode.plan:16:1: error FDC301" in decision["message"]
    assert "repair: write `read_file`" in decision["message"] and len(decision["message"]) < 1700


def test_a_proved_plan_is_left_to_the_person_who_is_told(workspace: Path) -> None:
    code, said, _ = asked("claude-exit-plan", leaving(workspace, plan=document(GOOD)), workspace)
    assert (code, said) == (0, {"systemMessage": "fdc: 1 plan proved"})


def test_an_approval_in_the_persons_place_has_to_be_asked_for_and_echoes_the_input(
    workspace: Path,
) -> None:
    """Claude Code 2.1.199 and newer ignore an allow without `updatedInput`."""
    given = {
        "plan": document(GOOD),
        "planFilePath": "/x.md",
        "allowedPrompts": [{"tool": "Bash", "prompt": "p"}],
    }
    _, said, _ = asked("claude-exit-plan", leaving(workspace, **given), workspace, "--allow")
    assert said["hookSpecificOutput"] == {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow", "updatedInput": given},
    }
    for text in (document("hello_world\n"), document(GOOD, "hello_world\n"), "no plan in it"):
        _, said, _ = asked("claude-exit-plan", leaving(workspace, plan=text), workspace, "--allow")
        assert said is None or "hookSpecificOutput" not in said, text
    before = {**leaving(workspace, plan=document(GOOD)), "hook_event_name": "PreToolUse"}
    assert "hookSpecificOutput" not in asked("claude-exit-plan", before, workspace, "--allow")[1]


def test_the_plan_is_read_from_its_file_where_only_that_is_named(workspace: Path) -> None:
    (workspace / "p.md").write_text(document("raed_file a.md\n"))
    said = claude_exit_plan.decided(leaving(workspace, planFilePath=str(workspace / "p.md")), False)
    assert said is not None and "FDC301" in json.dumps(said)
    for path in ("p.md", str(workspace / "gone.md"), "/etc/passwd", 3, None):
        with pytest.raises(CannotDecide):
            claude_exit_plan.decided(leaving(workspace, planFilePath=path), False)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        '{"a": 1}',
        '"' + "x" * 99 + '"',
        "[" * 100_000,
        '{"hook_event_name": 3}',
        '{"tool_input": {"command": "fdc answer r"}, "tool_input": {"command": "ls"}}',
        "\ufeff{}",
    ],
)
def test_what_cannot_be_read_is_left_to_the_person_or_refused(workspace: Path, sent: str) -> None:
    code, said, words = asked("claude-exit-plan", sent, workspace)
    assert (code, said) == (3, None) and words.startswith("fdc hook: no opinion: the event")
    for name in ("claude-pre-tool", "codex"):
        code, said, words = asked(name, sent, workspace)
        assert (code, words) == (0, "") and "cannot decide" in json.dumps(said)
        assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    ("name", "code", "said"), [("claude-exit-plan", 3, ""), ("codex", 0, "deny")]
)
def test_a_hook_answers_in_time_whatever_stdin_does(
    workspace: Path, name: str, code: int, said: str
) -> None:
    with fdc_started(
        "hook", name, "--seconds", "0.1", cwd=workspace, stdin=subprocess.PIPE
    ) as process:
        assert (
            process.stdin is not None and process.stdout is not None and process.stderr is not None
        )
        out, words = process.stdout.read(), process.stderr.read()
        process.stdin.close()
        assert process.wait(60) == code and said in out
        assert "did not decide within 0.1 seconds" in out + words


def test_a_plan_has_a_limit_and_other_tools_are_no_business(workspace: Path) -> None:
    assert claude_exit_plan.decided({**leaving(workspace), "tool_name": "Edit"}, False) is None
    for text in ("x" * 2_000_001, document(*["hello_world\n"] * 21)):
        with pytest.raises(CannotDecide, match="has more than"):
            claude_exit_plan.decided(leaving(workspace, plan=text), False)
    with pytest.raises(CannotDecide, match="not `Stop`"):
        claude_exit_plan.decided({**leaving(workspace, plan="x"), "hook_event_name": "Stop"}, False)


@given(st.text("`~plan\n -1.>ab#", max_size=200))
def test_fences_are_found_where_markdown_has_them(text: str) -> None:
    for fence in fences(text):
        assert 1 < fence.line <= text.count("\n") + 2
        assert fence.placed.endswith(fence.text)


def test_fences_in_lists_and_with_more_words_count() -> None:
    text = "- a\n\n  ```plan title\n  x\n  ```\n\n> ~~~~ PLAN\n> y\n> ~~~~\n\n```planner\nz\n```\n"
    assert fences(text) == [Fence(4, "x\n"), Fence(8, "y\n")]


# ---- claude-pre-tool and codex

REFUSED = (
    "AGENTS.md", "docs/AGENTS.md", "CLAUDE.md", ".claude/settings.json", ".claude/settings.local.json", ".CLAUDE/hooks/x.sh",
    ".mcp.json", ".codex/config.toml", ".cursor/rules/a.mdc", "fdc.toml", "fdc_tools.json", "protocols/a.protocol.json",
    "tooling/fdc_fsm.json", ".fdc/runs/x", ".git/hooks/pre-commit", "knowledge_core/plan_registry.json", "deploy/x.yml",
    "src/../AGENTS.md", "link.md", ".github/copilot-instructions.md", ".github/hooks/fdc.json", "x/.vscode/mcp.json",
    ".git/.claude/plans/x", "protocols/.claude/worktrees/a/b.json",
    ".claude/plans/../settings.json", ".claude/worktrees/a/AGENTS.md",
)  # fmt: skip
LEFT = (
    "src/a.py", "README.md", "plans/a.plan", ".github/workflows/ci.yml", ".vscode/settings.json", ".pre-commit-config.yaml",
    ".claude/plans/x.md", ".claude/worktrees/a/src/b.py", "AGENTS.md.txt", "agents/md", "new/folder/x.txt",
)  # fmt: skip


@pytest.fixture
def house(workspace: Path) -> Path:
    (workspace / "fdc.toml").write_text('protect = ["deploy/**"]\n')
    (workspace / "AGENTS.md").write_text("x")
    (workspace / "link.md").symlink_to("AGENTS.md")
    return workspace


@pytest.mark.parametrize("path", REFUSED)
def test_an_edit_of_what_fdc_and_agents_obey_is_refused(house: Path, path: str) -> None:
    for tool, field in (
        ("Edit", "file_path"),
        ("Write", "file_path"),
        ("MultiEdit", "file_path"),
        ("NotebookEdit", "notebook_path"),
    ):
        for written in (path, str(house / path)):
            said = guarded_calls.decided(event(tool, house, **{field: written}))
            assert said is not None and "deny" in json.dumps(said), (tool, written)
    for head in ("Add File", "Update File", "Delete File", "Move to"):
        patch = f"*** Begin Patch\n*** Update File: src/a.py\n*** {head}: {path}\n@@\n+x\n*** End Patch\n"
        said = guarded_calls.decided(event("apply_patch", house, command=patch))
        assert said is not None and path in json.dumps(said)


@pytest.mark.parametrize("path", LEFT)
def test_an_edit_of_anything_else_is_left_to_others(house: Path, path: str) -> None:
    assert guarded_calls.decided(event("Edit", house, file_path=str(house / path))) is None
    assert (
        guarded_calls.decided(event("apply_patch", house, command=f"*** Add File: {path}\n+x"))
        is None
    )


def test_files_outside_of_the_workspace_count_too(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = house.parent
    (house / "out").symlink_to(elsewhere)
    monkeypatch.setenv("XDG_STATE_HOME", str(elsewhere / "state"))
    for path in (
        "other/.claude/settings.json",
        "other/CLAUDE.md",
        "state/fdc/key",
        ".codex/config.toml",
    ):
        for written in (elsewhere / path, house / "out" / path):
            assert guarded_calls.guarded(str(written)) is not None, written
    for path in ("other/a.py", ".claude/plans/p.md", ".claude/projects/x/memory/MEMORY.md"):
        assert guarded_calls.guarded(str(elsewhere / path)) is None, path


@pytest.mark.parametrize("mark", ["", ".git", "knowledge_core"])
def test_a_folder_of_an_agent_that_is_there_is_no_workspace_of_its_own(
    tmp_path: Path, mark: str
) -> None:
    """As `~/.claude` is, which some keep in a repository."""
    for name in (".claude", ".codex", ".cursor"):
        (tmp_path / name / "agents" / mark).mkdir(parents=True)
        (tmp_path / name / mark).mkdir(exist_ok=True)
        for path in ("settings.json", "agents/x.md", "agents/new/x.md"):
            assert guarded_calls.guarded(str(tmp_path / name / path)) is not None, (name, path)
    tree = tmp_path / ".claude" / "worktrees" / "tea"
    (tree / mark).mkdir(parents=True)
    for free in (tree / "a.py", tree / "docs" / "b.md", tmp_path / ".claude" / "plans" / "p.md"):
        assert guarded_calls.guarded(str(free)) is None, free
    assert guarded_calls.guarded(str(tree / "AGENTS.md")) is not None


@pytest.mark.parametrize(
    ("tool", "change", "refused"),
    [
        ("Write", {"content": '[project]\nname = "b"\n[tool.fdc]\nstrict = true\n'}, False),
        ("Write", {"content": '[project]\nname = "a"\n'}, True),
        ("Write", {"content": "[tool.fdc]\nstrict = false\n"}, True),
        ("Write", {"content": "[tool"}, True),
        ("Edit", {"old_string": '"a"', "new_string": '"c"'}, False),
        ("Edit", {"old_string": "strict = true", "new_string": ""}, True),
        ("Edit", {"old_string": "tool.", "new_string": "tool.x", "replace_all": True}, True),
        ("MultiEdit", {"edits": [{"old_string": '"a"', "new_string": '"c"'}]}, False),
        ("MultiEdit", {"edits": [{"old_string": "true", "new_string": "false"}]}, True),
    ],
)
def test_the_settings_in_a_pyproject_are_settings(
    workspace: Path, tool: str, change: dict[str, Any], refused: bool
) -> None:
    path = workspace / "pyproject.toml"
    path.write_text('[project]\nname = "a"\n[tool.fdc]\nstrict = true\n')
    said = guarded_calls.decided(event(tool, workspace, file_path=str(path), **change))
    assert (said is not None) is refused


def test_a_pipe_in_the_place_of_a_file_makes_no_hook_wait(workspace: Path) -> None:
    os.mkfifo(workspace / "pyproject.toml")
    given_ = event("Write", workspace, file_path=str(workspace / "pyproject.toml"), content="")
    assert guarded_calls.decided(given_) is not None
    os.mkfifo(workspace / "a.js")
    with pytest.raises(CannotDecide, match="not a regular file"):
        claude_workflow.script_of({"scriptPath": "a.js"}, str(workspace))


@pytest.mark.parametrize(
    "command",
    [
        "fdc answer last yes", "cd x && fdc  answer r", "bash -c 'fdc answer r yes'", "python -m fdc_toolchain answer r yes",
        "python3 tooling/fdc_cli.py resume r --answer yes", "fdc resume --approve plan", "fdc run p.plan --allow-network",
        "fdc resume r --assume=done", "fdc \\\n answer r", "uvx fdc-toolchain trust", "FDC_ALLOW_UNSANDBOXED=1 fdc run a.plan",
        "env FDC_ALLOW_NETWORK=1 make", "fdc lint --trust-settings", "fdc mcp --http", '"/usr/bin/fdc" answer r yes', "fdc ui",
        "fdc fix --allow-unsandboxed make", "fdc cups list.txt --answer yes", "fdc 'answer' r", "fdc run a&b.plan '--approve'",
        "fdc run a.plan a=" + "a" * 3000 + " --approve", "fdc run p.plan --force", "fdc $'answer' r", 'fdc $"answer" r',
        "fdc ans\\\nwer r", "python3 -mfdc_toolchain answer r", "fdc init . '--remove'", "cd x; fdc init --remove",
    ],
)  # fmt: skip
def test_a_command_that_acts_for_the_person_is_refused(workspace: Path, command: str) -> None:
    for tool, given_ in (("Bash", command), ("shell", f'bash -lc "{command}"')):
        said = guarded_calls.decided(event(tool, workspace, command=given_))
        assert said is not None and "is for the person only" in json.dumps(said), command


@pytest.mark.parametrize(
    "command",
    ["fdc run a.plan", "fdc resume last", "fdc lint --format x --forced", "fdc show last; git push --force", "make answer",
     "fdc explain trust", "git -C fdc push --force", "git -C fdc commit --allow-empty", "fdc init; rm --remove x"],
)  # fmt: skip
def test_other_commands_are_left_to_others(workspace: Path, command: str) -> None:
    assert guarded_calls.decided(event("Bash", workspace, command=command)) is None


PROTOCOL = {
    "protocol_id": "house",
    "description": "How this house works.",
    "rules": [
        {"rule_id": name, "description": f"{name}!", "enforcement": "x", "check": {"template": template, **check}}
        for name, template, check in (
            ("no-push", "absence", {"a": {"tool": "run_in_bash_session", "arguments": {"command": "**git**push**"}}}),
            ("generated", "absence", {"a": {"action": "write_op", "arguments": {"path": "docs/generated/**"}}}),
            ("no-new", "absence", {"a": {"tool": "create_file_with_block", "arguments": {"path": "old/**"}}}),
            ("on-friday", "absence", {"a": "run_in_bash_session", "where": {"plans": ["*.friday.plan"]}}),
            ("twice", "absence", {"a": "run_in_bash_session", "n": 2}),
            ("read-first", "precedence", {"a": "read_op", "b": "write_op"}),
            ("read-back", "response", {"a": "write_op", "b": "read_file", "same": "path"}),
        )
    ],
}  # fmt: skip


def test_what_a_protocol_forbids_at_every_point_is_refused(workspace: Path) -> None:
    (workspace / "protocols").mkdir()
    (workspace / "old").mkdir()
    (workspace / "old" / "b.md").write_text("x")
    (workspace / "protocols" / "house.protocol.json").write_text(json.dumps(PROTOCOL))
    for tool, given_, rule in (
        ("Bash", {"command": "cd x; git push origin"}, "no-push"), ("shell", {"command": "bash -c 'git push'"}, "no-push"),
        ("Bash", {"command": "git status"}, None), ("Edit", {"file_path": "docs/generated/a.md"}, "generated"),
        ("Write", {"file_path": str(workspace / "src/../docs/generated/a/b.md")}, "generated"),
        ("apply_patch", {"command": "*** Add File: docs/generated/a.md"}, "generated"),
        ("Write", {"file_path": "docs/a.md"}, None), ("Write", {"file_path": "old/b.md"}, None),
        ("Write", {"file_path": "old/c.md"}, "no-new"),
    ):  # fmt: skip
        said = guarded_calls.decided(event(tool, workspace, **given_))
        assert (said is None) is (rule is None), (tool, given_, said)
        assert rule is None or f"the rule `{rule}` of `house` forbids it: {rule}!" in json.dumps(
            said
        )


@pytest.mark.parametrize(
    "piece", ["fdc run ", "fdc -fdc ", "fdc ", "fdc run -- ", "fdc\t-x\t", "\\\n"]
)
def test_no_command_takes_long_to_judge(workspace: Path, piece: str) -> None:
    """What looks like the beginning of a match at every place is judged all the same, and more is refused."""
    command = piece * (guarded_calls.MOST_COMMAND // len(piece))
    guarded_calls.decided(event("Bash", workspace, command=command))
    with pytest.raises(CannotDecide, match="more than 50000 characters"):
        guarded_calls.decided(event("Bash", workspace, command=command + "x" * 9))


@pytest.mark.parametrize("indent", ["", "  ", "\t"])
def test_a_patch_names_files_with_blanks_around(workspace: Path, indent: str) -> None:
    patch = f"*** Begin Patch\n*** Add File: a\n+a\n{indent}*** Update File: AGENTS.md \n@@\n-a\n+b\n*** End Patch"
    said = guarded_calls.decided(event("apply_patch", workspace, command=patch))
    assert said is not None and "obeyed by agents" in json.dumps(said)
    long = "*** Add File: a" + " " * 1_000_000 + "b"  # no pattern looks at each blank again
    assert guarded_calls.decided(event("apply_patch", workspace, command=long)) is None


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("apply_patch <<'END'\n*** Begin Patch\n*** Update File: CLAUDE.md\n@@\n-a\n+b\nEND", True),
        (r"apply_patch $'*** Begin Patch\n*** Update File: CLAUDE.md\n@@\n-a\n+b\n'", True),
        ("cd .claude && apply_patch <<'END'\n*** Update File: settings.json\nEND", True),
        ("cd 'src' && apply_patch <<'END'\n*** Move to: ../AGENTS.md\nEND", True),
        ("apply_patch <<'END'\n*** Update File: pyproject.toml\n+[tool.fdc]\nEND", True),
        ("cd src && apply_patch <<'END'\n*** Update File: tea.py\n+a\nEND", False),
    ],
)
def test_a_command_that_applies_a_patch_is_judged_by_its_files(
    workspace: Path, command: str, refused: bool
) -> None:
    """Codex does the patch itself, and says it is the command of a shell."""
    said = guarded_calls.decided(event("Bash", workspace, command=command))
    assert refused == (said is not None)


def test_what_no_system_can_take_is_refused_and_quickly(workspace: Path) -> None:
    """Paths that no file has, what is no file, settings nested without end: each within a fraction of the time limit."""
    os.mkfifo(workspace / "pyproject.toml")
    deep = {"file_path": "a/pyproject.toml", "content": "[tool.fdc]\na = " + "[" * 100_000}
    for sent in (
        event("Edit", workspace, file_path="\ud800/AGENTS.md"),
        {**event("Edit", workspace, file_path="a"), "cwd": "/\0"},
    ):
        with pytest.raises(CannotDecide, match="characters that no path has"):
            guarded_calls.decided(sent)
    edit = {"file_path": "pyproject.toml", "old_string": "a", "new_string": "b"}
    for tool, given_ in (("Edit", edit), ("Write", deep)):
        assert guarded_calls.decided(event(tool, workspace, **given_)) is not None, tool
    assert guarded_calls.decided(event("Edit", workspace, file_path="a/" * 500_000)) is None
    (workspace / ".claude").mkdir()
    os.mkfifo(workspace / ".claude" / "w.js")
    for given_ in ({"scriptPath": ".claude/w.js"}, {"scriptPath": "\0"}, {"name": "\ud800"}):
        with pytest.raises(CannotDecide):
            claude_workflow.decide(event("Workflow", workspace, **given_), 15)


def test_an_edit_outside_of_workspaces_looks_at_no_folder_below(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a home, where it would take longer than the time limit: such an edit was refused."""
    home = tmp_path_factory.mktemp("home")
    (home / "files" / "more").mkdir(parents=True)
    looked: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(str(path)) or scandir(path))
    assert guarded_calls.decided(event("Edit", home, file_path="notes.md")) is None
    assert str(home / "files") not in looked
    assert guarded_calls.decided(event("Edit", home, file_path="AGENTS.md")) is not None


def _never(event: Event) -> None:
    re.search(r"(a|a)*b", "a" * 60)  # keeps the interpreter, so no thread beside it goes on


def _dies(event: Event) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("decide", "why"),
    [(_never, "did not decide within 0.2 seconds"), (_dies, "ended before it decided")],
)
def test_a_hook_that_hangs_or_crashes_refuses(
    decide: Callable[[Event], None], why: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(hook_answer, "read_event", dict)
    code = hook_answer.answer(decide, lambda said: {"refused": said}, 0.2)
    assert code == 0 and why in json.loads(capsys.readouterr().out)["refused"]


def test_a_permission_request_is_refused_in_its_own_words(workspace: Path) -> None:
    sent = {
        **event("Edit", workspace, file_path="AGENTS.md"),
        "hook_event_name": "PermissionRequest",
    }
    said: Any = guarded_calls.decided(sent)
    assert said["hookSpecificOutput"]["decision"]["behavior"] == "deny"


@pytest.mark.parametrize(
    ("tool", "given_"),
    [("Bash", {}), ("Bash", {"command": 3}), ("Bash", {"command": []}),
     ("Edit", {}), ("Edit", {"file_path": 3}), ("Write", {"file_path": "a\0b"}), ("NotebookEdit", {"file_path": "AGENTS.md"}),
     ("apply_patch", {}), ("apply_patch", {"command": "nothing"}), ("Write", {"file_path": "pyproject.toml"})],
)  # fmt: skip
def test_an_edit_that_names_no_file_cannot_be_judged(
    workspace: Path, tool: str, given_: dict[str, Any]
) -> None:
    with pytest.raises(CannotDecide):
        guarded_calls.decided(event(tool, workspace, **given_))


def test_the_settings_on_the_page_name_hooks_that_there_are() -> None:
    page = (ROOT / "docs" / "mcp-and-hooks.md").read_text("utf-8")
    blocks = [
        json.loads(text)
        for text in re.findall(r"^```json\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    ]
    assert blocks[0] == {"mcpServers": {"fdc": {"command": "fdc", "args": ["mcp"]}}}
    found = {
        row["command"]: row["timeout"]
        for block in blocks[1:]
        for groups in block["hooks"].values()
        for group in groups
        for row in group["hooks"]
    }
    assert {f"fdc hook {name}" for name in ("claude-exit-plan", "claude-pre-tool", "codex")} == set(
        found
    )
    for command, timeout in found.items():
        option = next(
            one
            for one in hook.command.get_command(None, command.split()[2]).params
            if one.name == "seconds"
        )
        assert option.default < timeout, "the hook answers before its program gives it up"


def test_every_hook_has_a_page_of_help(workspace: Path) -> None:
    listed = inside.fdc("hook", "--help", cwd=workspace).stdout
    for name in hook.HOOKS:
        assert name in listed
        assert "--seconds" in inside.fdc("hook", name, "--help", cwd=workspace).stdout
    assert inside.fdc("hook", "claude", cwd=workspace).returncode == 2
