"""A file of a plan that lies in another file of it: refused where it is certain, assumed where a value decides it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from fdc_toolchain import api

from tests.support.inside import fdc
from tests.support.linting import findings, lint

HEAD = "# FSM: tooling/fdc_fsm.json\nparam page = a\nset_plan x\nplan_step_complete x\n"
TAIL = "close_task\nsubmit\n"


def write(path: str) -> str:
    return f"create_file_with_block {path}\n  text\n"


def codes(workspace: Path, plan: str = "a.plan") -> list[str]:
    done = fdc("lint", plan, "--assumptions", "--format", "concise", "--no-cache", cwd=workspace)
    wanted = ("FDC415", "FDC704")
    return [code for line in done.stdout.splitlines() for code in wanted if code in line]


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("out", "out/x.md", ["FDC415"]),
        ("out/x.md", "out", ["FDC415"]),
        ("out/x.md", "out/x.md/y/z.md", ["FDC415"]),
        ("out/x.md", "out/x.mdx/y.md", []),
        ("out/{page}", "out/x/y.md", ["FDC704"]),
        ("out/x/y.md", "out/{page}", ["FDC704"]),
        ("{page}", "out/x.md", ["FDC704"]),
        ("out/{page}.d", "out/x.d/y.md", ["FDC704"]),
        ("out/{page}.d", "new/x.d/y.md", []),
        ("out/{page}", "new/x.md", []),
        ("out/{page}", "out/{page}/y.md", ["FDC415"]),
        ("out", "out/{page}", ["FDC415"]),
    ],
)
@pytest.mark.parametrize("called", [False, True])
def test_a_file_in_a_file_is_found(
    workspace: Path, first: str, second: str, found: list[str], called: bool
) -> None:
    if called:
        given = " page={page}" if "{page}" in second else ""
        head = "param page\n" if given else ""
        (workspace / "child.plan").write_text(head + write(second))
        body = write(first) + f"call_plan child.plan{given}\n"
    else:
        body = write(first) + write(second)
    (workspace / "a.plan").write_text(HEAD + body + TAIL)
    assert codes(workspace) == found


def test_a_name_that_is_given_literally_is_followed(workspace: Path) -> None:
    (workspace / "child.plan").write_text("param page\n" + write("{page}/y.md"))
    for name, found in (("out", ["FDC415"]), ("new", [])):
        body = write("out") + f"call_plan child.plan page={name}\n"
        (workspace / "a.plan").write_text(HEAD + body + TAIL)
        assert codes(workspace) == found, name


READ = "read_file {page}\n"
EACH = "for_each_file pages/*.md as page\n"
BELOW = "read_file {page}/y.md\n"


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        (READ + BELOW, ["FDC415"]),
        (READ + BELOW + BELOW, ["FDC415"]),
        (READ + "read_file {page}y.md\n", []),
        (READ + "read_file {page}/\n", []),
        (READ + "delete_file {page}\n" + BELOW, []),
        (f"if page == a\n  {READ}else\n  {BELOW}", []),
        (f"if page == a\n  {READ}{BELOW}", ["FDC415"]),
        (READ + "page <- request_user_input Which page?\n" + BELOW, []),
        (READ + "if a == b\n  page <- request_user_input Which page?\n" + BELOW, ["FDC415"]),
        (READ + "run_in_bash_session true\n" + BELOW, ["FDC415"]),
        ("for x in {pages} max 3\n  read_file o/{x}\n  read_file o/{x}/y.md\n", ["FDC415"]),
        (f"iterate max 2\n  {BELOW}  {READ}", ["FDC415", "FDC415"]),
        (EACH + "  call_plan child.plan page={page}\n", ["FDC415"]),
        (READ + "call_plan child.plan page={page}\n", ["FDC415"]),
        ("call_plan reads.plan page={page}\n" + BELOW, ["FDC415"]),
        ("call_plan reads.plan page={page}\ncall_plan child.plan page={page}\n", ["FDC415"]),
        ("call_plan child.plan page=pages\nread_file pages/a.md\n", []),
    ],
)
def test_nothing_lies_below_a_file_that_a_step_has_used(
    workspace: Path, plan: str, found: list[str]
) -> None:
    """Whichever plan of them names it, as long as the value is the same and nothing has deleted the file."""
    (workspace / "pages").mkdir()
    (workspace / "pages/a.md").write_text("a")
    (workspace / "pages/y.md").write_text("a")
    (workspace / "child.plan").write_text("param page\n" + BELOW)
    (workspace / "reads.plan").write_text("param page\n" + READ)
    head = HEAD.replace("param page", "param pages\nparam page")
    (workspace / "a.plan").write_text(head + plan + TAIL)
    assert [code for code in codes(workspace) if code != "FDC704"] == found


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        (BELOW + READ, ["FDC415"]),
        (BELOW + BELOW + READ, ["FDC415"]),
        (BELOW + "delete_file {page}\n", ["FDC415"]),
        (BELOW + "overwrite_file_with_block {page}\n  text\n", ["FDC415"]),
        (BELOW + write("{page}"), ["FDC415"]),
        (BELOW + "rename_file {page} {page}\n", ["FDC415"]),
        ("delete_file {page}/y.md\ndelete_file {pages}\n" + write("{page}"), ["FDC415"]),
        (BELOW + "run_in_bash_session true\n" + write("{page}"), []),
        (write("{page}/new/x.md") + "read_file {page}/new\n", ["FDC415"]),
        (BELOW + "delete_file {page}/y.md\n" + READ, ["FDC415"]),
        (BELOW + "read_file {page}.md\n", []),
        (BELOW + "run_in_bash_session true\n" + READ, []),
        (BELOW + "page <- request_user_input Which page?\n" + READ, []),
        (f"if page == a\n  {READ}else\n  {BELOW}", []),
        (f"if page == a\n  {BELOW}" + READ, ["FDC415"]),
        (f"iterate max 2\n  {READ}  {BELOW}", ["FDC415"]),
        ("for x in {pages} max 3\n  read_file o/{x}/y.md\n  read_file o/{x}\n", ["FDC415"]),
        ("call_plan child.plan page={page}\n" + READ, ["FDC415"]),
        (BELOW + "call_plan reads.plan page={page}\n", ["FDC415"]),
        ("call_plan child.plan page={page}\ncall_plan reads.plan page={page}\n", ["FDC415"]),
        (BELOW + "for_each_file {page}/*.md as one\n  read_file {one}\n", []),
        (BELOW + "list_files {page}\n", []),
    ],
)
def test_a_folder_that_a_step_went_through_is_no_file(
    workspace: Path, plan: str, found: list[str]
) -> None:
    (workspace / "child.plan").write_text("param page\n" + BELOW)
    (workspace / "reads.plan").write_text("param page\n" + READ)
    head = HEAD.replace("param page", "param pages\nparam page")
    (workspace / "a.plan").write_text(head + plan + TAIL)
    assert [code for code in codes(workspace) if code != "FDC704"] == found


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        (write("out") + "read_file out/{page}\n", []),  # the value may be empty
        (write("out") + "read_file out/{page}/y.md\n", ["FDC415"]),
        ("read_file out/{page}.md\n" + write("out"), ["FDC415"]),
        ("read_file out/{page}.md\nread_file out\n", ["FDC415"]),
        ("delete_file out/a/{page}.md\n" + write("out/a"), ["FDC415"]),
        (write("out/{page}.md") + write("out"), ["FDC415"]),
        ("read_file out/{page}.md\n" + write("out.md"), []),
        ("read_file out/{page}.md\n" + write("out/a.md"), []),
        ("fork x in {pages} max 3\n  read_file o/{x}/y.md\n  read_file o/y.md\n", []),
        (f"{EACH}  overwrite_file_with_block {{page}}\n    a\n  read_file pages/{{page}}\n", []),
    ],
)
def test_a_literal_folder_of_a_computed_path_is_no_file(
    workspace: Path, plan: str, found: list[str]
) -> None:
    (workspace / "o").mkdir()
    (workspace / "o/y.md").write_text("a")
    head = HEAD.replace("param page", "param pages\nparam page")
    (workspace / "a.plan").write_text(head + plan + TAIL)
    assert [code for code in codes(workspace) if code != "FDC704"] == found


def test_in_an_editor_a_loop_is_judged_by_what_now_stands_around_it(workspace: Path) -> None:
    session = api.Session(workspace=workspace)
    head = HEAD.replace("param page = a\n", "") + "page <- request_user_input Which?\n"
    around = ("", "message_user a\n", "message_user a\nread_file o/{page}\n")
    for more, found in zip(around, ([], [], ["FDC415"]), strict=True):
        text = f"{head}iterate max 2\n  read_file o/{{page}}/y.md\n{more}{TAIL}"
        done = session.check(Path("a.plan"), text=text).diagnostics
        assert [one.code for one in done if one.code == "FDC415"] == found, more


def test_a_tool_that_makes_folders_makes_no_file(workspace: Path) -> None:
    row = {
        "summary": "make a folder", "action": "write_op", "effect": "idempotent", "trust": "trusted",
        "run": {"command": ["mkdir", "-p", "{path}"]},
        "parameters": [{"name": "path", "kind": "path", "access": "create"}],
    }  # fmt: skip
    catalogue = {"format": 1, "name": "own", "tools": {"make_folder": row}}
    (workspace / "fdc_tools.json").write_text(json.dumps(catalogue))
    (workspace / "child.plan").write_text("param page\n" + write("{page}/y.md"))
    for body in (write("{page}/y.md"), "call_plan child.plan page={page}\n"):
        (workspace / "a.plan").write_text(HEAD + "make_folder {page}\n" + body + TAIL)
        done = fdc("lint", "a.plan", "--format", "concise", cwd=workspace)
        assert "1 plan proved" in done.stdout, done.stdout


def stops(workspace: Path, first: str, second: str, value: str) -> bool:
    """Whether a run stops at a file in a file; the cause that it names is never another process or a command."""
    (workspace / "a.plan").write_text(HEAD + write(first) + write(second) + TAIL)
    done = fdc("run", "a.plan", f"page={value}", cwd=workspace)
    for path in sorted(workspace.rglob("*"), reverse=True):
        if path.relative_to(workspace).parts[0] in ("out", "a", ".d"):
            path.rmdir() if path.is_dir() else path.unlink()
    if "goes through" not in done.stdout and "is not a regular file" not in done.stdout:
        return False
    assert "no other process puts a folder" not in done.stdout, (first, second, value)
    assert "an assumption of the proof was false" in done.stdout, (first, second, value)
    return True


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("out/{page}", "out/a/y.md", "a"),
        ("{page}", "out/a/y.md", "out"),
        ("out/{page}.d", "out/a.d/y.md", "a"),
    ],
)
def test_a_run_that_stops_at_a_file_in_a_file_names_its_assumption(
    workspace: Path, first: str, second: str, value: str
) -> None:
    assert stops(workspace, first, second, value)


@pytest.mark.soak
def test_every_stop_at_a_file_in_a_file_was_refused_or_assumed(workspace: Path) -> None:
    paths = ("out", "out/a", "out/{page}", "{page}", "out/{page}.d", "out/a.d/y.md", "out/a/y.md")
    stopped = 0
    for first, second in itertools.permutations(paths, 2):
        (workspace / "a.plan").write_text(HEAD + write(first) + write(second) + TAIL)
        if "{page}" in first + second and "FDC415" not in codes(workspace):
            stopped += sum(stops(workspace, first, second, value) for value in ("a", "out", ""))
    assert stopped > 10


@pytest.mark.parametrize("folder", ["{run}/a", "{p}"])
def test_what_a_step_made_a_folder_is_read_as_a_file_in_a_finding_that_shows_both(
    folder: str,
) -> None:
    plan = f"param p\n{write(f'{folder}/b.md')}message_user {{p}}\nread_file {folder}\n"
    [found] = findings(lint("# FSM: any.json\n" + plan), "FDC415")
    assert found.message == f"`{folder}` is a folder here, and this step uses it as a file"
    assert found.help == "name a file"
    assert (found.span.line, [label.span.line for label in found.labels]) == (6, [3])
