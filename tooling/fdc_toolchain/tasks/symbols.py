"""What the Python files of a workspace define, and which of them import which (FDC-66). Pure.

Both are data for other programs too: `symbols.json` is a list, `dependency_graph.json` is what
`networkx.node_link_graph(..., edges="edges")` reads. An edge leads from a file to one that it imports.
"""

from __future__ import annotations

import ast
import json
import posixpath
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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
    """The index of these texts by path. A file that is not a Python is skipped, with the reason."""
    symbols: list[Symbol] = []
    left = list(skipped)
    imports: dict[str, list[tuple[int, str, tuple[str, ...]]]] = {}
    for path in sorted(files):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", SyntaxWarning
                )  # an odd escape in somebody's text is their linter's business
                tree = ast.parse(files[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as wrong:
            line = (
                f" (line {wrong.lineno})" if isinstance(wrong, SyntaxError) and wrong.lineno else ""
            )
            left.append((path, f"no Python that this version reads{line}"))
            continue
        symbols += _defined(tree, path)
        imports[path] = list(_imports(tree))
    known = _by_end(imports)
    edges = {
        (path, target)
        for path, wanted in imports.items()
        for level, module, names in wanted
        for target in _targets(path, level, module, names, known)
        if target != path
    }
    return Index(tuple(symbols), tuple(sorted(imports)), tuple(sorted(edges)), tuple(sorted(left)))


def symbols_json(found: Index) -> bytes:
    """`knowledge_core/symbols.json`: the same index gives the same bytes."""
    return _written(
        {
            "format": FORMAT,
            "symbols": [one._asdict() for one in found.symbols],
            "skipped": [{"path": path, "reason": why} for path, why in found.skipped],
        }
    )


def graph_json(found: Index) -> bytes:
    """`knowledge_core/dependency_graph.json`, in networkx's node-link form."""
    return _written(
        {
            "format": FORMAT,
            "directed": True,
            "multigraph": False,
            "graph": {},
            "nodes": [{"id": path} for path in found.files],
            "edges": [{"source": source, "target": target} for source, target in found.edges],
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
    found = document.get(key) if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise ValueError(f"{path} has no list of {key}; `fdc knowledge build` writes it anew")
    return found


def _written(document: dict[str, Any]) -> bytes:
    """JSON with a row of a list on each line, so that a change of one definition is a change of one line."""
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
        node, inside, named = work.pop(0)
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
            elif named and isinstance(child, (ast.Assign, ast.AnnAssign)):
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
                work.append((child, inside, named))


def _imports(tree: ast.Module) -> Iterable[tuple[int, str, tuple[str, ...]]]:
    """(how many dots, the module, the names taken from it) of every import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name, ()
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", tuple(alias.name for alias in node.names)


def _by_end(files: Mapping[str, object]) -> dict[str, list[str]]:
    """Files by the last part of the module that they are."""
    found: dict[str, list[str]] = {}
    for path in files:
        found.setdefault(_module(path).rpartition("/")[2], []).append(path)
    return found


def _module(path: str) -> str:
    """`a/b/c.py` as `a/b/c`; a package's `__init__.py` as its folder."""
    stem = posixpath.splitext(path)[0]
    return stem.removesuffix("/__init__")


def _targets(
    path: str, level: int, module: str, names: tuple[str, ...], known: Mapping[str, list[str]]
) -> Iterable[str]:
    """The files of the workspace that an import reaches; none for what comes from elsewhere."""
    base = module.replace(".", "/")
    if level:
        above = posixpath.dirname(path)
        for _ in range(level - 1):
            above = posixpath.dirname(above)
        base = posixpath.join(above, base) if base else above
    for name in names:
        found = _file(f"{base}/{name}" if base else name, path, level, known)
        if found is not None:
            yield found
    found = _file(base, path, level, known) if base else None
    if found is not None:
        yield found


def _file(module: str, importer: str, level: int, known: Mapping[str, list[str]]) -> str | None:
    """The file that a module's path means: exactly, or the one nearest to the importer below some source root."""
    candidates = [
        one
        for one in known.get(module.rpartition("/")[2], ())
        if _fits(_module(one), module, level)
    ]
    if not candidates:
        return None
    return min(
        candidates, key=lambda one: (-len(posixpath.commonprefix([one, importer])), len(one), one)
    )


def _fits(module: str, wanted: str, level: int) -> bool:
    return module == wanted or (not level and module.endswith(f"/{wanted}"))
