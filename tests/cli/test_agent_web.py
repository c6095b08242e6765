"""`fdc agent` has research made on the web, in a process in the background, within its time (FDC-54, FDC-90)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.agent import research_cycle
from fdc_toolchain.agent.host.real_world import LocalWorld
from fdc_toolchain.agent.research_cycle import from_outside
from fdc_toolchain.agent.state import AgentState
from fdc_toolchain.agent.turn import Failed, Turn
from fdc_toolchain.testing import ScriptedModel

from tests.support.background import wait_for
from tests.support.process import fdc
from tests.support.repository import ROOT
from tests.support.web import Reply, allowing, page, searxng, site

pytestmark = pytest.mark.slow

WHITE = """<p>White tea wants water of seventy degrees, which is less than any other tea can be brewed with at all.</p>
<p>It is ready after five minutes in the pot, and it can be poured on three times before it tastes of nothing at all.</p>"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace with a task that asks for research."""
    (tmp_path / "knowledge_core").mkdir()
    (tmp_path / "knowledge_core/agent_meta.json").write_bytes(
        (ROOT / "knowledge_core/agent_meta.json").read_bytes()
    )
    (tmp_path / "plan.txt").write_text("research how hot is the water for white tea\n")
    return tmp_path


def state(home: Path) -> dict[str, Any]:
    return json.loads((home / ".fdc/agents/T-1/state.json").read_text())


def test_the_web_answers_in_the_background_and_the_findings_come_home_with_their_pages(
    home: Path,
) -> None:
    with (
        site({"/white": page("White tea", WHITE)}) as tea,
        searxng([(f"{tea.url}/white", "White tea", "hot water")]) as engine,
    ):
        done = fdc("agent", "T-1", "--network", "off", cwd=home, env=allowing(tea, search=engine))
    assert "AWAITING_RESULT -> PLANNING  (result_ready)" in done.stdout, done.stdout + done.stderr
    findings = state(home)["agent"]["research_findings"]
    assert (
        f"  {findings['answer'][0]}\n" in done.stdout
        and f"  report: {findings['report']}\n" in done.stdout
    )
    assert findings["answered"] and [f"{tea.url}/white"] == [
        row["url"] for row in findings["pages"]
    ]
    assert any(
        "seventy degrees" in line and f"[{tea.url}/white:" in line for line in findings["answer"]
    )
    assert from_outside(findings) and "untrusted" == findings["trust"]
    for row in findings["findings"]:
        [cited] = row["citations"]
        assert (
            (cited["target"] == "external_web")
            == (row["trust"] == "untrusted")
            == (row["from"] == [f"{tea.url}/white"])
        )
    assert any(
        row["trust"] == "untrusted" and "seventy" in row["text"] for row in findings["findings"]
    )
    assert ["untrusted"] == [
        one.get("trust")
        for one in state(home)["agent"]["messages"]
        if one["content"].startswith("Find")
    ]
    report = (home / findings["report"]).read_text()
    assert f"{tea.url}/white" in report and findings["pages"][0]["sha256"][:16] in report
    entries = [
        json.loads(line)["action"]
        for line in (home / "logs/activity.log.jsonl").read_text().splitlines()
    ]
    told = [
        one["details"]
        for one in entries
        if one["type"] == "RESEARCH_REPORT" and "pages" in one["details"]
    ]
    assert [("untrusted", [f"{tea.url}/white"])] == [(one["trust"], one["pages"]) for one in told]


def test_research_that_waits_for_a_silent_server_is_ended_with_its_time(home: Path) -> None:
    """(res) the overall time-out: the process and what it began are gone, the task is in ERROR and says why."""
    silent = Reply(kind="text/plain", pieces=[b"", b"late"], wait=1000)
    with (
        site({"/white": silent}) as tea,
        searxng([(f"{tea.url}/white", "White tea", "hot water")]) as engine,
    ):
        for seconds in (
            2,
            8,
            32,
            128,
        ):  # until the machine is fast enough to ask the server within them
            shutil.rmtree(home / ".fdc", ignore_errors=True)
            shutil.rmtree(home / "logs", ignore_errors=True)
            (home / "plan.txt").write_text("research how hot is the water for white tea\n")
            (home / "fdc.toml").write_text(f"research-seconds = {seconds}\n")
            done = fdc(
                "agent", "T-1", "--network", "off", cwd=home, env=allowing(tea, search=engine)
            )
            if "/white" in tea.paths():
                break
        assert ["/robots.txt", "/white"] == tea.paths()[-2:]
    assert "AWAITING_RESULT -> ERROR" in done.stdout, done
    assert (
        f"the research took longer than {seconds} s and was ended" in state(home)["agent"]["error"]
    )
    folder = home / ".fdc/agents/T-1/research-1"
    from fdc_toolchain.agent.host.background import look

    wait_for(lambda: not look(str(folder)).running)


