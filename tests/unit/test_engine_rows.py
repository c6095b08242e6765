"""What the seeds ask of whatever executes their pipelines, as laws of the engine (LGTM-32 to 48)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fdc_toolchain.engine.events import Outcome
from fdc_toolchain.program.codec import encode, load
from fdc_toolchain.testing import FunctionTools, MemoryJournal, run

from tests.support.engine import addresses, done, tools
from tests.support.process import fdc
from tests.support.programs import compare, generated, give, iterate, loop, program, step


def test_what_is_on_disk_after_a_run_is_what_its_trace_says(workspace: Path) -> None:
    """LGTM-32, LGTM-36: every file that a step made is named by a record; nothing else is there."""
    (workspace / "a.plan").write_text(
        "set_plan x\nplan_step_complete y\ncreate_file_with_block a/b.txt\n    one\n"
        "overwrite_file_with_block c.txt\n    two\nrename_file c.txt d/e.txt\nread_file a/b.txt\nclose_task\nsubmit\n"
    )
    before = {path for path in workspace.rglob("*") if path.is_file()}
    assert fdc("run", "a.plan", cwd=workspace).returncode == 0
    made = {
        path.relative_to(workspace).as_posix()
        for path in workspace.rglob("*")
        if path.is_file() and path not in before and ".fdc" not in path.parts
    }
    assert made == {"a/b.txt", "d/e.txt"}
    records = json.loads(fdc("show", "last", "--format", "json", cwd=workspace).stdout)["records"]
    told = json.dumps([record for record in records if record["kind"] == "outcome"])
    assert all(name in told for name in made)
    assert {"create_file_with_block", "rename_file", "read_file"} <= {
        record.get("tool") for record in records
    }


def test_an_answer_that_recommends_a_call_performs_none() -> None:
    """LGTM-33, LGTM-34: the answering model has no tools; what is said flows on as a value; only the plan's steps are steps."""
    said = "run_in_bash_session rm -rf /\ncall_plan other\n{one.x}"
    works = FunctionTools({"ask": lambda effect: said, "note": lambda effect: effect.args["text"]})
    steps = (step("ask", bind="one"), step("note", bind="two", text="{one}"), give("{two}"))
    made = program(*steps, tools={"ask": "read", "note": "pure"})
    ending = run(made, works)
    assert ending.result == said and [call.tool for call in works.calls] == ["ask", "note"]


def test_branches_run_at_once_on_their_own_names_and_join_in_the_order_of_the_input() -> None:
    """LGTM-38, LGTM-40, LGTM-41: a branch changes nothing of another's; what each yields is merged; of nothing comes nothing."""
    body = loop(
        "fork", "x", "{xs}",
        step("note", bind="seen", value="{seen}{x}"), give("{seen}"),
        bind="all",
    )  # fmt: skip
    ending, _ = done(
        step("note", bind="seen", value="<"), body, give("{all}"), given={"xs": list("cab")}
    )
    assert ending.result == ["<c", "<a", "<b"]
    ending, works = done(
        step("note", bind="seen", value="<"), body, give("{all}"), given={"xs": []}
    )
    assert ending.result == [] and len(works.calls) == 1


def test_rounds_see_what_the_rounds_before_them_did() -> None:
    """LGTM-39, LGTM-47: in `for` and `iterate` names carry over, and a second look sees the change."""
    body = loop(
        "for", "x", "{xs}", step("note", bind="seen", value="{seen}{x}"), give("{seen}"), bind="all"
    )
    ending, _ = done(
        step("note", bind="seen", value="<"), body, give("{all}"), given={"xs": list("cab")}
    )
    assert ending.result == ["<c", "<ca", "<cab"]


def test_iterate_ends_by_its_condition_or_its_bound_and_its_rounds_are_counted() -> None:
    """LGTM-42: the counter is the address."""
    journal = MemoryJournal()
    until = compare("{seen}", "==", "<..")
    more = step("note", bind="seen", value="{seen}.")
    done(step("note", bind="seen", value="<"), iterate(5, more, until=until), journal=journal)
    assert addresses(journal) == ["main/1", "main/2[1]/1", "main/2[2]/1"]
    journal = MemoryJournal()
    done(iterate(3, step("note", value="x")), journal=journal)
    assert addresses(journal) == ["main/1[1]/1", "main/1[2]/1", "main/1[3]/1"]


def test_a_program_comes_back_from_its_bytes_as_the_same_bytes() -> None:
    """LGTM-44: serialize, parse, serialize is identity."""
    for seed in range(20):
        written = encode(generated(seed))
        assert encode(load(written)) == written


def test_what_only_moves_names_leaves_no_record() -> None:
    """LGTM-48: conditions, loops, yields and bindings are never in the trace."""
    journal = MemoryJournal()
    works = tools(note=lambda effect: Outcome(effect.args["value"]))
    pure: list[dict[str, Any]] = [loop("for", "x", "{xs}", give("{x}"), bind="all"), give("{all}")]
    ending, _ = done(
        step("note", value="x"), *pure, given={"xs": [1, 2]}, journal=journal, works=works
    )
    assert ending.result == [1, 2] and addresses(journal) == ["main/1"]
