"""fdc is upgraded under a server: a mixture of two versions begins nothing, and one sentence says to start it again."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.background import fdc_started, wait_for
from tests.support.database import Workers, database, ended, needs_database
from tests.support.process import fdc
from tests.support.repository import ROOT

pytestmark = pytest.mark.long

UPGRADED = "the files of fdc changed after this process began (an upgrade?); start it again"
PLAN = "set_plan x\nplan_step_complete y\nclose_task\nsubmit\n"


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An fdc of its own, which the test may replace."""
    found = tmp_path_factory.mktemp("site")
    for name in ("tooling", "grammar", "protocols", "plans"):
        shutil.copytree(ROOT / name, found / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "VERSION", found)
    return found


def upgrade(site: Path) -> None:
    """As an installer does it: other files in the places of the old ones. The new runner lacks what the old server imports."""
    for path in site.glob("tooling/fdc_toolchain/**/*.py"):
        text = path.read_bytes()
        path.unlink()
        path.write_bytes(text + b"# another version\n")
    (site / "tooling/fdc_toolchain/engine/drive.py").write_text("")


@contextmanager
def server(site: Path, workspace: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    program = (str(site / "tooling/fdc_cli.py"),)
    streams = {"stdin": subprocess.PIPE, "bufsize": 1}
    with fdc_started(name, cwd=workspace, program=program, **streams) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()


def test_the_server_of_an_agent_proves_and_runs_nothing_more(workspace: Path, site: Path) -> None:
    """It said `Proved: it can be run` of what two versions had judged, or that fdc has a bug."""
    (workspace / "p.plan").write_text(PLAN)
    with server(site, workspace, "mcp") as process:
        assert process.stdin is not None and process.stdout is not None

        def asked(number: int, method: str, **params: object) -> str:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            print(json.dumps(message), file=process.stdin)
            assert process.stdout is not None
            while json.loads(line := process.stdout.readline()).get("id") != number:
                pass
            return line

        who = {"name": "x", "version": "1"}
        asked(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)
        print('{"jsonrpc":"2.0","method":"notifications/initialized"}', file=process.stdin)
        calls: list[tuple[str, dict[str, str]]] = [
            ("fdc_lint", {"path": "p.plan"}),
            ("fdc_run", {"op": "start", "plan": "p.plan"}),
        ]
        for name, given in calls:
            told = asked(2, "tools/call", name=name, arguments=given)
            assert '"isError":false' in told and "upgrade" not in told, told
        upgrade(site)
        for name, given in calls:
            told = asked(3, "tools/call", name=name, arguments=given)
            assert f"This server cannot answer any more: {UPGRADED}." in told, told
            assert '"isError":true' in told
        told = asked(4, "tools/call", name="fdc_run", arguments={"op": "status"})
        assert "p.plan" in told, told
    assert fdc("runs", cwd=workspace).stdout.count("p.plan") == 1


def test_the_server_of_an_editor_says_it_at_the_plan(workspace: Path, site: Path) -> None:
    with server(site, workspace, "lsp") as process:
        assert process.stdin is not None and process.stdout is not None

        def send(**message: object) -> None:
            body = json.dumps({"jsonrpc": "2.0", **message})
            assert process.stdin is not None
            process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}")
            process.stdin.flush()

        def heard(part: str) -> str:
            assert process.stdout is not None
            while True:
                head = process.stdout.readline()
                assert head, "it ended"
                while (more := process.stdout.readline()).strip():
                    head += more
                body = process.stdout.read(int(head.split("Content-Length: ")[1].split()[0]))
                if part in body:
                    return body

        def changed(version: int) -> str:
            send(method="textDocument/didChange", params={
                "textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": PLAN + "#\n" * version}],
            })  # fmt: skip
            return heard("publishDiagnostics")

        uri = (workspace / "p.plan").as_uri()
        opens = {"processId": None, "rootUri": workspace.as_uri(), "capabilities": {}}
        send(id=1, method="initialize", params=opens)
        heard('"id"')
        send(method="initialized", params={})
        opened = {"uri": uri, "languageId": "fdc", "version": 1, "text": PLAN}
        send(method="textDocument/didOpen", params={"textDocument": opened})
        assert '"diagnostics":[]' in heard("publishDiagnostics").replace(": ", ":")
        upgrade(site)
        assert f"fdc cannot check this plan: {UPGRADED}" in changed(2)


@needs_database
def test_a_worker_leaves_its_runs_to_others(workspace: Path, site: Path) -> None:
    """It took every run of the queue and refused it, as a bug of fdc; no worker took one of them again."""
    (workspace / "p.plan").write_text(PLAN)
    with database() as url, Workers(url, workspace) as workers:
        workers.start(program=(str(site / "tooling/fdc_cli.py"),), bufsize=1)
        wait_for(lambda: "takes runs from" in workers.log())
        old = workers.living["w1"]
        upgrade(site)
        env = {"FDC_DATABASE": url}
        done = fdc("run", "--detach", "p.plan", cwd=workspace, env=env)
        assert done.returncode == 0, done.stderr
        assert 3 == ended(old)
        said = workers.log().splitlines()
        assert f"worker w1 ends; other workers take over its runs: {UPGRADED}" == said[-1], said
        assert "bug" not in workers.log() and "Traceback" not in workers.log()
        workers.start()
        wait_for(lambda: "finished" in fdc("runs", cwd=workspace, env=env).stdout)
