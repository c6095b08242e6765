"""Paths that name no file of the workspace: one table for the linter, which refuses them, and for the runner.

A path is relative to the workspace, and leads neither upwards nor through a link.
"""

from __future__ import annotations

import os
import re
import stat

MAX_FILE = 32 * 1024 * 1024
"""Bytes of one file that a step reads or writes; more is refused."""

_LONGEST, _LONGEST_NAME = 4000, 255
"""Bytes of a path and of a name in it, on the file systems of Linux and macOS."""


_EMPTY = "the path is empty"

_HOME = re.compile(r"(?:~|~[\w.+-]+(?=/)|\$HOME)(?![^/])")
"""The beginning of a path that a shell replaces by a home folder."""


def components(path: str) -> list[str]:
    """The parts of a path, without `.` and empty ones."""
    return [part for part in path.split("/") if part not in ("", ".")]


def outside(path: str) -> str | None:
    """Why a path names no file of the workspace; None where it may name one."""
    if not path:
        return _EMPTY
    if path.startswith("/"):
        return f"`{path}` is not a path relative to the workspace"
    if "\0" in path:
        return "a path with a NUL byte"
    if ".." in path.split("/"):
        return f"`{path}` leaves the workspace with `..`"
    if not components(path):
        return f"`{path}` names the workspace itself"
    encoded = path.encode("utf-8", "surrogatepass")
    if len(encoded) > _LONGEST or any(len(name) > _LONGEST_NAME for name in encoded.split(b"/")):
        return f"`{path[:40]}...` is longer than a path may be ({_LONGEST_NAME} bytes a name)"
    return None


def of_folder(path: str) -> str | None:
    """Why the path of a file is refused that ends as one of a folder does; None where it does not.

    A tool would take `a.md/` for `a.md`, of which rules, grants and assumptions speak.
    """
    if not path:
        return _EMPTY
    if path.rpartition("/")[2] in ("", "."):
        return f"`{path}` ends with a slash, and the path of a file does not"
    return None


def of_home(path: str) -> str | None:
    """Why a plan may not write a path so, which a shell would look for in a home folder; None where it may.

    For the runner it names a file of the workspace, as `./~/a.md` does, which is therefore not refused.
    """
    if _HOME.match(path):
        return f"`{path}` is a path in a home folder, which no step can use"
    return None


def leads_out(root: str, key: str) -> bool:
    """True for a key below the workspace `root` that a link leads outside. Its content is not shown."""
    if key.startswith(("/", "fdc:", "<")):
        return False
    try:
        top, real = os.path.realpath(root), os.path.realpath(os.path.join(root, key))
    except (OSError, ValueError):
        return False
    return not real.startswith(top.rstrip("/") + "/")


class Inside:
    """`leads_out` for many keys of one workspace: each folder is resolved once, as it was when it was asked for first."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[str, bool] = {}
        """By folder, as keys write it: whether no link leads to it."""

    def leads_out(self, key: str) -> bool:
        """True for a key below the workspace that a link leads outside."""
        return not self._is_plain(key) and leads_out(self._root, key)

    def target(self, key: str) -> str:
        """The path from the workspace of the file that a key leads to, through all links; the key where there is no link."""
        if key.startswith(("/", "fdc:", "<")) or self._is_plain(key):
            return key
        try:
            top, real = os.path.realpath(self._root), os.path.realpath(f"{self._root}/{key}")
        except (OSError, ValueError):
            return key
        return os.path.relpath(real, top)

    def _is_plain(self, key: str) -> bool:
        """Whether something is there and no link leads to it."""
        folder, _, name = key.rpartition("/")
        if key.startswith(("/", "fdc:", "<")) or name in ("", ".", ".."):
            return False
        plain = self._folders.get(folder)
        if plain is None:
            plain = self._folders[folder] = not folder or self._is_direct(folder)
        try:
            return plain and not stat.S_ISLNK(os.lstat(f"{self._root}/{key}").st_mode)
        except (OSError, ValueError):
            return False

    def _is_direct(self, folder: str) -> bool:
        try:
            top, real = os.path.realpath(self._root), os.path.realpath(f"{self._root}/{folder}")
        except (OSError, ValueError):
            return False
        return real == f"{top.rstrip('/')}/{folder}"
