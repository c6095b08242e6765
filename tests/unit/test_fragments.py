"""Roots and fragments: which one a plan is depends on its text alone, and nothing takes its proof away (A2, A3)."""

from __future__ import annotations

import json
from pathlib import Path

from fdc_toolchain.check import check
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import Settings

from tests.support import process
from tests.support.linting import World, lint, places

CYCLE = json.dumps(
    {
        "states": ["A", "B"], "start_state": "A", "accept_states": ["B"],
        "alphabet": ["plan_op", "read_op"],
        "transitions": {"A": {"plan_op": "B"}, "B": {"read_op": "B"}},
    }
)  # fmt: skip
"""A run begins with its plan and reads after that."""

SETTINGS = Settings(fsm="cycle.json")
READ = "list_files\n"


def judged(files: dict[str, str], *keys: str, whole: bool = False) -> tuple[list[str], list[str]]:
    """The codes found, and the plans that are fragments."""
    checked = lint({"cycle.json": CYCLE, **files}, *keys, settings=SETTINGS, whole=whole)
    return [item.code for item in checked.diagnostics], [
        item.span.path for item in checked.fragments
    ]


def test_a_plan_that_continues_an_automaton_is_a_fragment_and_not_proved() -> None:
    codes, fragments = judged({"a.plan": READ}, "a.plan")
    assert codes == []
    assert fragments == ["a.plan"]


def test_neither_a_caller_nor_a_registry_changes_what_a_plan_is() -> None:
    """A2: a plan that lacks its end was an error alone, and proved once it was registered."""
    open_end = (
        '{"states": ["A", "B"], "start_state": "A", "accept_states": ["B"], "alphabet": ["read_op", "plan_op"], \
"transitions": {"A": {"read_op": "A", "plan_op": "B"}}}'
    )
    text = {"cycle.json": open_end, "frag.plan": READ}
    registry = json.dumps({"frag": "frag.plan"})
    for more in (
        {},
        {"knowledge_core/plan_registry.json": registry},
        {"main.plan": "set_plan x\ncall_plan frag.plan\n"},
    ):
        checked = lint({**text, **more}, "frag.plan", settings=SETTINGS)
        assert places(checked, "FDC402") == [("frag.plan", 1, "FDC402")]
        assert checked.fragments == []


def test_what_no_state_lets_pass_is_an_error() -> None:
    codes, fragments = judged({"a.plan": READ + "set_plan x\n"}, "a.plan")
    assert "FDC401" in codes
    assert fragments == []


def test_a_run_of_a_fragment_is_refused_with_the_errors_of_the_root() -> None:
    codes, fragments = judged({"a.plan": READ}, "a.plan", whole=True)
    assert "FDC401" in codes
    assert fragments == []


def test_a_plan_may_say_that_it_is_a_fragment_and_of_what() -> None:
    loop = '{"states": ["S"], "start_state": "S", "accept_states": ["S"], "alphabet": ["read_op"], \
"transitions": {"S": {"read_op": "S"}}}'
    codes, fragments = judged(
        {"loop.json": loop, "a.plan": "use fragment loop.json\nread_file made.md\n"}, "a.plan"
    )
    assert (codes, fragments) == ([], ["a.plan"])
    codes, fragments = judged(
        {"loop.json": loop, "a.plan": "use fragment loop.json\nset_plan x\n"}, "a.plan"
    )
    assert codes == ["FDC404"], "no state of that automaton fits"
    codes, _ = judged({"a.plan": "use fragment gone.json\nread_file made.md\n"}, "a.plan")
    assert "FDC201" in codes
    codes, _ = judged(
        {"loop.json": loop, "a.plan": "# FSM: loop.json\nuse fragment loop.json\nlist_files\n"},
        "a.plan",
    )
    assert "FDC111" in codes


def test_a_nested_cycle_is_judged_where_the_recursion_is_used_up_too() -> None:
    """A3: there the inner call is skipped, and the nested cycle ends where its automaton does not accept."""
    files = {
        "root.plan": "# FSM: any_read.json\ncall_plan s.plan\n",
        "s.plan": "# FSM: one.json\ncall_plan f.plan depth 1\n",
        "f.plan": "read_file x.md\ncall_plan s.plan\n",
        "x.md": "tea\n",
        "any_read.json": '{"states": ["S"], "start_state": "S", "accept_states": ["S"], "alphabet": ["read_op"], \
"transitions": {"S": {"read_op": "S"}}}',
        "one.json": '{"states": ["A", "B"], "start_state": "A", "accept_states": ["B"], "alphabet": ["read_op"], \
"transitions": {"A": {"read_op": "B"}}}',
    }
    checked = check(Linker("/nonexistent", Settings(), World(files)), ["root.plan"])
    assert ("s.plan", 2, "FDC402") in places(checked)


def test_a_folder_of_fragments_gets_a_line_for_the_first_twenty(tmp_path: Path) -> None:
    """Cold and from the cache; a single one more has its own line, since "1 more" would take that line."""
    plans = tmp_path / "plans"
    plans.mkdir()
    for count in (21, 22):
        for number in range(count):
            (plans / f"f{number:02}.plan").write_text("use fragment fdc\nlist_files\n")
        said = [process.fdc("lint", cwd=tmp_path).stdout.splitlines() for _ in range(3)]
        assert said[0] == said[1] == said[2]
        lines = [line for line in said[0] if "fragment" in line]
        assert f"{count} fragments" in lines.pop()
        assert 21 == len(lines) and lines[19].startswith("plans/f19.plan: a fragment of `fdc_fsm`")
        last = "and 2 more fragments (`--format json` lists them)" if count == 22 else "plans/f20"
        assert lines[20].startswith(last)
