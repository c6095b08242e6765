"""Code that is named in a table, of fdc's or of a pack's: what is wrong with a pack's is not called a bug of fdc."""

from __future__ import annotations

import importlib
from typing import Any

from .model import PackError


def imported(module: str, name: str) -> Any:
    """What a module calls `name`. Raises PackError where a pack has no such code, or importing it fails."""
    if module.split(".")[0] == __name__.split(".")[0]:
        return getattr(importlib.import_module(module), name)
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError as wrong:
        raise PackError(f"the module `{module}` of a pack has no `{name}`: {wrong}") from wrong
    except Exception as wrong:
        why = f"{type(wrong).__name__}: {wrong}"
        raise PackError(f"the module `{module}` of a pack cannot be imported: {why}") from wrong
