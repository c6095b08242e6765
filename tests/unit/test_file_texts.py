"""Files that steps read as text and that are none (FDC484): only where nothing before may have changed them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths

from tests.support.inside import fdc
from tests.support.linting import ANY, findings, lint

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\xe0"
READ = "read_file docs/x.md\n"
WRITE = "overwrite_file_with_block docs/x.md\n  text\n"
FORK = "l <- list_files docs\nfork n in {l} max 2"
DIFF = "replace_with_git_merge_diff docs/x.md\n  <<<<<<< SEARCH\n  a\n  =======\n  b\n  >>>>>>> REPLACE\n"


def wrong(plan: str, data: bytes = b"caf\xe9\n", called: str = READ) -> list[int]:
    files = {"a.plan": plan, "b.plan": called, "docs/x.md": data, "docs/y.md": b"tea"}
    found = [
        item
        for item in findings(lint(files, "a.plan"), "FDC484")
        if " as it is now: " in item.message
    ]
    assert all(
        "docs/x.md` as it is now: it is not UTF-8 text (byte 3)" in item.message for item in found
    ), found
    return [item.span.line for item in found]


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (READ, [1]), ("read_file ./docs//x.md\n", [1]), (DIFF, [1]), ("read_file docs/y.md\n" + READ, [2]),
        ("for_each_file docs/*\n  " + READ, [2]), ('x <- set_plan x\nif x == "a"\n  ' + READ, [3]),
        ("call_plan b.plan\n" + READ, [1, 2]),
        (FORK + "\n  " + READ, [3]), ("read_lines docs/x.md\n", [1]),
    ],
)  # fmt: skip
def test_a_run_that_comes_to_it_stops(plan: str, lines: list[int]) -> None:
    assert wrong(plan) == lines
    assert wrong(plan, "café\n".encode()) == []


@pytest.mark.parametrize(
    "plan",
    [
        WRITE + READ, "delete_file docs/x.md\n" + WRITE + READ, "run_in_bash_session make\n" + READ,
        WRITE + "view_image docs/x.md\n", "view_image docs/i.png\n", "view_image docs/none.png\n",
        'param p = "docs/x.md"\nread_file {p}\n', 'if "a" == "b"\n  ' + READ, "read_file docs/y.md\n",
        FORK + " keep failures\n  " + READ, "call_plan c.plan\n" + READ,
    ],
)  # fmt: skip
def test_what_may_be_another_text_by_then_is_no_error(plan: str) -> None:
    files = {
        "a.plan": plan,
        "c.plan": WRITE,
        "docs/x.md": b"caf\xe9\n",
        "docs/y.md": b"tea",
        "docs/i.png": PNG,
    }
    assert findings(lint(files, "a.plan"), "FDC484") == []


@pytest.mark.parametrize(
    "data", [b"", b"tea", b"caf\xe9", b"\x89PNG", PNG, b"GIF89a", b"\xff\xd8\xff\xe0", b"<svg/>"]
)
def test_lint_and_run_agree_on_what_is_an_image(workspace: Path, data: bytes) -> None:
    (workspace / "any.json").write_text(ANY)
    (workspace / "x.png").write_bytes(data)
    (workspace / "a.plan").write_text("# FSM: any.json\nview_image x.png\n")
    (workspace / "b.plan").write_text(
        '# FSM: any.json\nparam name = "x.png"\nview_image {name}\n'
    )  # its path is not looked at by lint
    linted = fdc("lint", "a.plan", cwd=workspace)
    ran = fdc("run", "b.plan", cwd=workspace)
    assert (linted.returncode, ran.returncode) in ((0, 0), (1, 1)), linted.stdout + ran.stdout
    if linted.returncode:
        assert "`x.png` as it is now: it is not a PNG" in " ".join(linted.stdout.split())


def test_a_verdict_from_the_cache_notices_that_a_file_is_text_now(workspace: Path) -> None:
    (workspace / "any.json").write_text(ANY)
    (workspace / "a.plan").write_text("# FSM: any.json\nread_file x.md\n")
    for data, code in ((b"caf\xe9", 1), (b"tea", 0), (b"\xff", 1), (b"", 0)):
        (workspace / "x.md").write_bytes(data)
        for _ in range(2):
            done = fdc("lint", "a.plan", cwd=workspace)
            assert done.returncode == code, done.stdout
    with open(workspace / "x.md", "wb") as file:
        file.truncate(32 * 1024 * 1024 + 1)
    for _ in range(2):
        assert "it has more than 33554432 bytes" in fdc("lint", "a.plan", cwd=workspace).stdout
    (workspace / "x.md").write_text("tea")
    assert fdc("lint", "a.plan", cwd=workspace).returncode == 0


ROW = {
    "summary": "x",
    "action": "read_op",
    "effect": "read",
    "trust": "workspace",
    "parameters": [],
    "run": {"python": "own:look"},
}
LATE = {**ROW, "run": {"python": "later:look"}}
CHANGE = "overwrite_file_with_block own.py\n  x = 1\n"
LOOK = "look\n"


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (CHANGE + LOOK, [3]), ("delete_file helper.py\n" + LOOK, [2]), ("rename_file own.py x.py\n" + LOOK, [2]),
        ("for_each_file docs/*\n  look\n  delete_file own.py\n  overwrite_file_with_block own.py\n    x\n", [2]),
        ("call_plan b.plan\n" + CHANGE + "call_plan b.plan\n", [4]),
        ("call_plan c.plan\n" + LOOK, [2]), (CHANGE + FORK + " keep failures\n  look\n", [5]),
        (FORK + " keep failures\n  call_plan b.plan\n" + CHANGE + "call_plan b.plan\n", [6]),
        (LOOK + CHANGE, []), ("overwrite_file_with_block other.py\n  x\n" + LOOK, []),
        ('x <- set_plan x\nif x == "a"\n  delete_file own.py\nelse\n  look\n', []),
        ("create_file_with_block later.py\n  x\nlate\n", [3]), ("create_file_with_block own/__init__.py\n  x\n" + LOOK, []),
        ("iterate max 1\n  look\n  delete_file own.py\n", []),
    ],
)  # fmt: skip
def test_a_tool_whose_code_an_earlier_step_changes_does_not_run(
    tmp_path: Path, plan: str, lines: list[int]
) -> None:
    """Else a proved plan stops: the runner compares the code with what was proved."""
    files = {
        "a.plan": plan, "b.plan": LOOK, "c.plan": CHANGE, "docs/y.md": "tea", "other.py": "x = 1\n",
        "own.py": "import helper\n\n\ndef look():\n    return helper.X\n", "helper.py": "X = 1\n",
        "fdc_tools.json": json.dumps({"format": 1, "name": "own", "tools": {"look": ROW, "late": LATE}}),
        "any.json": ANY, "fdc.toml": 'fsm = "any.json"\n',
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = findings(check_paths([f"{tmp_path}/a.plan"], str(tmp_path)), "FDC484")
    assert [item.span.line for item in found] == lines
    assert all(" is code of `l" in item.message for item in found)


@pytest.mark.parametrize("step", ["list_files", "grep ."])
@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("lnk/a", ["`lnk/a` goes through `lnk`, which is a symbolic link"]),
        ("lnk", ["`lnk` is a symbolic link: this step needs a file or a folder"]),
        ("docs/a", []),
        ("docs", []),
    ],
)
def test_no_search_begins_at_a_link_or_goes_through_one(
    tmp_path: Path, step: str, path: str, wrong: list[str]
) -> None:
    """The runner follows no link: such a plan was proved, and stopped, or found nothing without a word."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a").write_text("tea")
    (tmp_path / "lnk").symlink_to("docs")
    (tmp_path / "any.json").write_text(ANY)
    (tmp_path / "a.plan").write_text(f"# FSM: any.json\n{step} {path}\n")
    found = findings(check_paths([f"{tmp_path}/a.plan"], str(tmp_path)), "FDC415")
    assert [item.message for item in found] == wrong
