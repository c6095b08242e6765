"""What is in a file, as a git blob id, without reading it where that can be known.

Three sources, in this order: a table of our own from the last time, git's index (both trusted
while a file's times, size and inode are as they were, and old enough that no write can hide
behind the clock's grain), the file itself. Ids are git's, so the three agree, and a fresh
clone knows them at once.
"""

from __future__ import annotations

import os
import time

from .. import cachedir
from ..linking.project.places import MAX_FILE, Inside
from ..linking.project.stat_cache import NO_FILE, Stamp, listing, settled, sha1, stamp

MOST = 256
"""Workspaces whose table is kept; the oldest go first."""

FEW = 20
"""Files that are read rather than looked up in git's index, whose reading takes about as long."""

_FOLDER = "stat"

UNREADABLE = b"\0"
"""The id of what is there and is not a regular file, or cannot be read: no content has it."""


def blob_id(data: bytes) -> bytes:
    """Git's id of these bytes."""
    return sha1(b"blob %d\0" % len(data) + data).digest()


class Contents:
    """Ids of the files below one root. `save` keeps what was learned for the next time.

    `began` is when the command began, in nanoseconds (None: now); nothing was looked at before. `looked` are stamps
    by path that it has taken since. `few`: of a few files, which are read rather than looked up in what was learned.
    """

    def __init__(
        self,
        root: str,
        began: int | None = None,
        looked: dict[str, Stamp] | None = None,
        *,
        few: bool = False,
    ) -> None:
        self.root = root
        self._inside = Inside(root)
        self.stamps: dict[str, Stamp | None] = {}
        self.ids: dict[str, bytes | None] = {}
        self._looked = looked or {}
        self._began = time.time_ns() if began is None else began
        self._name = f"{_FOLDER}/{sha1(os.fsencode(root)).hexdigest()}"
        self._known: dict[str, tuple[Stamp, bytes]] = {}
        stored = None if few else cachedir.load(self._name)
        if isinstance(stored, dict):
            self._known = stored
        self._changed = False
        self._missed = 0
        self._index: dict[str, tuple[Stamp, bytes]] | None = {} if few else None
        self._index_time = 0

    def path(self, key: str) -> str:
        """The file that a key stands for."""
        return key if key.startswith("/") else f"{self.root}/{key}"

    def id(self, key: str) -> bytes | None:
        """The id of the file under `key` as it is now, None where there is nothing, or UNREADABLE.

        The key of a folder, with its `/`, has the id of the list of protocol sources below it.

        `stamps` and `ids` keep the last answer for each key.
        """
        path = self.path(key)
        if key.endswith("/"):
            try:
                names = listing(path[:-1])
            except OSError:
                self.ids[key] = UNREADABLE
            else:
                self.ids[key] = None if names is None else blob_id(names)
            return self.ids[key]
        now = self.stamps[key] = self._looked.pop(path, None) or stamp(path)
        if now is None or now == NO_FILE:
            self.ids[key] = None if now is None else UNREADABLE
            return self.ids[key]
        known = self._known.get(key)
        if known is not None and known[0] == now:
            self.ids[key] = known[1]
            return known[1]
        if now[2] > MAX_FILE:  # the other end does not read it: its stamp stands for what is in it
            self.ids[key] = sha1(repr(now).encode()).digest()
            return self.ids[key]
        if self._inside.leads_out(key):
            self.ids[key] = UNREADABLE
            return UNREADABLE
        found = None
        self._missed += 1
        if not self._known or self._missed > FEW:
            found = self._from_index(key, now)
        if found is None:
            try:
                with open(path, "rb") as file:
                    found = blob_id(file.read())
            except OSError:
                self.ids[key] = UNREADABLE
                return UNREADABLE
        if settled(now, self._began):
            self._known[key] = (now, found)
            self._changed = True
        self.ids[key] = found
        return found

    def first(self, key: str) -> bytes | None:
        """The id that was found when this process last asked for it; it asks where it never did.

        For verdicts that are kept as they are: they hold for that content, whatever is written meanwhile.
        """
        return self.ids[key] if key in self.ids else self.id(key)

    def _from_index(self, key: str, now: Stamp) -> bytes | None:
        if self._index is None:
            from .git_index import read_index

            self._index, self._index_time = read_index(self.root)
        entry = self._index.get(key)
        if entry is None:
            return None
        (mtime, ctime, size, inode), found = entry
        same = (
            mtime == now[0]
            and ctime == now[1]
            and size == now[2] & 0xFFFFFFFF
            and inode == now[3] & 0xFFFFFFFF
        )
        return found if same and settled(now, self._index_time) else None

    def save(self) -> None:
        """Stores what was learned."""
        if self._changed:
            cachedir.store(self._name, self._known)
            cachedir.prune(_FOLDER, MOST)
