"""The documentation of a tool, taken from its source without running it (FDC-98).

A tool is a thin script: its public names are in `__all__`, and are usually defined in
another file. Names are followed through `from ... import ...` to their definition.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable

Read = Callable[[str], str | None]
"""The text of a file of the workspace, or None where there is none."""

_HOPS = 8
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def document(path: str, read: Read) -> str | None:
    """Markdown: what the module is for, its commands, its public functions and classes. None where no file exists.

    Of a docstring the first paragraph, and of the module's also what it shows as code: agents need the
    commands and the signatures, not the essay, and the bytes are few. Where commands are shown, `main` is them.
    """
    tree = _parsed(path, read)
    if tree is None:
        return None
    parts = []
    first, *more = _paragraphs(tree)
    parts += [first] if first else []
    commands = [text for text in more if all(line.startswith("    ") for line in text.split("\n"))]
    parts += commands
    functions, classes = [], []
    for name in sorted(_public(tree) - ({"main"} if commands else set())):
        node = _definition(name, path, tree, read)
        if isinstance(node, ast.ClassDef):
            classes.append(_class(node, name))
        elif node is not None:
            functions.append(_function(node, name))
    if functions:
        parts.append("**Public Functions:**\n\n" + "\n".join(functions))
    if classes:
        parts.append("**Public Classes:**\n\n" + "\n".join(classes))
    return "\n\n".join(parts)


def _parsed(path: str, read: Read) -> ast.Module | None:
    text = read(path)
    if text is None:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _public(tree: ast.Module) -> set[str]:
    """The names in `__all__`, else every function and class whose name has no underscore in front."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
        ):
            try:
                return {str(name) for name in ast.literal_eval(node.value)}
            except (ValueError, TypeError):
                return set()
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    }


def _definition(
    name: str, path: str, tree: ast.Module, read: Read
) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    """The definition of a name, through a chain of imports inside the folder of the script."""
    root = posixpath.dirname(path)
    for _ in range(_HOPS):
        step = None
        for node in tree.body:
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and node.name == name
            ):
                return node
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        step = (node, alias.name)
        if step is None:
            return None
        node, name = step
        base = (
            root
            if not node.level
            else posixpath.normpath(posixpath.join(path, *[".."] * node.level))
        )
        target = posixpath.join(base, *(node.module or "").split("."))
        for candidate in (f"{target}.py", f"{target}/__init__.py"):
            parsed = _parsed(candidate, read)
            if parsed is not None:
                path, tree = candidate, parsed
                break
        else:
            return None
    return None


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, indent: str = "") -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{indent}- `{word} {name}({ast.unparse(node.args)}){returns}`{_below(node, indent)}"


def _class(node: ast.ClassDef, name: str) -> str:
    bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
    lines = [f"- `class {name}{bases}`{_below(node, '')}"]
    for item in node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            if not item.name.startswith("_") or item.name == "__init__":
                lines.append(_function(item, item.name, "  "))
    return "\n".join(lines)


def _below(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, indent: str) -> str:
    first = _paragraphs(node)[0]
    return (
        "".join("\n" + f"{indent}  {line}".rstrip() for line in first.split("\n")) if first else ""
    )


def _paragraphs(
    node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
) -> list[str]:
    """The paragraphs of the docstring, at least one."""
    return _EMPTY_LINES.split((ast.get_docstring(node) or "").strip("\n"))
