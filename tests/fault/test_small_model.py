"""A real language model, small and on this machine: for the wire and durability, not for its wits. `make live` runs this."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.background import fdc_started, wait_for
from tests.support.process import fdc
from tests.support.repository import ROOT

PYTHON = Path(os.environ.get("FDC_SMALL_MODEL_PYTHON", ROOT / ".venv-model" / "bin" / "python"))
pytestmark = [
    pytest.mark.live, pytest.mark.skipif(not PYTHON.exists(), reason=f"{PYTHON} is not there; `make live` makes it"),
]  # fmt: skip

TOOL = {
    "summary": "ask", "action": "step_op", "effect": "read", "trust": "model",
    "parameters": [{"name": "what", "kind": "word"}], "cost": {"model_calls": 1, "tokens": 1500}, "result": "text",
    "run": {"prompt": "prompts/ask.md", "role": "speaker"},
}  # fmt: skip
PLAN = """set_plan Talk
plan_step_complete planned
one <- ask bread
two <- ask tea
message_user first: {one}
message_user second: {two}
close_task
submit
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the model answers."""
    process = subprocess.Popen(
        [PYTHON, Path(ROOT, "tests", "support", "small_model.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield next(line.split()[1] for line in process.stdout if line.startswith("address "))
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def desk(workspace: Path) -> Path:
    (workspace / "prompts").mkdir()
    (workspace / "prompts" / "ask.md").write_text(
        "You answer in one short sentence.\n---\nWhat is {{ what }}?\n"
    )
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"ask": TOOL}})
    )
    (workspace / "fdc.toml").write_text("[models]\ndefault = { max-tokens = 400, seconds = 300 }\n")
    (workspace / "a.plan").write_text(PLAN)
    return workspace


def world(address: str, home: Path) -> dict[str, str]:
    return {
        "FDC_MODEL": "smollm2-135m", "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none", "HOME": str(home),
        "FDC_ALLOW_UNSANDBOXED": "1",
    }  # fmt: skip


def asks(desk: Path) -> list[dict[str, object]]:
    done = fdc("show", "last", "--format", "json", cwd=desk)
    records = json.loads(done.stdout)["records"] if done.returncode == 0 else []
    return [
        record for record in records if record.get("tool") == "ask" and record["kind"] == "outcome"
    ]


def test_a_plan_is_answered_killed_in_the_middle_and_gone_on_with(address: str, desk: Path) -> None:
    """Real text, real token counts; the answer that was recorded before kill -9 is not asked for again."""
    env = world(address, desk)
    with fdc_started("run", "a.plan", "--budget", "tokens=6000", cwd=desk, env=env) as process:
        wait_for(lambda: len(asks(desk)) == 1)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    [first] = asks(desk)
    done = fdc("resume", "last", cwd=desk, env=env)
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    again, second = asks(desk)
    assert again == first and second["body"]["value"].strip()  # type: ignore[index]
    assert 0 < first["body"]["usage"]["tokens"] <= 1500  # type: ignore[index]
    assert f"first: {first['body']['value'].split()[0]}" in done.stdout  # type: ignore[index]
    assert fdc("replay", "last", cwd=desk).returncode == 0


def test_the_doctor_says_what_such_a_server_honours(address: str, desk: Path) -> None:
    done = fdc("doctor", "--live", "--format", "json", cwd=desk, env=world(address, desk))
    found = {one["name"]: one for one in json.loads(done.stdout)["found"]}
    assert (
        found["endpoint: answers"]["grade"] == "ok" and found["endpoint: streams"]["grade"] == "ok"
    )
    assert "fdc does not know the price" in found["model"]["detail"]


def test_it_is_asked_over_the_api_of_openai_too(address: str, desk: Path) -> None:
    """The same server, the other protocol: real text, the counts that the server gives, and a schema that holds the model."""
    tools = {
        "ask": {**TOOL, "result": {"tea": "boolean"}, "cost": {"model_calls": 1, "tokens": 2500}}
    }
    tools["ask"]["run"] = {**TOOL["run"], "schema": "prompts/ask.json"}  # type: ignore[dict-item]
    schema = {
        "type": "object",
        "properties": {"tea": {"type": "boolean"}},
        "required": ["tea"],
        "additionalProperties": False,
    }
    (desk / "prompts" / "ask.json").write_text(json.dumps(schema))
    (desk / "fdc_tools.json").write_text(json.dumps({"format": 1, "name": "own", "tools": tools}))
    env = {
        "FDC_MODEL": "openai:smollm2-135m",
        "OPENAI_BASE_URL": f"{address}/v1",
        "HOME": str(desk),
    }
    done = fdc("run", "a.plan", "--budget", "tokens=6000", cwd=desk, env=env)
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    for record in asks(desk):
        body = record["body"]
        assert isinstance(body["value"]["tea"], bool)  # type: ignore[index]
        assert 0 < body["usage"]["tokens"] <= 2500 and "usage" not in body["notes"]  # type: ignore[index]
