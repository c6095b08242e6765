"""An automaton that the workspace lacks and fdc ships: the proof says that it rests on it (finding A13, T-15)."""

from __future__ import annotations

import pytest
from fdc_toolchain.linking.project.settings import Settings

from tests.support.linting import ANY, lint

STEPS = "set_plan x\nplan_step_complete x\nclose_task\nsubmit\n"


def assumed(files: dict[str, str]) -> list[tuple[str, int, str]]:
    return [(item.span.path, item.span.line, item.code) for item in lint(files).assumptions]


@pytest.mark.parametrize(
    "line",
    [
        "# FSM: tooling/fdc_fsm.json",
        "use fsm tooling/fdc_fsm.json",
        "# FSM: tooling/./fdc_fsm.json",
    ],
)
def test_a_path_that_only_fdc_has_is_an_assumption_and_no_finding(line: str) -> None:
    checked = lint(f"{line}\n{STEPS}")
    [item] = checked.assumptions
    assert (item.code, item.severity, item.span.line, checked.diagnostics) == (
        "FDC711",
        "assumption",
        1,
        [],
    )
    assert "comes with fdc" in item.message and item.help is not None


def test_each_plan_that_names_one_has_one() -> None:
    files = {
        "a.plan": f"# FSM: tooling/fdc_fsm.json\ncall_plan sub.plan\n{STEPS}",
        "sub.plan": f"# FSM: tooling/fdc_fsm.json\n{STEPS}",
    }
    assert [("a.plan", 1, "FDC711"), ("sub.plan", 1, "FDC711")] == assumed(files)


def test_a_file_of_ones_own_a_name_and_the_default_are_none() -> None:
    open_ended = STEPS.replace("close_task\n", "")
    assert [] == assumed({"a.plan": f"# FSM: any.json\n{open_ended}"})
    assert [] == assumed(
        {"a.plan": f"# FSM: tooling/fdc_fsm.json\n{open_ended}", "tooling/fdc_fsm.json": ANY}
    )
    assert [] == assumed({"a.plan": f"use fsm fdc\n{STEPS}"})
    assert [] == assumed({"a.plan": STEPS})
    assert [] == assumed({"a.plan": "use fsm any.json\ncall_plan deep-research question=tea\n"})


@pytest.mark.parametrize("line", ["# FSM: tooling/fdc_fsm.json", "use fsm tooling/fdc_fsm.json"])
def test_the_default_of_the_settings_governs_every_plan_and_is_exempt(line: str) -> None:
    files = {"a.plan": f"{line}\n{STEPS}"}
    assert Settings().fsm == "tooling/fdc_fsm.json"
    assert not lint(files, settings=Settings()).assumptions
    # The exemption is of the path that the settings name, and of no other.
    other = Settings(fsm="tooling/research_fsm.json")
    assert ["FDC711"] == [item.code for item in lint(files, settings=other).assumptions]
