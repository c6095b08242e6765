"""The files beside the tests, as they were: a wrong edit makes tests overwrite what the next fork would read."""

from __future__ import annotations

import os

from .edited_files import FOLDER

MOST, MOST_BYTES = 1000, 30 << 20
"""Files, and bytes of them, beyond which none is kept."""
_LEFT_OUT = frozenset(("__pycache__", ".pytest_cache"))
_kept: dict[str, tuple[tuple[int, int], bytes]] = {}


def remember() -> None:
    """Keeps what the plain files hold, but for those that are compiled."""
    hidden = os.environ[FOLDER]
    count = size = 0
    for at, folders, names in os.walk(os.path.dirname(hidden)):
        there = [one for one in folders if one not in _LEFT_OUT]
        folders[:] = [one for one in there if os.path.join(at, one) != hidden]
        for path in (os.path.join(at, name) for name in names):
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            stamp = _stamp(path)
            count, size = count + 1, size + stamp[0]
            if count > MOST or size > MOST_BYTES:
                _kept.clear()
                return
            try:
                with open(path, "rb") as data:
                    _kept[path] = stamp, data.read()
            except OSError:
                continue  # it may not be read, or is gone


def restore() -> None:
    """Writes again what has changed since."""
    for path, (stamp, data) in _kept.items():
        if not os.path.islink(path) and _stamp(path) != stamp:
            try:
                with open(path, "wb") as out:
                    out.write(data)
                os.utime(path, ns=(stamp[1], stamp[1]))
            except OSError:
                continue  # its folder is gone


def _stamp(path: str) -> tuple[int, int]:
    try:
        said = os.stat(path)
    except OSError:
        return -1, 0
    return said.st_size, said.st_mtime_ns
