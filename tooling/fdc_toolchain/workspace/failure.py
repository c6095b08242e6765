"""The exception of a failed tool."""

from __future__ import annotations

import errno
import os
import re

from ..engine.ports import WorldFailed
from ..exits import reason
from ..text.whole import whole

WORLD = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EROFS,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EFBIG,
        errno.EAGAIN,  # of a process that cannot be started: the limit of processes is reached
    )
)
"""Errors of the environment: the run stops and can be resumed when they are resolved."""

NET = frozenset((errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH))
"""Network errors."""


class ToolFailure(Exception):
    """A failure of a step: `kind` is a row of `program.causes.FAILURES` or a tool's own word, the message one sentence.

    `usage`: what it used up all the same; `notes`: remarks for the journal.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        usage: dict[str, float] | None = None,
        notes: dict[str, object] | None = None,
    ) -> None:
        super().__init__(whole(message))
        self.kind = whole(kind)
        self.usage = usage
        self.notes = notes


def from_os(failed: OSError, what: str) -> Exception:
    """The exception for an OS error while doing `what`: WorldFailed or ToolFailure."""
    failed = _first(failed)
    said = f"{what}: {reason(failed)}"
    if failed.errno in WORLD:
        return WorldFailed(said)
    if isinstance(failed, TimeoutError):
        kind = "timeout"
    elif isinstance(failed, ConnectionError) or failed.errno in NET:
        kind = "net"
    else:
        kind = "missing" if failed.errno == errno.ENOENT else "file"
    return ToolFailure(kind, said)


def _first(failed: OSError) -> OSError:
    """The first of the errors that `shutil.copytree` collected: it keeps their texts only."""
    found = None if failed.errno else re.search(r"\[Errno (\d+)\]", str(failed))
    return failed if found is None else OSError(int(found[1]), os.strerror(int(found[1])))
