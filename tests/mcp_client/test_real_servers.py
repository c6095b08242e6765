"""The public servers for files, memory, git and pages, as npm and PyPI have them: locked, proved and run in the sandbox."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.support.inside import fdc
from tests.support.repository import ROOT

SERVERS = ROOT / ".mcp-servers"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (SERVERS / "installed").exists(),
        reason="the real MCP servers are not installed: make mcp-servers",
    ),
]
PYTHON = ".venv-mcp/bin/python"
CATALOGUE = {
    "files": {
        "command": ["node_modules/.bin/mcp-server-filesystem", "."],
        "access": {"read": ["node_modules/**", "notes/**"], "write": ["notes/**"]},
        "tools": {"read_text_file": {"effect": "read"}},
    },
    "memory": {
        "command": ["node_modules/.bin/mcp-server-memory"],
        "access": {"read": ["node_modules/**"], "write": ["memory/**"], "env": ["MEMORY_FILE_PATH"]},
    },
    "git": {
        "command": [PYTHON, "-m", "mcp_server_git", "--repository", "."],
        "access": {"read": [".git/**", "notes/**", ".venv-mcp/**"]},
    },
    "web": {
        "command": [PYTHON, "-m", "mcp_server_fetch", "--allow-private-ips", "--ignore-robots-txt"],
        "access": {"read": [".venv-mcp/**"], "net": True},
    },
}  # fmt: skip
PLAN = """set_plan Ask the servers
plan_step_complete known
{steps}
close_task
submit
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace with a repository, the four servers, and their lock."""
    root = tmp_path_factory.mktemp("shop")
    for name in ("node_modules", ".venv-mcp"):
        shutil.copytree(SERVERS / name, root / name, symlinks=True, copy_function=_linked)
    for name in ("knowledge_core", "notes", "memory"):
        (root / name).mkdir()
    (root / "notes" / "tea.md").write_text("oolong\n")
    git = partial(subprocess.run, cwd=root, check=True, stdout=subprocess.DEVNULL)
    git(["git", "init", "--quiet"])
    git(["git", "add", "notes"])
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    git(["git", *who, "commit", "--quiet", "--message", "The first tea"])
    (root / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "shop", "tools": {}, "servers": CATALOGUE})
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORY_FILE_PATH", str(root / "memory" / "memory.json"))
        patch.setenv("FDC_ALLOW_NETWORK", "1")
        locked = fdc("tools", "lock", cwd=root)
        assert 0 == locked.returncode and "tools of 4 servers" in locked.stdout, locked
        yield root


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def run(root: Path, *steps: str) -> tuple[int, str]:
    """The exit code of a run of these steps, and what it said."""
    (root / "a.plan").write_text(PLAN.format(steps="\n".join(steps)))
    lint = fdc("lint", "a.plan", cwd=root)
    assert 0 == lint.returncode, lint.stdout
    done = fdc("run", "a.plan", cwd=root)
    return done.returncode, done.stdout + done.stderr


def test_files_are_written_and_read_and_nothing_outside_of_the_row(shop: Path) -> None:
    code, said = run(
        shop,
        'files.write_file notes/list.md "green, black"',
        "text <- files.read_text_file notes/list.md",
        "message_user {text}",
    )
    assert 0 == code and '{"content":"green, black"}' in said, said
    assert "green, black" == (shop / "notes/list.md").read_text()
    code, said = run(shop, "files.write_file knowledge_core/list.md green")
    assert 1 == code and not (shop / "knowledge_core/list.md").exists(), said


def test_what_one_step_remembers_the_next_one_finds(shop: Path) -> None:
    code, said = run(
        shop,
        "memory.create_entities",
        '    [{"name": "oolong", "entityType": "tea", "observations": ["half oxidised"]}]',
        "found <- memory.search_nodes oolong",
        "message_user {found}",
    )
    assert 0 == code and '"observations":["half oxidised"]' in said, said


def test_the_history_is_read_and_not_written(shop: Path) -> None:
    code, said = run(shop, "log <- git.git_log .", "message_user {log}")
    assert 0 == code and "The first tea" in said, said
    index = (shop / ".git" / "index").read_bytes()
    code, said = run(shop, "git.git_add .", '    ["notes/tea.md"]')
    assert 1 == code and "Read-only file system" in said, said
    assert index == (shop / ".git" / "index").read_bytes()


def test_a_page_is_fetched_where_the_operator_allows_the_network(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(shop / "notes"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as pages:
        Thread(target=pages.serve_forever, daemon=True).start()
        step = f'page <- web.fetch "http://127.0.0.1:{pages.server_port}/tea.md"'
        try:
            monkeypatch.setenv("FDC_ALLOW_NETWORK", "1")
            code, said = run(shop, step, "message_user {page}")
            assert 0 == code and "oolong" in said, said
            monkeypatch.delenv("FDC_ALLOW_NETWORK")
            code, said = run(shop, step, "message_user {page}")
            assert 0 != code and "network" in said, said
        finally:
            pages.shutdown()


def test_what_a_page_says_chooses_nothing_of_another_server(shop: Path) -> None:
    (shop / "b.plan").write_text(
        PLAN.format(
            steps='page <- web.fetch "https://example.org/"\nfiles.write_file notes/list.md {page}'
        )
    )
    lint = fdc("lint", "b.plan", cwd=shop)
    assert 1 == lint.returncode and "FDC471" in lint.stdout, lint.stdout