def test_research_at_home_asks_nobody_outside(home: Path) -> None:
    """Without the operator's word the same request is answered from the documents, or not at all."""
    with (
        site({"/white": page("White tea", WHITE)}) as tea,
        searxng([(f"{tea.url}/white", "White tea", "x")]) as engine,
    ):
        env = {
            name: value
            for name, value in allowing(tea, search=engine).items()
            if name != "FDC_ALLOW_WEB"
        }
        assert 5 == fdc("agent", "T-1", "--network", "off", cwd=home, env=env).returncode
        assert [] == tea.paths() == engine.paths()
    findings = state(home)["agent"]["research_findings"]
    assert (
        not findings["answered"] and "workspace" == findings["trust"] and not from_outside(findings)
    )


def answering(home: Path, name: str, said: str, code: int = 0) -> str:
    """What a controller says of a research process that ended with these words on stdout."""
    from fdc_toolchain.agent.host import background, files

    state, world = AgentState("T-1"), LocalWorld(str(home), network="off")
    folder = Path(files.made(str(home), "T-1")) / name
    background.launch(
        str(folder),
        ["/bin/sh", "-c", 'printf %s "$1"; exit "$2"', "sh", said, str(code)],
        str(home),
        os.environ,
    )
    wait_for(lambda: not background.look(str(folder)).running)
    control: dict[str, Any] = {"research": {"name": name, "question": "q", "since": world.now()}}
    try:
        research_cycle.poll(Turn("T-1", state, control, world, ScriptedModel([]), None))
    except Failed as failed:
        assert {} == state.research_findings and [] == state.messages
        return str(failed)
    return json.dumps(state.research_findings)


def test_whatever_else_a_research_process_leaves_is_an_error_and_no_finding(home: Path) -> None:
    """FDC-90: wrong output never becomes a finding, half of one, or a traceback. The processes are real."""
    whole: dict[str, Any] = {
        "status": "finished", "stop": None, "question": "q", "answer": ["Tea. [a.md:1]"], "why": "", "report": None, "held": 1,
        "web": {"pages": []}, "trust": "workspace", "findings": [{"text": "Tea.", "by": "quotation", "trust": "workspace"}],
    }  # fmt: skip
    assert '"Tea. [a.md:1]"' in answering(home, "research-0", json.dumps(whole))
    wrong: list[Any] = [
        "", "not JSON", "[]", "null", "1", "{}", "[" * 20_000,
        *(
            {key: value for key, value in whole.items() if key != gone}
            for gone in ("question", "answer", "held", "findings", "trust")
        ),
        *({**whole, **row} for row in (
            {"answer": 5}, {"held": "many"}, {"held": None}, {"findings": ["Tea."]}, {"findings": [{}]}, {"findings": {"a": 1}},
            {"findings": [{"text": "x", "citations": ["a.md:1"]}]}, {"web": {"pages": [{"url": "x"}]}}, {"web": "none"},
            {"status": "stopped", "stop": "budget"}, {"status": "interrupted", "stop": None},
        )),
    ]  # fmt: skip
    for number, said in enumerate(wrong, 1):
        why = answering(
            home, f"research-{number}", said if isinstance(said, str) else json.dumps(said)
        )
        assert why.startswith(
            ("the research process (exit code 0) wrote no valid result", "the research ")
        ), why
    assert "ended with exit code 4" in answering(home, "research-100", json.dumps(whole), 4)
    unlabelled = answering(
        home, "research-101", json.dumps({**whole, "findings": [{"text": "Tea."}]})
    )
    assert "untrusted" == json.loads(unlabelled)["findings"][0]["trust"] and from_outside(
        json.loads(unlabelled)
    )


def test_findings_without_a_known_label_come_from_outside() -> None:
    """Issue 5, "untrusted from the first byte": what is not proved to be from inside is from outside, earlier findings too."""
    row = {"text": "Tea.", "by": "quotation", "trust": "workspace", "citations": [], "from": []}
    inside: dict[str, Any] = {
        "question": "q",
        "findings": [row],
        "trust": "workspace",
        "pages": [],
        "earlier": [],
    }
    assert not from_outside({}) and not from_outside(inside)
    assert not from_outside(
        {**inside, "trust": "model", "findings": [{**row, "trust": "model"}], "earlier": [inside]}
    )
    less = [
        {key: value for key, value in inside.items() if key != gone}
        for gone in ("findings", "trust", "pages")
    ]
    wrong = [
        {"trust": "untrusted"}, {"trust": "sure"}, {"trust": None}, {"pages": [{}]}, {"findings": [{**row, "trust": "x"}]},
        {"findings": [{"text": "Tea."}]}, {"findings": ["Tea."]}, {"findings": None}, {"earlier": None}, {"earlier": ["x"]},
        {"earlier": [{**inside, "trust": "untrusted"}]}, {"earlier": [less[0]]},
    ]  # fmt: skip
    for findings in [*less, *({**inside, **row} for row in wrong)]:
        assert from_outside(findings), findings
