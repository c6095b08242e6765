"""Files of called plans whose path a call gives: judged at the call as if it stood in the step (A8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths

from tests.support.linting import ANY, findings, lint

WRITE = "param p\noverwrite_file_with_block {p}\n  text\n"
READ = "param p\nt <- read_file {p}\nmessage_user {t}\n"
GIT = WRITE + "git_add {p}\n"


@pytest.mark.parametrize(
    ("plan", "path", "code"),
    [
        (WRITE, "docs", "FDC415"),
        (WRITE, "link/new", "FDC415"),
        (WRITE, "README.md/x", "FDC415"),
        (WRITE, "{run}", "FDC415"),
        (WRITE, "{run}/outside", "FDC415"),
        (WRITE, "/tmp/x", "FDC416"),
        (WRITE, "../x", "FDC416"),
        (WRITE, "{run}/../x", "FDC416"),
        (WRITE, "x/", "FDC416"),
        (WRITE, "h" * 300, "FDC416"),
        (WRITE, ".git/hooks/x", "FDC417"),
        (WRITE, "AGENTS.md", "FDC417"),
        (READ, "docs", "FDC415"),
        (READ, "link/a.md", "FDC415"),
        (READ, "README.md/x", "FDC415"),
        (READ, "../x", "FDC416"),
        (READ, ".env", "FDC418"),
        (GIT, "{run}/outside/x", "FDC484"),
        (WRITE, "new", ""),
        (READ, "docs/a.md", ""),
        (WRITE, "{run}/x", ""),
    ],
)
def test_a_path_that_a_call_gives_is_judged_where_the_call_stands(
    workspace: Path, plan: str, path: str, code: str
) -> None:
    (workspace / "any.json").write_text(ANY)
    (workspace / "docs").mkdir()
    for name in ("README.md", "docs/a.md", ".env"):
        (workspace / name).write_text("A=1\n")
    (workspace / "link").symlink_to("docs")
    (workspace / "sub.plan").write_text(plan)
    middle = 'param q\nparam none = ""\ncall_plan sub.plan p={none}{q}\n'
    (workspace / "middle.plan").write_text(middle)
    (workspace / "a.plan").write_text(f"use fsm any.json\ncall_plan sub.plan p={path}\n")
    (workspace / "b.plan").write_text(f"use fsm any.json\ncall_plan middle.plan q={path}\n")
    checked = check_paths([str(workspace / "a.plan"), str(workspace / "b.plan")], str(workspace))
    found = [
        item for item in findings(checked) if item.code != "FDC441"
    ]  # no step reads what is written
    said = [(Path(item.span.path).name, item.span.line, item.code) for item in found]
    assert said == ([("a.plan", 2, code), ("b.plan", 2, code)] if code else []), said


def test_an_empty_path_is_refused_in_a_step_and_assumed_of_a_call() -> None:
    checked = lint('use fsm any.json\noverwrite_file_with_block ""\n  x\n')
    assert ["the path is empty"] == [item.message for item in findings(checked, "FDC416")]
    for sub in (
        'param p = ""\nif p\n  overwrite_file_with_block {p}\n    x\n',
        'param p = ""\nif p\n  t <- read_file {p}\n  message_user {t}\n',
        "param p\nif p\n  overwrite_file_with_block {p}\n    x\n",
        'param p = ""\nl <- list_files\nfor x in {l} max 3\n  read_file {x}\ndelete_file {p}\n',
    ):
        given = "" if "=" in sub.split("\n")[0] else ' p=""'
        checked = lint(
            {"a.plan": f"use fsm any.json\ncall_plan sub.plan{given}\n", "sub.plan": sub}, "a.plan"
        )
        assert not [item for item in findings(checked) if item.code not in ("FDC441", "FDC313")]
        assert "FDC703" in {item.code for item in checked.assumptions}, sub


def test_what_a_value_decides_is_assumed_and_not_refused() -> None:
    for bound in ("p <- request_user_input a\n", "p <- request_user_input a\np <- read_file {p}\n"):
        plan = f"use fsm any.json\n{bound}call_plan sub.plan p={{p}}\n"
        checked = lint({"a.plan": plan, "sub.plan": WRITE}, "a.plan")
        assert not findings(checked, "FDC415", "FDC416", "FDC417")
        assert "FDC703" in {item.code for item in checked.assumptions}
    again = "param p\nif p\n  p <- request_user_input a\noverwrite_file_with_block {p}\n  x\n"
    checked = lint(
        {"a.plan": "use fsm any.json\ncall_plan b.plan p=../x\n", "b.plan": again}, "a.plan"
    )
    assert not findings(checked, "FDC416")
