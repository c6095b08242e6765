"""Imports code that a table of fdc or of a pack names; an error in a pack is not reported as a bug of fdc."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from .model import PackError


def imported(module: str, name: str) -> Callable[..., object]:
    """The function or command `name` of a module. Raises PackError if a pack does not have it, or importing it fails."""
    found: Callable[..., object]
    if module.split(".")[0] == __name__.split(".")[0]:
        found = getattr(importlib.import_module(module), name)
        return found
    try:
        found = getattr(importlib.import_module(module), name)
    except AttributeError as wrong:
        raise PackError(f"the module `{module}` of a pack has no `{name}`: {wrong}") from wrong
    except Exception as wrong:
        why = f"{type(wrong).__name__}: {wrong}"
        raise PackError(f"the module `{module}` of a pack cannot be imported: {why}") from wrong
    if not callable(found):
        raise PackError(f"`{name}` of the module `{module}` of a pack cannot be called")
    return found
