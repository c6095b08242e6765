"""The verdicts of one workspace by plan, with the facts that each depends on; stored for `cli.linting.incremental`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial

from .. import cachedir
from ..linking.link import Linker
from ..linking.project.stat_cache import missing_part, sha1
from ..named_tuples import NamedTuple, new_tuple
from .assumption_packs import Pack, Ref
from .blob_ids import Contents
from .edited import Rows, assumed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_TABLES = 64
"""Number of tables: one for each workspace and state of its settings, registry and catalogues. The oldest are deleted first."""

FEW = 16
"""New entries are stored in a separate file while they are at most 1/FEW of the table's entries."""

_MARK = 8

Fact = tuple[bool, str, bytes | bool | None]
"""A fact: True for the existence of a path (False: a file's id), the path, the value."""


class Entry(NamedTuple):
    """One plan's verdict, in built-in types that `marshal` supports. `facts`: indexes of the table's facts.

    `packed`: the reference to this plan's assumptions (`cache.assumption_packs`); `number`: how many.
    `found`: all other findings.
    """

    facts: tuple[int, ...]
    calls: tuple[str, ...]
    able: bool
    judged: bool
    whole: bool
    marked: bool
    found: tuple[Any, ...]
    packed: Ref
    number: int


class Row(NamedTuple):
    """The result of checking one plan, for an `Entry`: its facts, and its assumptions as bytes. Built-in types only."""

    key: str
    facts: tuple[Fact, ...]
    calls: tuple[str, ...]
    able: bool
    judged: bool
    whole: bool
    marked: bool
    found: tuple[Any, ...]
    assumptions: bytes
    number: int


