"""Where a repository has the hooks that git runs, if that is not `.git/hooks`: husky, `core.hooksPath`."""

from __future__ import annotations

import os
import subprocess

from ....linking.project.quiet_git import ask_git

_HUSKY = ".husky"


def of_repository(root: str) -> str | None:
    """The folder in which a person writes hooks, relative to the repository if it is in it; None for `.git/hooks`.

    In a clone with `.husky` git is told to use it only by `npm install`.
    """
    try:
        asked = ask_git(
            root, "config", "--type=path", "-z", "--get-all", "core.hooksPath", seconds=20
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # after the last value, with which fdc itself lets git run no hook, comes an empty text
    values = [os.fsdecode(value) for value in asked.stdout.split(b"\0")[:-2]]
    if not values:
        return _HUSKY if os.path.isdir(os.path.join(root, _HUSKY)) else None
    path = os.path.normpath(os.path.join(root, values[-1]))
    if os.path.basename(path) == "_":  # husky 9 makes this folder, which calls the hooks above it
        path = os.path.dirname(path)
    inside = os.path.relpath(path, root)
    return path if inside.startswith("..") else inside
