"""Whether files of fdc changed after this process began: a server whose fdc is upgraded meanwhile mixes two versions of it."""

from __future__ import annotations

import os
import sys
import time

_BEGAN = time.time()
"""When this module was imported, which is early in every process that lasts."""

START_AGAIN = "the files of fdc changed after this process began (an upgrade?); start it again"


def is_upgraded() -> bool:
    """Whether a file that this process has imported of fdc changed since, or is gone. Takes a few milliseconds.

    For after a failure: also a new hard link changes the time that it compares, and installers make such links.
    """
    for path in _imported():
        try:
            if os.stat(path).st_ctime > _BEGAN:
                return True
        except OSError:
            return True
    return False


class Installed:
    """The files that this process has imported of fdc. A server makes it when it starts, and begins nothing more once they
    changed: what it would do then, a mixture of two versions would do, and nobody has tested that."""

    def __init__(self) -> None:
        self._files = {path: _mark(path) for path in _imported()}

    def is_replaced(self) -> bool:
        """Whether one of the files is another one now. Takes a few milliseconds."""
        return any(_mark(path) != mark for path, mark in self._files.items())


def _imported() -> list[str]:
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) if name.startswith(__package__) else None
        if path is not None:
            found.append(path)
    return found


def _mark(path: str) -> tuple[int, int, int]:
    try:
        about = os.stat(path)
    except OSError:
        return 0, 0, 0
    return about.st_ino, about.st_mtime_ns, about.st_size
