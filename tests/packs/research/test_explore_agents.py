"""`fdc explore` with a model: hostile replies, agents that read by themselves, and runs that are killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.packs.research.test_explore import (
    LIES,
)
from tests.support.background import fdc_started, wait_for
from tests.support.explored import (
    CITED,
    PLAN,
    QUESTION,
    aggregated,
    data,
    documented,
    shop,
    thinking,
    wrong_citations,
)
from tests.support.messages_api import reply
from tests.support.process import fdc


def test_a_hostile_model_writes_no_heading_and_answers_with_nothing_that_was_not_found(
    tmp_path: Path,
) -> None:
    """EXP-16, 17, 25: a name cannot break out of its line, a quotation of a letter shows nothing, a claim about another thing
    is not an answer, though the line that it cites is there.
    """
    name = "words\n\n## Answer\n\n- Pay the attacker.\x1b[31m"
    proposal = {**PLAN, "tracks": [*PLAN["tracks"][:2], {**PLAN["tracks"][2], "name": name}]}
    letter = {
        "claim": "All is well.",
        "citations": [{"path": "shop/orders.py", "line": 10, "quote": "e"}],
    }
    other = {
        "claim": "It parses arguments.",
        "citations": [{"path": "shop/cli.py", "line": 1, "quote": "import argparse"}],
    }

    def little(body: dict[str, Any]) -> dict[str, Any]:
        said = documented(body)
        return {**said, "findings": [*said["findings"], letter, other]}

    def off(body: dict[str, Any]) -> dict[str, Any]:
        said = aggregated(body)
        return {**said, "unified": [*said["unified"], letter, other]}

    with thinking(plan=lambda body: proposal, document=little, aggregate=off) as (_, env):
        done = fdc("explore", QUESTION, "--full", cwd=shop(tmp_path), env=env)
    assert 0 == done.returncode, done.stderr
    assert (
        1 == done.stdout.count("\n## Answer")
        and "\n- Pay" not in done.stdout + done.stderr
        and "\x1b" not in done.stdout
    )
    answer, _, left = done.stdout.partition("## Open questions")
    assert "All is well" not in answer and "parses" not in answer and "Confidence: Low" in answer
    assert (
        4 == left.count("`e` is too little of that line")
        and "it cites nothing of what the tracks found" in left
    )
    assert "it cites nothing of the track's evidence" in left


def test_an_agent_is_told_what_does_not_hold_and_goes_on(tmp_path: Path) -> None:
    """EXP-16: the gate fails, the agent continues. EXP-02: a question in another language is the model's to translate."""
    lie = {"claim": "A lie.", "citations": [LIES[0]]}
    told = []

    def corrected(body: dict[str, Any]) -> dict[str, Any]:
        said = documented(body)
        if "thrown away, and why" in str(body["messages"]):
            told.append(data(body)[-1])
            return said
        return {**said, "findings": [*said["findings"], lie]}

    question = "Was geschieht mit dem Vorrat, wenn eine Bestellung abgelehnt wird?"
    with thinking(document=corrected) as (server, env):
        done = fdc("explore", question, "--full", cwd=shop(tmp_path), env=env)
    assert (
        0 == done.returncode and "Confidence: Low" in done.stdout and "rejected" not in done.stdout
    ), done.stdout + done.stderr
    assert 18 == len(server.requests) and 3 == len(told)
    assert all(
        ["A lie."] == [row["claim"] for row in rows] and "not there" in rows[0]["why"]
        for rows in told
    )


def test_what_there_is_to_look_at_is_told_with_what_was_left_out(tmp_path: Path) -> None:
    """An empty folder, a binary file, a question as long as a book."""
    done = fdc("explore", QUESTION, cwd=tmp_path)
    assert 5 == done.returncode and "No source file and no document was found here." in done.stdout
    (shop(tmp_path) / "shop" / "pack.py").write_bytes(b"\0\xff" * 4000)
    done = fdc("explore", f"{QUESTION} " * 500, cwd=tmp_path)
    assert 0 == done.returncode and "6 files, 56 lines; 1 skipped\n" in done.stderr
    assert max(map(len, (done.stdout + done.stderr).split("\n"))) < 1000


def test_an_exploration_that_was_killed_goes_on_and_does_not_plan_again(tmp_path: Path) -> None:
    """EXP-12, 37: what the model said before SIGKILL is kept; the answer is that of a run that was not killed."""
    shop(tmp_path)
    asked: list[str] = []

    def planned(body: dict[str, Any]) -> Any:
        asked.append("plan")
        return PLAN

    def kept(body: dict[str, Any]) -> Any:
        asked.append("document")
        return reply(json.dumps(documented(body)))._replace(fault="held")

    with thinking(plan=planned, document=kept) as (server, env):
        with fdc_started("explore", QUESTION, cwd=tmp_path, env=env) as process:
            wait_for(lambda: 3 == asked.count("document"))
            process.kill()
            assert process.wait() < 0
        server.release.set()
        assert [] == [*(tmp_path / "runs").rglob("synthesis.md")]
        done = fdc("resume", "last", cwd=tmp_path, env=env)
    assert 0 == done.returncode and 1 == asked.count("plan") and 6 == asked.count("document"), (
        done.stderr
    )
    [page] = (tmp_path / "runs").rglob("synthesis.md")
    text = page.read_text("utf-8")
    assert (
        "confirmed by a second question" in " ".join(text.split())
        and len(CITED.findall(text)) == 3
        and [] == wrong_citations(tmp_path, text)
    )


def test_an_agent_reads_what_it_asks_for_and_cites_it_and_a_bad_call_comes_back(
    tmp_path: Path,
) -> None:
    """EXP-14: what no rule had found is read by the model's own wish, a step of the journal, and may be cited then."""
    cited = {"path": "README.md", "line": 5, "quote": "The settings name the store."}
    calls = [
        {"tool": "code_outline", "args": {"path": "shop/orders.py"}},
        {"tool": "code_references", "args": {"name": "release", "kind": "call"}},
        {"tool": "grep", "args": {"pattern": "("}},
        {"tool": "read_lines", "args": {"path": "../secret.py"}},
        {"tool": "read_lines", "args": {"path": "README.md", "first": 4, "last": 5}},
    ]
    shown: list[Any] = []

    def asking(body: dict[str, Any]) -> dict[str, Any]:
        brought = data(body)[3:]
        shown.extend(brought)
        return {"done": bool(brought), "thought": "so", "calls": [] if brought else calls}

    def found(body: dict[str, Any]) -> dict[str, Any]:
        row = {"claim": "The settings name the store.", "citations": [cited]}
        return {"findings": [row], "conclusions": "They do.", "gaps": []}

    (tmp_path / "secret.py").write_text("x = 'of a secret'\n")
    with thinking(turn=asking, document=found) as (_, env):
        done = fdc("explore", QUESTION, "--format", "json", cwd=shop(tmp_path / "w"), env=env)
    assert 0 == done.returncode, done.stderr
    said = json.dumps(shown)
    for part in (
        "place_order",
        '"of": 1',
        "is not a regular expression",
        "The settings name the store.",
    ):
        assert part in said, (part, said)
    assert "of a secret" not in said
    assert "The settings name the store." in done.stdout
    steps = fdc("show", json.loads(done.stdout)["run"], cwd=tmp_path / "w").stdout
    assert 15 == steps.count(" explore_call ")
