"""Judges again only the plans whose verdict may have changed since the last lint of this workspace.

One table a workspace, plan by plan: what was found in the plan, and all that rests on: the ids of
the files that were read or sought for it, the paths whose existence was asked, the plans it
calls, whether it was judged as a whole run. A plan's entry holds while all of that is as it was
and the entries of all the plans it calls hold; `check.judge` says why that is enough.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import cachedir
from ..check import default_automaton, judge, settle
from ..effects.contents import Contents, blob_id
from ..resolve.link import Linker
from ..resolve.outside import TABLE
from ..resolve.seen import sha1, tool_identity
from ..syntax.parse import parse
from ..text.diagnostic import Diagnostic, from_plain, plain

MOST_TABLES = 64
"""Tables kept: one for each workspace and state of its settings, registry and catalogues; the oldest go first."""


class Entry(NamedTuple):
    """One plan's verdict. Built-in types only, as `marshal` wants them."""

    files: dict[str, bytes | None]
    probes: dict[str, bool]
    calls: tuple[str, ...]
    able: bool
    judged: bool
    whole: bool
    marked: bool
    found: tuple[Any, ...]


class Outcome(NamedTuple):
    """Final findings, and what they rest on: ids by file, existence by path."""

    found: list[Diagnostic]
    files: dict[str, bytes | None]
    probes: dict[str, bool]


def findings(linker: Linker, keys: list[str], contents: Contents, options: str) -> Outcome:
    """What `check.check` finds in the plans under `keys`, with as little work as the table allows."""
    default_automaton(linker)
    linker.callable_names()  # reads the registries, on which every verdict may depend
    outside = linker.outside  # what they say and where they lie is among the files that are read for every verdict
    base = {key: _id_as_read(linker, contents, key) for key in linker.files.seen if not key.startswith("fdc:")}
    for name in ("fdc.toml", "pyproject.toml"):
        base[name] = contents.id(name)
    general = linker.automaton_findings()
    table = _Table(linker, contents, repr((tool_identity(), options, outside, sorted(base.items(), key=str))))
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
    for key in stale:
        unit = linker.units[key]
        mine = by_file.get(key, []) + linker.automaton_findings(unit.reads)
        probes = context.probes.get(key, set()) if context else set()
        table.entries[key] = Entry(
            {name: _id_as_read(linker, contents, name) for name in unit.asked if not name.startswith("fdc:")},
            {path: linker.files.exists(path) for path in probes},
            tuple(sorted({call.key for call in unit.calls if call.key})),
            bool(unit.body),
            key in judged,
            key in runs,
            "fdc:" in unit.text,
            tuple(plain(item) for item in mine),
        )
    table.save()
    total = linker.diagnostics + general
    marked = {}
    files = dict(base)
    all_probes = {TABLE: linker.files.exists(TABLE)}
    for key in calls:
        entry = table.entries[key]
        total += [from_plain(item) for item in entry.found]
        files.update(entry.files)
        all_probes.update(entry.probes)
        if entry.marked:
            plan = parse(linker.files.read(key) or b"", key, linker.settings.limits).plan
            if plan is not None:
                marked[key] = (plan, entry.whole)
    return Outcome(settle(linker.settings, total, marked), files, all_probes)


def _id_as_read(linker: Linker, contents: Contents, key: str) -> bytes | None:
    """The id of the bytes that the linker judged: the file may have changed since."""
    if key not in linker.files.seen:
        return contents.id(key)
    data = linker.files.seen[key]
    return None if data is None else blob_id(data)


class _Table:
    """The entries of one workspace under one set of options and general files."""

    def __init__(self, linker: Linker, contents: Contents, signature: str) -> None:
        self._linker = linker
        self._contents = contents
        self._name = "plans/" + sha1(f"{contents.root}\0{signature}".encode("utf-8", "surrogateescape")).hexdigest()
        stored = cachedir.load(self._name)
        self.entries: dict[str, Entry] = {}
        self.stale: set[str] = set()
        self._held: set[str] = set()
        if isinstance(stored, dict):
            self.entries = {key: Entry(*value) for key, value in stored.items()}

    def reached(self, keys: list[str]) -> dict[str, tuple[str, ...]]:
        """The plans under `keys` and all that they reach, each with those that it calls.

        One whose entry does not hold is `stale`, and linked; its entry is no guide to anything.
        """
        out: dict[str, tuple[str, ...]] = {}
        work = list(reversed(keys))
        while work:
            key = work.pop()
            if key in out:
                continue
            entry = self.entries.get(key)
            if key not in self.stale and key not in self._held:
                (self._held if entry is not None and self._holds(entry) else self.stale).add(key)
            if key in self.stale:
                out[key] = tuple(call.key for call in self._linker.link(key).calls if call.key)
            else:
                assert entry is not None
                out[key] = entry.calls
            work += reversed(out[key])
        return out

    def _holds(self, entry: Entry) -> bool:
        ids, exists = self._contents.first, self._linker.files.exists
        return all(ids(name) == was for name, was in entry.files.items()) and all(
            exists(path) == was for path, was in entry.probes.items()
        )

    def save(self) -> None:
        """Stores the entries."""
        cachedir.store(self._name, {key: tuple(entry) for key, entry in self.entries.items()})
        cachedir.prune("plans", MOST_TABLES)
