"""`fdc doctor`: what can be used here, what not and why, and no secret in any of it (issue 4, "The model")."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.support.inside import fdc
from tests.support.messages_api import Item, fault, messages_api, reply

pytestmark = pytest.mark.skipif(not find_spec("anthropic"), reason="the client is not installed")

SECRET = "sk-secret-of-the-test"


def doctor(
    workspace: Path, *arguments: str, code: int = 0, **env: str
) -> dict[str, dict[str, Any]]:
    done = fdc(
        "doctor",
        "--format",
        "json",
        *arguments,
        cwd=workspace,
        env={"FDC_ALLOW_UNSANDBOXED": "1", **env},
    )
    assert (code, "") == (done.returncode, done.stderr), done.stdout
    assert SECRET not in done.stdout
    told = json.loads(done.stdout)
    assert told["ok"] is (code == 0)
    return {one["name"]: one for one in told["found"]}


def test_what_needs_no_model_is_looked_at_without_one(workspace: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    found = doctor(workspace)
    assert {
        "python",
        "model",
        "key",
        "sandbox: bubblewrap",
        "sandbox: landlock",
        "disk",
        "sqlite",
        "git",
    } <= set(found)
    assert found["model"]["grade"] == "note" and "in a repository" in found["git"]["detail"]
    assert (
        found["disk"]["grade"]
        == found["sqlite"]["grade"]
        == found["package: anthropic"]["grade"]
        == "ok"
    )
    assert [path.name for path in workspace.iterdir() if path.name.startswith(".fdc")] == []
    lines = fdc("doctor", cwd=workspace, env={"FDC_ALLOW_UNSANDBOXED": "1"}).stdout.splitlines()
    assert len(lines) == len(found) and all(
        line[:4].strip() in ("ok", "note", "bad") for line in lines
    )


def test_a_model_without_a_key_or_with_a_wrong_address_is_bad(workspace: Path) -> None:
    found = doctor(workspace, "--model", "claude-opus-5", code=1)
    assert found["key"]["grade"] == "bad"
    named = {"FDC_MODEL": "claude-opus-5", "ANTHROPIC_API_KEY": SECRET}
    found = doctor(workspace, code=1, **named, ANTHROPIC_BASE_URL="file:///etc/passwd")
    assert found["endpoint"]["grade"] == "bad"
    found = doctor(
        workspace,
        **named,
        ANTHROPIC_BASE_URL=f"http://user:{SECRET}@models.example:8080/{SECRET}?k={SECRET}",
    )
    assert found["endpoint"]["detail"].startswith(
        "http://models.example:8080; the key would be sent unencrypted"
    )
    found = doctor(workspace, **{**named, "FDC_MODEL": "somebodys"})
    assert "no budget of money is possible" in found["model"]["detail"]


@pytest.mark.parametrize(
    ("item", "counts", "code", "expected"),
    [
        (
            reply('{"ok": true}'),
            True,
            0,
            {"counts tokens": "ok", "answers": "ok", "follows a schema": "ok", "streams": "ok"},
        ),
        (
            reply("Sure!"),
            False,
            0,
            {"counts tokens": "note", "answers": "ok", "follows a schema": "note"},
        ),
        (fault(401), True, 1, {"answers": "bad"}),
        (fault(529), True, 1, {"answers": "bad"}),
    ],
)
def test_live_asks_the_server_what_it_honours(
    workspace: Path, item: Item, counts: bool, code: int, expected: dict[str, str]
) -> None:
    with messages_api([item], counts=counts) as server:
        env = {
            "FDC_MODEL": "claude-haiku-4-5",
            "ANTHROPIC_API_KEY": SECRET,
            "ANTHROPIC_BASE_URL": server.url,
        }
        found = doctor(workspace, "--live", code=code, HOME=str(workspace), **env)
    assert expected == {name: found[f"endpoint: {name}"]["grade"] for name in expected}
    assert len(server.requests) == 1 and server.requests[0]["max_tokens"] <= 200
    assert found["endpoint"]["detail"] == server.url


def test_nobody_is_asked_without_live(workspace: Path) -> None:
    with messages_api([]) as server:
        doctor(
            workspace,
            FDC_MODEL="claude-haiku-4-5",
            ANTHROPIC_API_KEY=SECRET,
            ANTHROPIC_BASE_URL=server.url,
        )
        assert server.requests == []


def test_a_key_that_others_can_read_is_bad(workspace: Path, tmp_path: Path) -> None:
    key = tmp_path / "state" / "fdc" / "key"
    key.parent.mkdir(parents=True)
    key.write_bytes(b"k" * 32)
    os.chmod(key, 0o644)
    found = doctor(workspace, code=1, XDG_STATE_HOME=str(tmp_path / "state"))
    assert "mode 644" in found["journal key"]["detail"]


def test_without_any_sandbox_commands_are_refused_unless_the_operator_says_otherwise(
    workspace: Path,
) -> None:
    from fdc_toolchain.doctor import machine as looks
    from fdc_toolchain.workspace.operator import Operator

    found = looks._sandbox(Operator(), str(workspace))
    offered = any(one.grade == "ok" for one in found)
    assert offered or (found[-1].grade, "--allow-unsandboxed" in found[-1].detail) == ("bad", True)
    assert offered or looks._sandbox(Operator(unsandboxed=True), str(workspace))[-1].grade == "note"


@pytest.mark.long
def test_doctor_says_who_would_be_asked_to_search_the_web_and_shows_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5, L4; no one is asked by looking."""

    def web(**env: str) -> dict[str, tuple[str, str]]:
        done = fdc("doctor", "--format", "json", cwd=tmp_path, env=env)
        assert "secret" not in done.stdout
        rows = json.loads(done.stdout)["found"]
        return {
            row["name"]: (row["grade"], row["detail"])
            for row in rows
            if row["name"].startswith("web")
        }

    assert (
        "note" == web()["web"][0]
        and "set FDC_SEARXNG_URL or BRAVE_API_KEY" in web()["web: search"][1]
    )
    providers = {"FDC_SEARXNG_URL": "http://127.0.0.1:8888", "BRAVE_API_KEY": "very-secret-key"}
    found = web(FDC_ALLOW_WEB="1", FDC_WEB_PRIVATE="wiki", **providers)
    assert {
        "web": ("ok", "may be searched and read; of private networks also wiki"),
        "web: search: searxng": ("ok", "http://127.0.0.1:8888"),
        "web: search: brave": ("ok", "https://api.search.brave.com, its key is set"),
    } == found
    wrong = web(FDC_ALLOW_WEB="1", FDC_SEARCH="brave")
    assert ("bad", "FDC_SEARCH names `brave`, and BRAVE_API_KEY is not set") == wrong["web: search"]
    assert ("bad", "its address: `nowhere` is not an http or https address") == web(
        FDC_SEARXNG_URL="nowhere"
    )["web: search: searxng"]
    plain = web(EXA_API_KEY="very-secret-key", FDC_EXA_URL="http://gateway.example/exa")[
        "web: search: exa"
    ]
    assert (
        "note",
        "http://gateway.example, its key is set; the key would be sent unencrypted",
    ) == plain
    monkeypatch.setitem(sys.modules, "exa_py", None)
    assert ("bad", "the package exa_py (`fdc-toolchain[exa]`)") == web(
        EXA_API_KEY="very-secret-key"
    )["web: search: exa"]


def test_settings_that_cannot_be_read_are_bad(workspace: Path) -> None:
    """Every other command stopped at them, and this one said that all was well."""
    assert doctor(workspace)["settings"]["grade"] == "ok"
    (workspace / "fdc.toml").write_text("strict = [\n")
    found = doctor(workspace, code=1)["settings"]
    assert found["grade"] == "bad" and found["detail"].startswith("fdc.toml: "), found
