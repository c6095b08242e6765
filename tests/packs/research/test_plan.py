"""The shipped research plan keeps the research protocol, and plans that break it are refused."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.linting import findings, lint
from tests.support.repository import ROOT
from tests.support.research import PLAN

TEXT = (ROOT / PLAN).read_text("utf-8")
PHASES = [
    "scan_documents", "scope_question", "search_passages", "search_web", "choose_pages", "read_web_page", "join_pages",
    "extract_evidence", "check_citations", "open_sources", "note_source", "answer_question", "synthesise",
]  # fmt: skip
FLAT = [phase for phase in PHASES if phase not in ("search_web", "read_web_page", "note_source")]
"""Those that are steps of the plan itself, not of a fork's branches."""


def codes(text: str) -> list[str]:
    automata = {
        name: (ROOT / name).read_text("utf-8")
        for name in ("tooling/research_fsm.json", "tooling/fdc_fsm.json")
    }
    return [
        item.code
        for item in findings(lint({"a.plan": text, **automata}, "a.plan"))
        if item.severity == "error"
    ]


def moved(text: str, tool: str, before: str) -> str:
    """The plan with the step of `tool` right before that of `before`."""
    rows = text.split("\n")
    step = next(row for row in rows if f"<- {tool} " in row)
    rows.remove(step)
    at = next(number for number, row in enumerate(rows) if f"<- {before} " in row)
    return "\n".join([*rows[:at], step, *rows[at:]])


def test_the_shipped_plan_is_proved() -> None:
    """FDC-47, FDC-49."""
    assert TEXT.startswith("# FSM: tooling/research_fsm.json\n")
    assert (
        []
        == lint(
            {
                "a.plan": TEXT,
                "tooling/research_fsm.json": (ROOT / "tooling/research_fsm.json").read_text(),
            },
            "a.plan",
        ).diagnostics
    )


def test_its_phases_are_those_of_the_protocol_in_order() -> None:
    """FDC-52, C-05: review, scope, gather, extract, synthesise; one report; closed."""
    steps = re.findall(r"^ *(?:\w+ <- )?([a-z_]+) ", TEXT, re.MULTILINE)
    worked = [
        step
        for step in steps
        if step in PHASES or step.startswith(("set_", "plan_step", "overwrite"))
    ]
    assert ["set_plan", *PHASES, "plan_step_complete", "overwrite_file_with_block"] == worked
    assert TEXT.rstrip().endswith("\nclose_task")


@pytest.mark.parametrize(("first", "second"), list(zip(FLAT, FLAT[1:])))
def test_a_phase_out_of_order_is_an_error(first: str, second: str) -> None:
    """FDC-52: each phase works on what the one before found."""
    assert codes(moved(TEXT, second, first))


@pytest.mark.parametrize("phase", FLAT)
def test_a_missing_phase_is_an_error(phase: str) -> None:
    """FDC-52."""
    assert codes("\n".join(row for row in TEXT.split("\n") if f"<- {phase} " not in row))


def test_writing_while_gathering_is_refused() -> None:
    """FDC-46."""
    assert "FDC401" in codes(TEXT.replace("plan_step_complete Gathered and checked.\n", ""))


@pytest.mark.parametrize("step", ["delete_file README.md", "rename_file a.md b.md"])
def test_research_neither_deletes_nor_moves(step: str) -> None:
    """FDC-63."""
    assert codes(TEXT.replace("plan_step_complete", f"{step}\nplan_step_complete"))


def test_one_report_and_no_second() -> None:
    """FDC-63, C-11."""
    block = "overwrite_file_with_block {report}\n    {synthesis.markdown}\n"
    assert "FDC401" in codes(TEXT.replace(block, block + block))


def test_the_other_automaton_refuses_it() -> None:
    """FDC-47."""
    assert codes(TEXT.replace("research_fsm", "fdc_fsm"))


@pytest.mark.parametrize(
    "name", ["plans/library/registry.json", "knowledge_core/plan_registry.json"]
)
def test_it_is_registered(name: str) -> None:
    """FDC-51: in what is shipped, and in this workspace."""
    assert PLAN == json.loads((ROOT / name).read_text("utf-8"))["deep-research"]


def test_fields_of_results_are_checked() -> None:
    assert "FDC315" in codes(TEXT.replace("{synthesis.markdown}", "{synthesis.text}")) + [
        item.code
        for item in lint(
            {
                "a.plan": TEXT.replace("{gathered.passages}", "{gathered.pages}"),
                "tooling/research_fsm.json": (ROOT / "tooling/research_fsm.json").read_text(),
            },
            "a.plan",
        ).diagnostics
    ]


@pytest.mark.parametrize(
    ("honest", "other"),
    [
        ("fork page in {chosen.pages} max 6", "fork page in {hits} max 6"),
        ("search_web query={query}", "search_web query={pages}"),
        (
            "overwrite_file_with_block {report}",
            "overwrite_file_with_block research/{synthesis.answer}.md",
        ),
    ],
)
def test_what_pages_say_chooses_no_address_no_query_and_no_file(honest: str, other: str) -> None:
    """Issue 5, L4: without the check of `choose_pages`, or where a page's words would go out, the plan is refused."""
    moved = TEXT.replace(honest, other)
    if "{pages}" in other:  # a second search, in the words of the pages
        again = "again <- search_web query={pages}\nmaterial <-"
        moved = TEXT.replace("material <-", again).replace("hits={hits}", "hits={again}")
    assert "FDC471" in codes(moved)
