"""What is proved is what runs: files that change while a plan is judged and compiled (G-TOC, threat "lint certificate")."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.console.compiling import compile_or_refuse
from fdc_toolchain.program.codec import digest

from tests.support.messages_api import messages_api, reply
from tests.support.process import fdc

GOOD = "run_in_bash_session echo good\n"
BAD = "run_in_bash_session echo bad\nsubmit\n"
"""A sub-plan that is proved, and one that is refused."""
PROMPT = "You grade texts, {word}.\n---\nGrade this:\n{{{{ text | data }}}}\n"
TOOL = {
    "summary": "say how good a text is", "action": "step_op", "effect": "read", "trust": "model",
    "parameters": [{"name": "text", "kind": "word"}], "run": {"prompt": "judge.md", "role": "critic"},
}  # fmt: skip


@pytest.fixture
def two_faced(workspace: Path) -> Path:
    """A plan of which a sub-plan, the registry and a prompt lie in two versions beside their places."""
    (workspace / "main.plan").write_text(
        "set_plan x\nplan_step_complete x\ncall_plan part\nx <- judge tea\nclose_task\nsubmit\n"
    )
    (workspace / "good.plan").write_text(GOOD)
    (workspace / "bad.plan").write_text(BAD)
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"judge": TOOL}})
    )
    for word in ("good", "bad"):
        (workspace / f"{word}.md").write_text(PROMPT.format(word=word))
        (workspace / f"{word}.json").write_text(json.dumps({"part": f"{word}.plan"}))
    put(workspace, "good")
    return workspace


def put(workspace: Path, word: str) -> None:
    """Puts a version of the registry and of the prompt in place, each in one moment."""
    for suffix, place in (("json", "knowledge_core/plan_registry.json"), ("md", "judge.md")):
        (workspace / "next").write_bytes((workspace / f"{word}.{suffix}").read_bytes())
        os.replace(workspace / "next", workspace / place)


def commands(program: dict[str, Any]) -> str:
    return json.dumps([plan["body"] for plan in program["plans"].values()])


def test_a_program_is_one_that_was_proved_whatever_is_put_in_its_files_place_meanwhile(
    two_faced: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each file is read once: no version is judged and another one compiled. The wrong version is never in a program."""
    programs, refused, stop = {}, 0, threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for word in ("bad", "good"):
                put(two_faced, word)

    worker = threading.Thread(target=swap)
    worker.start()
    try:
        for _ in range(150):
            program = compile_or_refuse("main.plan", str(two_faced))
            if program is None:
                refused += 1
                assert "automaton-refuses" in capsys.readouterr().err
                continue
            programs[digest(program)] = program
            assert "echo good" in commands(program) and "echo bad" not in commands(program)
            text = program["tools"]["judge"]["run"]["texts"]["prompt"]
            assert text in (PROMPT.format(word="good"), PROMPT.format(word="bad"))
    finally:
        stop.set()
        worker.join()
    put(two_faced, "bad")
    assert compile_or_refuse("main.plan", str(two_faced)) is None
    put(two_faced, "good")
    assert compile_or_refuse("main.plan", str(two_faced)) is not None
    assert programs or refused == 150


def test_a_prompt_that_changes_after_the_proof_is_not_the_one_that_is_asked(
    two_faced: Path,
) -> None:
    """A prompt is part of the program: the run that goes on puts the question that was on record when it began."""
    (two_faced / "main.plan").write_text(
        "set_plan x\nplan_step_complete x\nrequest_user_input Go on?\nx <- judge tea\nmessage_user {x}\nclose_task\nsubmit\n"
    )
    with messages_api([reply("good")]) as server:
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "k",
            "FDC_MODEL": "claude-sonnet-5",
        }
        assert fdc("run", "main.plan", cwd=two_faced, env=env).returncode == 5
        put(two_faced, "bad")
        (two_faced / "judge.md").write_text("{{ nothing_that_is_given }}\n")
        done = fdc("resume", "last", "--answer", "yes", cwd=two_faced, env=env)
        asked = json.dumps(server.requests)
    assert done.returncode == 0, done.stderr
    assert PROMPT.format(word="good").split("\n")[0] in asked and "Grade this" in asked
