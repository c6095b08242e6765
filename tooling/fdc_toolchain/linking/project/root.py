"""Which folder is the workspace."""

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
