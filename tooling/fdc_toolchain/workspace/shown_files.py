"""Files as an approval shows them: noted by their digests while it looks ahead, compared with those afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol

from ..engine.files.released import NONE, Released
from ..program.model import Grant
from .failure import ToolFailure

BOUND = 20_000
"""Files that are bound; what goes beyond is refused."""


class Files(Protocol):
    """An open workspace (`workspace.files.Root`), as far as contents are compared."""

    def granted(self, grants: Sequence[Grant], /) -> Files:
        """The same workspace for a step under these grants."""

    def find(self, path: str, /) -> bytes | None:
        """The bytes of a file, or None where there is none. Raises ToolFailure."""


class TooMuch(Exception):
    """More files than an approval can show and bind."""


def difference(released: Released, root: Files, path: str) -> str:
    """Why a file is not as it was shown; empty where it is."""
    shown = released.shown(path)
    if shown is None:
        return ""
    now = now_at(root, path)
    if now == shown:
        return ""
    how = "was deleted" if now == NONE else "was created" if shown == NONE else "changed"
    return f"`{path}` {how} after the approval showed it"


def now_at(root: Files, path: str) -> str:
    """The digest of a file, `NONE` where there is none, and a word for what cannot be read."""
    try:
        data = root.granted(()).find(path)  # as it is, whatever was shown
    except ToolFailure as failure:
        return f"({failure.kind})"
    return NONE if data is None else digest(data)


def digest(data: bytes) -> str:
    """The name of a content."""
    return blake2b(data, digest_size=16).hexdigest()


class Noted:
    """The lists that were looked up and the files that were read meanwhile."""

    def __init__(self) -> None:
        self.lists: dict[str, list[str]] = {}
        self.files: dict[str, str] = {}

    def list(self, glob: str, found: list[str]) -> None:
        """A glob was looked up."""
        self.lists[glob] = found
        self._full(sum(map(len, self.lists.values())))

    def file(self, path: str, now: str) -> None:
        """A file was looked at."""
        self.files.setdefault(path, now)
        self._full(len(self.files))

    def _full(self, count: int) -> None:
        if count > BOUND:
            raise TooMuch(
                f"the steps after the approval concern more than {BOUND} files, too many for a person to check"
            )
