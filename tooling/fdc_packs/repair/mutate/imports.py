"""Edits that put a lost import back, where an error says that a name is not defined."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator, Mapping

from .source import Edit, Source

_LOST = re.compile(r"NameError: (?:global )?name '(\w+)' is not defined")
_COMMON = (
    "re os sys math json time random itertools functools collections typing datetime pathlib decimal string"
).split()


def lost(source: Source, message: str, others: Mapping[str, str]) -> Iterator[Edit]:
    """The import of the name that an error misses: as another file has it, or from the standard library."""
    found = _LOST.search(message)
    body = [one for one in getattr(source.tree, "body", ()) if not isinstance(one, ast.Expr)]
    if found is None or not body:
        return
    name = found[1]
    texts: dict[str, float] = {}
    whole = re.compile(
        rf"^(?:from [\w.]+ )?import (?:[\w., ]+, *)?(?:\w+ as )?{name}\b.*$", re.MULTILINE
    )
    for text in others.values():
        for match in whole.finditer(text):
            if not match[0].rstrip().endswith(("(", "\\")):
                texts.setdefault(match[0].strip(), 0.8)
    if name in sys.stdlib_module_names:
        texts.setdefault(f"import {name}", 0.9)
    for module in _COMMON:
        if hasattr(importlib.import_module(module), name):
            texts.setdefault(f"from {module} import {name}", 0.5)
    first = next((one for one in body if not _future(one)), body[-1])
    place = source.start(first)
    for text, prior in texts.items():
        yield Edit("import", first, ((place, place, f"{text}\n"),), "", text, prior)


def _future(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
