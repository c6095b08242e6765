"""`fdc lessons` and the scripts of the loop as real processes (FDC-72, FDC-76 to FDC-84)."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import fdc, run
from tests.support.repository import ROOT

PROTOCOL = """{
  "protocol_id": "tea", "own": {"kept": [1.50]},
  "description": "How tea is made.",
  "rules": [
    {"rule_id": "draw", "description": "Three minutes.", "enforcement": "A clock."}
  ],
  "associated_tools": ["grep", "read_file"]
}
"""
UNIFIED = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-n = 1\n+n = 2  # {run}\n\\ No newline at end of file\n"
CHANGE = "<<<<<<< SEARCH\nn = 1\n=======\nn = 2  # {run}\n>>>>>>> REPLACE\n"


@pytest.fixture
def root(workspace: Path) -> Path:
    for name, text in {
        "protocols/deep/10_tea.protocol.json": PROTOCOL, "VERSION": "1.0.0\n", "src/a.py": "n = 1\n",
        "protocols/09_broken_elsewhere.txt": "{",
    }.items():  # fmt: skip
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, "utf-8")
    return workspace


def typed(
    root: Path, *arguments: str, script: str = "fdc_cli.py", stdin: str = ""
) -> tuple[int, str, str]:
    done = fdc(*arguments, cwd=root, script=script, stdin=stdin)
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


def updater(root: Path, *arguments: str) -> tuple[int, str, str]:
    return typed(root, *arguments, script="protocol_updater.py")


def tea(root: Path) -> str:
    return (root / "protocols" / "deep" / "10_tea.protocol.json").read_text("utf-8")


def lessons(root: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (root / "knowledge_core" / "lessons.jsonl").read_text("ascii").splitlines()
    ]


def learn(root: Path, *actions: str | dict[str, Any]) -> None:
    """Puts lessons on record with these actions: a sentence, or an action as it would be stored."""
    rows = [{"insight": f"Insight {n}.", "action": action} for n, action in enumerate(actions, 1)]
    page = f"**Task ID:** `T-1`\n\n## Lessons\n\n```json\n{json.dumps(rows)}\n```\n"
    (root / "x.md").write_text(page, "utf-8")
    code, out, err = typed(root, "x.md", script="knowledge_compiler.py")
    assert (0, "") == (code, err) and f"Added {len(actions)} new lesson" in out


def change(path: str, diff: str = CHANGE) -> dict[str, Any]:
    return {"type": "PROPOSE_CODE_CHANGE", "parameters": {"filepath": path, "diff": diff}}


# The updater


def test_the_updater_says_what_the_rows_say_and_does_nothing_twice(root: Path) -> None:
    """FDC-78, FDC-79, FDC-80, FDC-76."""
    add = ("add-tool", "--protocol-id", "tea", "--tool-name", "tooling/x.py")
    assert (0, "Successfully added tool 'tooling/x.py' to protocol 'tea'.\n", "") == updater(
        root, *add
    )
    after = tea(root)
    assert PROTOCOL.replace('"read_file"]', '"read_file", "tooling/x.py"]') == after
    assert (
        0,
        "Tool 'tooling/x.py' already exists in protocol 'tea'. No changes made.\n",
        "",
    ) == updater(root, *add)
    assert after == tea(root)
    rule = (
        "update-rule",
        "--protocol-id",
        "tea",
        "--rule-id",
        "draw",
        "--description",
        'Don\'t wait "long".',
    )
    assert (0, "Successfully updated rule 'draw' in protocol 'tea'.\n", "") == updater(root, *rule)
    assert after.replace("Three minutes.", 'Don\'t wait \\"long\\".') == tea(root)
    assert "No changes made." in updater(root, *rule)[1]
    gone = ("deprecate-tool", "--protocol-id", "tea", "--tool-name", "grep")
    assert (0, "Successfully deprecated tool 'grep' in protocol 'tea'.\n", "") == updater(
        root, *gone
    )
    assert '["read_file", "tooling/x.py"]' in tea(root)
    assert (0, "Tool 'grep' is not in protocol 'tea'. No changes made.\n", "") == updater(
        root, *gone
    )
    assert 0 == typed(root, "protocols", "build")[0]


REFUSED = [
    (
        ("add-tool", "--protocol-id", "tee", "--tool-name", "x"),
        "no protocol with the id 'tee' was found; did you mean `tea`?",
    ),
    (
        ("update-rule", "--protocol-id", "tea", "--rule-id", "drow", "--description", "x"),
        "did you mean `draw`?",
    ),
    (("add-tool", "--protocol-id", "tea", "--tool-name", "../x"), "not a tool's name"),
    (("add-tool", "--protocol-id", "tea", "--tool-name", "/etc/x"), "not a tool's name"),
    (("add-tool", "--protocol-id", "tea", "--tool-name", "x\x1b[2J"), "not a tool's name"),
    (
        ("update-rule", "--protocol-id", "tea", "--rule-id", "draw", "--description", "a\n```\nb"),
        "hidden character",
    ),
    (
        (
            "update-rule",
            "--protocol-id",
            "tea",
            "--rule-id",
            "draw",
            "--description",
            "a ```json b",
        ),
        "break AGENTS.md",
    ),
    (
        ("update-rule", "--protocol-id", "tea", "--rule-id", "draw", "--description", "x" * 2001),
        "2000 characters",
    ),
]


def test_what_the_updater_cannot_do_is_refused_and_every_file_stays(root: Path) -> None:
    """FDC-78, FDC-79."""
    for arguments, words in REFUSED:
        code, out, err = updater(root, *arguments)
        assert (1, "") == (code, out) and words in err and PROTOCOL == tea(root), arguments


def test_an_id_in_two_files_and_a_source_that_is_invalid_are_refused(root: Path) -> None:
    """FDC-80."""
    add = ("add-tool", "--protocol-id", "tea", "--tool-name", "x")
    (root / "protocols" / "20_tea.protocol.json").write_text(PROTOCOL)
    code, _, err = updater(root, *add)
    assert 1 == code and "2 files have the protocol id 'tea'" in err and PROTOCOL == tea(root)
    (root / "protocols" / "20_tea.protocol.json").write_text('{"protocol_id": "milk", "rules": []}')
    code, _, err = updater(root, "add-tool", "--protocol-id", "milk", "--tool-name", "x")
    assert 1 == code and "FDC501" in err and "not valid as it is" in err
    assert 0 == updater(root, *add)[0], "a source that is damaged elsewhere is not a reason"


# Compiling


def test_compiling_adds_pending_lessons_once(root: Path) -> None:
    """FDC-72."""
    learn(root, "Add tool 'x' to protocol 'tea'", "Think harder.")
    assert ["pending", "pending"] == [lesson["status"] for lesson in lessons(root)]
    before = (root / "knowledge_core" / "lessons.jsonl").read_bytes()
    code, out, _ = typed(root, "lessons", "add", "x.md")
    assert 0 == code and "Added 0 new lessons" in out and "2 already known" in out
    (root / "y.md").write_text("# Nothing\n")
    assert (0, "No lessons found in y.md.\n", "") == typed(
        root, "y.md", script="knowledge_compiler.py"
    )
    assert before == (root / "knowledge_core" / "lessons.jsonl").read_bytes()
    code, out, err = typed(root, "absent.md", script="knowledge_compiler.py")
    assert (2, "") == (code, out) and "the post-mortem `absent.md` does not exist" in err


def test_the_post_mortem_that_close_writes_has_no_lesson_until_it_is_filled_in(root: Path) -> None:
    """FDC-70, FDC-72, T-33: the loop from a task's start to the rule that it changed."""
    (root / "knowledge_core" / "agent_meta.json").write_text(
        '{"model_name": "m", "knowledge_cutoff": "2026"}'
    )
    assert 0 == typed(root, "start", "--task-id", "T-7")[0]
    assert 0 == typed(root, "close", "--task-id", "T-7")[0]
    (page,) = (root / "postmortems").iterdir()
    name = f"postmortems/{page.name}"
    assert f"No lessons found in {name}." in typed(root, "lessons", "apply", "--from", name)[1]
    text = re.sub(r"\*\*Lesson:\*\* \[.*\]", "**Lesson:** Tea is patient.", page.read_text("utf-8"))
    action = "**Action:** Update rule 'draw' in protocol 'tea' to 'Don''t hurry.'".replace(
        "''", "'"
    )
    page.write_text(re.sub(r"\*\*Action:\*\* \[.*\]", action, text), "utf-8")
    code, out, err = typed(root, "lessons", "apply", "--from", name)
    assert (0, "") == (code, err) and "1 applied" in out
    assert "Don't hurry." in tea(root) and "Don't hurry." in (root / "AGENTS.md").read_text("utf-8")
    assert "T-7" == lessons(root)[0]["task_id"] and 0 == typed(root, "protocols", "check")[0]


