"""Which files of a workspace a glob names: `*` and `?` inside a name, `**` for any folders.

The order is that of the paths. Names that begin with a dot are only matched by a pattern that
writes the dot; `.git` and `.fdc` never are, and files that hold secrets only where the plans name
them. Symbolic links are not followed, and folders that the pattern cannot reach are not opened. A name that is
not UTF-8 is left out, with what is in a folder of such a name: no plan, record or value could hold it. So is a folder
that may not be read. The note says how many were left out.
"""

from __future__ import annotations

import fnmatch
import re

from .failure import WORLD, ToolFailure, from_os
from .files import Root

MAX_FILES = 200_000
"""Files that one glob may name; more is refused."""

HIDDEN = frozenset((".git", ".fdc"))


def files(root: Root, glob: str) -> list[str]:
    """The paths of the regular files that match, sorted. Raises ToolFailure for a glob that leads out."""
    return search(root, glob)[0]


def search(root: Root, glob: str) -> tuple[list[str], dict[str, str] | None]:
    """What `files` gives, and the note for the record where names were left out. Raises like it."""
    unwritable = unreadable = 0
    segments = _segments(glob)
    patterns = [
        None if segment == "**" else re.compile(fnmatch.translate(segment)) for segment in segments
    ]
    out: list[str] = []
    work: list[tuple[list[str], frozenset[int]]] = [([], _closed({0}, segments))]
    while work:
        folder, positions = work.pop()
        try:
            entries = root.scan(folder)
        except OSError as failed:
            if failed.errno in WORLD:
                raise from_os(failed, f"`{'/'.join(folder) or '.'}`") from failed
            unreadable += isinstance(failed, PermissionError)
            continue  # it went away, or may not be read: it has no files that a step could use
        for name, is_folder in entries:
            after = {nxt for at in positions for nxt in _steps(name, at, segments, patterns)}
            if not after or name in HIDDEN:
                continue
            if not _is_utf8(name):
                unwritable += 1
                continue
            if (
                not is_folder
                and len(segments) in after
                and not root.withheld("/".join([*folder, name]))
            ):
                out.append("/".join([*folder, name]))
            elif is_folder:
                inside = _closed(after - {len(segments)}, segments)
                if inside:
                    work.append(([*folder, name], inside))
        if len(out) > MAX_FILES:
            raise ToolFailure("size", f"`{glob}` names more than {MAX_FILES} files")
    hints = [
        f"left out, because {why}: {number}"
        for why, number in (
            ("the name is not UTF-8", unwritable),
            ("the folder may not be read", unreadable),
        )
        if number
    ]
    return root.listed(glob, sorted(out)), {"hint": "; ".join(hints)} if hints else None


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _segments(glob: str) -> list[str]:
    if not glob or glob.startswith("/") or "\0" in glob:
        raise ToolFailure("path", f"`{glob}` is not a glob relative to the workspace")
    segments = [segment for segment in glob.split("/") if segment not in ("", ".")]
    if ".." in segments:
        raise ToolFailure("path", f"`{glob}` leaves the workspace with `..`")
    if segments and segments[-1] == "**":
        segments.append("*")
    return segments


def _closed(positions: set[int], segments: list[str]) -> frozenset[int]:
    """With the positions behind every `**`, which may stand for no folder at all."""
    out = set(positions)
    for at in sorted(positions):
        while at < len(segments) and segments[at] == "**":
            at += 1
            out.add(at)
    return frozenset(out)


def _steps(
    name: str, at: int, segments: list[str], patterns: list[re.Pattern[str] | None]
) -> list[int]:
    if at >= len(segments):
        return []
    pattern = patterns[at]
    if pattern is None:
        return [] if name.startswith(".") else [at]
    if name.startswith(".") and not segments[at].startswith("."):
        return []
    return [at + 1] if pattern.match(name) else []
