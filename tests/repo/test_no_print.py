"""Nothing below the command line and the web page prints, exits or reaches for the terminal; rooms return values."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.repository import PACKAGE, PACKS, python_of_packs

SPEAKING_ROOMS = {"cli", "console", "server"}
SPEAKING_OF_PACKS = {"command", "gather_script", "planner_script", "probe_inside"}
CALLS = {"print", "input", "breakpoint", "exit", "quit"}
ATTRIBUTES = {
    ("sys", "exit"), ("sys", "stdout"), ("sys", "stderr"), ("sys", "stdin"), ("sys", "argv"),
    ("os", "_exit"), ("os", "abort"), ("click", "echo"), ("click", "secho"), ("pprint", "pprint"),
}  # fmt: skip
PROGRAMS = {
    "sandbox/sandbox_launcher.py",
    "tools/own_code_inside.py",
    "mcp_client/inside.py",
    "fdc_packs/repair/tools/probe_inside/__init__.py",
    "tools/files/text_reader.py",
}
"""Started as processes of their own, which have a command line and an exit code like any other."""

OF_THE_PROCESS = {"runs/interrupt.py", "runs/workers/signals.py", "runs/records/tracing.py"}
"""Signals that end a process of fdc, and spans that its environment asks to have on stderr."""

RAISES = {"SystemExit", "KeyboardInterrupt"}


def noises(source: str) -> list[tuple[int, str]]:
    """Every place where a file prints, exits or touches the terminal: (line, what)."""
    found: list[tuple[int, str]] = []
    if (
        not re.search(rf"\b({'|'.join(CALLS)})\s*\(", source)
        and not any(module in source and name in source for module, name in ATTRIBUTES)
        and not any(name in source for name in RAISES)
    ):
        return found  # to parse all files takes seconds
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            found.append((node.lineno, node.func.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in ATTRIBUTES:
                found.append((node.lineno, f"{node.value.id}.{node.attr}"))
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module, alias.name) for alias in node.names} & ATTRIBUTES
            found.extend((node.lineno, f"{module}.{name}") for module, name in sorted(names))
        elif isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(raised, ast.Name) and raised.id in RAISES:
                found.append((node.lineno, f"raise {raised.id}"))
    return sorted(found)


def quiet_files() -> list[Path]:
    """The files of the core, but for its front doors; and those of the packs, but for their commands."""
    core = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]
    packs = [path.relative_to(PACKS) for path in python_of_packs()]
    return [
        *(
            PACKAGE / path
            for path in core
            if path.parts[0] not in SPEAKING_ROOMS
            and path.as_posix() not in PROGRAMS | OF_THE_PROCESS
        ),
        *(PACKS / path for path in packs if not SPEAKING_OF_PACKS & {*path.parts, path.stem}),
    ]


def test_rooms_below_the_front_door_are_silent() -> None:
    found = {
        f"{path.relative_to(PACKAGE.parent)}:{line}: {what}"
        for path in quiet_files()
        for line, what in noises(path.read_text("utf-8"))
    }
    assert set() == found


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("print('x')", "print"),
        ("def f():\n    input()", "input"),
        ("import sys\ndef f():\n    sys.exit(1)", "sys.exit"),
        ("import sys\nsys.stderr.write('x')", "sys.stderr"),
        ("from sys import stdout", "sys.stdout"),
        ("import os\nos._exit(1)", "os._exit"),
        ("import click\nclick.echo('x')", "click.echo"),
        ("raise SystemExit(2)", "raise SystemExit"),
        ("raise SystemExit", "raise SystemExit"),
        ("exit()", "exit"),
    ],
)
def test_a_planted_noise_is_found(source: str, what: str) -> None:
    assert [what] == [name for _, name in noises(source)]


def test_there_are_rooms_to_look_at() -> None:
    assert len(quiet_files()) > 10
