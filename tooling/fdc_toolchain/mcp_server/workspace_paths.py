"""The workspace is fixed when the server starts: no argument names anything outside of it, or a file that holds secrets."""

from __future__ import annotations

import os

from ..linking.project.places import Inside
from ..linking.project.secret_files import withheld
from ..workspace.confirmed_settings import settings_of
from .results import in_line
from .tool_table import Wrong


def plan_in(root: str, named: str, *, unsaved: bool = False) -> str:
    """A plan as it was named: a path in the workspace, a registered name or a shipped plan; `unsaved`: where its text would be
    saved. Raises Wrong."""
    if not named or "\0" in named:
        raise Wrong("a plan is named by a path in the workspace or by a registered name")
    # a shipped plan, `fdc:PATH`, is inside as long as it has no `..` that leads out
    if not is_inside(root, named):
        raise Wrong(f"`{in_line(named, 200)}` is outside of the workspace of this server, {root}")
    if is_hidden(root, named):
        raise Wrong(f"`{in_line(named, 200)}` is no plan: its name says that it holds secrets")
    if named.endswith("/") or unsaved and os.path.isdir(os.path.join(root, named)):
        raise Wrong(
            f"`{in_line(named, 200)}` is the name of a folder; name a plan, or where its text would be saved"
        )
    return named


def is_inside(root: str, path: str) -> bool:
    """Whether a path leads into the workspace, links followed."""
    try:
        real, top = os.path.realpath(os.path.join(root, path)), os.path.realpath(root)
        return os.path.commonpath([real, top]) == top
    except (OSError, ValueError):
        return False


def is_hidden(root: str, path: str) -> bool:
    """Whether an answer may not quote the file of a finding: it is outside of the workspace and of fdc, or holds secrets."""
    if path.startswith(("fdc:", "<")):
        return False
    if not is_inside(root, path):
        return True
    return withheld(Inside(root), os.path.normpath(path), settings_of(root).secret) is not None
