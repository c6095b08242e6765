"""How a tool says that it did not do what it was asked."""

from __future__ import annotations

import errno
from typing import Any

from ..engine.ports import WorldFailed

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
    )
)
"""Troubles that are not the plan's: the run stops as it is and can be resumed when they are gone."""

NET = frozenset((errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH))
"""Troubles of a line to another machine."""


class ToolFailure(Exception):
    """A failure of a step: `kind` is a row of `program.causes.FAILURES` or a tool's own word, the message one sentence.

    `usage`: what it used up all the same; `notes`: remarks for the journal.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        usage: dict[str, float] | None = None,
        notes: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.usage = usage
        self.notes = notes


def from_os(failed: OSError, what: str) -> Exception:
    """What to raise for a refusal of the system while doing `what`: WorldFailed or ToolFailure."""
    reason = (failed.strerror or str(failed)).lower()
    if failed.errno in WORLD:
        return WorldFailed(f"{what}: {reason}")
    if isinstance(failed, TimeoutError):
        kind = "timeout"
    elif isinstance(failed, ConnectionError) or failed.errno in NET:
        kind = "net"
    else:
        kind = "missing" if failed.errno == errno.ENOENT else "file"
    return ToolFailure(kind, f"{what}: {reason}")
