"""No file of the product imports itself in a circle. Imports inside of functions count.

An import counts as an edge from one file to another. `from . import name` goes to the file of the module `name`,
and to the package's `__init__` only if that defines `name`. An `import_module` call counts if the name is
written out in it. Where the name is a row of a table (the commands, the tools), nothing is counted: COMPUTED lists
the files that do so, and no other file may.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

from tests.support.repository import ROOT

COMPUTED = {
    "fdc_packs/lgtm/tools/tools.py": "tools by their rows",
    "fdc_packs/repair/grammars/judge.py": "grammars of other people",
    "fdc_packs/repair/mutate/named.py": "modules of Python's own library",
    "fdc_packs/research/outline/code_trees.py": "grammars of other people",
    "fdc_toolchain/api/commands.py": "what its TYPE_CHECKING imports name too",
    "fdc_toolchain/cli/project/protocols/build.py": "commands by their rows",
    "fdc_toolchain/packs/pages.py": "pages by their rows",
    "fdc_toolchain/packs/imported.py": "commands and tools by their rows",
    "fdc_toolchain/tools/own_code_inside.py": "tools of a workspace",
    "fdc_toolchain/tools/python_tools.py": "tools of a catalogue",
}
"""Files that import by a name which they compute, and what."""


KNOWN: frozenset[frozenset[str]] = frozenset()
"""Cycles that are not broken yet: nothing may come to this list, and what is broken leaves it."""


@dataclass(frozen=True)
class Edge:
    """One import: from a file and a line to a file, all below the root."""

    source: str
    line: int
    target: str
    typing: bool = False
    """True under `if TYPE_CHECKING:`: it is not executed."""


PRODUCT = ROOT / "tooling"


@cache
def product() -> Sources:
    """The files of the product, read once."""
    return Sources(PRODUCT)


class Sources:
    """The Python files below a folder, with what their modules are called and which names packages define."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.trees: dict[str, ast.Module] = {}
        self.files: dict[tuple[str, ...], str] = {}
        self.calling: set[str] = set()
        for path in sorted(root.rglob("*.py")):
            name = path.relative_to(root).as_posix()
            text = path.read_text("utf-8")
            self.trees[name] = ast.parse(text, name)
            self.calling |= {name} if any(call in text for call in _CALLS) else set()
            self.files[_module(name)] = name
        self.defined = {
            name: set(_bound(tree))
            for name, tree in self.trees.items()
            if name.endswith("__init__.py")
        }

    def edges(self) -> Iterator[Edge]:
        for name, tree in self.trees.items():
            for node, typing in _imports(tree, False, name in self.calling):
                for target in self._targets(name, node):
                    yield Edge(name, node.lineno, target, typing)

    def computed(self) -> dict[str, list[int]]:
        """The files that import by a name which is not written out, with the lines."""
        trees = {name: self.trees[name] for name in self.calling}
        return {name: lines for name, tree in trees.items() if (lines := [*_computed(tree)])}

    def _targets(self, name: str, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from self._whole(self._absolute(alias.name))
        elif isinstance(node, ast.ImportFrom):
            base = (
                self._relative(name, node.level, node.module or "")
                if node.level
                else self._absolute(node.module or "")
            )
            for alias in node.names:
                yield from self._member(base, alias.name)
        elif isinstance(node, ast.Call):
            text = node.args[0].value  # type: ignore[attr-defined]
            level = len(text) - len(text.lstrip("."))
            yield from self._whole(
                self._relative(name, level, text[level:]) if level else self._absolute(text)
            )

    def _relative(self, name: str, level: int, module: str) -> tuple[str, ...]:
        parts = _module(name)
        package = parts if name.endswith("__init__.py") else parts[:-1]
        return (*package[: len(package) - level + 1], *filter(None, module.split(".")))

    def _absolute(self, module: str) -> tuple[str, ...]:
        """A module's name from the root; the root's own name before it (`tooling.x`) changes nothing."""
        parts = tuple(module.split("."))
        return parts[1:] if parts[0] == self.root.name else parts

    def _whole(self, module: tuple[str, ...]) -> Iterator[str]:
        if module in self.files:
            yield self.files[module]

    def _member(self, base: tuple[str, ...], name: str) -> Iterator[str]:
        file, module = self.files.get(base), (*base, name)
        if module in self.files:
            yield self.files[module]
        if file is not None:
            package = file in self.defined
            if not package or name == "*" or module not in self.files or name in self.defined[file]:
                yield file


def _module(name: str) -> tuple[str, ...]:
    parts = name.removesuffix(".py").split("/")
    return tuple(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(
    node: ast.AST, typing: bool, calls: bool
) -> Iterator[tuple[ast.stmt | ast.Call, bool]]:
    """Every import below a node, and whether it stands under `if TYPE_CHECKING:`. `calls`: expressions are looked into."""
    if isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Call) and _names_module(node)
    ):
        yield node, typing
    if isinstance(node, ast.If) and _last(node.test) == "TYPE_CHECKING":
        for below in node.body:
            yield from _imports(below, True, calls)
        for below in node.orelse:
            yield from _imports(below, typing, calls)
        return
    for child in ast.iter_child_nodes(node):
        if calls or not isinstance(child, ast.expr):
            yield from _imports(child, typing, calls)


