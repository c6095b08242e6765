"""A model that looks for itself: the shipped plan `look`, driven with the real SDK against a server with scripted replies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import api

from tests.support.messages_api import Item, Server, messages_api, reply

pytest.importorskip("anthropic")

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
        "is no regular expression",
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
