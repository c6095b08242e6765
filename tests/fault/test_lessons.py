"""The loop that closes, when it is killed: every file stays valid, the loop goes on, and nothing is applied twice (FDC-83)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.background import PATIENCE
from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

PROTOCOL = """{
  "protocol_id": "tea",
  "description": "How tea is made.",
  "rules": [
    {"rule_id": "draw", "description": "Three minutes.", "enforcement": "A clock."}
  ],
  "associated_tools": ["grep"]
}
"""

POSTMORTEM = """# Post-mortem

- **Task ID:** `T-1`
- **Completion Date:** `2026-11-20`

## 5. Proposed Corrective Actions

1. **Lesson:** Lists are looked at.
   **Action:** Add tool 'list_files' to protocol 'tea'.
2. **Lesson:** The first line is said twice as soon as a change is applied twice.
   **Action:** Change file 'src/a.py':
   ```
   <<<<<<< SEARCH
   n = 1
   =======
   n = 1
   n += 1
   >>>>>>> REPLACE
   ```
3. **Lesson:** No such rule.
   **Action:** Update rule 'absent' in protocol 'tea' to 'It isn't there'.
4. **Lesson:** Be nice.
   **Action:** Think harder.
5. **Lesson:** It isn't three.
   **Action:** Update rule 'draw' in protocol 'tea' to 'Don't draw longer than four.'
"""


def make(root: Path) -> Path:
    for name, text in {
        "protocols/10_tea.protocol.json": PROTOCOL, "postmortems/x.md": POSTMORTEM, "VERSION": "1.0.0\n",
        "src/a.py": "n = 1\n", "knowledge_core/agent_meta.json": "{}\n",
    }.items():  # fmt: skip
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


@pytest.mark.long
def test_a_kill_at_every_moment_of_the_loop_leads_to_the_same_end(tmp_path: Path) -> None:
    make(tmp_path / "template")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "support" / "lessons_crash.py"), str(tmp_path / "template"), str(tmp_path)],
        env=clean_environment({"PYTHONPATH": str(ROOT / "tooling")}), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (0, "") == (done.returncode, done.stderr), done.stderr
    found = json.loads(done.stdout)
    assert not found["differing"], "\n".join(found["differing"])
    assert ["applied", "applied", "failed", "pending", "applied"] == found["statuses"]
    assert "n = 1\nn += 1\n" == found["files"]["src/a.py"], "once, not twice"
    assert {
        "before replace",
        "before create",
        "before append",
        "before close_run",
        "the end",
    } <= set(found["moments"])
    assert len(found["moments"]) >= 20


@pytest.mark.slow
def test_a_command_that_is_killed_at_random_is_typed_again_and_ends_the_same(
    tmp_path: Path,
) -> None:
    """Real commands, SIGKILL wherever they are, until one reaches the end."""
    root = make(tmp_path / "w")
    argv = [
        sys.executable,
        str(ROOT / "tooling" / "fdc_cli.py"),
        "lessons",
        "apply",
        "--from",
        "postmortems/x.md",
    ]
    source = random.Random(1)
    for _ in range(4):
        child = subprocess.Popen(
            argv,
            cwd=root,
            env=clean_environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.15 + source.random() * 0.5)
        child.send_signal(signal.SIGKILL)
        child.wait()
        lines = root / "knowledge_core" / "lessons.jsonl"
        for line in lines.read_bytes().splitlines() if lines.exists() else ():
            json.loads(line)
        json.loads((root / "protocols" / "10_tea.protocol.json").read_bytes())
    last = fdc("lessons", "apply", "--from", "postmortems/x.md", cwd=root)
    assert last.returncode in (0, 1), (
        last.stderr
    )  # the lesson that fails may have failed in an earlier attempt
    listed = json.loads(fdc("lessons", "list", "--format", "json", cwd=root).stdout)["lessons"]
    assert ["applied", "applied", "failed", "pending", "applied"] == [
        lesson["status"] for lesson in listed
    ]
    assert "n = 1\nn += 1\n" == (root / "src" / "a.py").read_text()
    for lesson in listed:
        assert sum(step["status"] == "applied" for step in lesson.get("history", ())) <= 1
    assert 0 == fdc("protocols", "check", cwd=root).returncode


def test_two_who_apply_at_once_apply_each_lesson_once(tmp_path: Path) -> None:
    root = make(tmp_path / "w")
    assert 0 == fdc("lessons", "add", "postmortems/x.md", cwd=root).returncode
    argv = [sys.executable, str(ROOT / "tooling" / "self_correction_orchestrator.py")]
    both = [
        subprocess.Popen(
            argv,
            cwd=root,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    ends = [(*child.communicate(timeout=PATIENCE), child.returncode) for child in both]
    assert {0, 1} == {code for _, _, code in ends}, ends
    assert "n = 1\nn += 1\n" == (root / "src" / "a.py").read_text()


def test_a_folder_that_cannot_be_written_is_one_sentence_and_the_lesson_goes_on_later(
    tmp_path: Path,
) -> None:
    root = make(tmp_path / "w")
    assert 0 == fdc("lessons", "add", "postmortems/x.md", cwd=root).returncode
    (root / "AGENTS.md").mkdir()
    done = fdc("lessons", "apply", cwd=root)
    assert 3 == done.returncode and "Traceback" not in done.stderr and "AGENTS.md" in done.stderr, (
        done.stderr
    )
    assert PROTOCOL == (root / "protocols" / "10_tea.protocol.json").read_text(), (
        "nothing was begun"
    )
    os.rmdir(root / "AGENTS.md")
    assert 1 == fdc("lessons", "apply", cwd=root).returncode
    assert '"list_files"' in (root / "protocols" / "10_tea.protocol.json").read_text()