# Applying


@pytest.mark.parametrize("diff", [CHANGE, UNIFIED])
def test_every_kind_of_lesson_is_applied_and_each_step_is_on_record(root: Path, diff: str) -> None:
    """FDC-76, FDC-81, FDC-83, FDC-84, T-32, T-34."""
    learn(
        root,
        "Deprecate tool 'grep' from protocol 'tea'",
        change("src/a.py", diff),
        "Think harder.",
        {"type": "REBOOT"},
    )
    code, out, err = typed(root, script="self_correction_orchestrator.py")
    assert 0 == code and "2 applied" in out, err
    assert "`REBOOT` is unknown" in err and "a sentence for people" in err
    assert (
        '["read_file"]' in tea(root) and "n = 2  # {run}\n" == (root / "src" / "a.py").read_text()
    )
    first, second, third, fourth = lessons(root)
    assert ["applied", "applied", "pending", "pending"] == [
        one["status"] for one in (first, second, third, fourth)
    ]
    assert ["applying", "applied"] == [step["status"] for step in first["history"]]
    assert ["protocols/deep/10_tea.protocol.json", "AGENTS.md"] == [
        row["path"] for row in first["history"][1]["changes"]
    ]
    name = second["history"][1]["run"]
    assert "finished" in typed(root, "runs")[1] and name in typed(root, "runs")[1], (
        "the change was a durable run"
    )
    assert "history" not in third
    assert 0 == typed(root, "protocols", "check")[0]
    before = (root / "knowledge_core" / "lessons.jsonl").read_bytes()
    code, out, _ = typed(root, script="self_correction_orchestrator.py")
    assert 0 == code and "No pending lessons" in out
    assert before == (root / "knowledge_core" / "lessons.jsonl").read_bytes()


