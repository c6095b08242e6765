"""Packs import the public face of fdc only, by names that it lists; and it lists no name for them that none uses."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.python_source import statements
from tests.support.repository import PACKAGE, ROOT, python_of_packs

CORE = "fdc_toolchain"
FACE = f"{CORE}.api"
FACETS = ("commands", "files", "models", "records", "sandbox", "tasks", "text", "tools")


def imported(source: str) -> Iterator[tuple[int, str, str]]:
    """Every import of the core, wherever in the file: its line, the module, and the name ("" for the module itself)."""
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == CORE:
                    yield node.lineno, alias.name, ""
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module.split(".")[0] == CORE:
                for alias in node.names:
                    yield node.lineno, node.module, alias.name


def listed(module: str) -> set[str]:
    return {*importlib.import_module(module).__all__}


def wrong(files: Iterable[Path]) -> list[str]:
    """One line for each import that is not of the public face."""
    found = []
    for path in files:
        for line, module, name in imported(path.read_text("utf-8")):
            where = f"{path.name}:{line}: {module} {name}".rstrip()
            if module == CORE and name == "api":
                continue
            if module != FACE and module.removeprefix(f"{FACE}.") not in FACETS:
                found.append(f"{where} is not public")
            elif name not in listed(module) and not (module == FACE and name in FACETS):
                found.append(f"{where} is not listed")
    return found


def test_packs_import_the_public_face_only() -> None:
    assert [] == wrong(python_of_packs())


def test_what_a_new_pack_begins_with_imports_the_public_face_only() -> None:
    files = sorted((PACKAGE / "packs" / "template").rglob("*.py.template"))
    assert len(files) >= 3
    assert [] == wrong(files)


@cache
def imports_and_names() -> tuple[list[tuple[int, str, str]], set[tuple[str, str]]]:
    """What packs import of the core, and the pairs `facet`, `name` that they write as `facet.name`."""
    texts = [path.read_text("utf-8") for path in python_of_packs()]
    names = {
        (node.value.id, node.attr)
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return [one for text in texts for one in imported(text)], names


@pytest.mark.parametrize("facet", FACETS)
def test_every_name_for_packs_is_used_by_one(facet: str) -> None:
    module = f"{FACE}.{facet}"
    imports, names = imports_and_names()
    used = {name for _, where, name in imports if where == module}
    called = {name for of, name in names if of == facet}
    on_face = listed(FACE)
    assert set() == listed(module) - used - called - on_face
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert f"`fdc_toolchain.api.{facet}`" in page


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from fdc_toolchain.engine.events import Outcome\n", "is not public"),
        ("def f():\n    import fdc_toolchain.runs\n", "is not public"),
        ("from fdc_toolchain import durable\n", "is not public"),
        ("from fdc_toolchain.api.tools import Nothing\n", "is not listed"),
        ("from fdc_toolchain.api.plan_calls import check\n", "is not public"),
    ],
)
def test_a_planted_private_import_is_found(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "planted.py"
    file.write_text(line, "utf-8")
    (found,) = wrong([file])
    assert found.endswith(said)
