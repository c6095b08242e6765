"""`fdc explore` as a user starts it, without a model and with one behind real HTTP."""

from __future__ import annotations

import json
import math
import os
import pty
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.background import PATIENCE
from tests.support.explored import (
    CITED,
    PLAN,
    QUESTION,
    aggregated,
    data,
    documented,
    plan,
    shop,
    thinking,
    wrong_citations,
)
from tests.support.messages_api import reply
from tests.support.process import clean_environment, fdc, run
from tests.support.repository import ROOT, copy_to
from tests.support.research import write


def test_the_answer_is_markdown_and_every_citation_holds(tmp_path: Path) -> None:
    """EXP-01, 04, 12, 16, 17, 25: the plan comes first, on stderr; the page stays."""
    shop(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = fdc("explore", QUESTION, "--full", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert done.stdout.startswith(
        f"# {QUESTION}\n\n## Answer\n\n```\nshop/orders.py:10  place_order"
    )
    assert (
        "- function `place_order`: def place_order(basket, purse):"
        in done.stdout.split("## Nuances")[0]
    )
    assert "`shop/orders.py:10` `def place_order(basket, purse):`" in done.stdout
    assert len(CITED.findall(done.stdout)) >= 8 and [] == wrong_citations(tmp_path, done.stdout)
    said = done.stderr.split("\n")
    assert f"Track plan: {QUESTION}" in said
    first = next(number for number, line in enumerate(said) if "citations checked" in line)
    assert said.index(f"Track plan: {QUESTION}") < first and "(ImplementationScan)" in done.stderr
    [page] = (tmp_path / "runs").rglob("synthesis.md")
    assert page.read_text("utf-8").endswith(done.stdout)
    assert "## Nuances" in done.stdout and "Confidence: " in done.stdout
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    new = {path.relative_to(tmp_path).parts[0] for path in after.keys() - before.keys()}
    assert before.items() <= after.items() and new <= {"runs", ".fdc"}


def test_who_lacks_a_grammar_is_told_that_definitions_are_guessed(tmp_path: Path) -> None:
    """EXP-31: a newcomer's `pip install` has no grammars, and nothing said that the answer could be better."""
    shop(tmp_path / "work")
    broken = {"gone/tree_sitter_javascript.py": "raise ImportError\n"}
    write(tmp_path, {"work/shop/show.js": "app.order = function order() {}\n", **broken})
    told = "`pip install 'fdc-toolchain[code]'` brings their grammars"
    assert told not in fdc("explore", QUESTION, cwd=tmp_path / "work").stderr
    done = fdc(
        "explore", QUESTION, cwd=tmp_path / "work", env={"PYTHONPATH": str(tmp_path / "gone")}
    )
    assert (
        0 == done.returncode
        and f".js: read line by line, so definitions are guessed; {told}" in done.stderr
    )


def test_the_trace_has_the_phases_of_every_track_in_order_and_the_page_is_no_evidence(
    tmp_path: Path,
) -> None:
    """EXP-15; the page of an earlier exploration is not quoted by the next."""
    shop(tmp_path)
    first = json.loads(fdc("explore", QUESTION, "--format", "json", cwd=tmp_path).stdout)
    again = json.loads(fdc("explore", QUESTION, "--format", "json", cwd=tmp_path).stdout)
    assert first["result"]["markdown"] == again["result"]["markdown"]
    shown = fdc("show", first["run"], cwd=tmp_path).stdout
    phases = [
        "gather_files",
        "explore_turn",
        "explore_call",
        "explore_turn",
        "collect_evidence",
        "document_findings",
        "check_findings",
        "gate_track",
    ]
    for number in range(1, len(first["result"]["tracks"]) + 1):
        rows = [line for line in shown.split("\n") if "#" in line]
        mine = [row for row in rows if row.partition("#")[2].startswith(f"{number}/")]
        met = [name for row in mine for name in dict.fromkeys(phases) if f" {name} " in row]
        assert phases == met, shown


@pytest.mark.parametrize(
    ("question", "more", "says"),
    [
        ("", [], "What do you want to know?"),
        ("How does zzqx frobnicate?", [], "`zzqx`"),
        (QUESTION, ["--paths", "nowhere/**"], "No file fits"),
    ],
)
def test_what_cannot_be_taken_apart_is_asked_back(
    tmp_path: Path, question: str, more: list[str], says: str
) -> None:
    """EXP-02, 06: exit code 5, and no track was begun."""
    done = fdc("explore", question, *more, cwd=shop(tmp_path))
    assert 5 == done.returncode and says in done.stdout and "**" in done.stdout
    assert (
        "explore_turn" not in fdc("show", "last", cwd=tmp_path).stdout
        and "Traceback" not in done.stderr
    )


def test_code_with_fewer_than_three_sides_is_looked_at_all_the_same(tmp_path: Path) -> None:
    """EXP-06 asked the user here: a workspace with one file could not be explored."""
    source = "def refuse(order):\n    if order.dear:\n        raise ValueError('too dear')\n"
    (tmp_path / "shop.py").write_text(source, "utf-8")
    question = "What happens when an order is too dear?"
    done = fdc("explore", question, "--full", cwd=tmp_path)
    assert 0 == done.returncode and "shop.py:1  refuse (function)" in done.stdout
    assert "fewer than 3 agents" in done.stderr


@pytest.mark.parametrize(("typed", "code"), [(QUESTION.encode() + b"\n", 0), (b"\x04", 5)])
def test_at_a_terminal_the_question_is_asked_back_and_heard(
    tmp_path: Path, typed: bytes, code: int
) -> None:
    """EXP-02: `halt(confusion) -> ask(user)`."""
    controller, terminal = pty.openpty()
    command = [sys.executable, str(ROOT / "tooling" / "fdc_cli.py"), "explore", "zzqx?"]
    with open(tmp_path / "said", "wb") as said:
        child = subprocess.Popen(
            command, cwd=shop(tmp_path / "w"), stdin=terminal, stdout=terminal, stderr=said,
            env=clean_environment({"TERM": "xterm"}),
        )  # fmt: skip
    os.close(terminal)
    shown = b""
    try:
        while b"in this code?" not in shown:
            shown += os.read(controller, 4096)
        os.write(controller, typed)
        while True:
            try:
                shown += os.read(controller, 4096)
            except OSError:  # the other end is closed
                break
        assert code == child.wait(timeout=PATIENCE)
    finally:
        child.kill()
        child.wait()
        os.close(controller)
    assert b"What is it called" in shown and (b"Confidence:" in shown) == (code == 0)
    assert (
        "Traceback" not in (tmp_path / "said").read_text()
        and "internal" not in (tmp_path / "said").read_text()
    )


def test_who_calls_one_name_is_answered_by_one_agent(tmp_path: Path) -> None:
    """EXP-36: below three sides, and yet not asked back."""
    done = fdc("explore", "Who calls `release`?", cwd=shop(tmp_path))
    assert 0 == done.returncode, done.stdout
    assert done.stdout.startswith("shop/orders.py:14  in place_order: release(basket)")
    assert "1 found by the syntax tree" in " ".join(done.stdout.split())
    assert "2 tracks: implementation, dependencies\n" in done.stderr
    more = fdc("explore", "Who calls `release`?", "--full", cwd=tmp_path)
    assert "it is about one name" in more.stderr


def test_without_a_terminal_nothing_is_asked_and_the_run_is_kept(tmp_path: Path) -> None:
    """The issue: no prompt where it is not on a terminal; the answer on stdout, the run folder stays."""
    shop(tmp_path)
    command = [sys.executable, str(ROOT / "tooling" / "fdc_cli.py"), "explore"]
    for question, code in ((QUESTION, 0), ("zzqx?", 5)):
        with open(os.devnull) as nothing:
            done = subprocess.run(
                [*command, question, "--full"], cwd=tmp_path, stdin=nothing, capture_output=True, text=True, timeout=PATIENCE,
                env=clean_environment({}),
            )  # fmt: skip
        assert code == done.returncode and "> " not in done.stdout.split("\n")[-1], done.stderr
        name = done.stderr.rstrip().split("(run ")[-1].rstrip(")")
        page = tmp_path / "runs" / name / "synthesis.md"
        assert page.read_text("utf-8").split("\n", 1)[1].strip() == done.stdout.strip()
        assert "finished" in fdc("show", name, cwd=tmp_path).stdout


def test_a_name_with_two_meanings_is_presented_with_what_each_costs(tmp_path: Path) -> None:
    """EXP-03: exit code 5; the options that it names work."""
    other = "def reserve(table):\n    '''Reserves a table for an order.'''\n"
    shop(tmp_path, {"lab/stock.py": other, "lab/use.py": "from .stock import reserve\n"})
    done = fdc("explore", "What does `reserve` do?", cwd=tmp_path)
    assert 5 == done.returncode
    assert (
        "`lab/stock.py:1`: `--paths 'lab/**'`" in done.stdout
        and "`shop/stock.py:4`: `--paths 'shop/**'`" in done.stdout
    )
    assert 3 == done.stdout.count("\n  - ") and "--broad" in done.stdout
    assert (
        0
        == fdc("explore", "What does `reserve` do?", "--paths", "shop/**", cwd=tmp_path).returncode
    )
    broad = fdc("explore", "What does `reserve` do for an order?", "--broad", cwd=tmp_path)
    assert (
        0 == broad.returncode
        and "lab/stock.py:1" in broad.stdout
        and "shop/stock.py:4" in broad.stdout
    )


def test_a_complex_track_is_taken_apart_once_more(tmp_path: Path) -> None:
    """EXP-27, 28, 29: sub-tracks below their track, and no further."""
    shop(tmp_path)
    done = json.loads(
        fdc("explore", QUESTION, "--deepen-above", "3", "--format", "json", cwd=tmp_path).stdout
    )
    rows = {row["track"]: row["deeper"] for row in done["result"]["tracks"]}
    assert any(len(below) > 1 for below in rows.values()), rows
    name, below = next((name, below) for name, below in rows.items() if below)
    assert all(row["track"].startswith(f"{name}/") for row in below)
    assert "no deeper level is left" in "\n".join(done["result"]["open_questions"])
    shallow = json.loads(
        fdc("explore", QUESTION, "--deepen-above", "500", "--format", "json", cwd=tmp_path).stdout
    )
    assert not any(row["deeper"] for row in shallow["result"]["tracks"])


@pytest.mark.parametrize("paths", ["/etc/**", "../**", "shop/../../**"])
def test_paths_stay_in_the_workspace(tmp_path: Path, paths: str) -> None:
    done = fdc("explore", QUESTION, "--paths", paths, cwd=shop(tmp_path))
    assert 2 == done.returncode and "leaves the workspace" in done.stderr


def test_a_model_reasons_over_the_same_evidence_and_all_tracks_are_asked_at_once(
    tmp_path: Path,
) -> None:
    """EXP-13: each of the three requests waits until all three are there."""
    together = threading.Barrier(3)

    def waiting(body: dict[str, Any]) -> dict[str, Any]:
        together.wait(20)
        return documented(body)

    with thinking(document=waiting) as (server, env):
        done = fdc("explore", QUESTION, cwd=shop(tmp_path), env=env)
    assert 0 == done.returncode, done.stderr
    assert "says it" in done.stdout and 15 == len(server.requests)
    told = " ".join(done.stdout.split())
    assert "(of the places that fdc found itself; 3 claims confirmed by a second question)" in told
    assert "of 10" not in told  # that was measured without a model
    page = (next((tmp_path / "runs").rglob("synthesis.md"))).read_text("utf-8")
    assert [] == wrong_citations(tmp_path, page) and CITED.search(page)
    asked = [body for body in server.requests if "You document" in body["system"][0]["text"]]
    evidence, path, text = data(asked[0])[2:5]
    assert evidence and all(
        {"path", "line", "quote", "description"} <= row.keys() for row in evidence
    )
    assert text.startswith("1: ") and (tmp_path / path).read_text("utf-8").count("\n") > 3


def test_one_failed_track_does_not_lose_the_others(tmp_path: Path) -> None:
    """EXP-24, 37: its blocker is in the answer, and the confidence is low."""

    def one_refuses(body: dict[str, Any]) -> Any:
        return reply("no", stop="refusal") if data(body)[1]["name"] == "users" else documented(body)

    with thinking(document=one_refuses) as (_, env):
        done = fdc("explore", QUESTION, "--full", cwd=shop(tmp_path), env=env)
    assert 0 == done.returncode, done.stderr
    assert "- users (DependencyTrace): blocked: refusal" in done.stdout and "says it" in done.stdout
    assert "1 of the tracks is blocked" in " ".join(done.stdout.split())


@pytest.mark.long
def test_a_track_whose_agent_is_too_slow_is_blocked_and_the_others_are_told(tmp_path: Path) -> None:
    """EXP-37: in a copy whose catalogue allows an agent so much as a whole exploration takes here, one never answers in time."""
    began = time.monotonic()
    with thinking() as (_, env):
        assert 0 == fdc("explore", QUESTION, cwd=shop(tmp_path / "quick"), env=env).returncode
    seconds = math.ceil(time.monotonic() - began)
    copy = copy_to(tmp_path / "fdc")
    catalogue = copy / "tooling/fdc_packs/research/explore/explore_tools.json"
    text = catalogue.read_text("utf-8")
    assert 1 == text.count('"seconds": 300')
    catalogue.write_text(text.replace('"seconds": 300', f'"seconds": {seconds}'), "utf-8")

    def one_is_slow(body: dict[str, Any]) -> Any:
        said = documented(body)
        return (
            reply(json.dumps(said))._replace(fault="held")
            if data(body)[1]["name"] == "users"
            else said
        )

    with thinking(document=one_is_slow) as (server, env):
        done = run(
            [sys.executable, copy / "tooling" / "fdc_cli.py", "explore", QUESTION, "--full"],
            cwd=shop(tmp_path / "w"),
            env=env,
        )
        server.release.set()
    assert 0 == done.returncode, done.stderr
    assert "- users (DependencyTrace): blocked: timeout" in done.stdout and "says it" in done.stdout
    assert "1 of the tracks is blocked" in " ".join(done.stdout.split())


def test_where_every_track_is_blocked_the_blockers_and_alternatives_are_told(
    tmp_path: Path,
) -> None:
    """EXP-05: exit code 7."""
    with thinking(document=lambda body: reply("no", stop="refusal"), aggregate=lambda body: {
        "unified": [{"claim": "Trust me.", "citations": [{"path": "shop/cli.py", "line": 1, "quote": "nothing of it"}]}],
        "nuances": [], "open_questions": [],
    }) as (_, env):  # fmt: skip
        done = fdc("explore", QUESTION, cwd=shop(tmp_path), env=env)
    assert 7 == done.returncode, done.stdout + done.stderr
    blockers, alternatives = done.stdout.split("## Alternatives")
    assert 3 == blockers.count("refusal") and "- " in alternatives and "Trust me" not in done.stdout


LIES = [
    {"path": "shop/orders.py", "line": 10, "quote": "def place_order(basket, money):"},
    {"path": "shop/orders.py", "line": 4000, "quote": "x"},
    {"path": "shop/none.py", "line": 1, "quote": "x"},
    {"path": "../secret.py", "line": 1, "quote": "x"},
]


def test_an_invented_citation_takes_its_claim_with_it(tmp_path: Path) -> None:
    """EXP-17, for the findings of a track and for the synthesis: nothing outside of the workspace is opened either."""
    (tmp_path / "secret.py").write_text("x\n")
    lies = [{"claim": "A lie.", "citations": [citation]} for citation in LIES]

    def lying(body: dict[str, Any]) -> dict[str, Any]:
        said = documented(body)
        return {**said, "findings": said["findings"] + lies}

    def lying_too(body: dict[str, Any]) -> dict[str, Any]:
        assert "A lie." not in json.dumps([row["findings"] for row in data(body)[1]])
        said = aggregated(body)
        return {**said, "unified": said["unified"] + lies}

    with thinking(document=lying, aggregate=lying_too) as (_, env):
        done = fdc("explore", QUESTION, "--full", cwd=shop(tmp_path / "w"), env=env)
    assert 0 == done.returncode, done.stderr
    answer, _, open_questions = done.stdout.partition("## Open questions")
    assert "lie" not in answer and "Confidence: Low" in done.stdout
    outside = "../secret.py:1: the file cannot be opened"
    for why in ("the quoted text is not there", "the file has 17 lines", "no such file", outside):
        assert sum(why in line for line in open_questions.split("\n")) >= 4, (
            why
        )  # three tracks and the synthesis


def test_tracks_that_repeat_each_other_are_dropped_and_asked_for_once_more(tmp_path: Path) -> None:
    """EXP-08, C-31: whatever the model says of their independence."""
    same = plan(*((name, "ImplementationScan", ["order"]) for name in ("one", "two", "three")))
    proposals = [same, PLAN]

    with thinking(plan=lambda body: proposals.pop(0)) as (server, env):
        done = fdc("explore", QUESTION, cwd=shop(tmp_path), env=env)
    assert 0 == done.returncode and not proposals, done.stderr
    lost = data(server.requests[1])[2]
    assert ["two", "three"] == [row["name"] for row in lost] and all(
        "is what `one` looks at" in row["why"] for row in lost
    )
    with thinking(plan=lambda body: same) as (server, env):
        done = fdc("explore", QUESTION, "--full", cwd=tmp_path, env=env)
    assert 0 == done.returncode and "so that fewer than 3 agents look" in done.stderr
    assert ["one:"] == [line.split()[0] for line in done.stderr.split("\n") if "checked" in line]


@pytest.mark.parametrize(
    ("said", "code", "shown", "asked"),
    [
        (reply("no", stop="refusal"), 5, "The model did not take the question apart (refusal: the model refused to answer)", 2),
        ({"tracks": [], "rationale": "", "ask": "Which\n# stock?"}, 5, "**Which # stock?**", 1),
        ({"tracks": [], "rationale": "", "ask": "Which stock?", "options": [
            {"option": "what is on the shelves", "tradeoff": "orders are left out"},
            {"option": "what is reserved", "tradeoff": "shelves are left out"},
        ]}, 5, "- what is reserved\n  - shelves are left out", 1),
    ],
)  # fmt: skip
def test_a_model_that_cannot_take_a_question_apart_asks_back(
    tmp_path: Path, said: Any, code: int, shown: str, asked: int
) -> None:
    """EXP-02, 03: nothing is spawned, and nothing has stopped."""
    with thinking(plan=lambda body: said) as (server, env):
        done = fdc("explore", QUESTION, cwd=shop(tmp_path), env=env)
    assert code == done.returncode and shown in done.stdout, done.stdout + done.stderr
    assert asked == len(server.requests) and "\n# stock" not in done.stdout
