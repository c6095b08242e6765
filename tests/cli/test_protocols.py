"""`fdc protocols` and `protocol_compiler.py` as real processes (FDC-95 to FDC-98, FDC-102)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

RULES = {
    "protocol_id": "p",
    "description": "About p.",
    "rules": [{"rule_id": "r", "description": "d", "enforcement": "e"}],
    "associated_tools": ["tooling/t.py"],
}


@pytest.fixture
def root(workspace: Path) -> Path:
    (workspace / "protocols").mkdir()
    (workspace / "tooling").mkdir()
    (workspace / "VERSION").write_text("1.2.3\n", "utf-8")
    (workspace / "protocols" / "01_p.protocol.json").write_text(json.dumps(RULES), "utf-8")
    (workspace / "protocols" / "01_p.protocol.md").write_text("# P\n\nProse.\n", "utf-8")
    (workspace / "tooling" / "t.py").write_text('"""What t does."""\n', "utf-8")
    return workspace


def protocols(cwd: Path, *arguments: str) -> tuple[int, str, str]:
    done = fdc("protocols", *arguments, cwd=cwd)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_build_writes_what_check_accepts(root: Path) -> None:
    """FDC-97, FDC-98."""
    code, out, err = protocols(root, "build")
    assert (
        (0, "") == (code, err) and out.startswith("AGENTS.md written: ") and "from 2 sources" in out
    )
    first = (root / "AGENTS.md").read_bytes()
    for part in (
        b"GENERATED",
        b"Protocol version: 1.2.3",
        b"Prose.",
        b'"protocol_id": "p"',
        b"What t does.",
    ):
        assert part in first
    assert (0, "AGENTS.md is up to date\n", "") == protocols(root, "check")
    stamp = (root / "AGENTS.md").stat().st_mtime_ns
    assert (0, True) == (
        protocols(root)[0],
        protocols(root)[1].startswith("AGENTS.md is up to date: "),
    )
    assert (first, stamp) == (
        (root / "AGENTS.md").read_bytes(),
        (root / "AGENTS.md").stat().st_mtime_ns,
    )


@pytest.mark.parametrize("arguments", [["check"], ["--check"], ["build", "--check"]])
def test_check_fails_for_a_file_that_is_absent_and_writes_nothing(
    root: Path, arguments: list[str]
) -> None:
    """FDC-102."""
    code, _, err = protocols(root, *arguments)
    assert 1 == code and "FDC504" in err and "does not exist" in err
    assert not (root / "AGENTS.md").exists()


def test_check_tells_an_edited_file_from_a_stale_one(root: Path) -> None:
    """FDC-102."""
    protocols(root, "build")
    built = (root / "AGENTS.md").read_bytes()
    edited = built.replace(b"Prose.", b"Poetry.")
    (root / "AGENTS.md").write_bytes(edited)
    code, _, err = protocols(root, "check")
    assert 1 == code and "was edited by hand" in err
    assert edited == (root / "AGENTS.md").read_bytes()
    (root / "AGENTS.md").write_bytes(built)
    (root / "protocols" / "01_p.protocol.md").write_text("# P\n\nOther prose.\n", "utf-8")
    code, _, err = protocols(root, "check")
    assert (
        1 == code and "stale: `protocols/01_p.protocol.md` is newer" in err and "edited" not in err
    )


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("protocols/02.protocol.json", "{", "protocols/02.protocol.json:1:2: error[FDC501]"),
        ("protocols/02.protocol.json", '{"protocol_id": "q", "description": "d", "rules": [{}]}',
         "protocols/02.protocol.json:1:52: error[FDC501] $.rules[0]: missing `rule_id`, `description`, `enforcement`"),
        ("protocols/sub/02.protocol.json", json.dumps(RULES), "another protocol has the id `p`"),
        ("VERSION", "1.0", "VERSION:1:1: error[FDC503] VERSION holds `1.0`"),
    ],
)  # fmt: skip
def test_a_bad_source_stops_the_build_and_leaves_the_old_file(
    root: Path, path: str, text: str, words: str
) -> None:
    """FDC-95, FDC-96: with file, JSON path and reason."""
    protocols(root, "build")
    before = (root / "AGENTS.md").read_bytes()
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(text, "utf-8")
    for command in ("build", "check"):
        code, out, err = protocols(root, command)
        assert (1, "") == (code, out) and words in err, err
    assert before == (root / "AGENTS.md").read_bytes()
    assert ["AGENTS.md", "VERSION", "knowledge_core", "protocols", "tooling"] == sorted(
        os.listdir(root)
    )


def test_sources_and_result_may_lie_elsewhere(root: Path, tmp_path: Path) -> None:
    (root / "rules").mkdir()
    (root / "rules" / "a.protocol.md").write_text("Elsewhere.", "utf-8")
    code, out, _ = protocols(root / "rules", "build", "--source", ".", "--output", "OUT.md")
    assert 0 == code and out.startswith("rules/OUT.md written")
    text = (root / "rules" / "OUT.md").read_text("utf-8")
    assert "Elsewhere." in text and " rules/a.protocol.md\n" in text and "Prose." not in text
    assert 0 == protocols(root / "rules", "check", "--source", ".", "--output", "OUT.md")[0]


def test_an_empty_folder_gives_the_disclaimer_and_an_absent_one_is_wrong_usage(root: Path) -> None:
    """FDC-97."""
    (root / "empty").mkdir()
    assert 0 == protocols(root, "build", "--source", "empty", "--output", "E.md")[0]
    assert (root / "E.md").read_text("utf-8").startswith("<!-- GENERATED")
    code, out, err = protocols(root, "build", "--source", "absent")
    assert (2, "") == (code, out) and "no folder `absent`" in err


def test_a_tool_outside_the_workspace_is_not_read(root: Path) -> None:
    secret = root.parent / "secret.py"
    secret.write_text('"""A secret."""\n', "utf-8")
    tools = ["../secret.py", str(secret)]
    (root / "protocols" / "01_p.protocol.json").write_text(
        json.dumps({**RULES, "associated_tools": tools}), "utf-8"
    )
    code, _, err = protocols(root, "build")
    assert 0 == code and 2 == err.count("FDC506")
    assert "A secret" not in (root / "AGENTS.md").read_text("utf-8")


def test_the_result_does_not_depend_on_where_or_how_it_is_built(root: Path) -> None:
    """FDC-97: byte for byte the same, whatever the hash seed and the folder."""
    results = set()
    for seed in ("0", "1", "2"):
        done = fdc(
            "build",
            cwd=root / "tooling",
            script="protocol_compiler.py",
            env={"PYTHONHASHSEED": seed},
        )
        assert 0 == done.returncode, done.stderr
        results.add((root / "AGENTS.md").read_bytes())
        (root / "AGENTS.md").unlink()
    assert 1 == len(results)


def test_a_kill_in_the_middle_of_a_build_leaves_the_old_file(root: Path) -> None:
    protocols(root, "build")
    before = (root / "AGENTS.md").read_bytes()
    (root / "protocols" / "01_p.protocol.md").write_text("New.", "utf-8")
    program = (
        f"import os, signal, sys; sys.path.insert(0, {str(ROOT / 'tooling')!r})\n"
        "os.replace = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from fdc_toolchain.cli.main import main; main(['protocols', 'build'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, env=clean_environment(), check=False
    )
    assert -signal.SIGKILL == done.returncode
    assert before == (root / "AGENTS.md").read_bytes()
    assert 0 == protocols(root, "build")[0]
    assert b"New." in (root / "AGENTS.md").read_bytes()


def test_a_linked_result_is_written_where_it_lies(root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "agents.md").write_text("old", "utf-8")
    (root / "AGENTS.md").symlink_to("docs/agents.md")
    code, _, err = protocols(root, "build")
    assert (
        1 == code and "FDC508" in err and "old" == (root / "docs" / "agents.md").read_text("utf-8")
    )
    assert 0 == protocols(root, "build", "--force")[0]
    assert (root / "AGENTS.md").is_symlink() and "Prose." in (
        root / "docs" / "agents.md"
    ).read_text("utf-8")


def test_a_result_that_cannot_be_written_is_an_error_of_the_world(root: Path) -> None:
    code, out, err = protocols(root, "build", "--output", "VERSION/AGENTS.md")
    assert (3, "") == (code, out) and "VERSION" in err


def test_a_checkout_with_crlf_is_up_to_date(root: Path) -> None:
    """With git's `core.autocrlf` the check said that AGENTS.md was edited by hand."""
    assert protocols(root, "build", "--split")[0] == 0
    for path in (root / "AGENTS.md", *(root / "protocols").iterdir()):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = (root / "AGENTS.md").read_bytes()
    assert protocols(root, "check") == (0, "AGENTS.md is up to date\n", "")
    assert protocols(root)[0] == 0 and (root / "AGENTS.md").read_bytes() == before
    (root / "AGENTS.md").write_bytes(before + b"More.\r\n")
    assert protocols(root, "check")[0] == 1


