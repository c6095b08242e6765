"""Incremental lint: checks only the plans whose verdict may have changed since the last lint of this workspace.

One table per workspace holds, for each plan, its findings and everything they depend on: the ids of
the files that were read or searched for, the paths whose existence was tested, the plans it
calls, whether it was checked as a whole run. A plan's entry is valid while all of that is unchanged
and the entries of all plans that it calls are valid; `check.judge` explains why that suffices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...cache.assumption_packs import Packed, Ref, read
from ...cache.blob_ids import Contents, blob_id
from ...cache.table import Fact, Row, Table
from ...check import default_automaton, judge, settle
from ...diagnostics.diagnostic import Diagnostic, from_plain, ordered, pack, parted, plain
from ...linking.link import Linker
from ...linking.project.outside_files import TABLE
from ...linking.project.stat_cache import tool_identity
from ...named_tuples import NamedTuple
from ...packs import unshipped
from ...syntax.parse import parse
from . import parallel


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
    files, all_probes = table.rests_on(calls, every_path=False)
    all_probes[TABLE] = linker.files.exists(TABLE)
    found, fresh = settle(linker.settings, total, marked), table.pack.fresh
    return Outcome(found, packed, number, {**base, **files}, all_probes, fresh, table.pack.kept)


def judged_table(
    linker: Linker, keys: list[str], contents: Contents, options: str, jobs: int, *, afresh: bool
) -> tuple[list[Diagnostic], dict[str, bytes | None], Table, dict[str, tuple[str, ...]]]:
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
    tool = tool_identity() + unshipped.identity()
    signature = repr((tool, options, outside, sorted(base.items(), key=str)))
    table = Table(linker, contents, signature, afresh=afresh)
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
    table: Table, keys: Sequence[str], wanted: set[str]
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
    ids: dict[str, bytes | None] = {}  # of what was read: most is asked for by many plans
    for key in keys:
        unit = linker.units[key]
        parts = parted(ordered(by_file.get(key, [])))
        mine = [*parts.findings, *parts.fragments, *linker.automaton_findings(unit.reads)]
        names = [name for name in unit.asked if not name.startswith("fdc:")]
        ids |= {name: _id_as_read(linker, contents, name) for name in names if name not in ids}
        facts: list[Fact] = [(False, name, ids[name]) for name in names]
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
