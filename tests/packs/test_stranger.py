"""A pack of somebody who read `docs/packs.md` and nothing else, used both ways with the same sources: installed, and as a folder.

It has a Python tool, a command, a prompt, a predicate, an automaton, a plan, and a command of `fdc`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.messages_api import messages_api, reply
from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

STRANGER = Path(__file__).parent / "stranger"
CLI = str(ROOT / "tooling" / "fdc_cli.py")
NOTES = "TODO: buy tea\nAnna\nTODO: boil water\nAnna\n"
OWN = "use fsm stranger\nuse pack stranger\nitems <- open_items notes.md\nyield {items}\n"
TOOLS = {"open_items", "people_of", "propose_title", "confirm_title", "file_minutes", "has_items"}


class Way(NamedTuple):
    """How the pack is used: in which workspace, with which Python."""

    workspace: Path
    python: str

    def fdc(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        if self.python == sys.executable:
            return fdc(*words, cwd=self.workspace, env=env)
        return subprocess.run(
            [self.python, CLI, *words],
            cwd=self.workspace,
            env=clean_environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of an empty environment with what fdc needs, and the pack's wheel."""
    home = tmp_path_factory.mktemp("stranger")
    shutil.copytree(STRANGER, home / "sources")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", ".", "sources"]
    subprocess.run(build, cwd=home, env=clean_environment(), check=True, capture_output=True)
    venv.create(home / "env", symlinks=True, with_pip=False)
    site = next(home.glob("env/lib/python*/site-packages"))
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "those.pth").write_text("".join(f"{path}\n" for path in sorted(paths)))
    into = ["-m", "pip", "install", "--no-deps", "--no-index", "--target", str(site)]
    wheel = next(home.glob("*.whl"))
    subprocess.run([sys.executable, *into, str(wheel)], env=clean_environment(), check=True, capture_output=True)  # fmt: skip
    return str(home / "env" / "bin" / "python")


@pytest.fixture(params=["folder", "wheel"])
def way(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Way]:
    (workspace / "notes.md").write_text(NOTES)
    if request.param == "wheel":
        yield Way(workspace, request.getfixturevalue("installed"))
        assert not (workspace / "packs").exists()
    else:
        shutil.copytree(STRANGER / "stranger_pack", workspace / "packs" / "stranger")
        yield Way(workspace, sys.executable)


@pytest.mark.long
def test_its_command_goes_from_the_notes_to_the_minutes(way: Way) -> None:
    """The prompt is answered by a model, the title by a person who comes later; the run folder remembers it."""
    with messages_api([reply("Tea and water")]) as server:
        model = {
            "FDC_MODEL": "claude-test", "ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": server.url,
        }  # fmt: skip
        waits = way.fdc("minutes", "notes.md", **model)
        assert 5 == waits.returncode, waits.stdout + waits.stderr
        assert (
            "Title `Tea and water`? Enter `yes`, or another title." in waits.stdout + waits.stderr
        )
        assert 0 == way.fdc("answer", "last", "Tea Time").returncode
        done = way.fdc("resume", "last", **model)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "title: Tea Time" in done.stdout and "Tea Time: minutes/tea-time.md" in done.stdout
    [asked] = server.requests
    assert "buy tea" in json.dumps(asked["messages"])
    text = (way.workspace / "minutes" / "tea-time.md").read_text()
    mark, _, rest = text.partition("\n")
    assert re.fullmatch(r"<!-- \S+:main/3\.then/3 -->", mark), text
    items = "# Tea Time\n\n- [ ] buy tea\n- [ ] boil water\n"
    assert f"{items}\nAnna\nTODO: boil water\nTODO: buy tea\n" == rest


@pytest.mark.slow
def test_a_plan_uses_its_tools_where_it_says_so(way: Way) -> None:
    plan = way.workspace / "own.plan"
    plan.write_text(OWN)
    done = way.fdc("lint", "own.plan")
    assert (0, "1 plan proved, no findings\n") == (done.returncode, done.stdout), done.stdout
    done = way.fdc("run", "own.plan", "--format", "json")
    assert ["buy tea", "boil water"] == json.loads(done.stdout)["result"], done.stderr

    told = json.loads(way.fdc("tools", "--pack", "stranger", "--format", "json").stdout)
    assert {one["name"] for one in told["tools"] if one["from"]["name"] == "stranger"} == TOOLS
    assert not TOOLS & {one["name"] for one in json.loads(way.fdc("tools", "--format", "json").stdout)["tools"]}  # fmt: skip

    plan.write_text(OWN.replace("use pack stranger\n", ""))
    done = way.fdc("lint", "own.plan")
    assert 1 == done.returncode and "`open_items` is of the pack `stranger`" in done.stdout
    assert 0 == way.fdc("lint", "own.plan", "--fix").returncode
    assert "use pack stranger\n" in plan.read_text()


@pytest.mark.slow
def test_help_and_lists_show_it_and_import_nothing_of_it(way: Way) -> None:
    poison = "raise SystemExit('imported')\n"
    for path in (way.workspace / "packs").rglob("*.py"):
        path.write_text(poison + path.read_text())
    assert re.search(r"^  minutes +file the minutes of a meeting", way.fdc("--help").stdout, re.M)
    said = way.fdc("minutes", "--help").stdout
    assert "Usage: fdc minutes [OPTIONS] [PATH] [FOLDER] [KEY=VALUE]..." in said
    assert "where the minutes go (default: minutes)" in said
    assert "stranger  files the minutes" in way.fdc("pack", "list").stdout
    assert "tools: open_items, confirm_title" in way.fdc("pack", "show", "stranger").stdout
    assert re.search(r"^ok +pack: stranger ", way.fdc("doctor").stdout, re.M)
    done = way.fdc("lint", "packs/stranger/plans/minutes.plan")
    assert 0 == done.returncode or way.python != sys.executable, done.stdout
    env = {"_FDC_COMPLETE": "bash_complete", "COMP_WORDS": "fdc min", "COMP_CWORD": "1"}
    assert "minutes" in way.fdc(**env).stdout
    done = way.fdc("minutes", "a", "b", "c")
    assert 2 == done.returncode and "`c` is one value too many: `fdc minutes` takes `path`, `folder`" in done.stderr  # fmt: skip


def test_no_line_of_the_product_names_it() -> None:
    for path in (ROOT / "tooling").rglob("*"):
        if path.suffix in (".py", ".toml", ".json", ".template"):
            assert not re.search(r"\bstranger_pack\b|packs[./]stranger", path.read_text("utf-8")), (
                path
            )
    assert os.path.isfile(STRANGER / "pyproject.toml")
