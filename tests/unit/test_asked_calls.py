"""What a model may ask for: the tools for lines and lists, which paths it chooses, and the rows with `one_of`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import resources
from fdc_toolchain.engine.events import Outcome, Perform, request_of
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.tools.context import whole
from fdc_toolchain.tools.runtime import LocalTools, Workbench
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root
from jsonschema import Draft202012Validator

from tests.support.linting import findings, lint

HEAD = "# FSM: any.json\n"
THERE = ("a.txt", "docs/c.md")


LOOK: dict[str, Any] = {
    "format": 1, "name": "t", "tools": {
        "think": {"summary": "think", "action": None, "effect": "read", "trust": "model",
                  "parameters": [{"name": "about", "kind": "rest", "sink": "data"}],
                  "result": {"path": "text", "paths": "list", "call": "object"}},
        "see": {"summary": "see", "action": "read_op", "effect": "read", "trust": "workspace", "failure": "value",
                "parameters": [{"name": "call", "kind": "word", "sink": "data"},
                               {"name": "files", "kind": "word", "sink": "path"}],
                "result": "object", "run": {"one_of": ["grep", "read_lines"]}},
    }}  # fmt: skip


class Bench:
    """The tools of one run: the core's, and those of LOOK."""

    def __init__(self, workspace: Path, folder: Path) -> None:
        core = json.loads(resources.read("grammar/tools.json"))["tools"]
        options: dict[str, Any] = {"ask": lambda _: None, "answers": {}, "shell_seconds": 9.0}
        bench = Workbench("run", Root(str(workspace)), str(folder), print, **options)
        self.tools = LocalTools({"tools": {**core, **LOOK["tools"]}, "plans": {}}, bench)

    def do(self, tool: str, grants: Any = (), **args: Any) -> Outcome:
        request = request_of("tool", tool, args)
        effect = Perform("main/1", "tool", tool, args, request, "read", "p", 1, True, grants)
        return self.tools.perform(effect)

    def value(self, tool: str, **more: Any) -> Any:
        outcome = self.do(tool, **more)
        assert outcome.failure is None, outcome.failure
        return outcome.value

    def refused(self, tool: str, **more: Any) -> str:
        outcome = self.do(tool, **more)
        assert outcome.failure is not None, outcome
        return outcome.failure.message


@pytest.fixture
def bench(workspace: Path, tmp_path: Path) -> Bench:
    return Bench(workspace, tmp_path)


@pytest.mark.parametrize(
    ("step", "wrong"),
    [
        ("read_lines {x.path}", True),
        ("f <- among {x.path} {files}\nread_lines {f}", False),
        ("f <- among {x.path} {x.paths}\nread_lines {f}", True),
        ("more <- append {x.path} to={files}\nf <- among {x.path} {more}\nread_lines {f}", True),
        (
            "iterate max 2\n  files <- append {x.path} to={files}\n  f <- among {x.path} {files}",
            True,
        ),
        ("f <- among {x.path} {files}\nrun_in_bash_session cat {f}", True),
        ("see {x.call} {files}", False),
        ("see {x.call} {x.paths}", True),
        ("f <- see {x.call} {files}\nread_file {f.got}", True),
        ("for one in {x.paths} max 3\n  see {x.call} {files}", False),
    ],
)
def test_a_model_chooses_among_the_files_that_the_plan_listed_and_no_others(
    step: str, wrong: bool
) -> None:
    plan = HEAD + "files <- list_files docs\nx <- think tea\n" + step + "\n"
    settings = Settings(fsm="any.json", catalogues=("t.json",))
    files = {"a.plan": plan, "t.json": json.dumps(LOOK)}
    refused = findings(lint(files, "a.plan", there=THERE, settings=settings), "FDC471")
    assert bool(refused) is wrong


def test_as_many_lines_are_found_as_are_asked_for(bench: Bench, workspace: Path) -> None:
    (workspace / "a.md").write_text("x\n" * 9)
    found = bench.do("grep", pattern="x", most=3)
    assert [hit["line"] for hit in found.value] == [1, 2, 3]
    assert found.notes == {"cut": "only the first 3 lines"}
    assert len(bench.value("grep", pattern="x")) == 9


