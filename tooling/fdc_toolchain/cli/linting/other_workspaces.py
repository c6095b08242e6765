"""Tells of plans that are in another workspace below this one: they were checked without its settings and rules."""

from __future__ import annotations

import os
import sys

from ...linking.project.root import own_settings
from ...linking.project.stat_cache import Seen

MOST_NAMED = 5
_MARKS = ("fdc.toml", "knowledge_core", "pyproject.toml")


def say(sight: Seen, keys: list[str], root: str) -> bool:
    """Prints the note on stderr; returns whether there is one. `keys`: the plans that were checked."""
    found = workspaces_with(sight, keys, root)
    if not found:
        return False
    from ...report.terminal.terminal_text import visible

    one = len(found) == 1
    names = [visible(_typed(os.path.join(root, name))) for name in found[:MOST_NAMED]]
    listed = ", ".join(f"`{name}`" for name in names)
    if len(found) > MOST_NAMED:
        listed += f" and {len(found) - MOST_NAMED} more folders"
    print(
        f"fdc: note: {listed} {'is a workspace' if one else 'are workspaces'} with settings of {'its' if one else 'their'} own;"
        f" {'its' if one else 'their'} plans were checked with the settings and rules of this one. To check them with"
        f" {'its own' if one else 'their own'}: fdc lint --workspace {names[0]}",
        file=sys.stderr,
    )
    return True


def _typed(path: str) -> str:
    """A path as a person would type it here."""
    short = os.path.relpath(path)
    return path if short.startswith(os.pardir + os.sep) else short


def workspaces_with(sight: Seen, keys: list[str], root: str) -> list[str]:
    """The workspaces below `root` that contain plans of `keys`, as paths from `root`; none that is inside another of them."""
    below = root.rstrip(os.sep) + os.sep
    known: dict[str, bool] = {
        folder: any(mark in names for mark in _MARKS) and own_settings(folder)
        for folder, (_, names) in sight.folders.items()
    }
    found: set[str] = set()
    for folder in {os.path.dirname(key) for key in keys if not os.path.isabs(key)}:
        path = below.rstrip(os.sep)
        for name in folder.split(os.sep) if folder else ():
            path = f"{path}{os.sep}{name}"
            if path not in known:
                known[path] = own_settings(path)
            if known[path]:
                found.add(path.removeprefix(below))
                break
    return sorted(found)
