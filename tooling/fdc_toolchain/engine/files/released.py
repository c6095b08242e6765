"""What an approval released: the files as they were when it was asked; later steps must find exactly these.

It is made of the record of the approval (`Released.of`) and kept with the strand that goes on behind it. What the run's
own steps change afterwards is theirs: it is not compared with what was shown any more.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...program.model import Grant, ToolRow
from ...text.glob_match import compiled, fits, plain

NONE = ""
"""As a digest: there was no file."""


class Released:
    """`lists`: by glob, the files that it named. `files`: by path, the digest of the content (`NONE`: there was none).

    `outer`: what an approval released before the fork that this one was asked in.
    """

    __slots__ = ("lists", "files", "outer", "own", "_commands")

    def __init__(
        self, lists: dict[str, list[str]], files: dict[str, str], outer: Released | None = None
    ) -> None:
        self.lists = lists
        self.files = files
        self.outer = outer
        self.own: set[str] = set()
        self._commands: list[tuple[Grant, ...]] = []

    @classmethod
    def of(cls, body: Mapping[str, object], outer: Released | None) -> Released | None:
        """What the record of an approval released; None for a record of an older fdc, which released nothing."""
        notes = body.get("notes")
        approved = notes.get("approved") if isinstance(notes, dict) else None
        if not isinstance(approved, dict):
            return None
        return cls(approved.get("lists", {}), approved.get("files", {}), outer)

    def changed(self, paths: list[str], unknown: tuple[Grant, ...] | None) -> None:
        """A step of the run has changed these paths and, with `unknown`, any path that a command under these grants may write."""
        at: Released | None = self
        while at is not None:
            at.own.update(plain(path) for path in paths)
            if unknown is not None and unknown not in at._commands:
                at._commands.append(unknown)
            at = at.outer

    def is_own(self, path: str) -> bool:
        """Whether the run itself may have changed a path since it was shown."""
        return path in self.own or any(_may_write(grants, path) for grants in self._commands)

    def shown(self, path: str) -> str | None:
        """The digest of what was shown of a path; None where nothing was, or where the run may have changed it since."""
        digest = self.files.get(path)
        return None if digest is None or self.is_own(path) else digest


def _may_write(grants: tuple[Grant, ...], path: str) -> bool:
    return all(
        any(fits(path, compiled(glob)) for glob in grant.get("write", ())) for grant in grants
    )


def may_write(tool: Mapping[str, object], grants: tuple[Grant, ...]) -> tuple[Grant, ...] | None:
    """The grants that hold for what a step writes beside the files that it names; None where it writes nothing else."""
    if tool.get("writes") == "unknown":
        return grants
    access = tool.get("access")
    globs = access.get("write") if isinstance(access, dict) else None
    return (*grants, {"write": tuple(((False, glob),) for glob in globs)}) if globs else None


def paths_changed(tool: ToolRow, args: Mapping[str, object]) -> list[str]:
    """The paths that a step says it changes."""
    return [
        path for parameter in tool.get("parameters", ())
        if parameter.get("access") not in (None, "read") and isinstance(path := args.get(parameter["name"]), str)
    ]  # fmt: skip