class Table:
    """The entries of one workspace for one set of options and shared files, and the facts that they depend on."""

    def __init__(self, linker: Linker, contents: Contents, signature: str, *, afresh: bool) -> None:
        self._linker = linker
        self._contents = contents
        name = sha1(f"{contents.root}\0{signature}".encode("utf-8", "surrogateescape")).hexdigest()
        self._name, self._edits_name = f"plans/{name}", f"edits/{name}"
        self.pack = Pack(f"packs/{name}")
        stored = None if afresh else cachedir.load(self._name)
        self.entries: dict[str, Entry] = {}
        self.stale: set[str] = set()
        self.renewed: set[str] = set()
        self._facts: list[Fact] = []
        self._numbers: dict[Fact, int] = {}
        self._true: set[int] = set()
        self._false: set[int] = set()
        self._enough = 0
        self._mark = b""  # of the table as it is stored: that of its pack, and one of its own
        self._stored_facts = 0
        self._edits: dict[str, Entry] = {}  # entries that differ from the stored ones
        self._there: dict[str, bool] = {}
        # by a missing path: facts about paths below it, which hold while it is missing
        self._below: dict[str, list[int]] = {}
        self._absent: set[int] = set()  # those of them that hold now
        self._held: set[str] = set()
        if isinstance(stored, tuple) and len(stored) == 5 and stored[0][:-_MARK] == self.pack.mark:
            self._mark, self._facts, self._below, self._enough, entries = stored
            self._stored_facts = len(self._facts)
            edits = cachedir.load(self._edits_name)
            if isinstance(edits, tuple) and len(edits) == 4 and edits[0] == self._mark:
                _, facts, self._below, more = edits
                self._facts += facts
                self._edits = {key: Entry(*row) for key, row in more.items()}
            rows = map(partial(new_tuple, Entry), entries.values())
            self.entries = dict(zip(entries, rows, strict=True))
            self.entries |= self._edits

    def numbers(self, facts: Sequence[Fact]) -> tuple[int, ...]:
        """The indexes of facts, all of which hold now."""
        if not self._numbers:
            self._numbers = {fact: number for number, fact in enumerate(self._facts)}
        out = []
        for fact in facts:
            number = self._numbers.setdefault(fact, len(self._facts))
            if number == len(self._facts):
                self._facts.append(fact)
                self._group(number, *fact)
            out.append(number)
        return tuple(out)

    def _group(self, number: int, about_path: bool, name: str, was: Any) -> None:
        """Groups a fact about a missing path under its first missing parent folder."""
        absent = not was if about_path else was is None and not name.endswith("/")
        if absent and name[:1] != "/" and "\0" not in name:
            start = len(self._linker.root) + 1
            part = missing_part(f"{self._linker.root}/{name}", self._there, start)[start:]
            if part != name:
                self._below.setdefault(part, []).append(number)
                self._absent.add(number)

    def doubtful(self, keys: Sequence[str]) -> list[str]:
        """The plans whose own entry is invalid. Does not link."""
        self._gather()
        self._look(keys)
        entries, false = self.entries, self._false
        known = [key for key in keys if key in entries]
        if false:
            known = [key for key in known if false.isdisjoint(entries[key].facts)]
        self._held = set(known)
        return [key for key in keys if key not in self._held]

    def take(self, rows: Sequence[Row], *, apart: bool = False) -> None:
        """Enters the results of checks, which are valid now.

        `apart`: before their callers were checked, whose entries depend on the previous state of the plans.
        """
        refs = self.pack.add([row.assumptions for row in rows])
        for row, ref in zip(rows, refs, strict=True):
            facts = self.numbers(row.facts)
            self._true.update(facts)
            self._false.difference_update(facts)
            entry = Entry(facts, *row[2:8], ref, row.number)
            self.entries[row.key] = self._edits[row.key] = entry
            self.stale.discard(row.key)
            self._held.add(row.key)
            if apart:
                self.renewed.add(row.key)

    def _gather(self) -> None:
        """Groups the facts about paths below missing folders."""
        for part, numbers in self._below.items():
            if not self._linker.files.exists(part):
                self._absent.update(numbers)
        self._true |= self._absent

    def reached(self, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The plans `keys` and all that they reach, each with its callees.

        A plan whose entry is invalid is `stale` and linked; its entry is not used.
        """
        if not self._held:
            self._gather()
            self._look(keys)
        out: dict[str, tuple[str, ...]] = {}
        work = list(reversed(keys))
        while work:
            key = work.pop()
            if key in out:
                continue
            entry = self.entries.get(key)
            if key not in self.stale and key not in self._held:
                (self._held if self._holds(key) else self.stale).add(key)
            if key in self.stale:
                out[key] = tuple(call.key for call in self._linker.link(key).calls if call.key)
            else:
                assert entry is not None
                out[key] = entry.calls
            work += reversed(out[key])
        return out

    def _look(self, keys: Iterable[str]) -> None:
        """Tests every fact that the entries of these plans depend on, once each."""
        entries, facts = self.entries, self._facts
        ids, id_of, exists = self._contents.ids, self._contents.id, self._linker.files.exists
        numbers = set[int]().union(*[entries[key].facts for key in keys if key in entries])
        for number in numbers - self._true - self._false:
            about_path, name, was = facts[number]
            so = (exists(name) if about_path else ids[name] if name in ids else id_of(name)) == was
            (self._true if so else self._false).add(number)

    def _holds(self, key: str) -> bool:
        """Whether every fact that a plan's entry depends on holds."""
        entry = self.entries.get(key)
        if entry is None:
            return False
        self._look((key,))
        return self._false.isdisjoint(entry.facts)

    def rests_on(
        self, keys: Iterable[str], *, every_path: bool = True
    ) -> tuple[dict[str, bytes | None], dict[str, bool]]:
        """Ids by file and existence by path that the entries of these plans depend on.

        Without `every_path`, a missing folder replaces the paths below it.
        """
        files: dict[str, bytes | None] = {}
        probes: dict[str, bool] = {}
        numbers = set[int]().union(*[self.entries[key].facts for key in keys])
        if not every_path:
            for part, below in self._below.items():
                found = numbers.intersection(below) & self._absent
                probes.update({part: False} if found else {})
                numbers -= found
        for number in numbers:
            about_path, name, was = self._facts[number]
            if about_path or number in self._absent:
                probes[name] = bool(was)
            else:
                files[name] = was if isinstance(was, bytes) else None
        return files, probes

    def as_rows(self, calls: dict[str, tuple[str, ...]], wanted: set[str]) -> bytes:
        """What `cache.edited` keeps of the plans in `calls`, of which `wanted` were checked for themselves."""
        entries, facts = {key: self.entries[key] for key in calls}, self._facts
        numbers = set[int]().union(*[entry.facts for entry in entries.values()])
        texts = {number: facts[number][1] for number in numbers if not facts[number][0]}
        plans = {number for number, name in texts.items() if name in calls}
        readers: dict[str, tuple[str, ...]] = {}
        callers: dict[str, tuple[str, ...]] = {}
        for key, entry in entries.items():
            for number in plans.intersection(entry.facts):
                if texts[number] != key:
                    readers[texts[number]] = (*readers.get(texts[number], ()), key)
            for callee in calls[key]:
                callers[callee] = (*callers.get(callee, ()), key)
        return Rows(
            {key: assumed(entry.packed, entry.number) for key, entry in entries.items()},
            tuple(key for key in calls if key not in wanted),
            callers,
            readers,
            tuple(key for key, e in entries.items() if any(item[0][0] != key for item in e.found)),
            self.pack.size(),
        ).packed()

    def save(self) -> None:
        """Stores the entries, unless a part of them could not be stored; a few new ones, in a separate file."""
        if not self.pack.kept:
            return
        moved = self.pack.written_anew(entry.packed for entry in self.entries.values())
        if moved:
            self.entries = {
                key: entry._replace(packed=moved.get(entry.packed, b""))
                for key, entry in self.entries.items()
            }
        if len(self._facts) > self._enough:  # facts of replaced entries
            order = sorted(set[int]().union(*[entry.facts for entry in self.entries.values()]))
            self._enough = 1000 + 2 * len(order)
            self._mark = b""
            new = {number: place for place, number in enumerate(order)}
            self._facts = [self._facts[number] for number in order]
            self._numbers, self._true, self._false = {}, set(), set()
            self._below, self._there, self._absent = {}, {}, set()
            for place, fact in enumerate(self._facts):
                self._group(place, *fact)
            self.entries = {
                key: entry._replace(facts=tuple(new[number] for number in entry.facts))
                for key, entry in self.entries.items()
            }
        known = self._mark and self._mark[:-_MARK] == self.pack.mark
        few = known and FEW * len(self._edits) < len(self.entries)
        entries = self._edits if few else self.entries
        rows = dict(zip(entries, map(tuple, entries.values()), strict=True))
        if few:
            more = self._facts[self._stored_facts :]
            cachedir.store(self._edits_name, (self._mark, more, self._below, rows))
        else:
            mark = self.pack.mark + os.urandom(_MARK)
            cachedir.store(self._name, (mark, self._facts, self._below, self._enough, rows))
        for folder in ("plans", "edits", "packs"):
            cachedir.prune(folder, MOST_TABLES)
