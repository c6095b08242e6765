"""A lint after a few edits: the verdicts of the plans that nobody edited are taken over as they were remembered, in one piece.

`linking.project.stat_cache` finds which files are not as they were when a lint was remembered. Where these are a few plans of
that lint, nothing else need be looked up: beside what is remembered lie the assumptions of each plan, and who calls it
(`Rows`). What the edited plans and their callers got instead is kept under the ids of their contents, for the next lint.
"""

from __future__ import annotations

import marshal
import os
import sys

from .. import cachedir
from ..linking.project import regular_file
from ..linking.project.places import MAX_FILE, Inside
from ..linking.project.stat_cache import (
    MOST_CHANGED,
    ON_PATH,
    Recalled,
    Seen,
    Stamp,
    lasting,
    stamp,
    there,
)
from .blob_ids import Contents, blob_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..diagnostics.diagnostic import Plain
    from ..linking.project.stat_cache import Found

    Fact = tuple[bool, str, bytes | bool | None]  # as in `cache.table`

MOST = 256
"""Lints that this is kept for; the oldest go first."""

FEWEST = 200
"""Plans of a lint from which on this is faster than to look everything up by content, which also knows what was there before."""

_ROWS, _EDITS = "rows", "since"
_REF = 12
"""Bytes of a reference to assumptions; behind it, their number."""


class Outdated(Exception):
    """What is remembered is not of use: everything is to be looked up by content."""


class Rows:
    """What a lint found in each of its plans, as far as its report does not say it.

    `assumed`: by plan, the reference to its assumptions and their number, empty for none. `unasked`: plans that were only
    called. `callers` and `readers`: by plan, those that call it, and others whose verdicts depend on its text.
    `elsewhere`: plans with a finding in another file. `size`: of the pack of assumptions.
    """

    __slots__ = ("assumed", "unasked", "callers", "readers", "elsewhere", "size")

    def __init__(
        self,
        assumed: dict[str, bytes],
        unasked: tuple[str, ...],
        callers: dict[str, tuple[str, ...]],
        readers: dict[str, tuple[str, ...]],
        elsewhere: tuple[str, ...],
        size: int,
    ) -> None:
        self.assumed = assumed
        self.unasked = unasked
        self.callers = callers
        self.readers = readers
        self.elsewhere = elsewhere
        self.size = size

    def packed(self) -> bytes:
        """The bytes that `Rows(*marshal.loads(...))` reads."""
        callers, readers = self.callers, self.readers
        return marshal.dumps(
            (self.assumed, self.unasked, callers, readers, self.elsewhere, self.size)
        )


def assumed(ref: bytes, number: int) -> bytes:
    """A reference and the number of its assumptions, as `Rows` has them."""
    return ref + number.to_bytes(4, "big") if number else b""


class Edit:
    """The verdict of a plan since it, or a plan that it calls, was edited. Built-in types only.

    `facts`: what it depends on and no remembered file or edited plan says; `reads`: other plans whose texts it depends on.
    """

    __slots__ = ("facts", "calls", "reads", "assumed")

    def __init__(
        self,
        facts: tuple[Fact, ...],
        calls: tuple[str, ...],
        reads: tuple[str, ...],
        assumed: bytes,
    ) -> None:
        self.facts = facts
        self.calls = calls
        self.reads = reads
        self.assumed = assumed


def keep(name: str, rows: bytes, fixed: Iterable[str], listed: dict[str, bytes | None]) -> bytes:
    """Keeps the rows of the lint that is going to be remembered under `name` with the mark that this returns.

    `fixed`: files that count beside its plans; `listed`: ids of the folders whose names count.
    """
    mark = os.urandom(8)
    if rows:
        cachedir.store(_beside(_ROWS, name), (mark, rows, tuple(fixed), listed))
        cachedir.prune(_ROWS, MOST)
    return mark


def _beside(folder: str, name: str) -> str:
    return f"{folder}/{name.rpartition('/')[2]}"


