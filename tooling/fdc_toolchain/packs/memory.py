"""The cache of packs between two starts of fdc, with the check whether it is still valid.

It rests on the times of the folders of the import path (installing a distribution changes one of them), of the folder beside
fdc and of every `pack.toml`. Looking at these takes a tenth of a millisecond; reading entry points and TOML would take longer
than a whole `fdc lint` whose verdict is known. That lint looks at the same times, and does not even import this module
(`cache.verdicts.remember_seen`).
"""

from __future__ import annotations

import os
import sys

from .. import cachedir
from . import beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = tuple[dict[str, object], str, str, bool]

try:
    from _sha1 import sha1 as sha1  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # pragma: no cover - an interpreter built without it
    from hashlib import sha1 as sha1

Stamp = tuple[int, int, int]
"""Time of the last change in nanoseconds, size, inode."""

_FOLDER = "pack_index"
_MOST = 16
_HERE = os.path.dirname(os.path.abspath(__file__))
_READERS = ("read.py", "find.py", "index.py", "memory.py")


def stamp(path: str) -> Stamp | None:
    """A value that changes with a file or folder; None if it does not exist."""
    try:
        found = os.stat(path or ".")
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def roots() -> list[str]:
    """What decides which packs there are, besides each `pack.toml`: the code that finds them, and where it looks."""
    readers = [os.path.join(_HERE, name) for name in _READERS]
    return [*readers, beside.FOLDER, *sys.path]


def _name() -> str:
    return f"{_FOLDER}/{sha1(repr(roots()).encode('utf-8', 'surrogateescape')).hexdigest()}"


def load() -> tuple[list[Row], list[str]] | None:
    """The arguments of `model.pack_of` for each pack, and the problems; None where something may have changed."""
    kept: Any = cachedir.load(_name())
    if not isinstance(kept, tuple) or len(kept) != 3:
        return None
    stamps, rows, problems = kept
    return (rows, problems) if all(stamp(path) == was for path, was in stamps.items()) else None


def store(stamps: dict[str, Stamp | None], rows: list[Row], problems: list[str]) -> None:
    """Caches the packs; `stamps` were taken before the search."""
    cachedir.store(_name(), (stamps, rows, problems))
    cachedir.prune(_FOLDER, _MOST)