def test_a_change_that_brings_a_warning_about_shows_it_once(root: Path) -> None:
    learn(
        root,
        "Add tool 'tooling/absent.py' to protocol 'tea'",
        "Deprecate tool 'grep' from protocol 'tea'",
    )
    code, out, err = typed(root, "lessons", "apply")
    assert 0 == code and "2 applied" in out
    assert 1 == err.count("FDC506") and "`tooling/absent.py` does not exist" in err


def test_nothing_on_record_is_nothing_to_do(root: Path) -> None:
    """FDC-81."""
    assert (0, "No pending lessons to process.\n", "") == typed(
        root, script="self_correction_orchestrator.py"
    )
    assert not (root / "knowledge_core" / "lessons.jsonl").exists()


FAILING: list[tuple[Any, str]] = [
    (change("../outside.py"), "not a path inside the workspace"),
    (change("/etc/passwd"), "not a path inside the workspace"),
    (change("protocols/deep/10_tea.protocol.json"), "tooling/protocol_updater.py"),
    (change("knowledge_core/lessons.jsonl"), "changed by their own commands"),
    (change("AGENTS.md"), "must not be changed by lessons"),
    (change(".fdc/runs.sqlite"), "the records of runs"),
    (change("link/a.py"), "symbolic link"),
    (change("src/absent.py"), "does not exist"),
    (change("src/a.py", CHANGE.replace("n = 1", "n = 9")), "is not in the file"),
    (change("src/a.py", "rm -rf /"), "does not begin with"),
    (change("src/a.py", "@@ -0,0 +1 @@\n+m = 1"), "no line that says where it belongs"),
    (change("src/a.py", UNIFIED + "diff --git a/b b/b"), "not of one file's change"),
    ({"type": "PROPOSE_CODE_CHANGE", "parameters": {"filepath": "src/a.py"}}, "no `diff`"),
    ("Update rule 'draw' in protocol 'tea' to '```'", "could break AGENTS.md"),
    ("Update rule 'draw' in protocol 'tea' to '<!-- sealed -->'", "could break AGENTS.md"),
    ("Add tool '../../x' to protocol 'tea'", "not a tool's name"),
    ("Add tool 'x' to protocol 'milk'", "no protocol with"),
]