def test_a_conflict_of_a_merge_stops_the_build(root: Path) -> None:
    """Agents were told both sides, with the marks, and the check passed."""
    assert protocols(root)[0] == 0
    before, prose = (root / "AGENTS.md").read_bytes(), root / "protocols/01_p.protocol.md"
    example = "```\n<<<<<<< HEAD\n=======\n>>>>>>> other\n```\n"
    prose.write_text(f"# P\n\n{example}\n<<<<<<< HEAD\nOne.\n=======\nTwo.\n>>>>>>> other\n")
    code, _, err = protocols(root)
    assert code == 1 and "01_p.protocol.md:9:1: error[FDC501] the file has a conflict" in err, err
    assert (root / "AGENTS.md").read_bytes() == before
    prose.write_text(f"# P\n\n{example}")
    assert protocols(root)[0] == 0


def test_a_sparse_checkout_without_the_folder_is_named_as_the_cause(root: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    assert protocols(root)[0] == 0
    subprocess.run([*git, "sparse-checkout", "set", "tooling"], cwd=root, check=True)
    code, _, err = protocols(root, "--check")
    assert code == 2 and err.endswith(
        "`git sparse-checkout add protocols` writes the folder if git has it\n"
    )
    subprocess.run(["git", "sparse-checkout", "add", "protocols"], cwd=root, check=True)
    assert protocols(root, "--check")[0] == 0


def test_a_plan_is_not_proved_where_the_protocols_of_agents_md_are_gone(root: Path) -> None:
    """What was forbidden by them would be checked no more, and nobody would be told."""
    (root / "a.plan").write_text("set_plan x\nplan_step_complete y\nclose_task\nsubmit\n", "utf-8")
    assert fdc("lint", "a.plan", cwd=root).returncode == 0
    assert protocols(root)[0] == 0 and fdc("lint", "a.plan", cwd=root).returncode == 0
    (root / "protocols").rename(root / "away")
    done = fdc("lint", "a.plan", cwd=root)
    assert (
        done.returncode == 1
        and "error[FDC504]" in done.stdout
        and "git checkout -- protocols" in done.stdout
    )
    (root / "fdc.toml").write_text('protocols = "./protocols/"\n', "utf-8")
    assert fdc("lint", "a.plan", cwd=root).returncode == 1
    (root / "fdc.toml").write_text('protocols = "away"\n', "utf-8")
    assert fdc("lint", "a.plan", cwd=root).returncode == 0, "they are elsewhere now, and checked"
    (root / "fdc.toml").unlink()
    (root / "AGENTS.md").write_text("# Rules\n\nNone.\n", "utf-8")
    assert fdc("lint", "a.plan", cwd=root).returncode == 0
