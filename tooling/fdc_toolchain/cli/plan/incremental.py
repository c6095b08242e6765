"""Judges again only the plans whose verdict may have changed since the last lint of this workspace.

One table a workspace, plan by plan: what was found in the plan, and all that rests on: the ids of
the files that were read or sought for it, the paths whose existence was asked, the plans it
calls, whether it was judged as a whole run. A plan's entry holds while all of that is as it was
and the entries of all the plans it calls hold; `check.judge` says why that is enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ... import cachedir
from ...cache.blob_ids import Contents, blob_id
from ...check import default_automaton, judge, settle
from ...diagnostics.diagnostic import Diagnostic, from_plain, ordered, pack, parted, plain
from ...linking.link import Linker
from ...linking.project.outside_files import TABLE
from ...linking.project.stat_cache import missing_part, sha1, tool_identity
from ...packs import memory
from ...syntax.parse import parse
from .assumption_packs import Pack, Packed, Ref, read

MOST_TABLES = 64
"""Tables kept: one for each workspace and state of its settings, registry and catalogues; the oldest go first."""


Fact = tuple[bool, str, Any]
"""Whether it is about the existence of a path (otherwise about a file's id), the path, what was so."""


class Entry(NamedTuple):
    """One plan's verdict. Built-in types only, as `marshal` wants them. `facts` are numbers of the table's facts.

    `packed` says where the assumptions that are in this plan lie (`cli.plan.assumption_packs`), `number` of them.
    `found` is all else.
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


class Outcome(NamedTuple):
    """Final findings, the assumptions besides (packed, and how many), and what all rests on: ids by file, existence by path.

    `fresh`: the assumptions that this process made itself. `kept`: all of them are stored.
    """

    found: list[Diagnostic]
    packed: Packed
    number: int
    files: dict[str, bytes | None]
    probes: dict[str, bool]
    fresh: dict[Ref, bytes]
    kept: bool


def findings(
    linker: Linker, keys: list[str], contents: Contents, options: str, *, afresh: bool = False
) -> Outcome:
    """What `check.check` finds in the plans under `keys`, with as little work as the table allows (`afresh`: nothing of it).

    Raises packs.Lost where assumptions of the table are needed and are not there any more.
    """
    default_automaton(linker)
    linker.callable_names()  # reads the registries, on which every verdict may depend
    outside = (
        linker.outside
    )  # what they say and where they lie is among the files that are read for every verdict
    base = {
        key: _id_as_read(linker, contents, key)
        for key in linker.files.seen
        if not key.startswith("fdc:")
    }
    for name in ("fdc.toml", "pyproject.toml"):
        base[name] = contents.id(name)
    general = linker.automaton_findings()
    table = _Table(
        linker,
        contents,
        repr(
            (tool_identity() + memory.identity(), options, outside, sorted(base.items(), key=str))
        ),
        afresh=afresh,
    )
    wanted = set(keys)
    while True:
        calls = table.reached(keys)
        stale = [key for key in calls if key in table.stale]
        wrong = {caller for caller, callees in calls.items() if not table.stale.isdisjoint(callees)}
        for key, entry in table.entries.items():
            if key in calls and (entry.able and key in wanted) != entry.judged:
                wrong.add(key)
        if wrong <= table.stale:
            break
        table.stale |= wrong
    # what is linked beyond the stale plans is what they call; its own findings are in its entry
    judged = [key for key in stale if key in wanted and linker.units[key].body]
    found, context = judge(linker, stale, judged) if stale else ([], None)
    runs = {instance.unit.key for instance, _ in context.roots} if context else set()
    by_file: dict[str, list[Diagnostic]] = {}
    for item in found:
        by_file.setdefault(item.span.path, []).append(item)
    parts_of = {key: parted(ordered(by_file.get(key, []))) for key in stale}
    refs = table.pack.add(
        [pack(parts.assumptions) if parts.assumptions else b"" for parts in parts_of.values()]
    )
    for (key, parts), ref in zip(parts_of.items(), refs, strict=True):
        unit = linker.units[key]
        mine = [*parts.findings, *parts.fragments, *linker.automaton_findings(unit.reads)]
        probes = context.probes.get(key, set()) if context else set()
        rests: list[Fact] = [
            (False, name, _id_as_read(linker, contents, name))
            for name in unit.asked
            if not name.startswith("fdc:")
        ]
        rests += [(True, path, linker.files.exists(path)) for path in probes]
        table.entries[key] = Entry(
            table.numbers(rests),
            tuple(sorted({call.key for call in unit.calls if call.key})),
            bool(unit.body),
            key in judged,
            key in runs,
            "fdc:" in unit.text,
            tuple(plain(item) for item in mine),
            ref,
            len(parts.assumptions),
        )
    table.save()
    total = linker.diagnostics + general
    marked = {}
    refs, number = [], 0
    for key in calls:
        entry = table.entries[key]
        total += [from_plain(item) for item in entry.found]
        if entry.number:
            refs.append(entry.packed)
            number += entry.number
        if entry.marked:
            plan = parse(linker.files.read(key) or b"", key, linker.settings.limits).plan
            if plan is not None:
                marked[key] = (plan, entry.whole)
    packed = (table.pack.name, table.pack.mark, b"".join(refs))
    if linker.settings.assumptions:  # what the settings deny is an error
        total += read(packed, table.pack.fresh)
        packed, number = (table.pack.name, table.pack.mark, b""), 0
    files, all_probes = table.rests_on(calls)
    all_probes[TABLE] = linker.files.exists(TABLE)
    found, fresh = settle(linker.settings, total, marked), table.pack.fresh
    return Outcome(found, packed, number, {**base, **files}, all_probes, fresh, table.pack.kept)


def _id_as_read(linker: Linker, contents: Contents, key: str) -> bytes | None:
    """The id of the bytes that the linker judged: the file may have changed since."""
    if key not in linker.files.seen:
        return contents.id(key)
    data = linker.files.seen[key]
    return None if data is None else blob_id(data)


class _Table:
    """The entries of one workspace under one set of options and general files, and the facts that they rest on."""

    def __init__(self, linker: Linker, contents: Contents, signature: str, *, afresh: bool) -> None:
        self._linker = linker
        self._contents = contents
        name = sha1(f"{contents.root}\0{signature}".encode("utf-8", "surrogateescape")).hexdigest()
        self._name = f"plans/{name}"
        self.pack = Pack(f"packs/{name}")
        stored = None if afresh else cachedir.load(self._name)
        self.entries: dict[str, Entry] = {}
        self.stale: set[str] = set()
        self._facts: list[Fact] = []
        self._numbers: dict[Fact, int] = {}
        self._true: set[int] = set()
        self._there: dict[str, bool] = {}
        self._below: dict[
            str, list[int]
        ] = {}  # by a path that was not there: facts that then hold, about paths below it
        self._held: set[str] = set()
        if isinstance(stored, tuple) and len(stored) == 4 and stored[0] == self.pack.mark:
            _, self._facts, self._below, entries = stored
            self.entries = {key: Entry(*value) for key, value in entries.items()}

    def numbers(self, facts: list[Fact]) -> tuple[int, ...]:
        """The numbers of facts, which are true now."""
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
        """Puts a fact about a path that is not there to those that hold while a folder above it is not there."""
        if about_path and not was and name[:1] != "/" and "\0" not in name:
            start = len(self._linker.root) + 1
            part = missing_part(f"{self._linker.root}/{name}", self._there, start)[start:]
            if part != name:
                self._below.setdefault(part, []).append(number)

    def reached(self, keys: list[str]) -> dict[str, tuple[str, ...]]:
        """The plans under `keys` and all that they reach, each with those that it calls.

        One whose entry does not hold is `stale`, and linked; its entry is no guide to anything.
        """
        if not self._held:
            for part, numbers in self._below.items():
                if not self._linker.files.exists(part):
                    self._true.update(numbers)
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
        """Looks at all that the entries of these plans rest on, each fact once."""
        entries, facts, true = self.entries, self._facts, self._true
        ids, id_of, exists = self._contents.ids, self._contents.id, self._linker.files.exists
        for number in (
            set[int]().union(*(entries[key].facts for key in keys if key in entries)) - true
        ):
            about_path, name, was = facts[number]
            if (exists(name) if about_path else ids[name] if name in ids else id_of(name)) == was:
                true.add(number)

    def _holds(self, key: str) -> bool:
        """Whether all that a plan's entry rests on is so."""
        entry = self.entries.get(key)
        if entry is None:
            return False
        if not self._true.issuperset(entry.facts):
            self._look((key,))
        return self._true.issuperset(entry.facts)

    def rests_on(self, keys: Iterable[str]) -> tuple[dict[str, bytes | None], dict[str, bool]]:
        """Ids by file and existence by path, of all that the entries of these plans rest on."""
        files: dict[str, bytes | None] = {}
        probes: dict[str, bool] = {}
        for number in set().union(*(self.entries[key].facts for key in keys)):
            about_path, name, was = self._facts[number]
            if about_path:
                probes[name] = was
            else:
                files[name] = was
        return files, probes

    def save(self) -> None:
        """Stores the entries, unless some of what belongs to them could not be stored."""
        if not self.pack.kept:
            return
        moved = self.pack.written_anew(entry.packed for entry in self.entries.values())
        if moved:
            self.entries = {
                key: entry._replace(packed=moved.get(entry.packed, b""))
                for key, entry in self.entries.items()
            }
        used = set[int]().union(*(entry.facts for entry in self.entries.values()))
        if len(self._facts) > 1000 + 2 * len(used):  # facts of entries that were replaced
            order = sorted(used)
            new = {number: place for place, number in enumerate(order)}
            self._facts, self._numbers, self._true = (
                [self._facts[number] for number in order],
                {},
                set(),
            )
            self._below, self._there = {}, {}
            for place, fact in enumerate(self._facts):
                self._group(place, *fact)
            self.entries = {
                key: entry._replace(facts=tuple(new[number] for number in entry.facts))
                for key, entry in self.entries.items()
            }
        rows = {key: tuple(entry) for key, entry in self.entries.items()}
        cachedir.store(self._name, (self.pack.mark, self._facts, self._below, rows))
        cachedir.prune("plans", MOST_TABLES)
        cachedir.prune("packs", MOST_TABLES)
