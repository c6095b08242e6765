"""Incremental lint: checks only the plans whose verdict may have changed since the last lint of this workspace.

One table per workspace holds, for each plan, its findings and everything they depend on: the ids of
the files that were read or searched for, the paths whose existence was tested, the plans it
calls, whether it was checked as a whole run. A plan's entry is valid while all of that is unchanged
and the entries of all plans that it calls are valid; `check.judge` explains why that suffices.
After a few edits of a remembered lint, the table is not even read (`after_edits`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...cache.assumption_packs import Pack, Packed, Ref, read
from ...cache.blob_ids import Contents, blob_id
from ...cache.edited import Edited, Outdated, assumed
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...linking.project.stat_cache import Found


class Outcome(NamedTuple):
    """Final findings, packed assumptions with their number, and the dependencies: ids by file, existence by path.

    `fresh`: assumptions that this process found. `kept`: all of them are stored. `rows`: of `cache.edited`; empty where
    a finding is in no plan.
    """

    found: list[Diagnostic]
    packed: Packed
    number: int
    files: dict[str, bytes | None]
    probes: dict[str, bool]
    fresh: dict[Ref, bytes]
    kept: bool
    rows: bytes


class Shared(NamedTuple):
    """What every verdict depends on: the findings in automata, ids by file, and which plans of the registries exist."""

    general: list[Diagnostic]
    ids: dict[str, bytes | None]
    registered: dict[str, bool]


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
    shared, table, calls = judged_table(linker, keys, contents, options, jobs, afresh=afresh)
    total = linker.diagnostics + shared.general
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
    all_probes |= {TABLE: linker.files.exists(TABLE), **shared.registered}
    apart = not linker.diagnostics and not shared.general and not linker.settings.assumptions
    rows = table.as_rows(calls, set(keys)) if apart else b""
    found, pack = settle(linker.settings, total, marked), table.pack
    files = {**shared.ids, **files}
    return Outcome(found, packed, number, files, all_probes, pack.fresh, pack.kept, rows)


def after_edits(linker: Linker, edited: Edited) -> Found:
    """What `findings` finds of the plans of a remembered lint, a few of which were edited: judges these and their callers.

    Raises Outdated where that is not enough.
    """
    shared, files, contents = _shared(linker, edited.contents), linker.files, edited.contents
    pack = Pack(edited.kept[1][0])
    if (
        linker.diagnostics
        or shared.general
        or linker.settings.assumptions
        or not edited.data.keys().isdisjoint(shared.ids)
        or pack.mark != edited.kept[1][1]
        or pack.grew(edited.rows.size)
    ):
        raise Outdated
    files.seen.update(edited.data)
    stale = sorted(edited.stale())
    for key in stale:
        linker.link(key)
    rows = _rows(linker, contents, stale, set(stale).difference(edited.rows.unasked))
    about_registered = [(True, key, exists) for key, exists in shared.registered.items()]
    edits, found = {}, []
    for row, ref in zip(rows, _added(pack, rows), strict=True):
        if any(item[0][0] != row.key for item in row.found):
            raise Outdated
        found += [from_plain(item) for item in row.found]
        facts = [*row.facts, *about_registered]
        edits[row.key] = edited.edit(row.key, facts, row.calls, assumed(ref, row.number))
    only_exist = shared.registered.keys() - linker.units
    read = {key: data for key, data in files.seen.items() if key not in only_exist}
    if not edited.rests_on(read, edits.values()):
        raise Outdated
    units = [linker.units[row.key] for row in rows if row.marked]
    whole = {row.key: row.whole for row in rows}
    marked = {unit.key: (unit.plan, whole[unit.key]) for unit in units if unit.plan is not None}
    report = [plain(item) for item in settle(linker.settings, found, marked)]
    return edited.replaced(edits, report, (pack.name, pack.mark))


def _added(pack: Pack, rows: Sequence[Row]) -> list[Ref]:
    """Stores the assumptions of plans in the pack of a remembered lint."""
    assumptions = [row.assumptions for row in rows]
    refs = pack.add(assumptions) if pack.mark else []
    if not pack.kept or not pack.mark and any(assumptions):
        raise Outdated
    return refs or [b"" for _ in rows]


def _shared(linker: Linker, contents: Contents) -> Shared:
    """Reads what every verdict depends on."""
    default_automaton(linker)
    linker.callable_names()  # reads the registries
    linker.files.leads()  # links of protected and secret names count too
    linker.outside  # noqa: B018  # as do these files
    read = [key for key in linker.files.seen if not key.startswith("fdc:")]
    base = {key: _id_as_read(linker, contents, key) for key in read}
    for name in ("fdc.toml", "pyproject.toml"):
        base[name] = contents.id(name)
    general = linker.automaton_findings()
    linker.own_plans()  # their names are protected, whatever they contain
    seen = {key: data is not None for key, data in linker.files.seen.items() if key not in base}
    registered = {key: found for key, found in seen.items() if not key.startswith("fdc:")}
    return Shared(general, base, registered)


def judged_table(
    linker: Linker, keys: list[str], contents: Contents, options: str, jobs: int, *, afresh: bool
) -> tuple[Shared, Table, dict[str, tuple[str, ...]]]:
    """What every verdict depends on, the table, with a verdict for every plan that `keys` reach, and the calls of each."""
    shared = _shared(linker, contents)
    tool = tool_identity() + unshipped.identity()
    base = sorted(shared.ids.items(), key=str)
    signature = repr((tool, options, linker.outside, base, shared.registered))
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
    return shared, table, calls


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
