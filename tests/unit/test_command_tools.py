"""Tools that are commands: their words, what a row may say, and what becomes of what they print."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.linking.catalogue import read_catalogue
from fdc_toolchain.tools.sandboxed import step_files
from fdc_toolchain.tools.sandboxed.command_tools import words
from fdc_toolchain.workspace.failure import ToolFailure
from fdc_toolchain.workspace.files import Root

from tests.support.inside import fdc
from tests.support.sandboxed import context

PATH = {"name": "path", "kind": "path", "access": "read"}
ROW: dict[str, Any] = {
    "summary": "x", "action": "read_op", "effect": "read", "trust": "workspace", "result": "text",
    "parameters": [PATH], "access": {"read": []},
}  # fmt: skip


def catalogue(command: list[str], **more: Any) -> str:
    row = {**ROW, "run": {"command": command}, **more}
    return json.dumps({"format": 1, "name": "own", "tools": {"look": row}})


@pytest.mark.parametrize(
    ("command", "args", "expected"),
    [
        (["sort", "{path}"], {"path": "a b;c"}, ["sort", "a b;c"]),
        (["sort", "--file={path}"], {"path": "-x"}, ["sort", "--file=-x"]),
        (["sort", "--", "{path}"], {"path": "-x"}, ["sort", "--", "-x"]),
        (["sort", "{path}", "-n"], {"path": None}, ["sort", "-n"]),
        (["sort", "-k={number}"], {"number": 2}, ["sort", "-k=2"]),
        (["sort", "{path}"], {"path": "{path}"}, ["sort", "{path}"]),
    ],
)
def test_a_value_is_one_word(command: list[str], args: dict[str, Any], expected: list[str]) -> None:
    assert expected == words(command, args)


@pytest.mark.parametrize("value", ["-x", "--output=a", "a\0b"])
def test_a_value_that_the_program_could_take_for_something_else_is_refused(value: str) -> None:
    with pytest.raises(ToolFailure) as failed:
        words(["sort", "{path}"], {"path": value})
    assert "input" == failed.value.kind


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([], "run"),
        (["./sort", "{path}"], "`./sort` is not the plain name of a program"),
        (["/bin/sort", "{path}"], "is not the plain name of a program"),
        (["{path}"], "is not the plain name of a program"),
        (["sort", "x{path}"], "has a parameter inside of other text"),
        (["sort", "{path}", "{other}"], "the parameter `other` does not exist"),
        (["sort"], "the command does not use the parameter `path`"),
        (["sort", "{path}", "\0"], "holds no NUL byte"),
    ],
)
def test_a_row_that_cannot_be_is_told(command: list[str], said: str) -> None:
    data = catalogue(command).encode()
    _, found = read_catalogue(["own.json"], {"own.json": data}.get)
    assert found and any(said in item.message for item in found), found


PLAN = "set_plan x\nplan_step_complete x\nx <- look a.txt\nmessage_user {x}\nclose_task\nsubmit\n"


@pytest.mark.parametrize(
    ("command", "more", "code", "said"),
    [
        (["sort", "-u", "{path}"], {}, 0, "a\nb\n"),
        (["cat", "/etc/shadow", "{path}"], {}, 1, "`cat` ended with exit code 1"),
        (["cat", "{path}"], {"result": "number"}, 1, "`cat` printed output that is not JSON"),
        (["no-such-program", "{path}"], {}, 3, "the program `no-such-program`, which a command names: it is not on the PATH"),
        (["cat", "{path}", "fdc.toml"], {}, 1, "`cat` ended with exit code 1"),  # the row does not name it
        (["touch", "{path}", "new.txt"], {}, 1, "`touch` ended with exit code 1"),
    ],
)  # fmt: skip
def test_it_runs_in_the_sandbox_and_touches_what_its_row_says(
    workspace: Path, command: list[str], more: dict[str, Any], code: int, said: str
) -> None:
    (workspace / "fdc_tools.json").write_text(catalogue(command, **more))
    (workspace / "a.txt").write_text("b\na\nb\n")
    (workspace / "fdc.toml").write_text("")
    (workspace / "a.plan").write_text(PLAN)
    done = fdc("run", "a.plan", cwd=workspace)
    assert code == done.returncode and said in done.stdout + done.stderr, done
    assert not (workspace / "new.txt").exists()


@pytest.mark.parametrize(
    ("command", "value", "wrong"),
    [
        (["sort", "{path}"], "-x", True), (["sort", "--", "{path}"], "-x", False), (["sort", "--file={path}"], "-x", False),
        (["sort", "{path}"], "x-", False), (["sort", "{path}"], "./-x", False),
        (["sort", "{path}"], "-{run}", True),
    ],
)  # fmt: skip
def test_lint_refuses_an_option_in_place_of_a_value(
    workspace: Path, command: list[str], value: str, wrong: bool
) -> None:
    (workspace / "fdc_tools.json").write_text(catalogue(command))
    (workspace / "-x").write_text("a\n")
    (workspace / "x-").write_text("a\n")
    (workspace / "a.plan").write_text(PLAN.replace("a.txt", value))
    done = fdc("lint", "a.plan", cwd=workspace)
    assert wrong == ("error[FDC484]" in done.stdout) == (done.returncode == 1), done.stdout


def test_a_tool_that_deletes_names_a_folder() -> None:
    """The sandbox lets it write a file that a step names, and not take it away."""
    for write, wrong in ((["out/**"], False), (["out/a.md"], True), ([], True)):
        data = catalogue(
            ["rm", "{path}"], effect="once", access={"read": [], "write": write},
            parameters=[{**PATH, "access": "delete"}],
        ).encode()  # fmt: skip
        _, found = read_catalogue(["own.json"], {"own.json": data}.get)
        assert wrong == any("can delete only" in item.message for item in found), found


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [
        ({"kind": "block", "type": "list"}, "is a text block"),
        ({"kind": "block", "type": "object"}, "is a text block"),
        ({"kind": "rest", "type": "list"}, ""),
        ({"kind": "block", "type": "sections"}, "no parameter names one"),
    ],
)
def test_a_row_takes_no_block_but_text(parameter: dict[str, Any], wrong: str) -> None:
    data = catalogue(["echo", "{x}"], parameters=[{"name": "x", **parameter}]).encode()
    _, found = read_catalogue(["own.json"], {"own.json": data}.get)
    assert any(wrong in item.message for item in found) if wrong else not found, found


def test_what_a_row_creates_is_a_path_of_the_workspace(tmp_path: Path) -> None:
    row = {"parameters": [], "creates": "out/{word}"}
    with pytest.raises(ToolFailure) as failed:
        step_files.begin(row, {"word": "../../x"}, context(Root(str(tmp_path)), "none"))
    assert "argument" == failed.value.kind


NEEDS = {"read": ("missing", None), "edit": ("missing", None), "write": (None, None), "create": (None, "exists"),
         "delete": ("missing", None)}  # fmt: skip


@pytest.mark.parametrize("access", NEEDS)
def test_a_step_finds_its_file_as_its_row_says(tmp_path: Path, access: str) -> None:
    """Before the tool starts; a later attempt may find what the first one did."""
    row = {"parameters": [{**PATH, "access": access}], "run": {"command": ["sort", "{path}"]}}
    (tmp_path / "there").write_text("x")
    (tmp_path / "folder").mkdir()

    def begun(path: str, key: str = "") -> str | None:
        where = replace(context(Root(str(tmp_path)), "none"), key=key or path)
        try:
            step_files.begin(row, {"path": path}, where)
        except ToolFailure as failed:
            return failed.kind
        return None

    assert (begun("missing"), begun("there")) == NEEDS[access]
    assert begun("folder") == "file" and begun("../x") == "path"
    if access in ("create", "delete"):
        first, then = ("missing", "there") if access == "create" else ("there", "missing")
        assert begun(first, "again") is None and begun(then, "again") is None
