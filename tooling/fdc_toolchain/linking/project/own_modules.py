"""Which files of a workspace are the code of its Python tools, found out without running any of it.

A tool's `module:function` names a module, and that imports others. All that resolves to a Python file of the workspace is
followed: `import` and `from` statements wherever they stand, and `import_module("name")` with its name written out. A name
that an installed package has too is followed all the same: which of the two is imported is known only where it happens.
An import whose name is computed cannot be seen; in a run it is refused (`tools.own_code`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .files import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

PLACES = ("", "src/")
"""Where a workspace keeps its modules; `tools.own_code_inside` looks there, too."""

_CALLS = ("import_module", "__import__")


def modules(targets: Iterable[str], files: Files) -> list[str]:
    """The keys of all files that `module:function` targets may import from the workspace, sorted. Raises OSError."""
    keys: dict[str, None] = {}
    seen: set[str] = set()
    work = [target.partition(":")[0] for target in targets]
    while work:
        name = work.pop()
        if name in seen:
            continue
        seen.add(name)
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            part = parts[:end]
            key = file_of(part, files)
            if key is not None and key not in keys:
                keys[key] = None
                work += _imported(
                    files.read(key) or b"", part if key.endswith("/__init__.py") else part[:-1]
                )
    return sorted(keys)


def file_of(parts: list[str], files: Files) -> str | None:
    """The file of a module in the workspace: a package's before one of the same name, as Python has it. No link is followed,
    as in a run."""
    keys = (key for key in _keys(parts) if files.kind(key) == "file")
    return next((key for key in keys if not files.is_linked(key)), None)


def places_of(targets: Iterable[str]) -> list[str]:
    """Where the modules of `module:function` targets could be."""
    return [key for target in targets for key in _keys(target.partition(":")[0].split("."))]


def _keys(parts: list[str]) -> list[str]:
    path = "/".join(parts)
    return [f"{place}{path}{end}" for place in PLACES for end in ("/__init__.py", ".py")]


def _imported(source: bytes, package: list[str]) -> Iterator[str]:
    """The names that a module in a package may import. Nothing for invalid Python: importing it fails."""
    import ast  # most plans use no tool of their own

    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level > len(package) + 1 or (node.level and not package):
                continue  # beyond the top: importing it fails
            base = (
                [*package[: len(package) - node.level + 1], *_words(node.module)]
                if node.level
                else _words(node.module)
            )
            yield from (".".join([*base, alias.name]) for alias in node.names if alias.name != "*")
            yield ".".join(base)
        elif isinstance(node, ast.Call) and node.args and _called(node.func) in _CALLS:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                name = first.value.lstrip(".")
                level = len(first.value) - len(name)
                base = package[: len(package) - level + 1] if level else []
                yield ".".join([*base, *_words(name)])


def _called(function: ast.expr) -> str:
    return str(getattr(function, "attr", "") or getattr(function, "id", ""))


def _words(name: str | None) -> list[str]:
    return name.split(".") if name else []
