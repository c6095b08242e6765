"""Which plans a folder means: what git would ignore is left out, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fdc_toolchain.linking.project.discover import find_plans
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.process import clean_environment

FILES = [
    "a.plan",
    "plan.txt",
    "b/a.plan",
    "b/c/d.plan",
    "b/c/plan.txt",
    "build/x.plan",
    "b/build/y.plan",
]
FILES += ["e f/g.plan.txt"]
LINES = st.sampled_from(
    ["a.plan", "/a.plan", "*.plan", "!a.plan", "b/", "/b/c", "build", "build/", "**/build", "b/**", "c/*.plan",
     "!/b/c/d.plan", "[ab].plan", "?.plan", "# a.plan", "", "plan.*", "!plan.txt", "e f", "e\\ f/", "*.txt", "!*.txt",
     "b/*/d.plan", "  b", "[!a].plan", "b ", "**", "d.plan/"]
)  # fmt: skip


# Not among them: `!**/`. pathspec lets a pattern for folders speak of the files in them too, so a
# folder that is taken back after its content was left out is not read as git reads it.


def make(folder: Path, ignores: dict[str, list[str]]) -> None:
    for name in FILES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("submit\n")
    for name, lines in ignores.items():
        (folder / name / ".gitignore").write_text("\n".join(lines) + "\n")


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.dictionaries(st.sampled_from([".", "b", "b/c"]), st.lists(LINES, max_size=3), max_size=2))
def test_a_folder_means_the_plans_that_git_does_not_ignore(
    tmp_path_factory: pytest.TempPathFactory, ignores: dict[str, list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("repository")
    make(folder, ignores)
    git = ["git", "-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=off"]
    environment = {**clean_environment(), "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run([*git, "init", "-q"], cwd=folder, env=environment, check=True)
    list_files = [*git, "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(
        list_files, cwd=folder, env=environment, check=True, capture_output=True
    ).stdout
    expected = [name for name in FILES if name in listed.decode().split("\0")]
    found = find_plans([str(folder)], str(folder))
    assert sorted(expected) == sorted(os.path.relpath(path, folder) for path in found)


def test_named_files_are_meant_and_each_plan_once(workspace: Path) -> None:
    make(workspace, {})
    expected = ["b/c/d.plan", "notes.md", "./a.plan", "b/a.plan", "b/build/y.plan", "b/c/plan.txt"]
    assert expected == find_plans(
        ["b/c/d.plan", "notes.md", "./a.plan", "b", "a.plan"], str(workspace)
    )


def test_a_folder_is_sorted_part_by_part(workspace: Path) -> None:
    make(workspace, {})
    expected = [
        "a.plan",
        *(f"b/{name}" for name in ("a.plan", "build/y.plan", "c/d.plan", "c/plan.txt")),
    ]
    expected += ["build/x.plan", "e f/g.plan.txt", "plan.txt"]
    assert expected == find_plans(["."], str(workspace))
    assert [f"{workspace}/{name}" for name in expected] == find_plans(
        [str(workspace)], str(workspace)
    )


def test_folders_of_tools_are_skipped_unless_named(workspace: Path) -> None:
    for name in (".git", ".venv", "node_modules", ".fdc", "plans/__pycache__"):
        Path(name).mkdir(parents=True)
        Path(name, "x.plan").write_text("submit\n")
    assert [] == find_plans(["."], str(workspace))
    assert ["node_modules/x.plan"] == find_plans(["node_modules"], str(workspace))


def test_an_ignored_folder_that_is_named_is_searched(workspace: Path) -> None:
    make(workspace, {".": ["build/", "b/c/"], "b/c": ["d.plan"]})
    assert ["a.plan", "b/a.plan", "e f/g.plan.txt", "plan.txt"] == find_plans(["."], str(workspace))
    assert ["build/x.plan"] == find_plans(["build"], str(workspace))
    assert ["b/c/plan.txt"] == find_plans(["b/c"], str(workspace))


def test_what_is_no_plan_and_no_file_is_not_found(workspace: Path) -> None:
    os.mkfifo("pipe.plan")
    os.mkdir("folder.plan")
    os.symlink("nowhere", "dangling.plan")
    os.symlink(".", "loop")
    Path("real.plan").write_text("submit\n")
    os.symlink("real.plan", "link.plan")
    assert ["link.plan", "real.plan"] == find_plans(["."], str(workspace))


def test_exclude_is_written_as_in_a_gitignore_from_the_root(workspace: Path) -> None:
    make(workspace, {})
    exclude = ("/b/*", "!/b/a.plan", "*.txt")
    assert ["a.plan", "b/a.plan", "build/x.plan"] == find_plans(["."], str(workspace), exclude)
    assert ["b/a.plan"] == find_plans(["b"], str(workspace), exclude)
    assert ["b/c/d.plan"] == find_plans(["b/c/d.plan"], str(workspace), exclude)


def test_no_library_is_imported_where_no_line_could_matter(workspace: Path) -> None:
    """A clean lint searches folders on every start."""
    make(workspace, {".": ["dist/", "/logs", "*.egg-info/", "# a.plan", "plan.md"]})
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from fdc_toolchain.linking.project.discover import find_plans\n"
        "before = set(sys.modules); print(len(find_plans(['.'], '.'))); print(sorted(set(sys.modules) - before))"
    )
    tooling = str(Path(__file__).resolve().parents[2] / "tooling")
    done = subprocess.run(
        [sys.executable, "-c", script, tooling], capture_output=True, text=True, check=True
    )
    assert "8\n[]\n" == done.stdout


def test_a_link_to_itself_is_no_plan_and_hides_none(tmp_path: Path) -> None:
    (tmp_path / "a.plan").write_text("")
    for name in ("b.plan", "PLAN", "gone.plan"):
        (tmp_path / name).symlink_to(name)
    assert [str(tmp_path / "a.plan")] == find_plans([str(tmp_path)], str(tmp_path))
