"""The exceptions of the API, and the conversion of internal exceptions to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .. import exits
from ..exits import reason
from ..recursion import Depth
from ..upgraded import START_AGAIN, is_upgraded

if TYPE_CHECKING:
    from .values import CheckResult


class FdcError(Exception):
    """The base class of all exceptions of the API. The message is one sentence."""


class NotFound(FdcError):
    """A plan, a run, a rule, a question or a workspace that was named does not exist."""


class InvalidInput(FdcError):
    """An argument, a setting of the workspace or the encoding of a file is wrong."""


class PlanRefused(FdcError):
    """The plan has errors, so it is neither compiled nor run; `result` has the findings."""

    def __init__(self, message: str, result: CheckResult) -> None:
        super().__init__(message)
        self.result = result


class RunRefused(FdcError):
    """The run cannot do this as it stands: it was cancelled, went on meanwhile, asks nothing, or is not yours."""


class WorldTrouble(FdcError):
    """The environment failed: a disk, a process, a provider. A later try may succeed."""


class NotGranted(WorldTrouble):
    """This machine or its policy does not give what the run needs; nothing was done."""


class RunBusy(WorldTrouble):
    """Another process drives this run, or one that may write the same paths."""


class InternalError(FdcError):
    """A bug of fdc. Please report it; `__cause__` shows where."""


def _of_exit(stop: exits.Exit) -> FdcError:
    """The exception of the API for one of the run service."""
    kinds: tuple[tuple[type[exits.Exit], type[FdcError]], ...] = (
        (exits.Missing, NotFound),
        (exits.UsageError, InvalidInput),
        (exits.Refused, RunRefused),
        (exits.NotGranted, NotGranted),
        (exits.Busy, RunBusy),
        (exits.WorldError, WorldTrouble),
    )
    return next((to for kind, to in kinds if isinstance(stop, kind)), InternalError)(str(stop))


def _of_any(raised: Exception) -> FdcError:
    """The exception of the API for any other exception."""
    from ..engine.ports import Fenced
    from ..linking.project.settings import SettingsError
    from ..program.codec import ProgramError

    if isinstance(raised, SettingsError):
        return InvalidInput(str(raised))
    if isinstance(raised, Fenced | ProgramError):
        return WorldTrouble(str(raised))
    if isinstance(raised, OSError):
        place = f" ({raised.filename})" if raised.filename else ""
        return WorldTrouble(f"{reason(raised)}{place}")
    if (short := exits.short_of(raised)) is not None:
        return WorldTrouble(short)
    if is_upgraded():
        return WorldTrouble(f"{START_AGAIN} ({type(raised).__name__}: {raised})")
    return InternalError(f"this is a bug of fdc: {type(raised).__name__}: {raised}")


_DEPTH = Depth()


@contextmanager
def calling() -> Iterator[None]:
    """One call of the API: every exception in it becomes an FdcError, and Python's recursion limit is restored after it."""
    _DEPTH.enter()
    try:
        yield
    except FdcError:
        raise
    except exits.Exit as stop:
        raise _of_exit(stop) from stop
    except Exception as raised:
        raise _of_any(raised) from raised
    finally:
        _DEPTH.leave()
