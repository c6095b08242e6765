"""The verdict cache: what a lint found, kept under the content that it was found in.

A record belongs to one set of plans with one content each, one set of options and one fdc.
It lists everything else that the verdict depends on: every other file that was read (or
sought and not found) with its id, and every path whose existence was asked. A record holds
only while all of that is as it was, wherever the files lie: a fresh clone finds the records
of the first one. Warm output is made from the record by the same renderers as cold output.

`recall` is the shorter way to the same record (`linking.project.stat_cache`): by time stamps alone.
"""

from __future__ import annotations

import os
import sys

from .. import cachedir
from ..linking.project.stat_cache import (
    LED_TO,
    ON_PATH,
    Seen,
    folder_stamp,
    git_names,
    leads_of,
    missing_part,
    remember,
    sha1,
    stamp,
    there,
    tool_identity,
    walked,
)
from ..packs import unshipped
from .blob_ids import UNREADABLE, Contents
from .edited import keep

TYPE_CHECKING = False  # so that a known verdict loads no `typing`
if TYPE_CHECKING:
    from ..diagnostics.diagnostic import Kept

MOST_IN_FOLDER = 32
"""Records kept in each of the 256 folders; the oldest go first."""


class Record:
    """A verdict (`kept`: a `diagnostics.diagnostic.Kept`) and what it rests on: built-in types only, for `marshal`."""

    __slots__ = ("kept", "checked", "files", "present", "absent", "rows")

    def __init__(
        self,
        kept: Kept,
        checked: int,
        files: dict[str, bytes | None],
        present: tuple[str, ...],
        absent: tuple[str, ...],
        rows: bytes,
    ) -> None:
        self.kept = kept
        self.checked = checked
        self.files = files
        self.present = present
        self.absent = absent
        self.rows = rows


def digest(keys: list[str], contents: Contents, options: str) -> str | None:
    """The name of the record for these plans as they are now, or None where one cannot be read."""
    ids = []
    for key in keys:
        found = contents.id(key)
        if found is None or found == UNREADABLE or key.startswith("/"):
            return None  # plans outside of the workspace are judged each time
        ids.append(found)
    words = f"{tool_identity()}{unshipped.identity()}\0{options}\0{len(keys)}\0".encode()
    name = sha1(b"%b%b\0%b" % (words, os.fsencode("\0".join(keys)), b"".join(ids))).hexdigest()
    return f"lint/{name[:2]}/{name}"


def load(name: str, contents: Contents) -> Record | None:
    """The record under a name, if everything that it rests on is as it was.

    What `contents` has an id for already is not looked at again: the name stands for it.
    """
    stored = cachedir.load(name)
    if not isinstance(stored, tuple) or len(stored) != 6:
        return None
    record = Record(*stored)
    for key, was in record.files.items():
        if contents.first(key) != was:
            return None
    if not all(there(contents.path(path)) for path in record.present):
        return None
    if any(there(contents.path(path)) for path in record.absent):
        return None
    return record


def store(
    name: str,
    contents: Contents,
    kept: Kept,
    checked: int,
    files: dict[str, bytes | None],
    probed: dict[str, bool],
    rows: bytes,
) -> None:
    """Keeps a verdict. `files`: ids of what was read; `probed`: which paths are there; `rows`: of `cache.edited`."""
    parts: dict[str, bool] = {}
    start = len(contents.root) + 1
    absent = {
        path
        if path.startswith(ON_PATH)
        else missing_part(contents.path(path), parts, 1 if path.startswith("/") else start)
        for path, found in probed.items()
        if not found and "\0" not in path
    }
    record = (
        tuple(kept),
        checked,
        files,
        tuple(sorted(path for path, found in probed.items() if found)),
        tuple(
            sorted(
                path[start:] if path.startswith(contents.root + "/") else path for path in absent
            )
        ),
        rows,
    )
    cachedir.store(name, record)
    cachedir.prune(os.path.dirname(name), MOST_IN_FOLDER)


def remember_seen(name: str, seen: Seen, contents: Contents, record: Record) -> None:
    """Lets `linking.project.stat_cache.recall` answer the next time with this record, which has just been found to hold."""
    files = {
        contents.path(key): contents.stamps[key] for key in record.files if not key.endswith("/")
    }
    others = {path: stamp(path) for path in unshipped.files()}
    others |= {path: stamp(path) for path in leads_of(contents.path(LED_TO)).files}
    files |= others
    # The memory belongs to one PATH, and the paths of its programs are among these.
    present, not_there = (
        [contents.path(path) for path in paths if not path.startswith(ON_PATH)]
        for paths in (record.present, record.absent)
    )
    for key, was in record.files.items():
        if key.endswith("/"):
            folder = contents.path(key)[:-1]
            if was is None:
                not_there.append(folder)
            for here, _ in walked(folder):
                if here.endswith("/.git"):
                    seen.repositories[here] = git_names(here)
                    continue
                before = folder_stamp(here)
                seen.folders[here] = (before, tuple(os.listdir(here)))
            if contents.id(key) != was:  # it changed while these times were taken
                return
    for folder in sys.path:  # an installation changes one of them
        before = folder_stamp(folder)
        if before is None:
            not_there.append(folder)
        elif os.path.isdir(folder):
            seen.folders[folder] = (before, tuple(os.listdir(folder)))
    listed = {key: was for key, was in record.files.items() if key.endswith("/")}
    mark = keep(name, record.rows, (*seen.files, *others), listed)
    remember(name, seen, files, present, not_there, (record.checked, record.kept, mark))