def test_a_lesson_that_cannot_be_applied_has_failed_and_changed_nothing(root: Path) -> None:
    """FDC-84: a post-mortem is a text by an agent, and may be hostile."""
    (root / "link").symlink_to(root / "src")
    assert 0 == typed(root, "protocols", "build")[0]
    agents = (root / "AGENTS.md").read_bytes()
    learn(root, *(action for action, _ in FAILING))
    code, out, err = typed(root, "lessons", "apply")
    assert (1, f"{len(FAILING)} failed") == (code, out.split(";")[0]), out
    for lesson, (action, words) in zip(lessons(root), FAILING, strict=True):
        assert (
            "failed" == lesson["status"] and words in lesson["history"][-1]["why"] and words in err
        ), action
        assert ["failed"] == [step["status"] for step in lesson["history"]], "nothing was begun"
    assert (PROTOCOL, agents, "n = 1\n") == (
        tea(root),
        (root / "AGENTS.md").read_bytes(),
        (root / "src" / "a.py").read_text(),
    )


def test_a_change_that_agents_md_could_not_carry_is_not_made(root: Path) -> None:
    """The rebuild fails, the lesson has failed, the protocol is what it was; the others go on."""
    (root / "fdc.toml").write_text("[agents]\nmax-bytes = 1600\n")
    assert 0 == typed(root, "protocols", "build")[0], "the limit is above what there is"
    agents = (root / "AGENTS.md").read_bytes()
    learn(
        root,
        f"Update rule 'draw' in protocol 'tea' to '{'x' * 1500}'",
        "Deprecate tool 'grep' from protocol 'tea'",
    )
    code, out, err = typed(root, "lessons", "apply")
    assert 1 == code and "1 applied, 1 failed" in out and "FDC505" in err, out + err
    assert "Three minutes." in tea(root) and agents != (root / "AGENTS.md").read_bytes()
    assert 0 == typed(root, "protocols", "check")[0]
    (root / "fdc.toml").unlink()
    name = lessons(root)[0]["lesson_id"]
    assert 0 == typed(root, "lessons", "apply")[0] and "failed" == lessons(root)[0]["status"], (
        "not tried again unasked"
    )
    assert 0 == typed(root, "lessons", "apply", name[:8])[0]
    assert ["failed", "applying", "applied"] == [
        step["status"] for step in lessons(root)[0]["history"]
    ]


def test_protocols_that_cannot_be_built_stop_the_loop_before_it_begins(root: Path) -> None:
    learn(root, "Deprecate tool 'grep' from protocol 'tea'")
    (root / "VERSION").unlink()
    code, _, err = typed(root, "lessons", "apply")
    assert (
        1 == code and "FDC503" in err and "no lesson was applied" in err and PROTOCOL == tea(root)
    )
    assert "pending" == lessons(root)[0]["status"]


