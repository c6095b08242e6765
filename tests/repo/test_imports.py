"""The start-up budget: the clean path loads no module that it does not use.

Python itself reports each import (`-X importtime`) of the real process, so the check holds even where the
process ends without running its exit handlers. What a bare `python -c pass` loads is not counted.
"""

from __future__ import annotations

import re
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from tests.support import process
from tests.support.plans import CLEAN
from tests.support.repository import ROOT

HEAVY = (
    "click",
    "lark",
    "networkx",
    "jsonschema",
    "jinja2",
    "pydantic",
    "anthropic",
    "yaml",
    "pathspec",
)
SLOW_IN_STDLIB = (
    "re", "argparse", "json", "typing", "dataclasses", "enum", "pathlib", "tomllib", "subprocess", "sqlite3",
    "logging", "asyncio", "inspect", "importlib.metadata", "importlib.resources", "tempfile", "shutil", "hashlib",
)  # fmt: skip


def imported(arguments: list[str], cwd: Path, expected: int = 0) -> frozenset[str]:
    """The modules that a Python process loads, by Python's own report."""
    done = process.run([sys.executable, "-X", "importtime", *arguments], cwd=cwd)
    lines = done.stderr.splitlines()
    said = [line for line in lines if not line.startswith("import time:")]
    assert (expected, []) == (done.returncode, said), done.stdout
    return frozenset(line.rpartition("|")[2].strip() for line in lines[1:])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("startup")
    (found / "docs").mkdir()
    (found / "docs" / "tea.md").write_text("Green tea.\n", "utf-8")
    own = CLEAN.replace(
        "# FSM: tooling/fdc_fsm.json", "# FSM: fdc"
    )  # nothing to assume, so nothing to show
    own = re.sub("run_in_bash_session .*fdc_cli.py close .*", "close_task", own)
    (found / "clean.plan").write_text(own, "utf-8")
    (found / "checkout/.git").mkdir(parents=True)
    (found / "checkout/fragment.plan").write_text("read_file tea.md\n")
    (found / "checkout/tea.md").write_text("Green tea.\n")
    while (
        time.time() < (found / "clean.plan").stat().st_ctime + 0.3
    ):  # a file of just now may change behind its times
        imported(["-c", "pass"], found)
    return found


COMMANDS = {
    "version": ("--version",),
    "lint": ("lint", "clean.plan"),
    "lint-folder": ("lint", "."),
    "lint-fragment-in-git": ("lint", "--workspace", "checkout", "checkout"),
}


@cache
def loaded(command: str, folder: Path) -> frozenset[str]:
    """What a command loads beyond bare Python, once its caches are warm."""
    script = str(ROOT / "tooling" / "fdc_cli.py")
    imported([script, *COMMANDS[command]], folder)
    return imported([script, *COMMANDS[command]], folder) - imported(["-c", "pass"], folder)


@pytest.mark.parametrize("module", [*HEAVY, *SLOW_IN_STDLIB])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_clean_start_loads_none_of(command: str, module: str, folder: Path) -> None:
    found = sorted(
        name for name in loaded(command, folder) if name == module or name.startswith(module + ".")
    )
    assert [] == found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_clean_start_loads_few_modules_of_any_kind(command: str, folder: Path) -> None:
    assert len(loaded(command, folder)) <= 32, sorted(loaded(command, folder))


@pytest.mark.parametrize(
    "module",
    [
        "ast", "threading", "lark", "dataclasses", "subprocess", "typing", "urllib.parse", "ipaddress", "math",
        "importlib.util",
    ],
)  # fmt: skip
def test_a_proof_loads_none_of(module: str, folder: Path) -> None:
    assert module not in proof(folder)


@cache
def proof(folder: Path) -> frozenset[str]:
    """What a lint loads that proves, beyond bare Python."""
    script = str(ROOT / "tooling" / "fdc_cli.py")
    arguments = [script, "lint", "--no-cache", "clean.plan"]
    imported(arguments, folder)  # makes the tables of the grammar
    return imported(arguments, folder) - imported(["-c", "pass"], folder)


def test_the_report_sees_what_is_loaded(tmp_path: Path) -> None:
    found = imported(["-c", "import json, os; os._exit(0)"], tmp_path) - imported(
        ["-c", "pass"], tmp_path
    )
    assert {"json", "json.decoder"} <= found
