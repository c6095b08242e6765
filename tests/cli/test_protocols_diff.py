"""`fdc protocols diff` as a user types it: sources, compiled files, and revisions of a real git repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import fdc, run
from tests.support.repository import ROOT

CHECK = {"template": "response", "a": "write_op", "b": "read_file"}


def rule(name: str = "draw", **more: Any) -> dict[str, Any]:
    return {"rule_id": name, "description": "Three minutes.", "enforcement": "A clock.", **more}


def put(
    root: Path,
    *rules: dict[str, Any],
    tools: tuple[str, ...] = ("grep",),
    prose: str = "# Tea\n\nIt is hot.\n",
) -> None:
    (root / "protocols").mkdir(exist_ok=True)
    body = {
        "protocol_id": "tea",
        "description": "How tea is made.",
        "rules": [*rules],
        "associated_tools": [*tools],
    }
    (root / "protocols" / "10_tea.protocol.json").write_text(json.dumps(body, indent=2), "utf-8")
    (root / "protocols" / "10_tea.protocol.md").write_text(prose, "utf-8")


def diff(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    done = fdc("protocols", "diff", *arguments, cwd=cwd, env=env)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def git(cwd: Path, *arguments: str) -> None:
    done = run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.invalid", *arguments], cwd=cwd
    )
    assert 0 == done.returncode, done.stderr


@pytest.fixture
def root(workspace: Path) -> Path:
    (workspace / "VERSION").write_text("1.0.0\n", "utf-8")
    put(workspace, rule(check=CHECK), rule("warm"))
    assert 0 == fdc("protocols", "build", cwd=workspace).returncode
    return workspace


def test_what_was_edited_since_the_last_build_is_told_by_meaning(root: Path) -> None:
    assert (0, "- AGENTS.md\n+ protocols\nno difference\n", "") == diff(root)
    weaker = {**CHECK, "severity": "warning"}
    put(
        root,
        rule(check=weaker),
        rule("cold", check=CHECK),
        tools=("find",),
        prose="# Tea\n\nIt is warm.\n",
    )
    code, out, err = diff(root)
    assert (1, "") == (code, err)
    assert [
        "- AGENTS.md",
        "+ protocols",
        "associated_tools removed: tea",
        "  - grep",
        "associated_tools added: tea",
        "  + find",
        "check weakened: tea/draw",
        f"  - {json.dumps(CHECK)}",
        f"  + {json.dumps(weaker)}",
        "rule removed: tea/warm",
        "  - Three minutes.",
        "rule added with its check: tea/cold",
        "  + Three minutes.",
        "prose changed: Tea",
        "  - It is hot.",
        "  + It is warm.",
        "6 differences; of checks 1 strengthened, 1 weakened",
    ] == out.splitlines()


def test_as_json_every_difference_has_both_sides(root: Path) -> None:
    put(root, rule(check=CHECK), rule("warm", enforcement="A watch."))
    code, out, _ = diff(root, "AGENTS.md", "protocols", "--format", "json")
    row = {
        "what": "changed",
        "protocol": "tea",
        "rule": "warm",
        "field": "enforcement",
        "one": "A clock.",
        "other": "A watch.",
    }
    assert (1, {"format": 1, "one": "AGENTS.md", "other": "protocols", "differences": [{**row, "effect": None}]}) == (
        code, json.loads(out),
    )  # fmt: skip


def test_a_revision_of_git_is_compared_without_a_checkout(root: Path) -> None:
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    put(root, rule(), rule("warm"))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    code, out, _ = diff(root, "--since", "HEAD")
    assert before == {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    assert (
        1 == code
        and ["- HEAD:protocols", "+ protocols", "check removed: tea/draw"] == out.splitlines()[:3]
    )
    assert "1 weakened" in out
    inner = root / "protocols"
    assert (1, out.splitlines()[2:]) == (
        diff(inner, "--since", "HEAD")[0],
        diff(inner, "--since", "HEAD")[1].splitlines()[2:],
    )
    assert 0 == diff(root, "AGENTS.md", "--since", "HEAD")[0]  # it was not built since
    assert 0 == fdc("protocols", "build", cwd=root).returncode
    assert 1 == diff(root, "AGENTS.md", "--since", "HEAD")[0]
    git(root, "commit", "-q", "-a", "-m", "two")
    assert 0 == diff(root, "--since", "HEAD")[0] and 1 == diff(root, "--since", "HEAD~1")[0]
    (root / "more").mkdir()
    (root / "more" / "a.protocol.json").write_bytes((inner / "10_tea.protocol.json").read_bytes())
    code, out, _ = diff(root, "more", "--since", "HEAD")  # was not there yet
    assert 1 == code and "protocol added: tea" in out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["nope"], 2, "the file or folder `nope` does not exist"),
        (["protocols", "protocols", "--since", "HEAD"], 2, "at most one"),
        (["--since", "HEAD"], 3, "not a git repository"),
        (["VERSION", "broken"], 2, "its sources have errors"),
        (["VERSION", "latin.md"], 2, "FDC520"),
    ],
)
def test_what_cannot_be_compared_is_no_difference(
    root: Path, arguments: list[str], status: int, said: str
) -> None:
    (root / "broken").mkdir()
    (root / "broken" / "a.protocol.json").write_text("{", "utf-8")
    (root / "latin.md").write_bytes(b"caf\xe9")
    code, out, err = diff(root, *arguments, env={"GIT_CEILING_DIRECTORIES": str(root.parent)})
    assert (status, "") == (code, out) and said in err


@pytest.mark.parametrize("revision", ["nope", "-x", "--exec=touch evil", "HEAD:protocols", ""])
def test_a_revision_that_is_none_is_wrong_usage(root: Path, revision: str) -> None:
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    code, out, err = diff(root, f"--since={revision}")
    assert (
        (2, "") == (code, out)
        and "does not exist in this repository" in err
        and not (root / "evil").exists()
    )


def test_this_repository_is_as_its_sources_say() -> None:
    code, out, _ = diff(ROOT, "protocols", "protocols")
    assert (0, "no difference") == (code, out.splitlines()[-1])
