"""Incremental lint: checks only the plans whose verdict may have changed since the last lint of this workspace.

One table per workspace holds, for each plan, its findings and everything they depend on: the ids of
the files that were read or searched for, the paths whose existence was tested, the plans it
calls, whether it was checked as a whole run. A plan's entry is valid while all of that is unchanged
and the entries of all plans that it calls are valid; `check.judge` explains why that suffices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ... import cachedir
from ...cache.blob_ids import Contents, blob_id
from ...check import default_automaton, judge, settle
from ...diagnostics.diagnostic import Diagnostic, from_plain, ordered, pack, parted, plain
from ...linking.link import Linker
from ...linking.project.outside_files import TABLE
from ...linking.project.stat_cache import missing_part, sha1, tool_identity
from ...packs import unshipped
from ...syntax.parse import parse
from . import parallel
from .assumption_packs import Pack, Packed, Ref, read

MOST_TABLES = 64
"""Number of tables: one for each workspace and state of its settings, registry and catalogues. The oldest are deleted first."""


Fact = tuple[bool, str, Any]
"""A fact: True for the existence of a path (False: a file's id), the path, the value."""


class Entry(NamedTuple):
    """One plan's verdict, in built-in types that `marshal` supports. `facts`: indexes of the table's facts.

    `packed`: the reference to this plan's assumptions (`cli.linting.assumption_packs`); `number`: how many.
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


class Outcome(NamedTuple):
    """Final findings, packed assumptions with their number, and the dependencies: ids by file, existence by path.

    `fresh`: assumptions that this process found. `kept`: all of them are stored.
    """

    found: list[Diagnostic]
    packed: Packed
    number: int
    files: dict[str, bytes | None]
    probes: dict[str, bool]
    fresh: dict[Ref, bytes]
    kept: bool


def findings(
    linker: Linker,
    keys: list[str],
    contents: Contents,
    options: str,
    *,
    jobs: int = 1,
    afresh: bool = False,
) -> Outcome:
    """The findings of `check.check` for the plans `keys`, reusing the table where valid (`afresh`: ignore the table).

    `jobs`: maximum number of processes; it does not affect the findings.
    Raises packs.Lost if needed assumptions of the table are lost.
    """
    general, base, table, calls = judged_table(linker, keys, contents, options, jobs, afresh=afresh)
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
    if linker.settings.assumptions:  # an assumption that the settings deny is an error
        total += read(packed, table.pack.fresh)
        packed, number = (table.pack.name, table.pack.mark, b""), 0
    files, all_probes = table.rests_on(calls)
    all_probes[TABLE] = linker.files.exists(TABLE)
    found, fresh = settle(linker.settings, total, marked), table.pack.fresh
    return Outcome(found, packed, number, {**base, **files}, all_probes, fresh, table.pack.kept)


def judged_table(
    linker: Linker, keys: list[str], contents: Contents, options: str, jobs: int, *, afresh: bool
) -> tuple[list[Diagnostic], dict[str, bytes | None], _Table, dict[str, tuple[str, ...]]]:
    """The findings in automata, the ids of the files that every verdict depends on, the table, with a verdict for every
    plan that `keys` reach, and the calls of each."""
    default_automaton(linker)
    linker.callable_names()  # reads the registries, which every verdict depends on
    linker.files.leads()  # as do links of protected and secret names
    outside = linker.outside  # these files are among those that every verdict depends on
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
            (
                tool_identity() + unshipped.identity(),
                options,
                outside,
                sorted(base.items(), key=str),
            )
        ),
        afresh=afresh,
    )
    wanted = set(keys)
    parts = parallel.shares(table.doubtful(keys), jobs)
    if len(parts) > 1:
        first = parts[0][0]
        linker.link(first)
        judge(linker, [first], [first])  # read and import once what every process needs

        def judged(part: Sequence[str]) -> list[tuple[Any, ...]]:
            others = wanted.difference(part)
            mine = [key for key in _stale(table, part, wanted)[1] if key not in others]
            return [tuple(row) for row in _rows(linker, contents, mine, wanted)]

        table.take([Row(*row) for row in parallel.each(judged, parts)], apart=True)
    calls, stale = _stale(table, keys, wanted)
    table.take(_rows(linker, contents, stale, wanted))
    table.save()
    return general, base, table, calls


def _stale(
    table: _Table, keys: Sequence[str], wanted: set[str]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The calls of all plans that `keys` reach, and the plans that must be checked again. Links the latter."""
    while True:
        calls = table.reached(keys)
        changed = table.stale | table.renewed
        wrong = {caller for caller, callees in calls.items() if not changed.isdisjoint(callees)}
        for key, entry in table.entries.items():
            if key in calls and (entry.able and key in wanted) != entry.judged:
                wrong.add(key)
        wrong -= table.renewed
        if wrong <= table.stale:
            return calls, [key for key in calls if key in table.stale]
        table.stale |= wrong


def _rows(linker: Linker, contents: Contents, keys: list[str], wanted: set[str]) -> list[Row]:
    """Checks linked plans. Other linked plans are their callees; the findings of those are in their entries."""
    if not keys:
        return []
    judged = [key for key in keys if key in wanted and linker.units[key].body]
    found, context = judge(linker, keys, judged)
    runs = {instance.unit.key for instance, _ in context.roots}
    by_file: dict[str, list[Diagnostic]] = {}
    for item in found:
        by_file.setdefault(item.span.path, []).append(item)
    rows = []
    for key in keys:
        unit = linker.units[key]
        parts = parted(ordered(by_file.get(key, [])))
        mine = [*parts.findings, *parts.fragments, *linker.automaton_findings(unit.reads)]
        facts: list[Fact] = [
            (False, name, _id_as_read(linker, contents, name))
            for name in unit.asked
            if not name.startswith("fdc:")
        ]
        facts += [
            (True, path, linker.files.exists(path)) for path in context.probes.get(key, set())
        ]
        row = Row(
            key,
            tuple(facts),
            tuple(sorted({call.key for call in unit.calls if call.key})),
            bool(unit.body),
            key in judged,
            key in runs,
            "fdc:" in unit.text,
            tuple(plain(item) for item in mine),
            pack(parts.assumptions) if parts.assumptions else b"",
            len(parts.assumptions),
        )
        rows.append(row)
    return rows


def _id_as_read(linker: Linker, contents: Contents, key: str) -> bytes | None:
    """The id of the bytes that the linker read: the file may have changed since."""
    if key not in linker.files.seen:
        return contents.id(key)
    data = linker.files.seen[key]
    return None if data is None else blob_id(data)


class _Table:
    """The entries of one workspace for one set of options and shared files, and the facts that they depend on."""

    def __init__(self, linker: Linker, contents: Contents, signature: str, *, afresh: bool) -> None:
        self._linker = linker
        self._contents = contents
        name = sha1(f"{contents.root}\0{signature}".encode("utf-8", "surrogateescape")).hexdigest()
        self._name = f"plans/{name}"
        self.pack = Pack(f"packs/{name}")
        stored = None if afresh else cachedir.load(self._name)
        self.entries: dict[str, Entry] = {}
        self.stale: set[str] = set()
        self.renewed: set[str] = set()
        self._facts: list[Fact] = []
        self._numbers: dict[Fact, int] = {}
        self._true: set[int] = set()
        self._there: dict[str, bool] = {}
        self._below: dict[
            str, list[int]
        ] = {}  # by a missing path: facts about paths below it, which hold while it is missing
        self._absent: set[int] = set()  # those facts that hold now
        self._held: set[str] = set()
        if isinstance(stored, tuple) and len(stored) == 4 and stored[0] == self.pack.mark:
            _, self._facts, self._below, entries = stored
            self.entries = {key: Entry(*value) for key, value in entries.items()}

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
        self._held.update(key for key in keys if self._holds(key))
        return [key for key in keys if key not in self._held]

    def take(self, rows: Sequence[Row], *, apart: bool = False) -> None:
        """Enters the results of checks, which are valid now.

        `apart`: before their callers were checked, whose entries depend on the previous state of the plans.
        """
        refs = self.pack.add([row.assumptions for row in rows])
        for row, ref in zip(rows, refs, strict=True):
            facts = self.numbers(row.facts)
            self._true.update(facts)
            self.entries[row.key] = Entry(facts, *row[2:8], ref, row.number)
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
        entries, facts, true = self.entries, self._facts, self._true
        ids, id_of, exists = self._contents.ids, self._contents.id, self._linker.files.exists
        for number in (
            set[int]().union(*(entries[key].facts for key in keys if key in entries)) - true
        ):
            about_path, name, was = facts[number]
            if (exists(name) if about_path else ids[name] if name in ids else id_of(name)) == was:
                true.add(number)

    def _holds(self, key: str) -> bool:
        """Whether every fact that a plan's entry depends on holds."""
        entry = self.entries.get(key)
        if entry is None:
            return False
        if not self._true.issuperset(entry.facts):
            self._look((key,))
        return self._true.issuperset(entry.facts)

    def rests_on(self, keys: Iterable[str]) -> tuple[dict[str, bytes | None], dict[str, bool]]:
        """Ids by file and existence by path that the entries of these plans depend on."""
        files: dict[str, bytes | None] = {}
        probes: dict[str, bool] = {}
        for number in set().union(*(self.entries[key].facts for key in keys)):
            about_path, name, was = self._facts[number]
            if about_path or number in self._absent:
                probes[name] = bool(was)
            else:
                files[name] = was
        return files, probes

    def save(self) -> None:
        """Stores the entries, unless a part of them could not be stored."""
        if not self.pack.kept:
            return
        moved = self.pack.written_anew(entry.packed for entry in self.entries.values())
        if moved:
            self.entries = {
                key: entry._replace(packed=moved.get(entry.packed, b""))
                for key, entry in self.entries.items()
            }
        used = set[int]().union(*(entry.facts for entry in self.entries.values()))
        if len(self._facts) > 1000 + 2 * len(used):  # facts of replaced entries
            order = sorted(used)
            new = {number: place for place, number in enumerate(order)}
            self._facts, self._numbers, self._true = (
                [self._facts[number] for number in order],
                {},
                set(),
            )
            self._below, self._there, self._absent = {}, {}, set()
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
