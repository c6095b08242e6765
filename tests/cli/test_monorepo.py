"""Several workspaces in one repository, and commands that are typed in another folder than their workspace."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.background import fdc_started, wait_for
from tests.support.plans import CLEAN
from tests.support.process import fdc

RAGGED = CLEAN.replace("set_plan ", "set_plan   ")
NOTE = "fdc: note: "


@pytest.fixture
def mono(tmp_path: Path) -> Path:
    """A repository with the workspaces `one` and `two/deep`; the plan of each reads a file that only its folder has."""
    (tmp_path / ".git").mkdir()
    for name, mark in (("one", "fdc.toml"), ("two/deep", "pyproject.toml")):
        place = tmp_path / name
        (place / "docs").mkdir(parents=True)
        (place / "docs/tea.md").write_text("Tea.\n")
        (place / mark).write_text("[tool.fdc]\n" if mark == "pyproject.toml" else "")
        (place / "go.plan").write_text(CLEAN)
    return tmp_path


def test_without_paths_a_command_outside_means_its_workspace(mono: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.plan").write_text(RAGGED.replace("read_file", "raed_file"))
    (mono / "one/go.plan").write_text(RAGGED)
    for cwd, name in ((elsewhere, str(mono / "one")), (mono, "one")):
        for words in ((), ("--no-cache",)):
            done = fdc("lint", "--workspace", name, *words, cwd=cwd)
            assert (done.returncode, done.stdout) == (0, "1 plan proved, no findings\n"), done
        done = fdc("fmt", "--check", "--workspace", name, cwd=cwd)
        assert done.returncode == 1 and "other.plan" not in done.stdout, done
    assert 0 == fdc("fmt", "--workspace", str(mono / "one"), cwd=elsewhere).returncode
    assert (mono / "one/go.plan").read_text() == CLEAN
    assert (elsewhere / "other.plan").read_text().startswith(RAGGED[:20])
    (mono / "one/sub").mkdir()
    done = fdc("lint", "--workspace", "..", cwd=mono / "one/sub")
    assert done.stdout == "no plans found\n", "inside of the workspace the current folder counts"


def test_plans_of_another_workspace_are_told_of(mono: Path) -> None:
    for _ in range(3):  # also from the caches
        done = fdc("lint", cwd=mono)
        assert done.returncode == 1 and done.stdout.count("FDC411") == 2, done
        assert f"{NOTE}`one`, `two/deep` are workspaces" in done.stderr
        assert "fdc lint --workspace one\n" in done.stderr
    for words in (("two/deep/go.plan",), ("--no-cache", "two"), ("-f", "json", "two/deep")):
        done = fdc("lint", *words, cwd=mono)
        assert f"{NOTE}`two/deep` is a workspace" in done.stderr, done
    assert "fdc lint --workspace deep\n" in fdc("lint", "deep", cwd=mono / "two").stderr
    done = fdc("run", "one/go.plan", cwd=mono)
    assert done.returncode == 1 and f"{NOTE}`one` is a workspace" in done.stderr, done
    for words in (("lint", "--workspace", "one"), ("run", "--workspace", "one", "one/go.plan")):
        done = fdc(*words, cwd=mono)
        assert done.returncode == 0 and NOTE not in done.stderr, done
    (mono / "fdc.toml").write_text('exclude = ["one/", "two/"]\n')
    done = fdc("lint", cwd=mono)
    assert (done.returncode, done.stdout, done.stderr) == (0, "no plans found\n", ""), done
    assert NOTE not in fdc("lint", "-q", "one", cwd=mono).stderr


def test_a_repository_inside_is_no_other_workspace_for_the_search(mono: Path) -> None:
    """Its plans are linted with those around it (docs/hooks.md)."""
    (mono / "one/fdc.toml").rename(mono / "one/.git")
    done = fdc("lint", "one", cwd=mono)
    assert done.returncode == 1 and NOTE not in done.stderr, done


def test_a_run_is_not_detached_without_a_database(mono: Path) -> None:
    done = fdc("run", "--detach", "go.plan", cwd=mono / "one")
    assert done.returncode == 2 and "`--detach` needs `--database`" in done.stderr, done
    assert not (mono / "one/.fdc").exists()


def test_the_hooks_check_the_workspace_that_they_name(mono: Path) -> None:
    """docs/hooks.md: each hook with `--workspace`, from the top of the repository."""
    assert 0 == fdc("init", "one", cwd=mono).returncode
    hook = ("protocols", "--check", "--workspace", "one")
    assert "AGENTS.md is up to date" in fdc(*hook, cwd=mono).stdout
    (mono / "one/protocols/more.protocol.md").write_text("# More\n\nBe brief.\n")
    assert 1 == fdc(*hook, cwd=mono).returncode
    assert 0 == fdc("protocols", "--workspace", "one", cwd=mono).returncode
    assert "Be brief." in (mono / "one/AGENTS.md").read_text()
    assert not (mono / "AGENTS.md").exists()
    for name in (("--check",), ("--workspace", "one")):
        done = fdc("protocols", *name, "build", cwd=mono)
        assert done.returncode == 2 and f"write `{name[0]}` after `build`" in done.stderr, done


@pytest.mark.parametrize("form", ["github", "gitlab", "sarif", "junit"])
def test_what_a_code_host_reads_names_files_from_the_top_of_the_repository(
    mono: Path, form: str
) -> None:
    """An annotation of `plans/a.plan` is shown nowhere if the repository has the file as `shops/tea/plans/a.plan`."""
    plan = mono / "two/deep/go.plan"
    plan.write_text(CLEAN.replace("read_file", "raed_file"))
    paths = set()
    for words, cwd in (
        (("--workspace", "two/deep"), mono), ((), mono / "two/deep"), (("go.plan", "--no-cache"), mono / "two/deep"),
        (("--fix",), mono / "two/deep"),
    ):  # fmt: skip
        for _ in range(2):  # once more from the cache
            done = fdc("lint", "--format", form, *words, cwd=cwd)
            assert done.returncode == 1, done
            paths |= set(re.findall(r"[\w/.]*go\.plan", done.stdout))
    assert paths == {"two/deep/go.plan"}
    if form == "sarif":
        [result] = json.loads(done.stdout)["runs"][0]["results"]
        assert "raed_file" in result["locations"][0]["physicalLocation"]["contextRegion"]["snippet"]["text"]  # fmt: skip
        [change] = result["fixes"][0]["artifactChanges"]
        assert change["artifactLocation"]["uri"] == "two/deep/go.plan"
    one = fdc("lint", "--format", "json", "--workspace", "two/deep", cwd=mono)
    assert json.loads(one.stdout)["diagnostics"][0]["path"] == "go.plan"


@pytest.mark.parametrize("form", ["text", "concise", "llm"])
def test_what_people_and_agents_read_names_files_from_where_they_are(mono: Path, form: str) -> None:
    """`go.plan:5` could not be opened where `fdc lint --workspace two/deep` was typed, as `a.plan` of `fdc fmt` could."""
    (mono / "two/deep/go.plan").write_text(CLEAN.replace("read_file", "raed_file"))
    (mono / "two/deep/in").mkdir()
    for words, cwd, path in (
        (("--workspace", "two/deep"), "", "two/deep/go.plan"), ((), "two/deep", "go.plan"),
        (("../go.plan",), "two/deep/in", "../go.plan"), (("../go.plan", "--no-cache"), "two/deep/in", "../go.plan"),
        (("--fix", "../go.plan"), "two/deep/in", "../go.plan"),
    ):  # fmt: skip
        for _ in range(2):  # once more from the cache
            done = fdc("lint", "--format", form, *words, cwd=mono / cwd)
            assert done.returncode == 1, done
            assert {path} == set(re.findall(r"[\w/.]*go\.plan", done.stdout)), (words, done)
            if form == "text":
                assert "raed_file docs" in done.stdout  # the line of the file
    refused = fdc("run", "../go.plan", cwd=mono / "two/deep/in")
    assert refused.returncode == 1 and " --> ../go.plan:" in refused.stderr, refused


@pytest.mark.long
def test_a_first_run_below_a_command_keeps_its_record(mono: Path) -> None:
    """When the command ends, what it made of protected names is taken away: a new `.fdc` below would be, too."""
    (mono / "slow.plan").write_text(
        "set_plan x\nplan_step_complete one\n"
        "run_in_bash_session touch began; while [ ! -e go ]; do sleep 0.02; done\nclose_task\nsubmit\n"
    )
    with fdc_started("run", "slow.plan", cwd=mono) as process:
        wait_for((mono / "began").exists)
        done = fdc("run", "go.plan", cwd=mono / "two/deep")
        assert done.returncode == 3 and f"in the workspace {mono} is under way" in done.stderr, done
        assert not (mono / "two/deep/.fdc").exists()
        (mono / "go").touch()
        assert process.wait(60) == 0, "the command made nothing that is protected"
    assert 0 == fdc("run", "go.plan", cwd=mono / "two/deep").returncode
    (mono / "go").unlink()
    (mono / "began").unlink()
    with fdc_started("run", "slow.plan", cwd=mono) as process:
        wait_for((mono / "began").exists)
        assert 0 == fdc("run", "go.plan", cwd=mono / "two/deep").returncode, (
            "it has a record already"
        )
        (mono / "go").touch()
        assert process.wait(60) == 0
    assert 2 == fdc("verify", cwd=mono / "two/deep").stdout.count(": whole")


@pytest.mark.long
def test_so_does_one_below_a_command_that_was_killed_with_its_fdc(mono: Path) -> None:
    (mono / "slow.plan").write_text(
        "set_plan x\nplan_step_complete one\n"
        "run_in_bash_session touch began; sleep 60\nclose_task\nsubmit\n"
    )
    with fdc_started("run", "slow.plan", cwd=mono) as process:
        wait_for((mono / "began").exists)
        process.kill()
        process.wait(60)
    done = fdc("run", "go.plan", cwd=mono / "two/deep")
    assert done.returncode == 3 and "was killed with its fdc" in done.stderr, done
    assert 5 == fdc("resume", cwd=mono).returncode
    assert 0 == fdc("run", "go.plan", cwd=mono / "two/deep").returncode
    assert 0 == fdc("resume", "--assume", "done", cwd=mono).returncode
    assert ": whole" in fdc("verify", "last", cwd=mono / "two/deep").stdout
