"""Which folder is the workspace, and what a path names in it."""

from __future__ import annotations

import os

from .regular_file import read


def find_root(start: str) -> str:
    """The nearest folder from `start` upwards that is a workspace, as an absolute path; `start` where none is.

    A workspace has `knowledge_core/`, `fdc.toml`, a `pyproject.toml` with a `[tool.fdc]` table, or `.git`.
    """
    start = os.path.abspath(start)
    folder = start
    while True:
        if is_root(folder):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent


def is_root(folder: str) -> bool:
    """Whether a folder is a workspace."""
    return os.path.exists(os.path.join(folder, ".git")) or own_settings(folder)


def inside(root: str) -> str:
    """The folder that a command without paths means: the current one, or the workspace if that does not contain it."""
    here = os.getcwd() + os.sep
    return os.curdir if here.startswith(root.rstrip(os.sep) + os.sep) else root


def typed(root: str, path: str) -> str:
    """The key of a path as it was typed; an absolute path where it is not below the workspace, and names its file itself.

    A path that reaches the workspace through a link (`/tmp` on macOS is one) is below it; links in the workspace stay in keys.
    """
    here = os.path.abspath(path)
    top = os.path.realpath(root).rstrip("/")
    for start in (root.rstrip("/"), top):
        if here.startswith(start + "/"):
            return here[len(start) + 1 :]
    folder, name = (here, "") if os.path.isdir(here) else os.path.split(here)
    real = os.path.join(os.path.realpath(folder), name)
    return real[len(top) + 1 :] or "." if real.startswith(top + "/") else here


def there(root: str, path: str) -> str:
    """A path as it was typed, or the one below `root` of what it reaches in the workspace through a link."""
    if f"{os.path.abspath(path)}/".startswith(root.rstrip("/") + "/"):
        return path
    key = typed(root, path)
    return path if key.startswith("/") else os.path.join(root, key)


def own_settings(folder: str) -> bool:
    """Whether a folder below a workspace is another workspace, by more than a `.git`."""
    return os.path.isdir(os.path.join(folder, "knowledge_core")) or has_settings(folder)


def has_settings(folder: str) -> bool:
    """Whether the folder has settings of fdc, in one of the two files."""
    return os.path.isfile(os.path.join(folder, "fdc.toml")) or _has_table(
        os.path.join(folder, "pyproject.toml")
    )


def _has_table(path: str) -> bool:
    try:
        lines = read(path).split(b"\n")
    except OSError:
        return False
    return any(line.strip().startswith((b"[tool.fdc]", b"[tool.fdc.")) for line in lines)