def test_a_rule_of_the_house_refuses_a_code_change(root: Path) -> None:
    """FDC-84: the plan of a change is linted like any other, against the rules that are checks."""
    rule = '"enforcement": "A clock.", "check": {"template": "absence", "a": {"tool": "replace_with_git_merge_diff"}}'
    path = root / "protocols" / "deep" / "10_tea.protocol.json"
    path.write_text(PROTOCOL.replace('"enforcement": "A clock."', rule), "utf-8")
    learn(root, change("src/a.py"))
    code, _, err = typed(root, "lessons", "apply")
    assert 1 == code and "FDC461" in err and "n = 1\n" == (root / "src" / "a.py").read_text(), err
    (lesson,) = lessons(root)
    assert "failed" == lesson["status"] and "run" not in lesson["history"][-1]


def test_damaged_lines_are_named_and_kept_and_the_others_applied(root: Path) -> None:
    """FDC-82, T-36."""
    learn(root, "Deprecate tool 'grep' from protocol 'tea'")
    path = root / "knowledge_core" / "lessons.jsonl"
    path.write_bytes(b'{"torn": \n' + path.read_bytes() + b"\xff\xfe\n")
    code, out, err = typed(root, "lessons", "apply")
    assert 0 == code and "1 applied" in out
    assert "lessons.jsonl:1: not JSON" in err and "lessons.jsonl:3: not UTF-8" in err
    rows = path.read_bytes().split(b"\n")
    assert (b'{"torn": ', b"\xff\xfe") == (rows[0], rows[2]) and b'"applied"' in rows[1]


def test_a_lesson_that_says_it_was_begun_and_not_how_is_begun(root: Path) -> None:
    """FDC-82: what somebody wrote into the file by hand is not a bug of fdc, and no way out of the workspace."""
    learn(root, "Deprecate tool 'grep' from protocol 'tea'", "Add tool 'x' to protocol 'tea'")
    first, second = lessons(root)
    first["status"] = second["status"] = "applying"
    second["history"] = [
        {
            "at": "",
            "status": "applying",
            "changes": [{"path": "../../x", "before": None, "after": None}],
        }
    ]
    path = root / "knowledge_core" / "lessons.jsonl"
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n", "utf-8")
    code, out, _ = typed(root, "lessons", "apply")
    assert 0 == code and "2 applied" in out
    assert ["applying", "applied"] == [step["status"] for step in lessons(root)[0]["history"]]
    assert [] == lessons(root)[1]["history"][1]["changes"]


