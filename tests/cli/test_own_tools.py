"""Python tools of a workspace in real runs: which code is run, and what is said where it is another one (finding B6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.process import fdc

LOOK = {
    "summary": "looks", "action": "read_op", "effect": "read", "trust": "workspace", "result": "text", "parameters": [],
    "run": {"python": "own:look"},
}  # fmt: skip
OWN = "from helper import word\n\ndef look():\n    return word()\n"
HELPER = "def word():\n    return 'honest'\n"
POISON = "open('ran', 'w').close()\n\ndef word():\n    return 'poison'\n\nlook = word\n"
HEAD, TAIL = (
    "set_plan x\nplan_step_complete x\n",
    "text <- look\nmessage_user {text}\nclose_task\nsubmit\n",
)
ASKS = f"{HEAD}answer <- request_user_input Go on?\n{TAIL}"


def laid_out(workspace: Path, plan: str, **more: object) -> None:
    tools = {"format": 1, "name": "own", "tools": {"look": {**LOOK, **more}}}
    (workspace / "fdc_tools.json").write_text(json.dumps(tools))
    (workspace / "own.py").write_text(OWN)
    (workspace / "helper.py").write_text(HELPER)
    (workspace / "a.plan").write_text(plan)


def digest(workspace: Path) -> str:
    return fdc("expand", "a.plan", "--digest", cwd=workspace).stdout.strip()


@pytest.mark.parametrize("name", ["own.py", "helper.py"])
def test_a_plan_that_overwrites_the_code_of_its_tool_does_not_run_it(
    workspace: Path, name: str
) -> None:
    """The finding: the new text was executed in the controller. Lint cannot know which file a glob finds."""
    block = "".join(f"      {line}\n" if line else "\n" for line in POISON.splitlines())
    laid_out(
        workspace,
        f"{HEAD}for_each_file {name}\n  overwrite_file_with_block {{file1}}\n{block}{TAIL}",
        access={"write": ["ran"]},
        effect="once",
    )
    done = fdc("run", "a.plan", cwd=workspace)
    assert 1 == done.returncode, done
    assert (
        f"`{name}` has changed since the plan was proved, so `own:look` is not run" in done.stdout
    )
    assert not (workspace / "ran").exists() and "poison" not in done.stdout


def test_a_tool_whose_code_the_plan_makes_is_not_run_either(workspace: Path) -> None:
    made = "create_file_with_block {p}\n    def look(): return 'poison'\n"
    plan = f"param p = later.py\n{HEAD}{made}{TAIL}"
    laid_out(workspace, plan, run={"python": "later:look"})
    done = fdc("run", "a.plan", cwd=workspace)
    assert (
        1 == done.returncode
        and "`later.py` is not among the files that the plan was compiled with" in done.stdout
    ), done


@pytest.mark.parametrize("name", ["own.py", "helper.py"])
@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_run_does_not_go_on_with_code_that_changed_while_it_waited(
    workspace: Path, name: str, how: str
) -> None:
    """Somebody changes a module, or what it imports, while a person is asked. Nothing is recorded; put back, the run goes on."""
    laid_out(workspace, ASKS)
    assert 5 == fdc("run", "a.plan", cwd=workspace).returncode
    before = fdc("show", "last", "--format", "json", cwd=workspace).stdout
    honest = (workspace / name).read_text()
    if how == "gone":
        (workspace / name).unlink()
    else:
        (workspace / name).write_text(POISON)
    done = fdc("resume", "last", "--answer", "yes", cwd=workspace)
    said = f"`{name}`, which its tools consist of, changed since the plan was proved; restore the file, or begin"
    assert 3 == done.returncode and said in done.stderr, done
    assert before == fdc("show", "last", "--format", "json", cwd=workspace).stdout
    (workspace / name).write_text(honest)
    done = fdc("resume", "last", "--answer", "yes", cwd=workspace)
    assert 0 == done.returncode and "honest" in done.stdout, done
    assert not (workspace / "ran").exists()


def test_the_code_of_a_tool_is_part_of_the_program_and_of_no_other(workspace: Path) -> None:
    laid_out(workspace, ASKS)
    first = digest(workspace)
    program = json.loads(fdc("expand", "a.plan", "--format", "json", cwd=workspace).stdout)
    assert ["helper.py", "own.py"] == list(program["modules"])
    (workspace / "unrelated.py").write_text("x = 1\n")
    assert first == digest(workspace)
    (workspace / "helper.py").write_text(HELPER + "# more\n")
    assert first != digest(workspace)
    (workspace / "a.plan").write_text(f"{HEAD}close_task\nsubmit\n")
    assert "modules" not in json.loads(
        fdc("expand", "a.plan", "--format", "json", cwd=workspace).stdout
    )


def test_a_plan_holds_its_tools_to_what_it_allows(workspace: Path) -> None:
    access = {"read": ["docs/**"], "write": ["out/**"]}
    laid_out(workspace, TAIL, access=access, effect="idempotent")
    for allow, wanted in (
        ("allow read docs/**\nallow write out/**\n", []),
        (
            "allow read docs/*\nallow write out/**\n",
            ["`look` may read `docs/**`, which `allow read` does not name"],
        ),
        (
            "allow read **\nallow write out/deep/**\n",
            ["`look` may write `out/**`, which `allow write` does not name"],
        ),
    ):
        (workspace / "a.plan").write_text(allow + HEAD + TAIL)
        found = json.loads(fdc("lint", "--format", "json", "a.plan", cwd=workspace).stdout)[
            "diagnostics"
        ]
        assert wanted == [one["message"] for one in found if one["code"] == "FDC451"], found


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"access": {"env": ["MY_API_KEY"]}}, "`MY_API_KEY` is named like a secret"),
        ({"access": {"env": ["PYTHONPATH"]}}, "`PYTHONPATH` controls how programs run"),
        ({"access": {"net": True}}, "what comes from the network is not trusted"),
        ({"access": {"write": ["../x"]}}, "`../x` leads out of the workspace"),
        ({"access": {"write": ["/etc/x"]}}, "expected a text like"),
        ({"access": {"read": ["docs/*.md"]}}, "expected a text like"),
        (
            {"access": {"read": ["docs/**"]}, "effect": "pure"},
            "a pure tool makes its result of its arguments alone",
        ),
        ({"access": {"reads": []}}, "unknown key `reads` in"),
        (
            {"access": {}, "run": {"prompt": "p.md", "role": "critic"}},
            "`access` is for tools that are Python functions",
        ),
    ],
)
def test_a_row_that_declares_what_cannot_be_is_a_finding(
    workspace: Path, row: dict[str, object], says: str
) -> None:
    laid_out(workspace, HEAD + TAIL, **row)
    assert says in fdc("lint", "a.plan", cwd=workspace).stdout


def test_text_from_outside_that_a_tool_can_read_is_in_its_result(workspace: Path) -> None:
    """A Python tool may carry it from any file that it reads to its result, whatever its `trust` says."""
    laid_out(
        workspace, f"{HEAD}text <- look\nread_file {{text}}\nclose_task\nsubmit\n", trust="trusted"
    )
    (workspace / "fdc.toml").write_text('untrusted = ["mail/**"]\n')
    assert "chooses the path" in fdc("lint", "a.plan", cwd=workspace).stdout
    laid_out(
        workspace, (workspace / "a.plan").read_text(), trust="trusted", access={"read": ["docs/**"]}
    )
    assert "chooses the path" not in fdc("lint", "a.plan", cwd=workspace).stdout


@pytest.mark.parametrize("folder", [False, True])
def test_code_that_a_link_leads_to_is_named_and_not_run(workspace: Path, folder: bool) -> None:
    """`own` was not found, and why was not said; in a folder that is a link the code "changed since the plan was proved"."""
    laid_out(workspace, f"{HEAD}{TAIL}")
    (workspace / "there").mkdir()
    if folder:
        (workspace / "own.py").rename(workspace / "there/__init__.py")
        (workspace / "own").symlink_to("there")
    else:
        (workspace / "own.py").rename(workspace / "there/own.py")
        (workspace / "own.py").symlink_to("there/own.py")
    done = fdc("run", "a.plan", cwd=workspace)
    named = "own/__init__.py" if folder else "own.py"
    assert 1 == done.returncode and f"; `{named}` is reached through a link" in done.stdout, done


def test_an_error_of_the_network_that_another_error_holds_is_told(workspace: Path) -> None:
    """URLError has no number of its own: the step failed with "success"."""
    laid_out(workspace, f"{HEAD}{TAIL}")
    asks = "import urllib.request\n\ndef look():\n    return urllib.request.urlopen('http://127.0.0.1:1')\n"
    (workspace / "own.py").write_text(asks)
    done = fdc("run", "a.plan", cwd=workspace)
    assert 1 == done.returncode, done
    assert "success" not in done.stdout and "connection refused" in done.stdout, done.stdout
