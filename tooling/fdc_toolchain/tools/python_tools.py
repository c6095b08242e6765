"""Tools that are Python functions (`run: {python}`): fdc's own are called here, a workspace's in the sandbox (`own_code`).

The function is called with the step's arguments by keyword; one that has a parameter `idempotency_key` is given the step's
key too.
"""

from __future__ import annotations

import dis
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from ..engine.ports import Cancelled, Waiting, WorldFailed
from ..program.model import ToolRow
from ..workspace.failure import ToolFailure, from_os
from . import own_code
from .context import Context

P = ParamSpec("P")
T = TypeVar("T")

UNFIT = (
    "it cannot use what it is given; give it what the steps before it in the pack's plans return"
)
"""Why a function of a pack failed at a value that has not the form that it needs."""


def call(
    target: str,
    declared: ToolRow,
    context: Context,
    modules: Mapping[str, str],
    positional: Sequence[object],
    named: Mapping[str, object],
    key: str = "",
) -> object:
    """What `module:function` returns. Raises ToolFailure for anything that it raises.

    `declared` is its row in the catalogue, `modules` the workspace's files that the program was made of, with their hashes.
    """
    if not own_code.is_own(target):
        return own_code.call(target, declared, context, modules, positional, named, key)
    return of_pack(target, _find(own_code.renamed(target)))(*positional, **named)


def of_pack(target: str, function: Callable[P, T]) -> Callable[P, T]:
    """A function of a pack that raises ToolFailure for whatever it raises, of the kind `argument` where it cannot use what
    it is given; a ValueError that it raises itself says why."""

    def called(*args: P.args, **named: P.kwargs) -> T:
        try:
            return function(*args, **named)
        except (ToolFailure, Waiting, WorldFailed, Cancelled, RecursionError):
            raise
        except OSError as failed:
            where = f", {failed.filename}" if failed.filename else ""
            raise from_os(failed, f"`{target}`{where}") from failed
        except (Exception, SystemExit) as raised:
            said = f"`{target}` raised {type(raised).__name__}: {str(raised)[:500]}"
            if type(raised) is ValueError and _stated(raised):
                raise ToolFailure("argument", str(raised)[:500]) from raised
            if isinstance(raised, (ValueError, TypeError, AttributeError, LookupError)):
                raise ToolFailure("argument", UNFIT, notes={"raised": said}) from raised
            raise ToolFailure("error", said) from raised

    return called


def _stated(raised: BaseException) -> bool:
    """Whether a `raise` of Python code raised it, and not an operation such as `int("x")`."""
    place = raised.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return (
        place is not None
        and place.tb_frame.f_code.co_code[place.tb_lasti] == dis.opmap["RAISE_VARARGS"]
    )


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
