"""What fdc compiles is clean under the public checkers of agents' files: `agnix` and `agents-doctor` (issue 3)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.process import fdc, run
from tests.support.repository import ROOT, copy_to

BIN = ROOT / ".venv" / "bin"
SOURCES = {
    "VERSION": "1.0.0\n",
    "Makefile": "test:\n\ttrue\n",
    "src/api/a.py": "",
    "protocols/10_tea.protocol.md": "# Overview\n\nThis project makes tea. Test it with `make test`.\n",
    "protocols/10_tea.protocol.json": json.dumps({
        "protocol_id": "tea", "description": "How tea is made.",
        "rules": [{"rule_id": "draw", "description": "Draw it for three minutes.", "enforcement": "A clock."}],
    }),
    "protocols/20_api.protocol.md": "# The API\n\nRead `src/api/a.py` first.\n",
    "protocols/20_api.protocol.json": json.dumps({
        "protocol_id": "api", "description": "How the API is changed.", "scope": "src/api",
        "rules": [{"rule_id": "read", "description": "Read before you write.", "enforcement": "The reviewer."}],
    }),
}  # fmt: skip


def agnix(folder: Path) -> list[tuple[str, str]]:
    """The errors and warnings: the rule, and the file."""
    done = run([BIN / "agnix", "--format", "json", "."], cwd=folder)
    found = json.loads(done.stdout)["diagnostics"]
    return [(item["rule"], item["file"]) for item in found if item["level"] != "info"]


def doctor(folder: Path) -> list[tuple[str, str]]:
    done = run([BIN / "agents-doctor", "check", "--format", "json", "."], cwd=folder)
    return [(item["rule"], item["path"]) for item in json.loads(done.stdout)["findings"]]


@pytest.fixture
def split(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.slow
def test_the_agents_file_of_this_repository_is_clean(tmp_path: Path) -> None:
    """In a fresh checkout, where nothing has been made yet; and a fault that is planted is found."""
    folder = copy_to(tmp_path / "checkout")
    (folder / ".git").mkdir()
    assert ([], []) == (agnix(folder), doctor(folder))
    text = (folder / "AGENTS.md").read_text("utf-8")
    (folder / "AGENTS.md").write_text(
        text.replace("# Working", "`tooling/gone.py`\n\n# Working") + "x" * 32_768, "utf-8"
    )
    assert {("AD001", "AGENTS.md"), ("AD002", "AGENTS.md")} == set(doctor(folder)) and [] != agnix(
        folder
    )


@pytest.mark.parametrize(
    "targets", ["none", "claude,gemini", "cursor", "copilot", "gemini,cursor,copilot"]
)
def test_a_split_workspace_is_clean_with_every_target(split: Path, targets: str) -> None:
    done = fdc("protocols", "build", "--split", "--target", targets, cwd=split)
    assert 0 == done.returncode, done.stderr
    assert (split / "src" / "api" / "AGENTS.md").is_file()
    assert ([], []) == (agnix(split), doctor(split))


def test_beside_cursors_rules_only_the_import_of_claudes_file_is_remarked(split: Path) -> None:
    """Cursor reads CLAUDE.md too and does not follow imports. It reads AGENTS.md itself, so nothing is lost."""
    fdc("protocols", "build", "--split", "--target", "all", cwd=split)
    found = agnix(split)
    assert {"CLAUDE.md", "src/api/CLAUDE.md"} == {file for _, file in found} and 1 == len(
        {rule for rule, _ in found}
    )
    assert [] == doctor(split)