class Edited:
    """A remembered lint of which only a few plans were edited since. `data` and `ids`: of these, by key.

    Raises Outdated where it is not of use.
    """

    def __init__(self, name: str, recalled: Recalled, contents: Contents) -> None:
        self.name = name
        self.contents = contents
        self._recalled = recalled
        self.checked, self.kept, mark = recalled.value
        if self.checked < FEWEST:
            raise Outdated
        stored = cachedir.load(_beside(_ROWS, name))
        if not isinstance(stored, tuple) or len(stored) != 4 or stored[0] != mark:
            raise Outdated
        _, rows, self._fixed, self.listed = stored
        self.rows = Rows(*marshal.loads(rows))
        self.data: dict[str, bytes] = {}
        self.ids: dict[str, bytes] = {}
        self._mark = mark
        self._files: dict[str, Stamp | None] = recalled.stored[0]
        start, inside = len(contents.root) + 1, Inside(contents.root)
        for path, now in recalled.changed.items():
            key = path[start:]
            if (
                path in self._fixed
                or key not in self.rows.assumed
                or contents.path(key) != path
                or now[2] > MAX_FILE
                or inside.leads_out(key)
            ):
                raise Outdated
            try:
                self.data[key] = regular_file.read(path, MAX_FILE)
            except OSError as failed:
                raise Outdated from failed
            self.ids[key] = blob_id(self.data[key])
        self._last: dict[str, bytes] = {}  # the edited plans of the last time, and what was found
        self._last_kept: Found = self.kept
        self.edits: dict[str, Edit] = {}
        self._recall_edits()

    def _recall_edits(self) -> None:
        stored = cachedir.load(_beside(_EDITS, self.name))
        if not isinstance(stored, tuple) or len(stored) != 4 or stored[0] != self._mark:
            return
        _, ids, edits, kept = stored
        rows = {key: Edit(*row) for key, row in edits.items()}
        if ids.keys() <= self.ids.keys() and all(
            self._holds(fact) for row in rows.values() for fact in row.facts
        ):
            self._last, self._last_kept, self.edits = ids, kept, rows

    def _holds(self, fact: Fact) -> bool:
        about_path, name, was = fact
        if about_path:
            return there(self.contents.path(name)) == was
        return self.contents.first(name) == was

    def still_lists(self, keys: list[str]) -> bool:
        """Whether the folders with other times have nothing new in them that counts; `keys`: the plans in them now."""
        moved = self._recalled.moved
        return (
            self.rows.assumed.keys() - set(self.rows.unasked) == set(keys)
            and not any(path in sys.path for path in moved)
            and all(self.contents.id(key) == was for key, was in self.listed.items())
        )

    def known(self) -> Found | None:
        """What a lint of these contents found, if it is known; nothing is judged."""
        return self._last_kept if self.ids == self._last else None

    def stale(self) -> set[str]:
        """The plans whose verdicts are not known. Raises Outdated for more than `MOST_CHANGED`."""
        found: set[str] = set()
        work = [key for key, now in self.ids.items() if self._last.get(key) != now]
        while work:
            key = work.pop()
            if key not in found:
                found.add(key)
                if len(found) > MOST_CHANGED:
                    raise Outdated
                work += self._dependent(key)
        if not found.isdisjoint(self.rows.elsewhere):
            raise Outdated
        return found

    def _dependent(self, key: str) -> list[str]:
        """The plans whose verdicts depend on that of `key`, or on its text."""
        found = [other for other in self.rows.readers.get(key, ()) if other not in self.edits]
        found += [other for other, row in self.edits.items() if key in row.reads]
        return found + self._callers(key)

    def _callers(self, key: str) -> list[str]:
        found = [other for other in self.rows.callers.get(key, ()) if other not in self.edits]
        return found + [other for other, row in self.edits.items() if key in row.calls]

    def edit(self, key: str, facts: Iterable[Fact], calls: tuple[str, ...], assumed: bytes) -> Edit:
        """The new verdict of a plan. Raises Outdated if a file changed while it was found."""
        own: list[Fact] = []
        reads = []
        for fact in facts:
            about_path, name, was = fact
            if about_path:
                own.append(fact)
                continue
            if name in self.rows.assumed and name != key:
                reads.append(name)
            path = self.contents.path(name)
            if name in self.ids:
                if was != self.ids[name]:
                    raise Outdated
            elif path in self._files:
                if stamp(path) != self._files[path]:
                    raise Outdated
            elif name not in self.listed or self.listed[name] != was:
                own.append(fact)
        return Edit(tuple(own), calls, tuple(reads), assumed)

    def rests_on(self, read: dict[str, bytes | None], edits: Iterable[Edit]) -> bool:
        """Whether all that was read is as it was remembered, an edited plan, or a fact of an edit."""
        facts = {name for row in edits for about_path, name, _ in row.facts if not about_path}
        for name, data in read.items():
            if name.startswith("fdc:") or name in self.data or name in facts:
                continue
            path = self.contents.path(name)
            if name.endswith("/"):
                now = None if data is None else blob_id(data)
                if name not in self.listed or self.listed[name] != now:
                    return False
            elif path not in self._files or stamp(path) != self._files[path]:
                return False
        return True

    def replaced(
        self, edits: dict[str, Edit], found: list[Plain], pack: tuple[str, bytes]
    ) -> Found:
        """The whole report with these verdicts in place of the earlier ones; keeps it for the next lint.

        `found`: what is in these plans. Raises Outdated if a plan calls another one than before of those that were only
        called, or one that was not checked.
        """
        rows = self.rows
        for key, row in edits.items():
            if not rows.assumed.keys() >= set(row.calls):
                raise Outdated
            dropped = [other for other in rows.unasked if other not in row.calls]
            if any(key in self._callers(other) for other in dropped):
                raise Outdated
        merged = {**self.edits, **edits}
        before, _, number = self._last_kept
        refs = {**rows.assumed, **{key: row.assumed for key, row in self.edits.items()}}
        for key, row in edits.items():
            number += _number(row.assumed) - _number(refs[key])
            refs[key] = row.assumed
        items = [item for item in before if item[0][0] not in edits]
        if found:
            items = _ordered(items + found)
        packed = (*pack, b"".join([ref[:_REF] for ref in refs.values()]))
        kept = (tuple(items), packed, number)
        plain = {key: (row.facts, row.calls, row.reads, row.assumed) for key, row in merged.items()}
        cachedir.store(_beside(_EDITS, self.name), (self._mark, self.ids, plain, kept))
        cachedir.prune(_EDITS, MOST)
        return kept

    def renew(self, sight: Seen) -> None:
        """Remembers the lint as it is now, if none of the edited files can change and keep its stamp.

        `sight`: what a search listed, if folders have other times.
        """
        changed, moved, began = self._recalled.changed, self._recalled.moved, sight.began
        files, folders, repositories, present, absent, _ = self._recalled.stored
        new: dict[str, Stamp | None] = {**sight.files, **changed}
        paths: tuple[list[str], list[str]] = [*absent], [*present]
        for row in self.edits.values():
            for about_path, name, was in row.facts:
                if name.endswith("/") and not about_path:
                    return
                if about_path and not name.startswith(ON_PATH):
                    paths[bool(was)].append(self.contents.path(name))
                elif not about_path:
                    new[self.contents.path(name)] = self.contents.stamps[name]
        if not lasting(new, began) or not sight.folders.keys() >= set(moved):
            return
        listed = sight.lasting_folders() if moved else {}
        rows = self.rows
        rows.assumed |= {key: row.assumed for key, row in self.edits.items()}
        rows.callers = self._turned(rows.callers, {k: row.calls for k, row in self.edits.items()})
        rows.readers = self._turned(rows.readers, {k: row.reads for k, row in self.edits.items()})
        mark = keep(self.name, rows.packed(), (*self._fixed, *sight.files), self.listed)
        folders = {**folders, **{path: listed[path] for path in moved}}
        value = (self.checked, self._last_kept, mark)
        stored = ({**files, **new}, folders, repositories, tuple(paths[1]), tuple(paths[0]), value)
        cachedir.store(self.name, stored)

    def _turned(
        self, before: dict[str, tuple[str, ...]], rows: dict[str, tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        """By plan, the plans that call (or read) it, with the calls of `rows` instead of those of the same plans."""
        found = {
            key: tuple([other for other in v if other not in rows]) for key, v in before.items()
        }
        for other, keys in rows.items():
            for key in keys:
                found[key] = (*found.get(key, ()), other)
        return found


def _number(entry: bytes) -> int:
    return int.from_bytes(entry[_REF:], "big")


def _ordered(items: list[Plain]) -> list[Plain]:
    """As `diagnostics.diagnostic.ordered`, of items that `plain` made."""
    by_key: dict[object, Plain] = {}
    for item in sorted(items, key=lambda item: (*item[:5], item[5] or "")):
        by_key.setdefault(item[:3], item)
    return list(by_key.values())
