"""A model that looks for itself: the shipped plan `look`, driven with the real SDK against a server with scripted replies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import api

from tests.support.messages_api import Item, Server, messages_api, reply

pytestmark = pytest.mark.skipif(not find_spec("anthropic"), reason="the client is not installed")

CODE = "import time\nLIFETIME = 3600\n\n\ndef fresh(age):\n    return age < LIFETIME\n"


@pytest.fixture
def desk(workspace: Path) -> Path:
    (workspace / "src").mkdir()
    (workspace / "src" / "session.py").write_text(CODE)
    (workspace / "src" / "other.py").write_text("LIFETIME = 'not this one'\n" * 50)
    (workspace / "private.txt").write_text("LIFETIME of a secret\n")
    return workspace


@pytest.fixture
def asked(monkeypatch: Any, tmp_path: Path) -> Iterator[Any]:
    """Makes servers whose address and key the SDK finds in the environment, and nothing else of this machine's."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-of-the-test")
    opened = []

    def make(*script: Item) -> Server:
        manager = messages_api(script)
        opened.append(manager)
        server = manager.__enter__()
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        return server

    yield make
    for manager in opened:
        manager.__exit__(None, None, None)


def turn(*calls: tuple[str, dict[str, Any]], answer: str = "looking") -> Item:
    said = {
        "done": not calls, "answer": answer, "sources": [],
        "calls": [{"tool": tool, "args": args} for tool, args in calls],
    }  # fmt: skip
    return reply(json.dumps(said))


def look(desk: Path, *, paths: str = "src/**", **more: Any) -> api.RunResult:
    policy = api.Policy(model="claude-sonnet-5")
    inputs = {"question": "How long does a session last?", "paths": paths}
    run = api.begin("look", workspace=desk, inputs=inputs, policy=policy, **more)
    return api.drive(run, workspace=desk, policy=policy)


def shown(server: Server) -> list[str]:
    """What the model was shown, turn by turn."""
    return [
        "".join(part["text"] for part in one["messages"][0]["content"]) for one in server.requests
    ]


def test_a_model_reads_and_searches_until_it_answers(desk: Path, asked: Any) -> None:
    server = asked(
        turn(("grep", {"pattern": "LIFETIME", "path": "src", "most": 3}), ("list_files", {})),
        turn(("read_lines", {"path": "src/session.py", "first": 5, "last": 6})),
        turn(answer="An hour."),
    )
    ended = look(desk)
    assert (ended.status, ended.result["answer"]) == ("finished", "An hour.")  # type: ignore[index]
    first, second, third = shown(server)
    assert "src/session.py" in first and "private.txt" not in first
    assert second.count("not this one") == 3 and "private" not in second
    assert (
        "5: def fresh(age):\n6:     return age < LIFETIME" in third and "import time" not in third
    )
    assert third.startswith(first.split("12 turns are left")[0]), (
        "what was shown before is the same"
    )


