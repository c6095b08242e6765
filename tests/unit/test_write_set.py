"""What a program may write, and whether two such sets meet (FDC issue 12, "two runs, one workspace"; `program.write_set`)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.check import check, program_of
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.program.write_set import WriteSet, of_json, shown, write_set

END = "close_task\nsubmit\n"


def program(root: Path, body: str, name: str = "p.plan") -> dict[str, Any]:
    """The program of a plan with this text below `set_plan`; lines before it may begin with `param`, `allow`."""
    head, _, rest = body.rpartition("\n---\n")
    text = f"{head}\n" * bool(head) + f"set_plan P\nplan_step_complete planned\n{rest}" + END
    (root / name).write_text(text)
    checked = check(Linker(str(root), Settings()), [name], whole=True)
    assert not [one for one in checked.diagnostics if one.severity == "error"], checked.diagnostics
    return dict(program_of(checked))


def written(root: Path, body: str, run: str = "r1", **given: str) -> WriteSet:
    return write_set(program(root, body), {"given": given, "builtin": {"run": f"runs/{run}"}})


ASK = "x <- request_user_input X?\n"
WRITE = "overwrite_file_with_block {}\n    x\n"
COMMAND = "run_in_bash_session make\n"


def test_paths_are_known_where_the_text_or_the_inputs_say_them(workspace: Path) -> None:
    found = written(
        workspace,
        'param out = "a.txt"\n---\n' + WRITE.format("{out}") + WRITE.format("./docs//b.md"),
        out="c.txt",
    )
    assert (
        {"c.txt", "docs/b.md"} == found.shared.names
        and not found.shared.globs
        and not any(found.own)
    )
    found = written(workspace, 'param out = "a.txt"\n---\n' + WRITE.format("out/{out}.md"))
    assert {"out/a.txt.md"} == found.shared.names


def test_what_is_computed_stands_for_every_text(workspace: Path) -> None:
    found = written(
        workspace, "answer <- request_user_input Which?\n" + WRITE.format("out/{answer}.md")
    )
    assert ["out/**.md"] == [shown(glob) for glob in found.shared.globs]
    again = written(
        workspace,
        'param out = "a"\n---\nout <- request_user_input Which?\n' + WRITE.format("{out}/x.md"),
        out="b",
    )
    assert ["**x.md"] == [shown(glob) for glob in again.shared.globs], (
        "a step gives the name another value"
    )


def test_files_of_a_loop_are_its_glob(workspace: Path) -> None:
    (workspace / "docs").mkdir()
    (workspace / "docs" / "a.md").write_text("x\n")
    found = written(
        workspace, "for_each_file docs/*.md\n    overwrite_file_with_block {file1}.out\n        x\n"
    )
    assert ["docs/*.md.out"] == [shown(glob) for glob in found.shared.globs]


def test_a_called_plan_writes_what_it_is_called_with(workspace: Path) -> None:
    (workspace / "sub.plan").write_text("param to\n" + WRITE.format("out/{to}.md"))
    found = written(workspace, "call_plan sub.plan to=one\ncall_plan sub.plan to=two\n")
    assert {"out/one.md", "out/two.md"} == found.shared.names and not found.shared.globs


def test_a_command_writes_what_every_allow_above_it_names(workspace: Path) -> None:
    assert ["**"] == [shown(glob) for glob in written(workspace, COMMAND).shared.globs]
    allow = "allow run *\nallow read **\nallow write build/** dist/*.whl\n---\n"
    found = written(workspace, allow + COMMAND)
    assert {"build/**", "dist/*.whl"} == {shown(glob) for glob in found.shared.globs}
    none = written(workspace, "allow run *\nallow read **\n---\n" + COMMAND)
    assert not none
    looks = written(workspace, "run_in_bash_session wc README.md\n")
    assert not looks, "a command that only looks at data"


def test_the_runs_own_folder_is_no_other_runs(workspace: Path) -> None:
    body = WRITE.format("{run}/note.md")
    mine, other = written(workspace, body, "r1"), written(workspace, body, "r2")
    assert {"runs/r1/note.md"} == mine.own.names and not any(mine.shared)
    assert mine.meets(other) is None and mine.meets(written(workspace, COMMAND, "r2")) is None
    assert "runs/r1/note.md" == mine.meets(written(workspace, body, "r1")), (
        "a run that was forked keeps the folder"
    )


def test_a_simulated_run_writes_nothing(workspace: Path) -> None:
    assert not write_set(
        program(workspace, COMMAND), {"simulate": {}, "builtin": {"run": "runs/x"}}
    )


@pytest.mark.parametrize(
    ("one", "two", "path"),
    [
        (WRITE.format("a.md"), WRITE.format("a.md"), "a.md"),
        (WRITE.format("a.md"), WRITE.format("b.md"), None),
        (WRITE.format("out"), WRITE.format("out/b.md"), "out/b.md"),
        (WRITE.format("out/a.md"), WRITE.format("outer"), None),
        (ASK + WRITE.format("out/{x}.md"), WRITE.format("out/b.md"), "out/b.md"),
        (ASK + WRITE.format("out/{x}.md"), WRITE.format("out/b.txt"), None),
        (ASK + WRITE.format("out/{x}/b.txt"), WRITE.format("out/b.txt"), "out/b.txt"),
        (ASK + WRITE.format("out/{x}"), WRITE.format("out"), "out"),
        (ASK + WRITE.format("a/{x}.md"), ASK + WRITE.format("b/{x}.md"), None),
        (ASK + WRITE.format("a/{x}.md"), ASK + WRITE.format("a/b{x}"), "a/**.md"),
        (ASK + WRITE.format("a/.{x}"), WRITE.format("b"), "b"),
        (COMMAND, WRITE.format("deep/er/a.md"), "deep/er/a.md"),
        (COMMAND, COMMAND, "**"),
        (COMMAND, "read_file README.md\n", None),
        ("allow run *\nallow read **\nallow write build/**\n---\n" + COMMAND, WRITE.format("src/a.md"), None),
        ("allow run *\nallow read **\nallow write build/**\n---\n" + COMMAND, WRITE.format("build/a"), "build/a"),
    ],
)  # fmt: skip
def test_two_runs_meet_where_one_path_may_be_written_by_both(
    workspace: Path, one: str, two: str, path: str | None
) -> None:
    (workspace / "README.md").write_text("x\n")
    mine, other = written(workspace, one, "r1"), written(workspace, two, "r2")
    assert path == mine.meets(other)
    assert (path is None) == (other.meets(mine) is None)


def test_it_is_the_same_after_it_was_written_down(workspace: Path) -> None:
    found = written(
        workspace, ASK + WRITE.format("out/{x}.md") + WRITE.format("a") + WRITE.format("{run}/b")
    )
    assert found == of_json(json.loads(json.dumps(found.to_json())))


def test_a_plan_that_calls_in_very_many_ways_is_taken_for_anything() -> None:
    nested = {
        "root": "s0", "tools": {"w": {"parameters": [{"name": "path", "kind": "path", "access": "write"}]}},
        "plans": {
            f"s{depth}": {"params": [{"name": "to", "default": ""}], "body": [
                {"op": "call", "plan": f"s{depth + 1}", "args": {"to": [{"ref": ["to"]}, end]}, "bind": None} for end in "ab"
            ] if depth < 12 else [{"op": "step", "tool": "w", "args": {"path": ["out/", {"ref": ["to"]}]}, "bind": None}]}
            for depth in range(13)
        },
    }  # fmt: skip
    began = time.process_time()
    assert ["**"] == [shown(glob) for glob in write_set(nested, {}).shared.globs]
    assert time.process_time() - began < 2.0
