"""The pipeline, as one readable function: link, graph, rules, suppress, sort."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .analyses import RULES, Context
from .machines.model import Automaton
from .resolve.graph import Graph, Instance, called_by_others, calls_of
from .resolve.link import Linker
from .resolve.model import Unit
from .resolve.settings import Settings, read_settings
from .syntax import suppress
from .syntax.tree import Plan
from .text.diagnostic import Diagnostic, ordered, parted
from .text.span import Span

sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
# bodies nest 200 deep at most and plans call each other ten deep: the walks recurse over both


class Checked(NamedTuple):
    """What a check found. `diagnostics` are sorted and final; `keys` are the plans that were judged.

    `assumptions` are what the proof rests on, sorted: diagnostics of severity `assumption`, which are not findings.
    """

    diagnostics: list[Diagnostic]
    keys: tuple[str, ...]
    context: Context
    sources: Callable[[str], str | None]
    assumptions: list[Diagnostic] = []


def key_of(path: str, root: str) -> str:
    """The key of a plan by the path that a user gave: relative to the workspace where it lies in it."""
    absolute = os.path.abspath(path)
    return absolute[len(root) + 1 :] if absolute.startswith(root + "/") else absolute


def check_paths(paths: Sequence[str], workspace: str, settings: Settings | None = None) -> Checked:
    """Checks the plans at `paths` (as the user gave them) in the workspace at the absolute path `workspace`.

    Raises OSError for a file that cannot be read, SettingsError for wrong settings.
    """
    linker = Linker(workspace, settings if settings is not None else read_settings(workspace))
    return check(linker, [key_of(path, workspace) for path in paths])


def check(linker: Linker, keys: Sequence[str], texts: dict[str, bytes] | None = None) -> Checked:
    """Links and judges the plans under `keys`; `texts` stands for files that are not on disk."""
    for key in keys:
        linker.link(key, (texts or {}).get(key))
    called = called_keys(linker)
    judged = [key for key in dict.fromkeys(keys) if is_root(linker.units[key], called)]
    found, context = judge(linker, keys, judged)
    found += linker.diagnostics + linker.automaton_findings()
    marked = {
        unit.key: (unit.plan, unit.key in judged) for unit in linker.units.values() if unit.plan and "fdc:" in unit.text
    }
    diagnostics, assumptions = parted(settle(linker.settings, found, marked))
    return Checked(diagnostics, tuple(keys), context, _sources(linker), assumptions)


def called_keys(linker: Linker) -> set[str | None]:
    """The plans that another linked plan calls or the registries name: without an automaton of their own they are fragments."""
    recursive = any(call.depth is not None for unit in linker.units.values() for call in unit.calls)
    called = called_by_others(calls_of(linker.units), recursive=recursive)
    return called | {linker.resolve(name)[0] for name in linker.callable_names()}


def is_root(unit: Unit, called: set[str | None]) -> bool:
    """True where a plan is judged as a whole run: it has steps, and an automaton or nobody who calls it (FDC-31)."""
    return bool(unit.body) and (unit.stated is not None or unit.key not in called)


def default_automaton(linker: Linker) -> Automaton | None:
    """The automaton of the settings; a missing one is reported once."""
    _, default, found = linker.automaton(linker.settings.fsm)
    if default is None and not found:
        span = Span("fdc.toml", 1, 1, 1, 1)
        message = f"the automaton `{linker.settings.fsm}` of the settings does not exist"
        linker.diagnostics.append(Diagnostic(span, "FDC201", message))
    return default


def judge(linker: Linker, keys: Sequence[str], judged: Sequence[str]) -> tuple[list[Diagnostic], Context]:
    """Everything found in the linked plans under `keys` and in what they reach, with `judged` taken as whole runs.

    A finding in a plan depends on that plan, on what it reaches, and on whether it is judged as a
    root; not on who calls it. The verdict cache rests on this.
    """
    default = default_automaton(linker)
    graph = Graph(linker.units)
    roots: list[tuple[Instance, Automaton | None]] = []
    for key in judged:
        unit = linker.units[key]
        roots.append((graph.instance(key), unit.automaton if unit.stated is not None else default))
    reached = dict.fromkeys(keys)
    work = list(reached)
    while work:  # along every call, those that close a cycle too: what is wrong in such a plan is said as well
        for call in linker.units[work.pop()].calls:
            if call.key in linker.units and call.key not in reached:
                reached[call.key] = None
                work.append(call.key)
    order = graph.order([graph.instance(key) for key in reached])
    context = Context(linker, graph, roots, order, default)
    found: list[Diagnostic] = []
    for key in dict.fromkeys(instance.unit.key for instance in order):
        found += linker.units[key].diagnostics
    for rule in RULES:
        found += rule(context)
    return found, context


def settle(settings: Settings, found: list[Diagnostic], marked: Mapping[str, tuple[Plan, bool]]) -> list[Diagnostic]:
    """Without what comments and settings silence, in order, each once.

    `marked`: the plans with such comments, and whether each was judged as a whole run.
    """
    by_file: dict[str, list[Diagnostic]] = {key: [] for key in marked}
    out: list[Diagnostic] = []
    for item in ordered(found):
        by_file.get(item.span.path, out).append(item)
    for key, (plan, whole) in marked.items():
        out += suppress.apply(plan, by_file[key], judged=whole)
    if settings.ignore or settings.per_file_ignores:
        out = [item for item in out if not _ignored(settings, item)]
    return ordered(out)


def _ignored(settings: Settings, item: Diagnostic) -> bool:
    if item.code in suppress.NEVER:
        return False
    if item.code in settings.ignore:
        return True
    if settings.per_file_ignores:
        from .text.glob_match import matches

        return any(item.code in codes and matches(item.span.path, glob) for glob, codes in settings.per_file_ignores)
    return False


def _sources(linker: Linker) -> Callable[[str], str | None]:
    def source(key: str) -> str | None:
        unit = linker.units.get(key)
        if unit is not None:
            return unit.text
        data = linker.files.seen.get(key)
        return None if data is None else data.decode("utf-8", "replace").replace("\r\n", "\n")

    return source


def compile_plan(path: str, workspace: str) -> tuple[dict[str, Any] | None, list[Diagnostic]]:
    """The program of a plan that was proved, or None with the findings that forbid it (FDC-04)."""
    checked = check_paths([path], workspace)
    if any(item.severity == "error" for item in checked.diagnostics):
        return None, checked.diagnostics
    return program_of(checked), checked.diagnostics


def program_of(checked: Checked) -> dict[str, Any]:
    """The program of the first plan that was judged, which must have no error."""
    from .lower import lower

    context = checked.context
    linker = context.linker
    key = checked.keys[0]
    return lower(context.graph, key, context.default, linker.files, linker.catalogue.rows, linker.obligations)
