"""`fdc lgtm` as a user starts it: with a model that answers by script, and without one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.lgtm import artifacts, knowledge
from fdc_toolchain.console.compiling import compile_or_refuse
from fdc_toolchain.program.codec import digest, encode, load

from tests.support.explored import data, shop
from tests.support.lgtm import (
    QUESTION,
    folder_of,
    hypothesis,
    links,
    plan_for,
    same_log,
    steps,
    thinking,
    worldview,
)
from tests.support.messages_api import reply
from tests.support.process import fdc

WRITES = ("create_file_with_block", "overwrite_file_with_block", "create_directory")


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """One run with a model, looked at by several tests."""
    workspace = tmp_path_factory.mktemp("lgtm") / "w"
    named = {
        "A_Stock": ("place_order", "shop/orders.py:11"),
        "A_Orders": ("reserve", "shop/stock.py:4"),
    }

    def about(body: dict[str, Any]) -> dict[str, Any]:
        name, place = named["A_Stock" if "kept" in data(body)[1] else "A_Orders"]
        return {**hypothesis(body), "statement": f"Change `{name}` (`{place}`)."}

    needs = {"from": "h_Stock_001", "to": "h_Orders_001"}

    def analysed(body: dict[str, Any]) -> dict[str, Any]:
        rows = [row for row in data(body)[2] if {key: row[key] for key in needs} == needs]
        return {"implementationPrerequisites": ["the tests pass"], "keyDependencies": rows}

    with thinking(hypothesis=about, synthesis=analysed) as (_, env):
        return workspace, plan_for(workspace, env=env)


def test_the_document_is_what_the_seed_asks_for_and_every_link_leads_to_a_file(
    planned: tuple[Path, Any],
) -> None:
    """LGTM-06, 77, 78, 81: read without any of the product's code."""
    workspace, done = planned
    assert 0 == done.returncode, done.stderr
    folder = folder_of(workspace)
    page = (folder / f"plan_synth_{folder.name}_final.md").read_text("utf-8")
    assert page.split() == done.stdout.split() and page.startswith(
        f"# Implementation Plan: {QUESTION}\n"
    )
    order = [
        "**Run ID:**", "**Based on Synthesis of Validated Micro-Hypotheses:**", "**Null Challenge Summary:** Passed",
        "**Synthesis Summary:**", "## 1. Problem Summary (The Gap)", "## 2. Proposed Solution (Synthesized)",
        "**Overall Narrative:**", "**Key Components/Areas Addressed:**", "**Implementation Prerequisites:**",
        "**Key Dependencies:**", "## 3. Implementation Sequence", "### Step 1:", "**Rationale/Details:**",
        "**Related Micro-Hypotheses:**", "**Full Proposed Code:**", "```python", "## 4. Key Assumptions", "**Assumption:**",
        "Supporting Evidence:", "**Potential Critique/Risk:**", "## 5. Relevant Visualizations", "```ascii",
    ]  # fmt: skip
    places = [page.index(mark) for mark in order]
    assert places == sorted(places)
    assert len(links(page)) > 10 and all((folder / link).is_file() for link in links(page))
    sequence = page.split("## 3. Implementation Sequence")[1].split("## 4. ")[0]
    related = re.findall(r"\*\*Related Micro-Hypotheses:\*\* (.*)", sequence)
    assert len(related) == sequence.count("### Step ") > 1 and all(
        "](hypotheses/hyp_h_" in line for line in related
    )
    assert "This plan has not been carried out" in page
    fences = page.split("\n```")
    prose = [line for part in done.stdout.split("\n```")[::2] for line in part.split("\n")]
    assert len(fences) > 4 and all(len(line) <= 80 or " " not in line.strip() for line in prose)


