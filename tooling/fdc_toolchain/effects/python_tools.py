"""Tools that are Python functions of the workspace or of an installed package (`run: {python}`).

The function is called with the step's arguments by keyword; one that has a parameter
`idempotency_key` is given the step's key too. The workspace is on the import path, behind
everything else, for as long as such a call lasts and no longer.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..engine.ports import Cancelled, Waiting, WorldFailed
from .failure import ToolFailure, from_os

KEY = "idempotency_key"
_LOCK = threading.Lock()
_IN_USE: dict[str, int] = {}


_OURS = "fdc_toolchain.packs."
"""Where the functions of our packs lie; what they refuse they say in one sentence."""


def call(target: str, root: str, positional: list[Any], named: dict[str, Any], key: str = "") -> Any:
    """What `module:function` returns. Raises ToolFailure for anything that it raises."""
    with _importable(root):
        function = _find(target)
        if key and _takes(function, KEY):
            named = {**named, KEY: key}
        try:
            return function(*positional, **named)
        except (ToolFailure, Waiting, WorldFailed, Cancelled):
            raise
        except OSError as failed:
            raise from_os(failed, f"`{target}`" + (f", {failed.filename}" if failed.filename else "")) from failed
        except (Exception, SystemExit) as raised:
            if type(raised) is ValueError and target.startswith(_OURS):
                raise ToolFailure("refused", str(raised)[:500]) from raised  # its sentence is for the user
            raise ToolFailure("error", f"`{target}` raised {type(raised).__name__}: {str(raised)[:500]}") from raised


def _takes(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False  # a function in C that does not say what it takes


def _find(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as raised:
        raise ToolFailure("unavailable", f"`{target}` cannot be imported: {type(raised).__name__}: {raised}") from raised
    if not callable(found):
        raise ToolFailure("unavailable", f"`{target}` is not a function")
    return found


@contextmanager
def _importable(root: str) -> Iterator[None]:
    with _LOCK:
        count = _IN_USE.get(root, 0)
        if not count and root not in sys.path:
            sys.path.append(root)
            importlib.invalidate_caches()
        elif not count:
            count = 1  # somebody else put it there; it stays
        _IN_USE[root] = count + 1
    try:
        yield
    finally:
        with _LOCK:
            _IN_USE[root] -= 1
            if not _IN_USE[root]:
                sys.path.remove(root)
                del _IN_USE[root]
