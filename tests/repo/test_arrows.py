"""Imports run downwards only: a room imports from lower floors, never sideways, never up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.python_source import statements
from tests.support.repository import PACKAGE, ROOT

FLOORS = {
    "named_tuples": -1,
    "diagnostics": 0, "resources": 0, "cachedir": 0, "durable": 0, "certificate": 0, "exits": 0,
    "recursion": 0, "narrow": 0, "upgraded": 0,
    "text": 1, "packs": 1,
    "syntax": 2, "automata": 2, "program": 2,
    "linking": 3, "engine": 3, "report": 3,
    "rules": 4, "lower": 4, "migrate": 4,
    "check": 5, "protocols": 5,
    "journal": 6,
    "workspace": 7,
    "cache": 8,
    "sandbox": 9,
    "tools": 10,
    "tasks": 11,
    "runs": 12,
    "agent": 13, "doctor": 13, "console": 13,
    "api": 14,
    "testing": 15, "foreign": 15, "grammar_export": 15,
    "server": 16, "language_server": 16, "mcp_server": 16, "mcp_client": 16, "draft": 16,
    "cli": 17,
    "__main__": 18,
}  # fmt: skip
NAME = "fdc_toolchain"


def targets(
    nodes: Iterable[ast.AST], module: tuple[str, ...], is_package: bool
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every module of our own that some nodes of a file import, as (line, path inside the package)."""
    package = module if is_package else module[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _absolute(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                yield from _absolute(node.lineno, f"{node.module}.{alias.name}")
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] + tuple(
                (node.module or "").split(".") if node.module else ()
            )
            for alias in node.names:
                yield node.lineno, (*base, alias.name)
        elif (
            isinstance(node, ast.Call)
            and _called(node) in ("import_module", "__import__")
            and node.args
        ):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                level = len(first.value) - len(first.value.lstrip("."))
                if level:
                    yield (
                        node.lineno,
                        (*package[: len(package) - level + 1], *first.value.lstrip(".").split(".")),
                    )
                else:
                    yield from _absolute(node.lineno, first.value)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _absolute(line: int, name: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    parts = name.split(".")
    if parts[0] == NAME:
        yield line, tuple(parts[1:])
    elif parts[:2] == ["tooling", NAME]:
        yield line, tuple(parts)


def wrong_arrows(package: Path) -> list[str]:
    """One line for each import that breaks the rule and for each room without a floor."""
    wrong = []
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package)
        if where.parts[0] == "_data":
            continue
        is_package = path.name == "__init__.py"
        module = where.parts[:-1] if is_package else (*where.parts[:-1], path.stem)
        room = module[0] if module else ""
        if room and room not in FLOORS:
            wrong.append(f"{where}: the room `{room}` has no floor")
            continue
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        calls = "import_module" in text or "__import__" in text
        nodes = ast.walk(tree) if calls else statements(tree)
        for line, target in targets(nodes, module, is_package):
            to = target[0] if target else ""
            if to == "tooling":
                wrong.append(f"{where}:{line}: `tooling.{NAME}` is a second copy of the package")
            elif not room:
                wrong.append(f"{where}:{line}: the package itself imports nothing, not `{to}`")
            elif to not in FLOORS:
                if not (to.startswith("__") or to == ""):
                    wrong.append(f"{where}:{line}: imports `{to}`, which has no floor")
            elif to != room and FLOORS[to] >= FLOORS[room]:
                way = "sideways" if FLOORS[to] == FLOORS[room] else "up"
                wrong.append(
                    f"{where}:{line}: {room} (floor {FLOORS[room]}) imports {way}: {to} (floor {FLOORS[to]})"
                )
    return wrong


def test_every_arrow_in_the_package_points_down() -> None:
    assert [] == wrong_arrows(PACKAGE)


def test_the_page_of_the_design_has_every_room_on_its_floor() -> None:
    rows = re.findall(
        r"^\| (-?\d+) \| (.*) \|$", (ROOT / "docs/design.md").read_text("utf-8"), re.MULTILINE
    )
    shown = {
        (match[1], int(floor))
        for floor, rooms in rows
        for match in re.finditer(r"`(\w+)(?:/|\.py)`", rooms)
    }
    assert set(FLOORS.items()) == shown


BESIDE = "packs/beside.py"
"""The one file of the core that says where packs lie beside fdc."""


def naming(package: Path) -> set[str]:
    """The files of a package, of whatever kind, that have the name of the package of packs in them."""
    return {
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and b"fdc_packs" in path.read_bytes()
    }


def test_the_core_names_no_pack() -> None:
    assert {BESIDE} == naming(PACKAGE)


def test_a_planted_name_of_a_pack_is_found(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "page.html.j2").write_text("{# fdc_packs.repair #}\n", "utf-8")
    assert {"server/page.html.j2"} == naming(tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "finding"),
    [
        ("text/a.py", "from ..syntax import tree\n", "imports up: syntax"),
        ("text/a.py", "def f():\n    if 1:\n        from ..syntax.tree import Plan\n", "text/a.py:3: text ("),
        ("syntax/a.py", "from .. import automata\n", "imports sideways: automata"),
        ("syntax/a.py", "import fdc_toolchain.program.model\n", "imports sideways: program"),
        ("syntax/a.py", "from fdc_toolchain import check\n", "imports up: check"),
        ("syntax/deep/a.py", "from ...cli import main\n", "imports up: cli"),
        ("syntax/__init__.py", "from ..cli import main\n", "imports up: cli"),
        ("check.py", "from .protocols import load\n", "imports sideways: protocols"),
        ("check.py", "import importlib as i\ni.import_module('fdc_toolchain.workspace.files')\n", "up: workspace"),
        ("check.py", "from importlib import import_module\nimport_module('.runs', __package__)\n", "up: runs"),
        ("server/a.py", "from ..cli import main\n", "imports up: cli"),
        ("cli/a.py", "from tooling.fdc_toolchain import text\n", "second copy"),
        ("cli/a.py", "from ..attic import thing\n", "`attic`, which has no floor"),
        ("attic/a.py", "x = 1\n", "the room `attic` has no floor"),
        ("__init__.py", "from .text import span\n", "the package itself imports nothing"),
    ],
)  # fmt: skip
def test_a_planted_wrong_arrow_is_found(tmp_path: Path, file: str, text: str, finding: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    found = wrong_arrows(tmp_path)
    assert len(found) == 1 and finding in found[0], found


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("syntax/a.py", "from ..text.span import Span\nfrom .. import resources\nfrom . import tree\n"),
        ("cli/a.py", "import json\nfrom ..check import check\nimport fdc_toolchain.engine.drive\n"),
        ("testing.py", "from .workspace import files\n"),
        ("__init__.py", '"""Empty."""\n'),
    ],
)  # fmt: skip
def test_an_arrow_that_points_down_is_silent(tmp_path: Path, file: str, text: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    assert [] == wrong_arrows(tmp_path)