def test_a_component_comes_after_what_it_uses_and_its_code_is_the_code(
    planned: tuple[Path, Any],
) -> None:
    """LGTM-26, 75: what the pipeline found in the code, checked against the files."""
    workspace, _ = planned
    page = next(folder_of(workspace).glob("plan_*_final.md")).read_text("utf-8")
    sequence = page.split("## 3. ")[1].split("## 4. ")[0]
    place = {
        ident: sequence.index(f"**Related Micro-Hypotheses:** [{ident}]")
        for ident in re.findall(r"\[(h_\w+)\]", sequence)
    }
    needs = worldview(workspace)["synthesisOutput"]["keyDependencies"]
    assert needs and all(place[row["to"]] < place[row["from"]] for row in needs)
    for row in needs:
        user, used, path, line = re.findall(
            r"`(\w+)` uses `(\w+)` \(`([^`]+):(\d+)`\)", row["why"]
        )[0]
        assert (
            used in (workspace / path).read_text("utf-8").split("\n")[int(line) - 1]
            and user != used
        )
    assert 2 == sequence.count("# changed\n```")


def test_the_run_folder_holds_the_artifacts_and_each_follows_its_schema(
    planned: tuple[Path, Any],
) -> None:
    """LGTM-01, 03, 04, 05, 07, 13 to 17, 20, 21, 22, 24, 25, 27, 68."""
    workspace, _ = planned
    folder, wv = folder_of(workspace), worldview(workspace)
    assert {"knowledge", "hypotheses", "null_challenges"} <= {
        path.name for path in folder.iterdir() if path.is_dir()
    }
    assert [] == artifacts.problems("worldview", wv)
    assert wv["areasOfAnalysis"] and all("Active" == row["status"] for row in wv["areasOfAnalysis"])
    assert {row["filePath"] for row in wv["knowledgeBase"]["entries"]} == {
        f"knowledge/{path.name}" for path in (folder / "knowledge").iterdir()
    }
    for row in wv["knowledgeBase"]["entries"]:
        entry = knowledge.parsed((folder / row["filePath"]).read_text("utf-8"))
        assert (entry.confidence, entry.summary) == (row["confidence"], row["contentSummary"])
        assert (
            f"k_{row['entryID']}_evidence.md" == Path(row["filePath"]).name
            and row["source"] in entry.sources
        )
    for row in wv["microHypotheses"]:
        ident = row["microHypothesisID"]
        files = sorted(
            path.name for path in (folder / "hypotheses").iterdir() if f"hyp_{ident}_v" in path.name
        )
        kinds = [name.removeprefix(f"hyp_{ident}_").removesuffix(".json") for name in files]
        last = row["version"]
        if row["status"] == "Initial":
            assert kinds == ["v0_initial"] and row["nullChallengeFilePath"] is None
            continue
        assert kinds == [
            "v0_initial",
            *(f"v{number}_refined" for number in range(1, last)),
            f"v{last}_candidate",
        ]
        versions = [json.loads((folder / "hypotheses" / name).read_text("utf-8")) for name in files]
        assert all([] == artifacts.problems("hypothesis", one) for one in versions)
        for before, after in zip(versions, versions[1:]):
            assert (
                before["refinementHistory"]
                == after["refinementHistory"][: len(before["refinementHistory"])]
            )
        assert "Validated" == row["status"] and "Passed" == row["nullChallengeOutcome"]
        challenge = json.loads((folder / row["nullChallengeFilePath"]).read_text("utf-8"))
        assert [] == artifacts.problems("null_challenge", challenge)
        assert (
            challenge["hypothesisFilePath"] == row["filePath"]
            and (folder / row["filePath"]).is_file()
        )
        for attempt in challenge["falsificationAttempts"]:
            assert all((folder / path).is_file() for path in attempt["falsificationEvidenceFound"])


