"""A clone may bring links of any name: fdc writes what it keeps in a workspace through no link that leads out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.process import fdc

TASK = ["--task-id", "T", "--network", "off"]


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("logs/activity.log.jsonl", ["start", *TASK]),
        ("logs", ["start", *TASK]),
        ("logs", ["agent", "tea", *TASK]),
        (".fdc/agents", ["agent", "tea", *TASK]),
        (".fdc/agents/T", ["agent", "tea", *TASK]),
        ("knowledge_core/symbols.json", ["knowledge", "build"]),
        ("knowledge_core", ["registry", "register", "tea", "plans/first.plan"]),
        ("knowledge_core/lessons.jsonl", ["lessons", "list"]),
        ("postmortems", ["close", "--task-id", "T"]),
        ("AGENTS.md", ["protocols", "build", "--force"]),
        ("CLAUDE.md", ["protocols", "build", "--target", "claude", "--force"]),
        ("runs", ["fix", "--test", "true"]),
        (".cursor", ["protocols", "build", "--target", "cursor"]),
    ],
)
@pytest.mark.parametrize("there", [True, False], ids=["there", "not there"])
def test_what_fdc_keeps_is_not_written_through_a_link_out(
    tmp_path: Path, link: str, words: list[str], there: bool
) -> None:
    """The log of tasks was appended to whatever file the link named."""
    place, outside = tmp_path / "work", tmp_path / "outside"
    place.mkdir()
    outside.mkdir()
    assert fdc("init", cwd=place).returncode == 0
    if words[0] == "close":
        assert fdc("start", *TASK, cwd=place).returncode == 0
    path = place / link
    if path.is_dir():
        path.rename(tmp_path / "away")
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    target = outside / "target"
    if there and "." in Path(link).name[1:]:
        target.write_text("mine\n")
    elif there:
        target.mkdir()
    path.symlink_to(target)
    done = fdc(*words, cwd=place)
    assert "a link out of the workspace" in done.stdout + done.stderr, done
    assert done.returncode in (1, 3), done
    left = [(one.name, one.is_file() and one.read_text()) for one in sorted(outside.rglob("*"))]
    assert left == ([("target", "mine\n" if target.is_file() else False)] if there else [])


def test_a_link_inside_of_the_workspace_is_followed(tmp_path: Path) -> None:
    assert fdc("init", cwd=tmp_path).returncode == 0
    (tmp_path / "kept").mkdir()
    (tmp_path / "logs").symlink_to("kept")
    assert fdc("start", *TASK, cwd=tmp_path).returncode == 0
    assert "TASK_START" in (tmp_path / "kept/activity.log.jsonl").read_text()
