"""`fdc lgtm` with a model: how many areas, what a person approves, and what an agent looks up by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.explored import data
from tests.support.lgtm import (
    ANSWERS,
    asked,
    component,
    folder_of,
    plan_for,
    same_files,
    steps,
    thinking,
    worldview,
)
from tests.support.process import fdc
from tests.support.web import allowing, searxng


def test_the_areas_are_as_many_as_are_wanted_at_most(tmp_path: Path) -> None:
    """LGTM-52: what a run costs grows with them, so the person who pays can say how many."""
    with thinking() as (server, env):
        done = plan_for(tmp_path, "--areas", "1", env=env)
    assert 0 == done.returncode, done.stderr
    assert ["A_Stock"] == [row["areaID"] for row in worldview(tmp_path)["areasOfAnalysis"]]
    assert 1 == len(asked(server, "hypothesis")) == len(asked(server, "component"))


def test_the_code_of_a_plan_gets_into_the_files_only_where_a_person_approves(
    tmp_path: Path,
) -> None:
    """LGTM-79: the document is not run; the plan that carries it out asks first, and without a yes changes nothing."""
    with thinking() as (_, env):
        done = plan_for(tmp_path, env=env)
    assert 0 == done.returncode, done.stderr
    folder = folder_of(tmp_path)
    [document], [executable] = (
        folder.glob("plan_synth_*_final.md"),
        folder.glob("plan_synth_*_execute.plan"),
    )
    path = str(executable.relative_to(tmp_path))
    same_files(tmp_path)
    told = " ".join(done.stdout.split())
    assert f"`fdc run {path}` writes the code above to `shop/stock.py`" in told
    assert "- Step 2 is left out: it changes lines of step 1" in done.stdout
    pipeline = worldview(tmp_path)["meta"]["optimizedPipeline"]["filePath"]
    for written in (path, f"runs/{folder.name}/{pipeline}"):
        linted = fdc("lint", written, cwd=tmp_path)
        assert 0 == linted.returncode and "warning" not in linted.stdout + linted.stderr, (
            linted.stdout
        )
    before = (tmp_path / "shop/stock.py").read_text("utf-8")
    refused = fdc("run", str(document.relative_to(tmp_path)), cwd=tmp_path)
    assert (
        2 == refused.returncode
        and f"`fdc run {path}` applies its code after an approval" in refused.stderr
    )
    waiting = fdc("run", path, cwd=tmp_path)
    assert (
        5 == waiting.returncode
        and "Do you approve that the code of" in waiting.stdout + waiting.stderr
    )
    said_no = fdc("resume", "last", "--answer", "no", cwd=tmp_path)
    assert 1 == said_no.returncode and "does not approve" in said_no.stdout + said_no.stderr
    assert before == (tmp_path / "shop/stock.py").read_text("utf-8")
    approved = fdc("run", path, "--approve", "plan", cwd=tmp_path)
    assert 0 == approved.returncode, approved.stdout + approved.stderr
    after = (tmp_path / "shop/stock.py").read_text("utf-8")
    assert after == before.replace('has no items")\n', 'has no items")\n# changed\n')


def test_only_what_can_be_put_in_place_exactly_is_put_there(tmp_path: Path) -> None:
    """LGTM-79: code that is as it stands, lines that a merge would misread, and a place that a model names itself."""
    told = ["def reserve(basket):\n=======\n", None]

    def written(body: dict[str, Any]) -> Any:
        made = component(body)
        code = (
            told[0]
            if "h_Stock_001" in made["hypotheses"]
            else made["code"].removesuffix("\n# changed")
        )
        return {**made, "code": code, "place": "/etc/passwd:1"}

    with thinking(component=written) as (_, env):
        done = plan_for(tmp_path, env=env)
    assert 0 == done.returncode, done.stderr
    told_apart = " ".join(done.stdout.split())
    assert "- Step 1 is left out: its lines could be taken for marks of a merge" in told_apart
    assert "- Step 2 is left out: its code is the code as it stands" in told_apart
    assert not list(folder_of(tmp_path).glob("*_execute.plan"))


def test_a_challenge_searches_the_web_where_whoever_starts_it_allows_that(tmp_path: Path) -> None:
    """LGTM-36, 37: through a real search port; what it brings is knowledge with its address."""

    wanted = {**ANSWERS["falsification"]({}), "tool": "WebSearch"}
    hits = [("https://example.org/stock", "Stock", "The shop cannot change how stock is reserved.")]
    with searxng(hits) as search, thinking(falsification=lambda body: wanted) as (_, env):
        done = plan_for(tmp_path, env={**env, **allowing(search=search)})
    assert 0 == done.returncode, done.stderr
    entries = worldview(tmp_path)["knowledgeBase"]["entries"]
    assert "https://example.org/stock" in {row["source"] for row in entries}
    assert any(path.startswith("/search") for path in search.paths())


def test_an_agent_sees_what_its_call_brought_and_reads_on(tmp_path: Path) -> None:
    """E1: three turns at most, one call each; what the second read is evidence of the run as what the first found."""
    shown: list[str] = []

    def agent(body: dict[str, Any]) -> Any:
        brought = data(body)[3:]
        shown.extend(brought)
        if not brought:
            return ANSWERS["agent"](body)
        args = {"path": "shop/cli.py", "first": 6}
        return {"say": "", "tool": "ReadFile", "args": args}

    with thinking(agent=agent, critique=lambda body: {"points": [], "questions": []}) as (_, env):
        done = plan_for(tmp_path, "--max-iterations", "1", env=env)
    assert 0 == done.returncode, done.stderr
    assert "shop/stock.py" in shown[0] and "def release(basket)" in shown[0]
    _, found, read = shown[1].rpartition("`shop/cli.py` from line 6")
    assert found and "import argparse" not in read
    known = [path.read_text("utf-8") for path in (folder_of(tmp_path) / "knowledge").iterdir()]
    assert any("the order to place" in text for text in known)
    took = [tool for tool, _, _ in steps(tmp_path, folder_of(tmp_path).name)]
    assert 9 == took.count("agent_step.search") and 3 == took.count("analyze.lines")
