"""What a person gives to a task of `fdc agent`: the place of its plan, what was learned."""

from __future__ import annotations

import os

from ...exits import UsageError


def plan_place(root: str, path: str) -> str:
    """The plan's path in the workspace. Raises UsageError for one outside of it."""
    absolute = (
        os.path.abspath(path)
        if os.path.isabs(path) or os.path.exists(path)
        else os.path.join(root, path)
    )
    relative = os.path.relpath(absolute, root)
    if relative.startswith("..") or os.path.isdir(absolute):
        raise UsageError(f"`{path}` is no place for a plan in the workspace {root}")
    return relative


def analysis_of(path: str | None, nothing: str | None) -> str | None:
    """What a person gives to the post-mortem: a file, and the word that nothing was learned."""
    from ...agent.retrospect import untaught

    if nothing is not None and not nothing.strip():
        raise UsageError("--nothing-learned says why")
    if path is None:
        return None if nothing is None else untaught("", nothing)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(1 << 20)
        return text if nothing is None else untaught(text, nothing)
    except UnicodeDecodeError as wrong:
        raise UsageError(f"`{path}` is not UTF-8 text") from wrong
    except FileNotFoundError as wrong:
        raise UsageError(f"`{path}` does not exist") from wrong
