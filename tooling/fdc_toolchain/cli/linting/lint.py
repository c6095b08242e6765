"""Proves plans or reads their verdicts from the cache, and reports."""

from __future__ import annotations

import time

from ...cache import verdicts
from ...cache.blob_ids import Contents
from ...diagnostics.diagnostic import Diagnostic, Kept, from_plain, ordered, parted, plain
from ...diagnostics.formats import COUNTING
from ...workspace.confirmed_settings import settings_of
from .judge import judge, nothing_changed, reader, report, settings_for
from .options import Options, must_be_there
from .plans_of_others import NONE, OfOthers, in_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Plans = tuple[list[str], "str | None", Contents]
"""The plans to check, the name of their record in the cache, and the ids of the files."""


def lint(options: Options, root: str, plans: Plans | None, more: OfOthers = NONE) -> int:
    """Proves and reports; returns the exit code. `plans` is None if the cache is not used.

    `more`: findings in plans of other tools.
    """
    from ...check import key_of
    from ...linking.project.discover import find_plans

    texts: dict[str, bytes] = {}
    if plans is None:
        paths = list(options["paths"])  # type: ignore[call-overload]
        keys: list[str] = []
        if "-" in paths:
            from ..shared.stdin import read_stdin

            paths = [path for path in paths if path != "-"]
            given = options["stdin_filename"]
            key = key_of(str(given), root) if given else "<stdin>"
            texts[key] = read_stdin()
            more = in_text(key, texts, root, more)
            keys += texts
        must_be_there(paths)
        named = find_plans(paths, root, settings_of(root).exclude) if paths else []
        keys += sorted({key_of(path, root) for path in named} - set(more.keys))
        name, contents = None, None
    else:
        keys, name, contents = plans
    settings = settings_for(options, root)
    if options["changed"]:
        from .changed import affected, of_others, touched_paths
        from .plans_of_others import look

        if contents is None:
            contents = Contents(root, time.time_ns(), {})
        touched, whole = touched_paths(options, root), len(keys) + len(more.keys)
        keys = affected(options, root, settings, keys, contents, touched)
        if not more.texts:
            more = look(of_others(more.keys, touched), {**options, "quiet": True}, root)
        if whole and not keys and not more.keys:
            return nothing_changed(options)
    if options["fix"] or options["diff"]:
        from .fix import fix

        return fix(options, root, settings, keys, texts, more)
    if name is not None and contents is not None and not options["model"]:
        return _with_table(options, root, settings, keys, name, contents, more)
    found, sources, _ = judge(options, root, settings, keys, texts)
    plans_seen = len(keys) + more.plans
    found = ordered(found + more.found) if more.found else found
    return report(
        options,
        found,
        more.sources(sources),
        plans_seen,
        settings.strict,
        root=root,
        others=more.others,
    )


def _with_table(
    options: Options,
    root: str,
    settings: Any,
    keys: list[str],
    name: str,
    contents: Contents,
    of_others: OfOthers,
) -> int:
    """Checks plans without a valid verdict in the workspace's table, stores the result as a record, and reports it."""
    from ...cache import assumption_packs
    from ...linking.link import Linker
    from .incremental import findings
    from .parallel import processes

    words = repr([options[word] for word in ("fsm", "profile")] + [settings.trusted])
    jobs = processes(options["jobs"])
    for afresh in (False, True):
        try:
            outcome = findings(
                Linker(root, settings), keys, contents, words, jobs=jobs, afresh=afresh
            )
            more = (
                assumption_packs.read(outcome.packed, outcome.fresh)
                if _lists_assumptions(options)
                else []
            )
            break
        except assumption_packs.Lost:
            assert not afresh
    if outcome.kept:
        kept = Kept(tuple(plain(item) for item in outcome.found), outcome.packed, outcome.number)
        files, rows = outcome.files, outcome.rows
        verdicts.store(name, contents, kept, len(keys), files, outcome.probes, rows)
    contents.save()
    return _report_kept(
        options, root, len(keys), outcome.found, more, outcome.number, settings.strict, of_others
    )


def show_record(options: Options, root: str, checked: int, record: Kept) -> int | None:
    """Reports a cached verdict; None if assumptions to list are lost."""
    more: list[Diagnostic] = []
    if record.number and _lists_assumptions(options):
        from ...cache import assumption_packs

        try:
            more = assumption_packs.read(record.packed)
        except assumption_packs.Lost:
            return None
    found = [from_plain(item) for item in record.found]
    strict = bool(options["strict"])
    if not strict and found:
        strict = settings_of(root).strict
    return _report_kept(options, root, checked, found, more, record.number, strict)


def _lists_assumptions(options: Options) -> bool:
    return options["format"] not in (None, *COUNTING) or bool(options["assumptions"])


def _report_kept(
    options: Options,
    root: str,
    checked: int,
    found: list[Diagnostic],
    more: list[Diagnostic],
    number: int,
    strict: bool,
    of_others: OfOthers = NONE,
) -> int:
    """Reports `found` and, if assumptions are listed, the `number` assumptions `more`."""
    others = of_others.others
    checked += of_others.plans
    if not _lists_assumptions(options):
        if of_others.found:
            found = ordered(found + of_others.found)
        return report(
            options,
            found,
            reader(root),
            checked,
            strict,
            root=root,
            uncounted=number,
            others=others,
        )
    parts = parted(
        ordered(found + more + of_others.found)
    )  # one kind after the other, as without a cache
    return report(
        options,
        [*parts.findings, *parts.assumptions, *parts.fragments],
        reader(root),
        checked,
        strict,
        root=root,
        others=others,
    )
