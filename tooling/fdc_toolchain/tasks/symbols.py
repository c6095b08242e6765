"""Indexes the Python files of a workspace: their definitions, and which file imports which (FDC-66). Pure.

Both are data for other programs too: `symbols.json` is a list, `dependency_graph.json` is what
`networkx.node_link_graph(..., edges="edges")` reads. An edge leads from a file to one that it imports.
"""

from __future__ import annotations

import ast
import json
import posixpath
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from ..named_tuples import NamedTuple

SYMBOLS = "knowledge_core/symbols.json"
GRAPH = "knowledge_core/dependency_graph.json"
FORMAT = 1


class Symbol(NamedTuple):
    """A definition: a class, a function or method (by its qualified name), or a constant of a module."""

    name: str
    kind: str
    path: str
    line: int


class Index(NamedTuple):
    """All files of a workspace. `edges` are pairs of paths; `skipped` are paths with the reason."""

    symbols: tuple[Symbol, ...] = ()
    files: tuple[str, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()


def index(files: Mapping[str, str], skipped: Iterable[tuple[str, str]] = ()) -> Index:
    """The index of these texts by path. A file that is not valid Python is skipped, with the reason."""
    symbols: list[Symbol] = []
    left = list(skipped)
    imports: dict[str, list[tuple[int, str, tuple[str, ...]]]] = {}
    for path in sorted(files):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", SyntaxWarning
                )  # invalid escapes in strings are not reported here
                tree = ast.parse(files[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as wrong:
            line = (
                f" (line {wrong.lineno})" if isinstance(wrong, SyntaxError) and wrong.lineno else ""
            )
            left.append((path, f"not valid Python for this version{line}"))
            continue
        symbols += _defined(tree, path)
        imports[path] = list(_imports(tree))
    known = _by_end(imports)
    edges = {
        (path, target)
        for path, imported in imports.items()
        for level, module, names in imported
        for target in _targets(path, level, module, names, known)
        if target != path
    }
    return Index(tuple(symbols), tuple(sorted(imports)), tuple(sorted(edges)), tuple(sorted(left)))


def symbols_json(workspace_index: Index) -> bytes:
    """`knowledge_core/symbols.json`: the same index gives the same bytes."""
    return _written(
        {
            "format": FORMAT,
            "symbols": [symbol._asdict() for symbol in workspace_index.symbols],
            "skipped": [
                {"path": path, "reason": reason} for path, reason in workspace_index.skipped
            ],
        }
    )


def graph_json(workspace_index: Index) -> bytes:
    """`knowledge_core/dependency_graph.json`, in networkx's node-link form."""
    return _written(
        {
            "format": FORMAT,
            "directed": True,
            "multigraph": False,
            "graph": {},
            "nodes": [{"id": path} for path in workspace_index.files],
            "edges": [
                {"source": source, "target": target} for source, target in workspace_index.edges
            ],
        }
    )


def read_symbols(data: bytes | None) -> list[Symbol]:
    """The symbols in `symbols.json`; none where the file does not exist. Raises ValueError, naming what is wrong."""
    document = _read(data, SYMBOLS, "symbols")
    try:
        return [Symbol(row["name"], row["kind"], row["path"], int(row["line"])) for row in document]
    except (KeyError, TypeError, ValueError) as wrong:
        raise ValueError(f"{SYMBOLS} has a symbol without a name, kind, path or line") from wrong


def read_edges(data: bytes | None) -> list[tuple[str, str]]:
    """The edges in `dependency_graph.json`; none where the file does not exist. Raises ValueError, naming what is wrong."""
    document = _read(data, GRAPH, "edges")
    try:
        return [(str(row["source"]), str(row["target"])) for row in document]
    except (KeyError, TypeError) as wrong:
        raise ValueError(f"{GRAPH} has an edge without a source or a target") from wrong


def _read(data: bytes | None, path: str, key: str) -> list[Any]:
    if data is None:
        return []
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as wrong:
        raise ValueError(
            f"{path} is not valid JSON; `fdc knowledge build` writes it anew"
        ) from wrong
    rows = document.get(key) if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise ValueError(f"{path} has no list of {key}; `fdc knowledge build` writes it anew")
    return rows


def _written(document: dict[str, Any]) -> bytes:
    """JSON with one item of a list on each line, so that a change of one definition changes one line."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value:
            shown = "[\n  " + ",\n  ".join(json.dumps(row) for row in value) + "\n ]"
        else:
            shown = json.dumps(value)
        parts.append(f" {json.dumps(key)}: {shown}")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode("ascii")


def _defined(tree: ast.Module, path: str) -> Iterable[Symbol]:
    work: list[tuple[ast.AST, str, bool]] = [(tree, "", True)]
    while work:
        node, inside, at_top = work.pop(0)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{inside}{child.name}"
                kind = (
                    "class"
                    if isinstance(child, ast.ClassDef)
                    else "method"
                    if inside
                    else "function"
                )
                yield Symbol(name, kind, path, child.lineno)
                if isinstance(child, ast.ClassDef):
                    work.append((child, f"{name}.", False))
            elif at_top and isinstance(child, (ast.Assign, ast.AnnAssign)):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        yield Symbol(
                            target.id,
                            "constant" if target.id.isupper() else "variable",
                            path,
                            child.lineno,
                        )
            elif isinstance(child, (ast.If, ast.Try, ast.With)):
                work.append((child, inside, at_top))


def _imports(tree: ast.Module) -> Iterable[tuple[int, str, tuple[str, ...]]]:
    """(number of dots, module, names taken from it) of every import in a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name, ()
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", tuple(alias.name for alias in node.names)


def _by_end(files: Mapping[str, object]) -> dict[str, list[str]]:
    """Files by the last part of the module that they are."""
    by_end: dict[str, list[str]] = {}
    for path in files:
        by_end.setdefault(_module(path).rpartition("/")[2], []).append(path)
    return by_end


def _module(path: str) -> str:
    """`a/b/c.py` as `a/b/c`; a package's `__init__.py` as its folder."""
    stem = posixpath.splitext(path)[0]
    return stem.removesuffix("/__init__")


def _targets(
    path: str, level: int, module: str, names: tuple[str, ...], known: Mapping[str, list[str]]
) -> Iterable[str]:
    """The files of the workspace that an import reaches; none for modules from elsewhere."""
    base = module.replace(".", "/")
    if level:
        above = posixpath.dirname(path)
        for _ in range(level - 1):
            above = posixpath.dirname(above)
        base = posixpath.join(above, base) if base else above
    for name in names:
        file = _file(f"{base}/{name}" if base else name, path, level, known)
        if file is not None:
            yield file
    file = _file(base, path, level, known) if base else None
    if file is not None:
        yield file


def _file(module: str, importer: str, level: int, known: Mapping[str, list[str]]) -> str | None:
    """The file of a module's path: an exact match, or the one nearest to the importer below some source root."""
    candidates = [
        path
        for path in known.get(module.rpartition("/")[2], ())
        if _fits(_module(path), module, level)
    ]
    if not candidates:
        return None
    return min(
        candidates,
        key=lambda path: (-len(posixpath.commonprefix([path, importer])), len(path), path),
    )


def _fits(module: str, target: str, level: int) -> bool:
    return module == target or (not level and module.endswith(f"/{target}"))
