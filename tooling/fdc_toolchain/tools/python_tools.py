"""Tools that are Python functions (`run: {python}`): fdc's own are called here, a workspace's in the sandbox (`own_code`).

The function is called with the step's arguments by keyword; one that has a parameter `idempotency_key` is given the step's
key too.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ..engine.ports import Cancelled, Waiting, WorldFailed
from ..workspace.failure import ToolFailure, from_os
from . import own_code
from .context import Context


def call(
    target: str,
    declared: Mapping[str, Any],
    context: Context,
    modules: Mapping[str, str],
    positional: list[Any],
    named: dict[str, Any],
    key: str = "",
) -> Any:
    """What `module:function` returns. Raises ToolFailure for anything that it raises.

    `declared` is its row in the catalogue, `modules` the workspace's files that the program was made of, with their hashes.
    """
    if not own_code.is_own(target):
        return own_code.call(target, declared, context, modules, positional, named, key)
    try:
        return _find(own_code.renamed(target))(*positional, **named)
    except (ToolFailure, Waiting, WorldFailed, Cancelled):
        raise
    except OSError as failed:
        raise from_os(
            failed, f"`{target}`" + (f", {failed.filename}" if failed.filename else "")
        ) from failed
    except (Exception, SystemExit) as raised:
        if type(raised) is ValueError:
            raise ToolFailure(
                "refused", str(raised)[:500]
            ) from raised  # its sentence is for the user
        raise ToolFailure(
            "error", f"`{target}` raised {type(raised).__name__}: {str(raised)[:500]}"
        ) from raised


def _find(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except Exception as raised:
        raise ToolFailure(
            "unavailable", f"`{target}` cannot be imported: {type(raised).__name__}: {raised}"
        ) from raised
    if not callable(found):
        raise ToolFailure("unavailable", f"`{target}` is not a function")
    return found