def test_what_does_not_fit_comes_back_to_the_model(desk: Path, asked: Any) -> None:
    """A pattern that is none, and files that the plan did not list or no path can name: all are values."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("grep", {"pattern": "("}),
        ("read_lines", {"path": "/etc/passwd"}),
        ("read_lines", {"path": "../outside"}),
        ("read_lines", {"path": "private.txt"}),
        ("grep", {"pattern": "LIFETIME", "path": "private.txt"}),
    ]
    server = asked(turn(*calls), turn(answer="I do not find it."))
    ended = look(desk)
    assert ended.status == "finished"
    said = shown(server)[1]
    for why in (
        "is not a regular expression",
        "`private.txt` is not one of the files that the plan listed",
        "`/etc/passwd`",
        "`../outside`",
    ):
        assert why in said
    assert "root:" not in said and "of a secret" not in said


def test_each_call_is_a_step_of_the_journal_and_the_budget_holds(desk: Path, asked: Any) -> None:
    script = [turn(("grep", {"pattern": f"x{n}"}), ("list_files", {})) for n in range(12)]
    server = asked(*script)
    ended = look(desk, budget={"model_calls": 4})
    assert ended.status == "stopped" and ended.stop is not None and ended.stop.kind == "budget"
    assert 2 <= len(server.requests) <= 4
    steps = api.show(ended.run, workspace=desk).steps
    asked_for = [step.address for step in steps if step.tool == "look.call"]
    assert sorted(asked_for)[:2] == ["main/4[1]/2#1/1", "main/4[1]/2#2/1"]
    assert len(asked_for) == 2 * len(server.requests)


def test_a_model_that_never_answers_stops_at_the_gate(desk: Path, asked: Any) -> None:
    server = asked(*[turn(("grep", {"pattern": f"x{n}"})) for n in range(13)])
    ended = look(desk)
    assert ended.stop is not None and ended.stop.kind == "require" and len(server.requests) == 12
    assert "This is your last turn" in shown(server)[-1]


def test_plans_of_others_call_the_loop(desk: Path) -> None:
    """`call_plan look` works under any automaton, and its bound is known."""
    (desk / "mine.plan").write_text(
        "set_plan Ask\nplan_step_complete ready\n"
        "found <- call_plan look question=tea paths=src/**\n"
        "message_user {found.answer}\nclose_task\nsubmit\n"
    )
    checked = api.check("mine.plan", workspace=desk)
    assert checked.verdict == "proved", checked.errors
    assert api.bounds("mine.plan", workspace=desk).model_calls.number == 24


SEE: dict[str, Any] = {
    "summary": "see", "action": "read_op", "effect": "read", "trust": "workspace", "failure": "value", "result": "object",
    "parameters": [{"name": "call", "kind": "word", "sink": "data"}, {"name": "files", "kind": "word", "sink": "path"}],
    "run": {"one_of": ["grep", "count"], "most": 3},
}  # fmt: skip
COUNT = {
    "summary": "count", "action": "read_op", "effect": "read", "trust": "workspace", "result": "number",
    "parameters": [{"name": "path", "kind": "path", "access": "read"}],
}  # fmt: skip
THINK: dict[str, Any] = {
    "summary": "think", "action": "step_op", "effect": "read", "trust": "model", "cost": {"model_calls": 2, "tokens": 90000},
    "parameters": [{"name": "seen", "kind": "word"}], "result": {"done": "boolean", "calls": "list[object]"},
    "run": {"prompt": "think.md", "role": "looker", "schema": "think.json", "calls": "see"},
}  # fmt: skip
OWN = """set_plan Think
plan_step_complete ready
files <- list_files src
seen <- append
iterate max 3 until turn.done
  turn <- think {seen}
  found <- fork call in {turn.calls} max 3
    one <- see {call} {files}
    yield {one}
  seen <- append {found} to={seen}
close_task
submit
"""


@pytest.fixture
def own(desk: Path) -> Any:
    """A workspace with a loop of its own; what is given replaces a tool's row."""
    (desk / "own.plan").write_text(OWN)
    (desk / "think.md").write_text("You may ask for:\n{{ tools }}\n---\n{{ seen | data }}\n")
    (desk / "think.json").write_text(
        '{"properties": {"done": {"type": "boolean"}}, "required": ["done"]}'
    )

    def check(**rows: Any) -> api.CheckResult:
        tools = {
            "see": {**SEE, "run": {"one_of": ["grep", "read_lines"], "most": 3}},
            "think": THINK,
            **rows,
        }
        (desk / "fdc_tools.json").write_text(
            json.dumps({"format": 1, "name": "own", "tools": tools})
        )
        return api.check("own.plan", workspace=desk)

    return check


def test_a_workspace_makes_a_loop_of_its_own(desk: Path, own: Any, asked: Any) -> None:
    assert own().verdict == "proved", own().errors
    server = asked(
        reply(
            json.dumps({"done": False, "calls": [{"tool": "grep", "args": {"pattern": "fresh"}}]})
        ),
        reply(json.dumps({"done": True, "calls": []})),
    )
    policy = api.Policy(model="claude-sonnet-5")
    run = api.begin("own.plan", workspace=desk, policy=policy)
    assert api.drive(run, workspace=desk, policy=policy).status == "finished"
    first, second = server.requests
    assert "- read_lines: some lines of a file" in first["system"][0]["text"]
    calls = first["output_config"]["format"]["schema"]["properties"]["calls"]
    names = [one["properties"]["tool"]["const"] for one in calls["items"]["anyOf"]]
    assert names == ["grep", "read_lines"]
    assert "def fresh(age):" in second["messages"][0]["content"]


@pytest.mark.parametrize(
    ("row", "code", "why"),
    [
        ({"think": {**THINK, "run": {**THINK["run"], "calls": "grep"}}}, "FDC308", "not a tool that performs"),
        ({"see": SEE}, "FDC308", "no tool `count`"),
        ({"see": SEE, "count": {**COUNT, "run": {"python": "own:count"}}}, "FDC308", "code of the workspace"),
        ({"think": {**THINK, "run": {**THINK["run"], "schema": "think.md"}}}, "FDC309", "not a JSON object"),
    ],
)  # fmt: skip
def test_a_loop_that_cannot_be_made_is_refused(own: Any, row: Any, code: str, why: str) -> None:
    found = own(**row)
    assert found.verdict == "error"
    assert any(item.code == code and why in item.message for item in found.errors), found.errors