_CALLS = ("import_module", "__import__")


def _names_module(call: ast.Call) -> bool:
    return (
        _last(call.func) in _CALLS
        and bool(call.args)
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    )


def _computed(tree: ast.Module) -> Iterator[int]:
    """The lines where a module is imported by a computed name, or the function that does it is given another name."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if _last(node.func) in _CALLS and not _names_module(node):
                yield node.lineno
        elif isinstance(node, ast.Name | ast.Attribute):
            if _last(node) in _CALLS and id(node) not in called:
                yield node.lineno
        elif isinstance(node, ast.ImportFrom):
            if any(alias.name in _CALLS and alias.asname for alias in node.names):
                yield node.lineno


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names that a package defines itself; `from . import name` of its own module defines nothing new."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Import):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.level, node.module) != (1, None):
            yield from (alias.asname or alias.name for alias in node.names)
        elif not isinstance(node, ast.Lambda):
            yield from _bound(node)


def cycles(edges: Set[Edge]) -> dict[frozenset[str], str]:
    """The files of each strongly connected component, with the imports that hold it together, one a line."""
    found = {}
    for files in _circles(edges):
        inside = {edge for edge in edges if edge.source in files and edge.target in files}
        only = "" if _circles({edge for edge in inside if not edge.typing}) else " by types only"
        lines = sorted(
            f"{edge.source}:{edge.line} imports {edge.target}"
            + (" for types" if edge.typing else "")
            for edge in inside
        )
        found[files] = "\n  ".join([f"{len(files)} files import each other{only}:", *lines])
    return found


def _circles(edges: Set[Edge]) -> list[frozenset[str]]:
    graph = nx.DiGraph((edge.source, edge.target) for edge in edges)
    return [
        frozenset(files)
        for files in nx.strongly_connected_components(graph)
        if len(files) > 1 or any(graph.has_edge(file, file) for file in files)
    ]


def unexpected(root: Path, known: Set[frozenset[str]]) -> list[str]:
    """A text for each cycle that is not known, and for each known one that is gone or has changed."""
    found = cycles({*(product() if root == PRODUCT else Sources(root)).edges()})
    return sorted(text for files, text in found.items() if files not in known) + [
        f"no such cycle any more, take it out of KNOWN: {', '.join(sorted(files))}"
        for files in known - found.keys()
    ]


def test_no_file_of_the_product_imports_itself_in_a_circle() -> None:
    wrong = unexpected(PRODUCT, KNOWN)
    assert not wrong, "\n".join(["", *wrong])


def test_no_other_file_imports_by_a_computed_name() -> None:
    assert {*COMPUTED} == {*product().computed()}


def test_an_import_by_a_computed_name_is_found(tmp_path: Path) -> None:
    found = Sources(
        _planted(
            tmp_path,
            {
                "a.py": "import importlib\nx = 'p.b'\nimportlib.import_module(x)\n",
                "b.py": "def f(x):\n    return __import__(f'p.{x}')\n",
                "c.py": "from importlib import import_module as i\ni('p.a')\n",
                "d.py": "from importlib import import_module\nmap(import_module, ['p.a'])\n",
                "e.py": "from importlib import import_module\nimport_module('p.a')\n",
            },
        )
    ).computed()
    assert {"p/a.py": [3], "p/b.py": [2], "p/c.py": [1], "p/d.py": [2]} == found


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({"a.py": "from .b import x\n", "b.py": "x = 1\nfrom . import a\n"},
         ["2 files import each other:", "p/a.py:1 imports p/b.py", "p/b.py:2 imports p/a.py"]),
        ({"a.py": "def f():\n    from .b import x\n", "b.py": "def f():\n    if f:\n        import p.a\n"},
         ["2 files import each other:", "p/a.py:2 imports p/b.py", "p/b.py:3 imports p/a.py"]),
        ({"a.py": "from . import b, c\n", "b.py": "from . import c\n", "c.py": "from p import a\n"},
         ["3 files import each other:", "p/a.py:1 imports p/b.py", "p/a.py:1 imports p/c.py",
          "p/b.py:1 imports p/c.py", "p/c.py:1 imports p/a.py"]),
        ({"a.py": "import root.p.b\n", "b.py": "from importlib import import_module as i\nimport importlib\n"
          "importlib.import_module('.a', __package__)\n"},
         ["2 files import each other:", "p/a.py:1 imports p/b.py", "p/b.py:3 imports p/a.py"]),
        ({"q/__init__.py": "from .a import x\n", "q/a.py": "from . import x\n"},
         ["2 files import each other:", "p/q/__init__.py:1 imports p/q/a.py", "p/q/a.py:1 imports p/q/__init__.py"]),
        ({"q/__init__.py": "if 1:\n    from .b import x as b\n", "q/b.py": "from ..q import b\n"},
         ["2 files import each other:", "p/q/__init__.py:2 imports p/q/b.py", "p/q/b.py:1 imports p/q/__init__.py",
          "p/q/b.py:1 imports p/q/b.py"]),
        ({"q/__init__.py": "from .a import *\n", "q/a.py": "from . import *\n"},
         ["2 files import each other:", "p/q/__init__.py:1 imports p/q/a.py", "p/q/a.py:1 imports p/q/__init__.py"]),
        ({"a.py": "def f():\n    from . import a\n"},
         ["1 files import each other:", "p/a.py:2 imports p/a.py"]),
        ({"a.py": "import typing\nif typing.TYPE_CHECKING:\n    from .b import B\n", "b.py": "from . import a\n"},
         ["2 files import each other by types only:", "p/a.py:3 imports p/b.py for types", "p/b.py:1 imports p/a.py"]),
        ({"a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    from .b import B\n",
          "b.py": "try:\n    from . import a\nexcept ImportError:\n    pass\n"},
         ["2 files import each other:", "p/a.py:5 imports p/b.py", "p/b.py:2 imports p/a.py"]),
    ],
    ids=["plain", "lazy", "from-the-package", "written-out-call", "name-of-the-package", "name-hides-a-module",
         "star", "itself", "types", "else-of-types"],
)  # fmt: skip
def test_a_planted_cycle_is_found(tmp_path: Path, files: dict[str, str], lines: list[str]) -> None:
    (found,) = unexpected(_planted(tmp_path, files), frozenset())
    assert lines == found.split("\n  ")


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "from .b import x\nfrom . import b\n", "b.py": "import json\nfrom json import a\n"},
        {"q/__init__.py": "from . import a, b\n", "q/a.py": "from . import b\n", "q/b.py": ""},
        {"q/__init__.py": "from .a import x\n", "q/a.py": "from . import b\n", "q/b.py": "import p.q.c\n", "q/c.py": ""},
        {"a.py": "import b\nfrom importlib import import_module\nimport_module(b.name)\n", "b.py": "from . import a\n"},
    ],
    ids=["one-way", "package-over-modules", "module-beside-a-package", "other-roots"],
)  # fmt: skip
def test_imports_one_way_are_silent(tmp_path: Path, files: dict[str, str]) -> None:
    assert [] == unexpected(_planted(tmp_path, files), frozenset())


def test_a_known_cycle_is_silent_until_it_changes(tmp_path: Path) -> None:
    root = _planted(tmp_path, {"a.py": "from . import b\n", "b.py": "from . import a\n"})
    known = frozenset({frozenset({"p/a.py", "p/b.py"})})
    assert [] == unexpected(root, known)
    (root / "p" / "c.py").write_text("from . import a\n", "utf-8")
    assert [] == unexpected(root, known)
    (root / "p" / "b.py").write_text("from . import a, c\n", "utf-8")
    assert ["3 files import each other:", "no such cycle any more, take it out of KNOWN: p/a.py, p/b.py"] == [
        text.split("\n")[0] for text in unexpected(root, known)
    ]  # fmt: skip


def _planted(folder: Path, files: dict[str, str]) -> Path:
    root = folder / "root"
    for name, text in {"__init__.py": "", **files}.items():
        path = root / "p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root
