"""Files that several branches of a fork name at the same time.

Where values decide whether branches name the same file, lint assumes that they do not (`distinct-items`). Here it is seen:
the branch that comes second to a file which one of the two changes stops before its step.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...program.model import Program, ToolRow
from ...text.glob_match import plain

SEVERAL = 0


class SharedFiles:
    """What the branches of one fork have named so far. `path` and `line` are the place of the fork in its plan."""

    __slots__ = ("path", "line", "_uses")

    def __init__(self, path: str, line: int) -> None:
        self.path = path
        self.line = line
        self._uses: dict[str, tuple[int, bool]] = {}

    def collides(self, branch: int, path: str, changes: bool) -> bool:
        """Notes that a branch (they count from 1) uses a file; True where another one does and one of them changes it."""
        before, changed = self._uses.get(path, (branch, False))
        if before == branch:
            self._uses[path] = branch, changed or changes
            return False
        if changed or changes:
            return True
        self._uses[path] = SEVERAL, False
        return False


Branches = tuple[tuple[SharedFiles, int], ...]
"""The forks around a strand of which lint assumed something, with the number of the strand's branch in each."""


def assumed(program: Program) -> frozenset[tuple[str | int, ...]]:
    """The places (plan, line) of which the proof assumes that values name different files."""
    return frozenset(
        tuple(use)
        for row in program.get("assumptions", ())
        if row["rule"] == "distinct-items"
        for use in row["uses"]
    )


def collision(
    branches: Branches, tool: ToolRow, args: Mapping[str, object]
) -> tuple[SharedFiles, str] | None:
    """The fork, and the path in it, of which a step uses what another branch changes or changes what another one uses.

    A path that names no file of the workspace is used by nobody.
    """
    for parameter in tool.get("parameters", ()):
        access, value = parameter.get("access"), args.get(parameter["name"])
        if access is None or not isinstance(value, str):
            continue
        path = plain(value)
        if not path or value.startswith("/") or "\0" in value or ".." in value.split("/"):
            continue  # it names no file of the workspace; the tool refuses it and says why
        for files, branch in branches:
            if files.collides(branch, path, access != "read"):
                return files, path
    return None