def test_lines_are_read_as_far_as_there_are_any(bench: Bench, workspace: Path) -> None:
    (workspace / "a.md").write_text("".join(f"{n}\n" for n in range(1, 2001)))
    some = {"first": 2, "last": 3, "lines": 2000}
    assert bench.value("read_lines", path="a.md", first=2, last=3) == {"text": "2\n3", **some}
    assert bench.value("read_lines", path="a.md")["last"] == 1000
    assert bench.value("read_lines", path="a.md", first=1999, last=9999)["text"] == "1999\n2000"
    for first, last in ((5000, 6000), (9, 3)):
        assert bench.value("read_lines", path="a.md", first=first, last=last)["text"] == ""
    assert "does not exist" in bench.refused("read_lines", path="b.md")


def test_how_many_is_a_number_and_no_list() -> None:
    assert [whole(args, "most", 5) for args in ({}, {"most": 0}, {"most": 2.0}, {"most": "3"})] == [
        5,
        5,
        2,
        3,
    ]
    with pytest.raises(ToolFailure, match="`most` must be a number"):
        whole({"most": [3]}, "most", 5)


@pytest.mark.parametrize(
    "first", ["nan", "inf", "1e999", True, [1], {}, "\u0663", "1_0", 0, -1, "0.5"]
)
def test_what_is_no_number_is_the_steps_failure(bench: Bench, workspace: Path, first: Any) -> None:
    (workspace / "a.md").write_text("x\n")
    assert "takes a number" in bench.refused("read_lines", path="a.md", first=first)
    assert "takes a number" in bench.refused("grep", pattern="x", most=first)
    asked = call("read_lines", path="a.md", first=first)
    assert bench.value("see", call=asked, files=["a.md"])["failed"] == "type"


def test_a_call_does_not_tell_which_other_files_there_are(bench: Bench, workspace: Path) -> None:
    (workspace / "docs").mkdir()
    for name in ("docs/a.md", "docs/b.md"):
        (workspace / name).write_text("x\n")
    there, absent, above = (
        bench.value("see", call=call("grep", pattern="x", path=path), files=["docs/a.md"])
        for path in ("docs/b.md", "docs/c.md", "docs")
    )
    assert there["why"].replace("b.md", "c.md") == absent["why"]
    assert [hit["path"] for hit in above["got"]] == ["docs/a.md"]


def test_a_member_of_a_list_is_let_through_and_nothing_else(bench: Bench) -> None:
    files = ["a/b.md", "c.md"]
    assert bench.value("among", value="c.md", of=files) == "c.md"
    for value, of in (("C.md", files), ("./c.md", files), ("c", "c.md"), ("c.md", [files])):
        bench.refused("among", value=value, of=of)


def test_a_list_grows_by_one_item(bench: Bench) -> None:
    assert bench.value("append") == []
    before = [1]
    assert bench.value("append", item=[2], to=before) == [1, [2]] and before == [1]
    assert bench.value("append", item="b", to="a") == ["a", "b"]


# Calls


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args}