def test_the_files_on_disk_are_the_write_effects_of_the_journal_and_nothing_else(
    planned: tuple[Path, Any],
) -> None:
    """LGTM-29, 31, 32, 40, 47, 48: also that the workspace is otherwise as it was, and no state update is an effect."""
    workspace, _ = planned
    folder = folder_of(workspace)
    done = steps(workspace, folder.name)
    written = {value["path"] for tool, _, value in done if tool in WRITES}
    on_disk = {str(path.relative_to(workspace)) for path in (workspace / "runs").rglob("*")} - {
        f"runs/{folder.name}",
        f"runs/{folder.name}/outside",
    }
    assert written == on_disk
    reads = [tool for tool, _, _ in done if tool == "read_file"]
    assert len(reads) >= 10
    catalogue = {**_tools("lgtm_tools"), **_tools("tools"), **_tools("explore_tools")}
    touching = {tool for tool, _, _ in done if catalogue[tool]["effect"] != "pure"}
    assert not any(
        tool.startswith(("state.", "get_worldview", "log_message", "join")) for tool in touching
    )
    seen = [value["worldview"]["log"] for tool, _, value in done if tool == "get_worldview"]
    assert len(seen[0]) < len(seen[-1])  # the state at that point, not the first one
    shop(workspace / "again")
    before = {
        str(path.relative_to(workspace / "again")): path.read_bytes()
        for path in (workspace / "again").rglob("*.py")
    }
    assert before == {name: (workspace / name).read_bytes() for name in before}


def test_the_phases_come_in_order_and_each_persists(planned: tuple[Path, Any]) -> None:
    """LGTM-28, 45, 49, 54, 61, 62, 69, 80, 82: on disk is what the last persisting step was given; the counter is not in it."""
    workspace, done = planned
    folder = folder_of(workspace)
    same_log(workspace)
    order = [
        "Starting Initialization Pipeline", "Initialization complete. Persisting Worldview.",
        "Starting Hypothesis Refinement Loop", "Starting refinement iteration.",
        "Refinement iteration complete. Persisting Worldview.", "Marking candidates post-refinement.",
        "Starting Null Hypothesis Challenge Phase", "Setting null challenge outcomes.", "Null Challenge Overall Result: Passed",
        "Overall Null Hypothesis Challenge Passed. Proceeding to Synthesis.", "Starting Synthesis Pipeline",
        "Synthesis successful.", "Starting Meta-Planning Phase", "Starting Final Plan Generation Phase",
    ]  # fmt: skip
    said = done.stderr.split("\n")
    assert [said.index(line) for line in order] == sorted(said.index(line) for line in order)
    assert 1 == said.count("Starting Initialization Pipeline")
    rows = steps(workspace, folder.name)
    messages = [value["message"] for tool, _, value in rows if tool == "log_message"]
    assert [
        line for line in said if line in set(messages)
    ] == messages  # shown in the order of the record
    persisted = [value["text"] for tool, _, value in rows if tool == "get_worldview"]
    assert (folder / "worldview.json").read_text("utf-8").rstrip("\n") == persisted[-1]
    count = [tool for tool, _, _ in rows].count("overwrite_file_with_block")
    rounds = said.count("Starting refinement iteration.")
    assert (
        count == 7 + rounds + 2
    )  # init, marked, challenged, settled, synthesised, planned, final; narrative, pipeline
    assert (
        "count" not in json.loads(persisted[-1])
        and 0 == fdc("replay", folder.name, cwd=workspace).returncode
    )


def _tools(name: str) -> dict[str, Any]:
    from tests.support import repository

    [path] = [path for path in repository.catalogues() if path.stem == name]
    return dict(json.loads(path.read_text("utf-8"))["tools"])


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--max-iterations", "0"], "max-iterations"), (["--areas", "7"], "areas"), (["--confidence", "2"], "confidence"),
        (["--paths", "/etc/**"], "leaves the workspace"), (["--gate", "some"], "gate"), (["--budget", "tea=3"], "budget"),
    ],
)  # fmt: skip
def test_wrong_usage_is_said_before_anything_begins(
    tmp_path: Path, more: list[str], says: str
) -> None:
    """LGTM-42, 49, 60."""
    done = plan_for(tmp_path, *more)
    assert 2 == done.returncode and says in done.stderr and not (tmp_path / "runs").exists()
    empty = fdc("lgtm", "  ", cwd=tmp_path)
    assert 2 == empty.returncode and "empty" in empty.stderr


