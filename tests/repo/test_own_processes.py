"""Processes are started in a few places only, and a Python process by one function (finding B3; security: G-SBX)."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from tests.support.repository import PACKAGE, python_of_packs

STARTERS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {
        "system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "execv", "execve", "execvp", "execvpe", "execl",
        "execle", "execlp", "execlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe", "spawnl", "spawnle", "spawnlp", "spawnlpe",
        "startfile",
    },
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "pty": {"spawn", "fork"},
    "runpy": {"run_module", "run_path"},
}  # fmt: skip
MODULES = {"multiprocessing", "concurrent.futures.process", "runpy", "pty"}
STARTING = {
    "cli/hooks/hook_answer.py": "a copy of itself, which decides and can be ended",
    "cli/linting/watching.py": "copies of itself, each of which lints once",
    "cli/linting/parallel.py": "copies of itself, which prove plans and run none",
    "cli/project/init/test_command.py": "the user's own python3 outside of the workspace, which is asked for pytest",
    "cli/project/pack_install.py": "pip, which a person asked for, by python_process",
    "linking/project/quiet_git.py": "git, which starts no other program",
    "cli/run/web_page/workspace_runs.py": "fdc itself, by python_process",
    "cli/run/web_page/ui.py": "a browser, by python_process",
    "agent/host/background.py": "what it is given: fdc itself, by python_process",
    "sandbox/sandbox_launcher.py": "the launcher of commands",
    "doctor/machine.py": "git",
    "tools/files/find_tools.py": "a search, by python_process",
    "tools/files/git_tools.py": "git, which says who the user is",
    "runs/records/identity.py": "git, which says what is checked out",
    "tools/files/readable.py": "a reader of pages, by python_process",
    "../fdc_packs/repair/tools/repair_patch.py": "git merge-file, on three files of its own",
    "../fdc_packs/repair/tools/probe_inside/__init__.py": "forks inside of the sandbox",
    "sandbox/attempts.py": "what tries out whether there is a sandbox, by python_process",
    "tools/shell.py": "what was fenced in",
}
"""Where processes are started, and which. A new line here is looked at by whoever knows docs/sandbox.md."""
PYTHON = "sandbox/python_process.py"
INTERPRETERS = ("python", "python3", "pypy", "pypy3")


def started(source: str) -> list[tuple[int, str]]:
    """Every place of a file that starts a process, or may: (line, what)."""
    found: list[tuple[int, str]] = []
    if not any(module in source for module in MODULES) and not any(
        module in source and any(name in source for name in names)
        for module, names in STARTERS.items()
    ):
        return found  # to parse all files takes seconds
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in STARTERS.get(node.value.id, ()):
                found.append((node.lineno, f"{node.value.id}.{node.attr}"))
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            found += [
                (node.lineno, f"{node.module}.{name}")
                for name in names
                if name in STARTERS.get(node.module or "", ())
            ]
            found += [(node.lineno, str(node.module)) for _ in [0] if node.module in MODULES]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names if alias.name in MODULES]
    return sorted(found)


def pythons(source: str) -> list[int]:
    """Every line of a file that names an interpreter: `sys.executable`, or the first word of a command line."""
    found: list[int] = []
    if not any(word in source for word in ("executable", *INTERPRETERS)):
        return found
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ("executable", "_base_executable"):
            found.append(node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            found += [node.lineno for alias in node.names if alias.name == "executable"]
        elif (
            isinstance(node, (ast.List, ast.Tuple))
            and len(node.elts) > 1
            and isinstance(node.elts[0], ast.Constant)
        ):
            second = node.elts[1]
            option = isinstance(second, ast.Constant) and str(second.value).startswith("-")
            if node.elts[0].value in INTERPRETERS and option:
                found.append(node.lineno)
    return sorted(found)


def files() -> list[Path]:
    tooling = PACKAGE.parent
    inside = [*PACKAGE.rglob("*.py"), *python_of_packs()]
    return [*sorted(inside), *sorted(tooling.glob("*.py"))]


def name_of(path: Path) -> str:
    return os.path.relpath(path, PACKAGE)


def test_processes_are_started_where_this_table_says() -> None:
    found = {
        name_of(path)
        for path in files()
        if path.parent != PACKAGE.parent and started(path.read_text())
    }
    assert set(STARTING) == found - {PYTHON}
    assert [] == [str(path) for path in PACKAGE.parent.glob("*.py") if started(path.read_text())]
    by_name = ('"git"', '"bwrap"', '"webbrowser"')
    sources = {name: Path(PACKAGE, name).read_text() for name in STARTING}
    named = {name for name, source in sources.items() if any(word in source for word in by_name)}
    assert named and not {name for name in named if "outside_path" not in sources[name]}


def test_one_place_makes_the_command_line_of_a_python_process() -> None:
    assert {PYTHON} == {name_of(path) for path in files() if pythons(path.read_text())}


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run(['x'])", "from os import system", "import multiprocessing",
        "import os\nos.execvp('x', [])",
        "from concurrent.futures.process import ProcessPoolExecutor", "import runpy",
    ],
)  # fmt: skip
def test_a_start_is_found(source: str) -> None:
    assert started(source)


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nx = [sys.executable, '-c', 'x']",
        "from sys import executable",
        "x = ['python3', '-m', 'fdc']",
    ],
)
def test_an_interpreter_is_found(source: str) -> None:
    assert pythons(source)