def test_a_call_sees_the_listed_files_that_the_plans_allow_and_no_others(
    bench: Bench, workspace: Path
) -> None:
    for name in ("a.md", "b.md", "d/c.md", "private.md", ".env"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text("tea\n")
    files = ["a.md", "d/c.md", ".env", "private.md"]
    asked = call("grep", pattern="tea", path="**")
    found = bench.value("see", call=asked, files=files)
    assert found["call"] == asked
    assert [hit["path"] for hit in found["got"]] == ["a.md", "d/c.md", "private.md"]
    for path in ("b.md", "/etc/passwd", "../x", ".env", "d", "no.md"):
        found = bench.value("see", call=call("read_lines", path=path), files=files)
        assert "got" not in found and found["why"], path
    grants = ({"read": (((False, "d/**"),),)},)
    for path, where in (("d/c.md", "got"), ("a.md", "why")):
        asked = call("read_lines", path=path)
        assert where in bench.value("see", call=asked, files=files, grants=grants)


@pytest.mark.parametrize(
    "asked",
    [
        "grep", None, {}, {"tool": "grep"}, {"tool": ["grep"], "args": {}}, call("delete_file", path="a.md"), call("grep"),
        call("grep", pattern="("), call("grep", pattern=3), call("grep", pattern="x", most="many"),
        call("grep", pattern="x", root="/"), call("read_lines", path=["a.md"]),
    ],
)  # fmt: skip
def test_a_call_that_does_not_fit_is_a_value(bench: Bench, workspace: Path, asked: Any) -> None:
    (workspace / "a.md").write_text("tea\n")
    found = bench.value("see", call=asked, files=["a.md"])
    assert found["failed"] in ("argument", "type") and found["why"]
    assert (workspace / "a.md").exists()


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        ("grepp", "no tool `grepp`"),
        ("delete_file", "more than read"),
        ("view_text_website", "more than read"),
        ("think", "more than read"),
        ("see", "performed by a command"),
        ("among", "clears text"),
        ("list_files", ""),
    ],
)
def test_only_tools_that_read_are_listed(listed: str, why: str) -> None:
    tools = json.loads(json.dumps(LOOK))
    tools["tools"]["see2"] = {**tools["tools"]["see"], "run": {"one_of": [listed]}}
    plan = HEAD + "files <- list_files docs\nx <- think tea\nsee2 {x.call} {files}\n"
    settings = Settings(fsm="any.json", catalogues=("t.json",))
    files = {"a.plan": plan, "t.json": json.dumps(tools)}
    found = findings(lint(files, "a.plan", there=THERE, settings=settings), "FDC308")
    assert [why in item.message for item in found] == ([True] if why else [])


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("failure", None, "`failure`"),
        ("trust", "trusted", "`trust`"),
        ("effect", "once", "`effect`"),
        ("cost", {"tokens": 5}, "no `cost`"),
        ("parameters", [{"name": "call", "kind": "word", "sink": "data"}], "`files`"),
        (
            "parameters",
            [
                LOOK["tools"]["see"]["parameters"][0],
                {"name": "files", "kind": "word", "sink": "data"},
            ],
            "sink `path`",
        ),
    ],
)
def test_a_row_that_would_let_a_model_do_more_is_refused(key: str, value: Any, why: str) -> None:
    tools = json.loads(json.dumps(LOOK))
    tools["tools"]["see"][key] = value
    if value is None:
        del tools["tools"]["see"][key]
    settings = Settings(fsm="any.json", catalogues=("t.json",))
    files = {"a.plan": HEAD + "list_files docs\n", "t.json": json.dumps(tools)}
    found = findings(lint(files, "a.plan", there=THERE, settings=settings), "FDC308")
    assert [True] == [why in item.message for item in found]


def test_the_schema_of_a_reply_takes_what_is_listed_and_nothing_else() -> None:
    """What the plan gives itself is not asked of the model."""
    from fdc_toolchain.linking.arguments import one_of
    from fdc_toolchain.linking.catalogue import document, tool_of

    rows = document("grammar/tools.json")["tools"]
    tools = {name: tool_of(name, row) for name, row in rows.items()}
    row = {**LOOK["tools"]["see"], "run": {"one_of": ["grep", "read_lines"], "most": 2}}
    row["parameters"] = [*row["parameters"], {"name": "most", "kind": "number"}]
    made = one_of.schema({"required": ["a"], "properties": {"a": {"type": "string"}}}, row, tools)
    takes = Draft202012Validator(made).is_valid
    assert takes({"a": "x", "calls": []})
    assert takes(
        {"a": "x", "calls": [call("grep", pattern="x"), call("read_lines", path="y", last=3)]}
    )
    for wrong in (
        call("grep"), call("grep", pattern="x", most=3), call("read_file", path="x"), call("read_lines", path="x", first="1"),
        {"tool": "grep", "pattern": "x"},
    ):  # fmt: skip
        assert not takes({"a": "x", "calls": [wrong]}), wrong
    assert not takes({"a": "x", "calls": [call("grep", pattern="x")] * 3})
    assert not takes({"calls": []})
    shown = one_of.offered(row, tools)
    assert "- grep: lines that match" in shown and "most (" not in shown