def test_without_a_model_it_collects_and_ranks_and_judges_nothing(tmp_path: Path) -> None:
    """E3: exit code 7, a text of 80 columns, no hypothesis, nothing called validated, and what is not spoken of by name."""
    shop(tmp_path)
    done = fdc(
        "lgtm", "How should reserve() export the stock of refused orders to CSV?", cwd=tmp_path
    )
    assert 7 == done.returncode and done.stdout.startswith("# Evidence: How should"), done.stderr
    assert all(len(line) <= 80 for line in done.stdout.split("\n"))
    assert "Nothing below was judged." in done.stdout and "`--model NAME`" in done.stdout
    assert not re.search(r"[Vv]alidated|Passed|Step 1|\{", done.stdout)
    assert "Nothing that was found speaks of" in done.stdout and "“CSV”" in done.stdout
    for path, line in re.findall(r"^- (\S+):(\d+)", done.stdout, re.MULTILINE):
        assert int(line) <= len((tmp_path / path).read_text("utf-8").split("\n"))
    assert re.search(
        r"^- shop/stock.py:4: `reserve` \(other lines that ", done.stdout, re.MULTILINE
    )
    named = done.stdout.partition("## The code that it names\n")[2].partition("\n## ")[0]
    assert "\n- " in named and not re.search(r" says$|: Code of", named, re.MULTILINE), named
    folder, wv = folder_of(tmp_path), worldview(tmp_path)
    assert (
        []
        == wv["microHypotheses"]
        == wv["areasOfAnalysis"]
        == list((folder / "hypotheses").iterdir())
    )
    assert len(wv["knowledgeBase"]["entries"]) == len(list((folder / "knowledge").iterdir())) > 5
    same_log(tmp_path)
    assert (
        "analyze" not in done.stderr
        and 0 == fdc("lgtm", "--check", folder.name, cwd=tmp_path).returncode
    )


def test_a_question_of_which_nothing_is_found_says_so(tmp_path: Path) -> None:
    """LGTM-52: without a model in the collection; with one, no area stops the run with a sentence. No file: no model is asked."""
    shop(tmp_path / "a")
    none = fdc("lgtm", "x", "--paths", "b/**", cwd=tmp_path / "a")
    assert 1 == none.returncode and "none fits `--paths`" in none.stderr
    assert not any(path.is_file() for path in (tmp_path / "a/runs").rglob("*"))
    done = fdc("lgtm", "zzqx frobnicate?", cwd=tmp_path / "a")
    assert 7 == done.returncode and "speaks of “zzqx”, “frobnicate”" in done.stdout, done.stdout
    with thinking(areas=lambda body: reply("no", stop="refusal")) as (_, env):
        done = plan_for(tmp_path / "b", env=env)
    assert 1 == done.returncode and "no area of analysis was found" in done.stderr
    assert "the model refused" in done.stderr and "Traceback" not in done.stderr
    assert "may name what is not in these files" not in done.stderr  # that was not the reason


def test_the_produced_plan_is_not_executed_and_cannot_be(planned: tuple[Path, Any]) -> None:
    """LGTM-79: no step of the run can write outside of its folder or start anything, and the document is not a plan of fdc."""
    workspace, _ = planned
    folder = folder_of(workspace)
    took = {tool for tool, _, _ in steps(workspace, folder.name)}
    catalogue = {**_tools("lgtm_tools"), **_tools("tools"), **_tools("explore_tools")}
    assert not any("writes" in catalogue[tool] for tool in took)
    done = fdc("run", f"runs/{folder.name}/plan_synth_{folder.name}_final.md", cwd=workspace)
    assert 2 == done.returncode and "is written for people" in done.stderr, done.stderr


THREAD = """# FSM: tooling/lgtm_pipeline_fsm.json
use pack lgtm
allow read **

set_plan thread
begun <- state.begin question=why prior="" run={run}
files <- list_files shop/*.py
current <- state.logged wv={begun} log=""
lengths <- LOOP file in {files} max 9
  line <- log_message Info {file}
  # fdc: ignore[shadowed-name] the state goes from round to round
  current <- state.logged wv={current} log={line}
  yield {current.log}
yield {lengths}
close_task
"""


