"""The folder of a run for text from outside: no file takes its place, git sees nothing of it, and a stop says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.inside import fdc
from tests.support.linting import ANY, findings, lint

ASSUMED = (
    "stays inside the workspace and outside of protected files, exists where a step reads it, "
    "and is absent where a step creates it"
)
WRITE = "overwrite_file_with_block {path}\n  text\n"


@pytest.mark.parametrize(
    "path",
    ["{run}/outside", "{run}//outside/", "./{run}/outside", "runs/a/outside", "{run}", "{run}/."],
)
def test_no_file_takes_its_place(path: str) -> None:
    which = " for text from outside" if "outside" in path else ""
    said = f"is the run's folder{which}: a step cannot replace it"
    for step in (WRITE, "create_file_with_block {path}\n  text\n", "rename_file a.txt {path}\n"):
        found = findings(lint({"a.plan": step.replace("{path}", path)}, there=("a.txt",)), "FDC415")
        assert [True] == [said in item.message for item in found], step
    for other in (
        "{run}/outside/x",
        "{run}/outsider",
        "runs/outside",
        "{run}/x/outside",
        "{run}x",
        "runs/a",
    ):
        assert [] == findings(lint(WRITE.replace("{path}", other)), "FDC415")


@pytest.mark.parametrize(
    ("path", "line"), [("{run}/outside/x", 3), ("{run}/./outside/x", 3), ("{run}/x", 0)]
)
def test_git_sees_nothing_of_it(path: str, line: int) -> None:
    found = findings(lint(WRITE.replace("{path}", path) + f"git_add {path}\n"), "FDC484")
    assert [line] * bool(line) == [item.span.line for item in found]
    assert findings(lint("git_add .git/config\n", whole=True), "FDC484")


@pytest.mark.parametrize(
    ("steps", "said", "assumed"),
    [
        (
            WRITE.replace("{path}", "{run}/{p}") + "run_in_bash_session ls\n",
            "a step cannot replace it",
            ASSUMED,
        ),
        (
            WRITE.replace("{path}", "{run}/{p}/x") + "git_add {run}/{p}/x\n",
            "git must not use",
            "",
        ),
    ],
)
def test_a_value_that_leads_there_is_the_cause(
    workspace: Path, steps: str, said: str, assumed: str
) -> None:
    (workspace / "any.json").write_text(ANY)
    (workspace / "a.plan").write_text(f'param p = "outside"\nuse fsm any.json\n{steps}')
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 1 and said in done.stdout, done.stdout + done.stderr
    told = [
        line
        for line in done.stdout.splitlines()
        if line.startswith("an assumption of the proof was false: ")
    ]
    whys = [line.rpartition("` ")[2].removesuffix(" (a.plan:3)") for line in told]
    assert whys == ([assumed] if assumed else []), done.stdout
