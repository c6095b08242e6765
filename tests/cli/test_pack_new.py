"""`fdc pack new`: what it writes is a pack that can be built, installed, checked, run and typed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.process import clean_environment, fdc


def python(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=clean_environment(env),
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.long
def test_a_new_pack_works_once_it_is_installed(workspace: Path, tmp_path: Path) -> None:
    done = fdc("pack", "new", "tea", str(tmp_path / "made"), cwd=workspace)
    assert 0 == done.returncode and "tea_pack/pack.toml" in done.stdout, done.stderr
    written = {str(path.relative_to(tmp_path)) for path in (tmp_path / "made").rglob("*.*")}
    names = {os.path.relpath(line, tmp_path) for line in done.stdout.splitlines()}
    assert {name for name in written if (tmp_path / name).is_file()} == names
    made, site = tmp_path / "made", tmp_path / "site"
    checked = fdc("pack", "check", str(made / "tea_pack"), cwd=workspace)
    assert 0 == checked.returncode, checked.stdout

    build = ["-m", "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path), str(made)]
    assert 0 == python(*build, cwd=tmp_path).returncode
    wheel = next(tmp_path.glob("*.whl"))
    into = ["-m", "pip", "install", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
    assert 0 == python(*into, cwd=tmp_path).returncode

    env = {"PYTHONPATH": str(site)}
    (workspace / "cup.md").write_text("one two three\n")
    done = fdc("tea", "cup.md", cwd=workspace, env=env)
    assert (0, "cup.md: 3 words\n") == (done.returncode, done.stdout), done.stderr
    done = fdc("tea", "nothing.md", cwd=workspace, env=env)
    assert 1 == done.returncode and "does not exist" in done.stderr
    (workspace / "own.plan").write_text(
        "use fsm tea\nuse pack tea\nx <- tea_count cup.md\nyield {x}\n"
    )
    done = fdc("lint", "own.plan", cwd=workspace, env=env)
    assert (0, "1 plan proved, no findings\n") == (done.returncode, done.stdout), done.stdout
    shutil.copytree(
        made, workspace / "fdc-tea"
    )  # where it is written, its plan is one of the workspace
    done = fdc("lint", "fdc-tea", cwd=workspace, env=env)
    assert (0, True) == (done.returncode, done.stdout.startswith("1 plan proved")), done.stdout
    tried = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=made, **env)
    assert 0 == tried.returncode and "2 passed" in tried.stdout, tried.stdout


@pytest.mark.soak
def test_a_new_pack_is_typed(workspace: Path, tmp_path: Path) -> None:
    fdc("pack", "new", "tea", str(tmp_path / "made"), cwd=workspace)
    typed = python("-m", "mypy", "--strict", "tea_pack", cwd=tmp_path / "made")
    assert 0 == typed.returncode, typed.stdout


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("Tea", 2, "cannot be the name of a pack"),
        ("../tea", 2, "cannot be the name of a pack"),
        ("t" * 41, 2, "cannot be the name of a pack"),
        ("lgtm", 1, "the name `lgtm` is taken"),
        ("lint", 1, "the name `lint` is taken"),
        ("fix", 1, "the name `fix` is taken"),
        ("fdc", 1, "the name `fdc` is taken by an automaton of fdc"),
        ("csdc_a", 1, "the name `csdc_a` is taken by an automaton of fdc"),
    ],
)
def test_a_name_that_cannot_be_is_refused(workspace: Path, name: str, code: int, said: str) -> None:
    before = sorted(workspace.iterdir())
    done = fdc("pack", "new", name, "made", cwd=workspace)
    assert code == done.returncode and said in done.stderr
    assert before == sorted(workspace.iterdir())


def test_the_command_for_a_folder_with_spaces_can_be_pasted(workspace: Path) -> None:
    done = fdc("pack", "new", "tea", "my packs/it's", cwd=workspace)
    assert """next: `pip install -e 'my packs/it'"'"'s'` into""" in done.stderr
    made = fdc("alphabet", "init", "my words", cwd=workspace)
    assert "`cd 'my words'` and" in made.stdout


def test_what_is_there_is_left_alone(workspace: Path) -> None:
    (workspace / "made").symlink_to("nowhere")
    done = fdc("pack", "new", "tea", "made", cwd=workspace)
    assert 1 == done.returncode and "`made` exists" in done.stderr
    (workspace / "file").write_text("")
    done = fdc("pack", "new", "tea", "file/made", cwd=workspace)
    assert 3 == done.returncode and "Traceback" not in done.stderr
    assert [] == [path for path in workspace.iterdir() if path.name.startswith(".fdc-pack")]
