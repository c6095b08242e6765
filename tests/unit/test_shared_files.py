"""Branches of a fork that come to one file, where lint could only assume that they do not: the second one stops (FDC704)."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_toolchain.check import program_of
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.program.causes import explain
from fdc_toolchain.program.model import Program
from fdc_toolchain.testing import FunctionTools, MemoryJournal, run

from tests.support.linting import lint

SUB = "param q\noverwrite_file_with_block {q}\n  new\n"


def works(answer: str = "in/1") -> FunctionTools:
    """A person answers every question alike, and so each branch comes to the same file."""
    return FunctionTools(
        {
            "read_file": lambda effect: "text",
            "list_files": lambda effect: ["a", "b"],
            "overwrite_file_with_block": lambda effect: {"path": effect.args["path"], "bytes": 1},
            "replace_with_git_merge_diff": lambda effect: {"path": effect.args["path"]},
            "for_each_file": lambda effect: ["in/1", "in/2"],
            "request_user_input": lambda effect: answer,
        }
    )


def fork(body: str, keep: str = "") -> Program:
    """A fork over two items with these lines, whose proof assumes that its branches name different files."""
    lines = "".join(f"  {line}\n" for line in body.splitlines())
    text = f"items <- list_files\nout <- fork x in {{items}} max 3{keep}\n{lines}  yield {{x}}\nyield {{out}}\n"
    checked = lint({"a.plan": text, "b.plan": SUB}, "a.plan", there=("in/1", "in/2"), whole=True)
    assert not [item for item in checked.diagnostics if item.severity == "error"]
    assert "FDC704" in {item.code for item in checked.assumptions}
    return program_of(checked)


def branches_by_path(tools: FunctionTools) -> dict[str, set[str]]:
    """The branches that wrote each file."""
    out: dict[str, set[str]] = {}
    for call in tools.calls:
        if call.tool == "overwrite_file_with_block":
            out.setdefault(call.args["path"], set()).add(call.address.split("#")[1][0])
    return out


ASK = "q <- request_user_input Which?\n"
EDIT = "replace_with_git_merge_diff {q}\n  <<<<<<< SEARCH\n  keep\n  =======\n  keep\n  >>>>>>> REPLACE\n"
WRITE = "overwrite_file_with_block {q}\n  new\n"


@pytest.mark.parametrize(
    "body",
    [
        ASK + EDIT,
        ASK + "ys <- list_files\nfork y in {ys} max 2\n  read_file {y}\n" + EDIT,
        ASK + WRITE,
        ASK + "read_file ./{q}\n" + WRITE,
        ASK + WRITE + "read_file {q}\n",
        ASK + "call_plan b.plan q={q}\n",
        ASK + "ys <- list_files\nfork y in {ys} max 2\n  read_file {y}\n" + WRITE,
        "ys <- list_files\nfor y in {ys} max 3\n  overwrite_file_with_block out/{y}\n    new\n",
    ],
)
def test_the_second_branch_that_comes_to_a_changed_file_stops_before_its_step(body: str) -> None:
    program, tools = fork(body), works()
    ending = run(program, tools)
    assert ending.stop is not None and (ending.stop.kind, ending.stop.failure) == (
        "value",
        "shared",
    )
    assert ending.stop.message.startswith("two branches of this fork use `")
    cause = explain(program, ending.stop._asdict())
    assert (cause["kind"], cause["rule"]) == ("assumption", "distinct-items")
    assert max(map(len, branches_by_path(tools).values()), default=0) < 2


@pytest.mark.parametrize(
    "body",
    [
        "overwrite_file_with_block out/{x}\n  new\n",
        "overwrite_file_with_block out/{x}\n  new\nread_file out/{x}\n" + ASK + "read_file {q}\n",
        ASK + "read_file {q}\n" + 2 * "overwrite_file_with_block out/{x}\n  new\n",
    ],
)
def test_branches_with_files_of_their_own_and_readers_go_on(body: str) -> None:
    assert run(fork(body), works()).status == "finished"


@pytest.mark.parametrize("path", ["/in/1", "../in/1", "in/../../1", "", "in/\0"])
def test_a_path_that_names_no_file_of_the_workspace_is_for_the_tool_to_refuse(path: str) -> None:
    tools = works(path)
    assert run(fork(ASK + WRITE), tools).status == "finished"
    assert {path: {"1", "2"}} == branches_by_path(tools)


def test_a_branch_whose_failure_is_kept_is_a_record() -> None:
    tools = works()
    ending = run(fork(ASK + WRITE, keep=" keep failures"), tools)
    kept: list[Any] = ending.result
    assert ending.status == "finished" and len(branches_by_path(tools)["in/1"]) == 1
    assert ["value"] == [item["failed"] for item in kept if isinstance(item, dict)]


def test_a_run_that_is_taken_up_again_stops_at_the_same_branch() -> None:
    program, journal = fork(ASK + WRITE), MemoryJournal()
    first = run(program, works(), journal=journal)
    assert first.stop is not None
    for length in range(len(journal.records)):
        again = MemoryJournal()
        again.records += journal.records[:length]
        assert fold(program, {}, again.records).stop is None
        ending = run(program, works(), journal=again)
        if ending.status != "waiting":  # for a person, who must say what became of a lost question
            assert ending.stop == first.stop
