"""No file of a workspace is imported by fdc, whatever it is called and however fdc was started (finding B3)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.sandbox import python_process

from tests.cli.test_ui import Ui, fields
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.process import clean_environment, fdc, run
from tests.support.repository import PACKAGE, ROOT

SHADOWS = (
    "fdc_toolchain/__init__.py", "fdc_toolchain/__main__.py", "fdc_toolchain/cli/__init__.py", "fdc_toolchain/cli/main.py",
    "json.py", "sitecustomize.py", "usercustomize.py", "click/__init__.py", "lark.py", "yaml.py", "jinja2/__init__.py", "ast.py",
    "networkx.py", "jsonschema.py", "coverage.py", "own.py", "dbos.py", "anthropic.py", "runpy.py", "re.py", "trafilatura.py",
)  # fmt: skip
PLAN = "set_plan x\nplan_step_complete x\ntext <- look data.txt\ngrep x data.txt\nmessage_user {text}\nclose_task\nsubmit\n"
ASKS = "set_plan x\nplan_step_complete x\nanswer <- request_user_input Go on?\nclose_task\nsubmit\n"
LOOK = {
    "summary": "looks", "action": "read_op", "effect": "read", "trust": "workspace", "result": "text",
    "parameters": [{"name": "path", "kind": "word"}], "run": {"python": "tools_of_mine:look"},
}  # fmt: skip
WITNESS = "with open({!r}, 'a') as file:\n    file.write(__name__ + ' ')\n"


@pytest.fixture
def hostile(workspace: Path, tmp_path: Path) -> Path:
    """A workspace full of modules that others are named like; each of them leaves a word outside of it."""
    for name in SHADOWS:
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WITNESS.format(str(tmp_path / "imported")))
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"look": LOOK}})
    )
    (workspace / "tools_of_mine.py").write_text(
        "def look(path):\n    with open(path) as file:\n        return file.read()\n"
    )
    (workspace / "data.txt").write_text("x marks it\n")
    (workspace / "a.plan").write_text(PLAN)
    (workspace / "ask.plan").write_text(ASKS)
    shutil.copy(ROOT / "knowledge_core" / "agent_meta.json", workspace / "knowledge_core")
    return workspace


@pytest.fixture(autouse=True)
def nothing_was_imported(tmp_path: Path, workspace: Path) -> Iterator[None]:
    yield
    assert not (tmp_path / "imported").exists(), (tmp_path / "imported").read_text()


COMMANDS = [
    "--version", "--help", "lint a.plan", "lint --no-cache a.plan", "run a.plan", "run --dry-run a.plan", "run --help",
    "expand a.plan", "doctor", "completion bash", "registry list", "fmt --check a.plan", "probe", "research --help",
    "explain FDC101", "lint", "protocols --check --help", "worker --help",
]  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_imports_from_the_working_folder(hostile: Path, line: str) -> None:
    """Those of the hooks are `lint`, `fmt` and `protocols`."""
    assert 0 == fdc(*line.split(), cwd=hostile).returncode


@pytest.mark.parametrize(
    "arguments", [["--version"], ["lint", "--no-cache", "a.plan"], ["run", "a.plan"], ["doctor"]]
)
def test_python_m_imports_nothing_but_fdc_from_it(hostile: Path, arguments: list[str]) -> None:
    """`python -m` itself looks for the package in the working folder, before any of our code; the rest is ours to say.

    `python -P -m fdc_toolchain` looks nowhere there.
    """
    assert (
        0 == run([sys.executable, "-P", "-m", "fdc_toolchain", *arguments], cwd=hostile).returncode
    )
    shutil.rmtree(hostile / "fdc_toolchain")
    (hostile / "runpy.py").unlink()
    assert 0 == run([sys.executable, "-m", "fdc_toolchain", *arguments], cwd=hostile).returncode


def test_the_console_scripts_import_nothing_from_it(hostile: Path) -> None:
    bin_ = Path(sys.executable).parent
    for argv in (
        ["fdc", "doctor"],
        ["fdc", "lint", "--no-cache", "a.plan"],
        ["plan_manager", "list"],
    ):
        if (bin_ / argv[0]).exists():
            assert 0 == run([bin_ / argv[0], *argv[1:]], cwd=hostile).returncode


def test_a_path_of_pythons_that_names_the_working_folder_counts_for_nothing_later(
    hostile: Path,
) -> None:
    """What Python imports before fdc is started no one but its caller can help: `sitecustomize`, and the first modules."""
    for name in SHADOWS:
        if name.split("/")[0] not in (
            "click",
            "lark.py",
            "yaml.py",
            "jinja2",
            "networkx.py",
            "jsonschema.py",
            "coverage.py",
        ):
            (hostile / name).unlink(missing_ok=True)
    shutil.rmtree(hostile / "fdc_toolchain")
    shutil.copytree(hostile, hostile / "inner")
    for folder in (".", str(hostile / "inner")):
        for arguments in (["lint", "--no-cache", "a.plan"], ["doctor"], ["run", "a.plan"]):
            done = fdc(*arguments, cwd=hostile, env={"PYTHONPATH": folder})
            assert 0 == done.returncode, done.stderr


def test_what_fdc_starts_of_itself_ignores_the_environment_and_the_working_folder(
    hostile: Path,
) -> None:
    env = clean_environment(
        {
            "PYTHONPATH": str(hostile),
            "PYTHONSTARTUP": str(hostile / "own.py"),
            "PYTHONHOME": "/nowhere",
        }
    )
    done = subprocess.run(
        python_process.fdc("--version"),
        cwd=hostile,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (0, "fdc " + (ROOT / "VERSION").read_text().strip() + "\n") == (
        done.returncode,
        done.stdout,
    ), done.stderr
    assert str(PACKAGE) == python_process.PACKAGE and Path(python_process.fdc()[0]).is_absolute()


def test_no_variable_of_pythons_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT"):
        monkeypatch.setenv(name, "x")
    assert [] == [name for name in python_process.environment() if name.startswith("PYTHON")]


@pytest.mark.slow
def test_the_resume_of_the_browser_imports_nothing_from_it(hostile: Path) -> None:
    """The finding: `fdc ui` started `python -c` with the workspace as its working folder."""
    assert 5 == fdc("run", "ask.plan", cwd=hostile).returncode
    name = json.loads(fdc("runs", "--format", "json", cwd=hostile).stdout)["runs"][0]["run"]
    with fdc_started("ui", "--no-open", cwd=hostile) as process:
        served = Ui(process, hostile)
        form = {**fields(served.get(f"/runs/{name}")), "text": "yes", "go": "on"}
        assert 303 == served.form(f"/runs/{name}/answer", form).status
        wait_for(lambda: "badge finished" in served.get(f"/runs/{name}"))


@pytest.mark.slow
def test_the_research_of_an_agent_imports_nothing_from_it(hostile: Path) -> None:
    """The finding: `fdc agent` started it in the same way."""
    from fdc_toolchain.agent.host.real_world import LocalWorld

    world = LocalWorld(str(hostile))
    world.launch("T-1", "research", "What marks it?", web=False)
    wait_for(lambda: not world.poll("T-1", "research").running)
    found = world.poll("T-1", "research")
    assert found.exit_code in (0, 1), found
    assert "Traceback" not in found.stderr