@pytest.mark.parametrize(("loop", "expected"), [("for", [1, 2, 3, 4]), ("fork", [1, 1, 1, 1])])
def test_a_sequential_fork_hands_the_state_on_and_a_parallel_one_gives_each_its_own(
    tmp_path: Path, loop: str, expected: list[int]
) -> None:
    """LGTM-38, 39."""
    shop(tmp_path)
    (tmp_path / "thread.plan").write_text(THREAD.replace("LOOP", loop), "utf-8")
    done = fdc("run", "thread.plan", "--format", "json", cwd=tmp_path)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert expected == [len(rows) for rows in json.loads(done.stdout)["result"]]


def test_the_whole_pipeline_is_a_program_and_building_it_does_nothing(tmp_path: Path) -> None:
    """LGTM-29, 44: without a step of it, and the program reads back to itself."""
    shop(tmp_path)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    program = compile_or_refuse("lgtm", str(tmp_path))
    assert (
        program is not None
        and load(encode(program)) == program
        and digest(load(encode(program))) == digest(program)
    )
    done = fdc("run", "lgtm", "question=why", "--dry-run", cwd=tmp_path)
    assert 0 == done.returncode and "no step was performed" in done.stdout, (
        done.stdout + done.stderr
    )
    assert before == sorted(str(path) for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("level", ["Info", "Warn", "Error", "Debug"])
def test_a_level_that_there_is_not_stops_the_run(tmp_path: Path, level: str) -> None:
    """LGTM-45: three levels, and no other."""
    said = (
        "# FSM: tooling/lgtm_pipeline_fsm.json\nuse pack lgtm\n"
        f"set_plan a line\nlog_message {level} The tea is ready.\nclose_task\n"
    )
    (tmp_path / "said.plan").write_text(said, "utf-8")
    done = fdc("run", "said.plan", cwd=tmp_path)
    if level == "Debug":
        assert (
            1 == done.returncode
            and "the log level `Debug` does not exist; there are Info, Warn, Error"
            in done.stdout + done.stderr
        )
    else:
        assert 0 == done.returncode, done.stdout + done.stderr


def test_what_one_run_wrote_is_no_evidence_for_the_next(tmp_path: Path) -> None:
    """Nor for `fdc explore` and `fdc research`, which read the same files."""
    shop(tmp_path)
    assert 7 == plan_for(tmp_path).returncode
    asked_again = fdc("explore", QUESTION, cwd=tmp_path)
    assert asked_again.returncode in (0, 7)
    assert "shop/" in asked_again.stdout and "runs/2" not in asked_again.stdout
    found = fdc("research", QUESTION, cwd=tmp_path)
    assert "runs/" not in found.stdout and "README.md" in found.stdout


WITHOUT_SYNTHESIS = """# FSM: tooling/lgtm_fsm.json
use pack lgtm
use pack research
allow read **
allow write runs/**

set_plan without a synthesis
map <- map_code **
begun <- state.begin question=why prior="" run={run}
plan_step_complete 1
plan_step_complete 2
plan_step_complete 3
plan_step_complete 4
planned <- call_plan lgtm-meta wv={begun}
plan_step_complete 5
outcome <- call_plan lgtm-final wv={planned} map={map}
yield {outcome}
close_task
"""


def test_without_a_synthesis_neither_a_pipeline_nor_a_plan_is_made(tmp_path: Path) -> None:
    """LGTM-74, 76: both phases say so and make nothing."""
    shop(tmp_path)
    (tmp_path / "without.plan").write_text(WITHOUT_SYNTHESIS, "utf-8")
    done = fdc("run", "without.plan", "--format", "json", cwd=tmp_path)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "synthesis" == json.loads(done.stdout)["result"]["ended"]
    messages = [
        value
        for tool, _, value in steps(tmp_path, folder_of(tmp_path).name)
        if tool == "log_message"
    ]
    assert [
        {"level": "Error", "message": "Meta-Planning skipped: Synthesis output not found."},
        {"level": "Error", "message": "Final Plan Generation skipped: Synthesis output not found."},
    ] == messages
    assert ["worldview.json"] == [path.name for path in folder_of(tmp_path).iterdir()]