def test_a_dry_run_foresees_and_writes_nothing(root: Path) -> None:
    learn(
        root, "Add tool 'x' to protocol 'tea'", change("src/a.py"), change("src/a.py", CHANGE.replace("n = 2", "n = 3")),
        "Think harder.",
    )  # fmt: skip
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    code, out, err = typed(root, "lessons", "apply", "--dry-run")
    assert 1 == code and "2 would apply, 1 failed" in out and "is not in the file" in err, (
        "the third on top of the second"
    )
    assert before == {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    code, out, _ = typed(root, "lessons", "apply", "--dry-run", "--format", "json")
    assert ["would apply", "would apply", "failed", "skipped"] == [
        row["outcome"] for row in json.loads(out)["results"]
    ]


def test_a_person_decides_what_no_program_can(root: Path) -> None:
    """FDC-77, T-34: a placeholder does not have to stay pending for ever."""
    learn(root, "Think harder.", "Sleep more.")
    first, second = (lesson["lesson_id"] for lesson in lessons(root))
    assert 0 == typed(root, "lessons", "settle", first, "--dismiss", "We do.")[0]
    assert 2 == typed(root, "lessons", "settle", second, "--action", "Sleep.")[0]
    assert (
        0
        == typed(
            root, "lessons", "settle", second[:8], "--action", "Add tool 'sleep' to protocol 'tea'"
        )[0]
    )
    assert 0 == typed(root, "lessons", "apply")[0]
    assert ["dismissed", "applied"] == [lesson["status"] for lesson in lessons(root)]
    assert "Sleep more." == lessons(root)[1]["history"][0]["was"]["parameters"]["description"]
    code, _, err = typed(root, "lessons", "settle", second, "--dismiss", "Late.")
    assert 1 == code and "is applied" in err


def test_lists_and_single_lessons_are_shown_with_nothing_hidden(root: Path) -> None:
    learn(root, "Add tool 'x' to protocol 'tea'", "Clear \x1b[2J the screen.")
    code, out, _ = typed(root, "lessons", "list")
    assert 0 == code and "add x to tea" in out and "\x1b" not in out and "\\u{1b}" in out
    assert 2 == len(json.loads(typed(root, "lessons", "list", "--format", "json")[1])["lessons"])
    assert "No lesson is failed." in typed(root, "lessons", "list", "--status", "failed")[1]
    name = lessons(root)[0]["lesson_id"]
    typed(root, "lessons", "apply", name)
    code, out, _ = typed(root, "lessons", "show", name[:8])
    assert (
        0 == code
        and "applied" in out
        and "protocols/deep/10_tea.protocol.json: " in out
        and "T-1" in out
    )
    assert (
        name == json.loads(typed(root, "lessons", "show", name, "--format", "json")[1])["lesson_id"]
    )
    assert 2 == typed(root, "lessons", "show", "zzz")[0]


# The suggester


def test_the_suggester_prints_the_path_of_a_plan_that_is_proved_and_runs(root: Path) -> None:
    """FDC-84."""
    code, out, err = typed(
        root, "--filepath", "src/a.py", "--diff-file", "-", script="code_suggester.py", stdin=CHANGE
    )
    assert (0, "") == (code, err) and out.endswith(".plan.txt\n")
    plan = out.strip()
    assert "n = 1\n" == (root / "src" / "a.py").read_text(), "the suggester changes nothing"
    assert 0 == typed(root, "lint", plan)[0] and 0 == typed(root, "run", plan)[0]
    assert "n = 2  # {run}\n" == (root / "src" / "a.py").read_text()
    assert 2 == typed(root, "--filepath", "../a", "--diff", CHANGE, script="code_suggester.py")[0]


def test_wrong_usage_is_told_apart(root: Path) -> None:
    for arguments in (
        ["lessons", "apply", "--from", "absent.md"], ["lessons", "apply", "zzz"], ["lessons", "lst"],
        ["lessons", "list", "--workspace", "/absent"], ["lessons", "settle", "x"],
    ):  # fmt: skip
        code, out, err = typed(root, *arguments)
        assert (2, "") == (code, out) and err, arguments


def test_the_functions_that_the_scripts_name_are_there() -> None:
    """FDC-71, FDC-73: as the seeds' documentation calls them."""
    source = (
        "import knowledge_compiler as k\n"
        "text = '**Task ID:** `x`\\n**Completion Date:** `d`\\n## Lessons\\n- **Lesson:** L.\\n- **Action:** A.'\n"
        "print(k.extract_metadata_from_postmortem(text), k.extract_lessons_from_postmortem(text)[0]['insight'],\n"
        "      k.parse_action_to_command(\"Add tool 'T' to protocol 'P'\")['command'])\n"
    )
    done = run([sys.executable, "-c", source], cwd=ROOT / "tooling")
    assert (0, "{'task_id': 'x', 'date': 'd'} L. add-tool\n") == (done.returncode, done.stdout), (
        done.stderr
    )


def test_a_tool_that_no_catalogue_has_is_said(root: Path) -> None:
    """FDC-78: the lesson is applied, as the seeds want it."""
    names = ("fly_kite", "list_file", "read_lines")
    rows = [
        f"1. **Lesson:** A.\n   **Action:** Add tool '{name}' to protocol 'tea'.\n"
        for name in names
    ]
    (root / "x.md").write_text("## Lessons\n\n" + "".join(rows))
    code, out, err = typed(root, "lessons", "apply", "--from", "x.md")
    assert 0 == code and "3 applied" in out
    assert "no catalogue has a tool `fly_kite`\n" in err
    assert "no catalogue has a tool `list_file`; did you mean `list_files`?\n" in err
    assert "read_lines" not in err
