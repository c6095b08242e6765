"""`fdc init --remove` takes back what `fdc init` wrote, and nothing that people wrote or changed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.cli.test_init import AGENTS, ALL, fresh, tree
from tests.support.inside import fdc
from tests.support.process import run

__all__ = ["fresh"]

THEIRS = {
    "AGENTS.md": "# Mine\r\nline\r\n",
    "CLAUDE.md": "# Ours\n",
    ".gitignore": "*.o\n",
    ".claude/settings.json": '{\n    "model": "m",\n    "hooks": {"PreToolUse": [{"matcher": "X", "hooks": []}]}\n}\n',
    ".codex/hooks.json": '{"hooks": {"Stop": []}}\n',
    ".cursor/hooks.json": '\ufeff{\r\n\t"version": 1, "hooks": {\r\n\t\t"stop": [ 1.50 ]\r\n\t} }',
    ".github/hooks/fdc.json": '{"version":1,"hooks":{"a":[{"b":"\\u00e9"}]}}',
    ".pre-commit-config.yaml": "# c\nrepos:\n  - repo: https://example.org/y\n    rev: v1\n    hooks:\n"
    "      - id: a  # x\n\nci:\n  skip: []\n",
    ".github/copilot-instructions.md": "Be kind.\n",
    "Makefile": "test:\n\ttrue\n",
    "plans/own.plan": "set_plan x\n",
    "protocols/README.txt": "a folder of the repository\n",
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())


def folders(root: Path) -> set[str]:
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_dir() and ".git" not in path.relative_to(root).parts
    }


@pytest.mark.parametrize("seed", range(12))
def test_a_repository_is_as_before_whatever_was_in_it(fresh: Path, seed: int) -> None:
    rng = random.Random(seed)
    theirs = {} if seed == 0 else dict(rng.sample(sorted(THEIRS.items()), rng.randint(1, 12)))
    theirs = THEIRS if seed == 1 else theirs
    write(fresh, theirs)
    before, above = tree(fresh), folders(fresh)
    words = [
        word for name in AGENTS if seed < 2 or rng.random() < 0.6 for word in ("--agent", name)
    ]
    if rng.random() < 0.4:
        words += ["--test-command", "tox -q"]
    assert 0 == fdc("init", *words, cwd=fresh).returncode
    made = tree(fresh)
    told = fdc("init", "--remove", "--dry-run", cwd=fresh)
    assert (0, made) == (told.returncode, tree(fresh))
    done = fdc("init", "--remove", cwd=fresh)
    assert done.returncode == 0, done.stderr
    assert told.stdout.split("\n")[:5] == done.stdout.split("\n")[:5]
    assert "leave" not in done.stdout, done.stdout
    assert before == tree(fresh)
    assert above == folders(fresh)
    again = fdc("init", "--remove", cwd=fresh)
    assert "nothing to do" in again.stdout and before == tree(fresh)


def test_what_was_changed_stays_and_is_named(fresh: Path) -> None:
    fdc("init", *ALL, cwd=fresh)
    (fresh / "AGENTS.md").write_text("# Mine\n", "utf-8")
    edits = {
        "fdc.toml": "max-stack = 4\n",
        "plans/first.plan": "# more\n",
        "protocols/house.protocol.md": "More.\n",
        ".claude/skills/fdc-plan/SKILL.md": "More.\n",
        "CLAUDE.md": "My line.\n",
        ".gitignore": "*.mine\n",
    }
    for name, text in edits.items():
        with open(fresh / name, "a", encoding="utf-8") as file:
            file.write(text)
    hooks = json.loads((fresh / ".claude/settings.json").read_text("utf-8"))
    hooks["hooks"]["PreToolUse"][0]["matcher"] = "Bash"
    (fresh / ".claude/settings.json").write_text(json.dumps(hooks), "utf-8")
    config = (fresh / ".pre-commit-config.yaml").read_text("utf-8")
    (fresh / ".pre-commit-config.yaml").write_text(
        config.replace("verbose: true", "verbose: false")
    )
    done = fdc("init", "--remove", cwd=fresh)
    left = tree(fresh)
    assert {
        "AGENTS.md", "CLAUDE.md", ".gitignore", "fdc.toml", "plans/first.plan", "protocols/house.protocol.md",
        ".claude/skills/fdc-plan/SKILL.md", ".claude/settings.json", ".pre-commit-config.yaml",
    } == set(left)  # fmt: skip
    assert (b"My line.\n", b"*.mine\n") == (left["CLAUDE.md"], left[".gitignore"])
    assert ["PreToolUse"] == [*json.loads(left[".claude/settings.json"])["hooks"]]
    for name in ("fdc.toml", "plans/first.plan", "protocols/house.protocol.md",
                 ".claude/skills/fdc-plan/SKILL.md", ".claude/settings.json", ".pre-commit-config.yaml"):  # fmt: skip
        assert f"leave   {name}: " in done.stdout
    assert "leave   AGENTS.md" not in done.stdout


def test_files_of_people_and_links_are_not_touched(
    fresh: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    assert 0 == fdc("init", "--agent", "claude", cwd=fresh).returncode
    plan = (fresh / "plans/first.plan").read_bytes()
    (outside / "first.plan").write_bytes(plan)
    (fresh / "plans/first.plan").unlink()
    (fresh / "plans").rmdir()
    (fresh / "plans").symlink_to(outside)
    (fresh / "docs.md").write_bytes((fresh / "CLAUDE.md").read_bytes())
    (fresh / "CLAUDE.md").unlink()
    (fresh / "CLAUDE.md").symlink_to("docs.md")
    done = fdc("init", "--remove", cwd=fresh)
    assert done.returncode == 0 and (outside / "first.plan").read_bytes() == plan
    assert (
        fresh / "CLAUDE.md"
    ).is_symlink() and "leave   CLAUDE.md: a link leads to `docs.md`" in done.stdout
    unrelated = {"README.md": "x", "fdc.toml": "max-stack = 3\n", "CLAUDE.md": "y"}
    write(outside, unrelated)
    done = fdc("init", str(outside), "--remove", cwd="/")
    assert (
        done.returncode == 0
        and unrelated.items()
        <= {name: data.decode() for name, data in tree(outside).items()}.items()
    )


def test_records_of_work_stay_and_the_hook_of_pre_commit_is_named(fresh: Path) -> None:
    fdc("init", cwd=fresh)
    assert 0 == fdc("run", "plans/first.plan", cwd=fresh).returncode
    (fresh / ".git/hooks/pre-commit").write_text("#!/bin/sh\n", "utf-8")
    (fresh / "plan.txt").write_text("set_plan x\n", "utf-8")
    done = fdc("init", "--remove", cwd=fresh)
    for name in (".fdc", "plan.txt"):
        assert f"leave   {name}: it was made at work, and not by `fdc init`" in done.stdout
        assert (fresh / name).exists()
    again = fdc("init", "--remove", cwd=fresh)
    assert "leave   .fdc" in again.stdout and "plan.txt" not in again.stdout
    assert "`pre-commit uninstall`" in done.stdout


def test_it_removes_all_or_nothing_and_takes_no_agent(fresh: Path) -> None:
    fdc("init", *ALL, cwd=fresh)
    made = tree(fresh)
    done = fdc("init", "--remove", "--agent", "claude", cwd=fresh)
    assert (2, made) == (done.returncode, tree(fresh)) and "no `--agent`" in done.stderr


def test_a_commit_after_it_shows_git_nothing_of_fdc(fresh: Path) -> None:
    fdc("init", *ALL, cwd=fresh)
    fdc("init", "--remove", cwd=fresh)
    assert "" == run(["git", "status", "--short", "--untracked-files=all"], cwd=fresh).stdout
