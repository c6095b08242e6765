"""What the analysis of files found, in words: errors, and what is assumed (one assumption a command, or a plan)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from ....diagnostics.diagnostic import Diagnostic, Label, LaterLabels
from ....diagnostics.span import Span
from ....linking.graph import Instance
from ....linking.model import Loop
from .failures import Cause, Causes, CauseTable, Failure
from .path_language import CHANCE, SETTLED, opaque
from .paths import Path, shown

MOST_NAMED = 8
"""Paths that one sentence lists."""

_HELP = {
    "FDC414": "create the file in a step, from the command's output",
    "FDC702": "let `allow write` name only what the command writes, or run it after the last use of these files",
    "FDC703": "name the files literally, or go through them with `for_each_file`",
    "FDC704": "name the files literally, by a glob, or in folders of their own",
}

Doubt = tuple[Instance, Loop, dict[tuple[Path, Path], int]]
"""A fork of an instance, with pairs of paths that two branches may use at the same time."""


class Found(NamedTuple):
    """A failure of a root: the path, what fails, and the path's state before the plan (0 absent, 1 present, 2 unknown)."""

    path: Path
    failure: Failure
    entry: int


_STEP = "this step"


class _Places:
    """The places that assumptions name, by number: many assumptions name the same ones."""

    def __init__(self) -> None:
        self._numbers: dict[Span, int] = {}
        self._labels: list[Label] = []

    def number(self, span: Span) -> int:
        """The number of a place."""
        number = self._numbers.setdefault(span, len(self._numbers))
        if number == len(self._labels):
            self._labels.append(Label(span, _STEP))
        return number

    def labels(self, steps: Mapping[int, str], but: Span) -> tuple[Label, ...]:
        """What is said at each place `but` one, where the assumption itself is shown."""
        known, left = self._labels, self._numbers.get(but)
        return tuple(
            [
                known[at] if said is _STEP else Label(known[at].span, said)
                for at, said in steps.items()
                if at != left
            ]
        )


class _Assumed:
    """One assumption of a plan: the place where it is shown, the paths, and the steps that fail where it is false."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.names: dict[str, None] = {}
        self.steps: dict[int, str] = {}
        """What each place is: steps that fail where the assumption is false, and what brings them there."""

    def finding(self, code: str, message: str, places: _Places) -> Diagnostic:
        """The assumption as a diagnostic."""
        return Diagnostic(
            self.span, code, message, places.labels(self.steps, self.span), help=_HELP[code]
        )


def of_root(found: list[Found], doubts: list[Doubt], causes: CauseTable) -> Iterator[Diagnostic]:
    """The errors, and the assumptions: one a command and kind, or one a plan and kind."""
    certain = {
        (name_of(item.path), item.failure.step, item.failure.outer)
        for item in found
        if item.failure.kind == "error"
    }
    places = _Places()
    commands = _Commands(causes)
    by_plan: dict[str, _Assumed] = {}
    ranked = sorted([(_order(item), item) for item in found], key=itemgetter(0))
    for number, ((_, _, name, _, kind), item) in enumerate(ranked):
        failure = item.failure
        if kind == "error":
            yield _error(item, name, causes)
        elif (
            (name, failure.step, failure.outer) in certain
            or kind == "unknown"
            and not _uncertain(item)
        ):
            continue
        elif kind in ("made", "kept"):
            commands.may_cause(failure, number)
        else:
            repeats = kind == "unknown" and _repeats(item)
            codes = ["FDC704"] if repeats or kind == "distinct" else []
            if not codes or repeats and opaque(item.path):
                codes.append("FDC703")
            for code in codes:
                made = by_plan.setdefault(code, _Assumed(failure.outer))
                made.names[name] = None
                made.steps[places.number(failure.step)] = _STEP
    yield from commands.findings([(order[2], item.failure.step) for order, item in ranked], places)
    for instance, fork, pairs in doubts:
        chances = [pair for pair, met in pairs.items() if met == CHANCE]
        if chances:
            span = instance.unit.span(fork.node)
            made = by_plan.setdefault("FDC704", _Assumed(span))
            made.steps.setdefault(places.number(span), "the branches of this fork")
            made.names.update((name_of(path), None) for pair in chances for path in pair)
    if "FDC703" in by_plan:
        made = by_plan["FDC703"]
        said = "stay inside the workspace, exist where a step reads them, and are absent where a step creates them"
        if len(made.names) == 1:
            said = "stays inside the workspace, exists where a step reads it, and is absent where a step creates it"
        yield made.finding("FDC703", f"{_listed(sorted(made.names))} {said}", places)
    if "FDC704" in by_plan:
        made = by_plan["FDC704"]
        yield made.finding(
            "FDC704", f"no other value names the same file as {_listed(sorted(made.names))}", places
        )


class _Command:
    """What is assumed of one command: the place where it is shown, and the failures where it is false."""

    __slots__ = ("span", "named", "causes")

    def __init__(self, span: Span) -> None:
        self.span = span
        self.named = 0
        """The paths: a bit for each, in their order."""
        self.causes: list[tuple[_Rows, int]] = []
        """The failures are those of the rows with the bit of such a number."""

    def failures(self) -> list[int]:
        """The failures that it may cause, by their numbers in order."""
        return sorted(chain.from_iterable(rows.with_bit(number) for rows, number in self.causes))


class _Rows:
    """Sets of causes, with the failures that have exactly these."""

    def __init__(self, rows: list[tuple[Causes, list[int]]]) -> None:
        self.rows = rows

    def with_bit(self, number: int) -> Iterator[int]:
        """The failures that one of the groups may have caused."""
        return chain.from_iterable(
            failures for causes, failures in self.rows if causes >> number & 1
        )

    def joined(self, wanted: Causes, names: list[set[int]]) -> Iterator[tuple[int, int]]:
        """By wanted group: its number, and the paths (`names`) of the rows that have its bit, a bit for each path.

        A row has mostly all the commands of a stretch of the plan: only where stretches begin and end something changes.
        """
        width = max(causes.bit_length() for causes, _ in self.rows)
        others = (1 << width) - 1 & ~wanted
        turns: dict[int, list[int]] = {}
        for at, (causes, _) in enumerate(self.rows):
            bits = causes & wanted
            # what lies between two wanted bits is as the first of them: a carry runs through it
            bits |= ((bits << 1 & others) + others ^ others) & others
            edges = bits ^ bits << 1
            while edges:
                low = edges & -edges
                edges ^= low
                turns.setdefault(low.bit_length() - 1, []).append(at)
        counts: dict[int, int] = {}
        inside: set[int] = set()
        found = 0
        for number in range(width):
            for at in turns.get(number, ()):
                step = -1 if at in inside else 1
                inside ^= {at}
                for name in names[at]:
                    before = counts.get(name, 0)
                    counts[name] = before + step
                    if not before or not before + step:
                        found ^= 1 << name
            if found and wanted >> number & 1:
                yield number, found


class _Commands:
    """What is assumed of commands: that they make the files which later steps need, or leave them alone.

    A long plan has many commands before many steps, and each pair of them counts: it is as little as can be, and
    the steps are named only where somebody asks.
    """

    def __init__(self, table: CauseTable) -> None:
        self._table = table
        self._made: dict[tuple[str, Span], _Command] = {}
        self._noted: dict[str, dict[Causes, list[int]]] = {}

    def may_cause(self, failure: Failure, number: int) -> None:
        """Notes the failure of a number, with the commands that may cause it."""
        if failure.causes:
            rows = self._noted.setdefault(failure.kind, {})
            rows.setdefault(failure.causes, []).append(number)

    def _count(self, rank_of: list[int]) -> None:
        """Gives each command the paths whose failures it may cause: many failures have the same causes."""
        wanted = 0
        for number, group in enumerate(self._table.groups):
            if any(access == "command" for access, _ in group.steps):
                wanted |= 1 << number
        for kind, noted in self._noted.items():
            code = "FDC414" if kind == "made" else "FDC702"
            rows = _Rows(list(noted.items()))
            names = [{rank_of[number] for number in failures} for failures in noted.values()]
            for number, named in rows.joined(wanted, names):
                group = self._table.groups[number]
                for access, step in group.steps:
                    if access == "command":
                        made = self._made.setdefault((code, step), _Command(group.outer))
                        made.span = min(made.span, group.outer)
                        made.named |= named
                        made.causes.append((rows, number))

    def findings(self, failures: list[tuple[str, Span]], places: _Places) -> Iterator[Diagnostic]:
        """The assumptions; `failures`: the path and the step of each, by number."""
        names = sorted({name for name, _ in failures})
        ranks = {name: rank for rank, name in enumerate(names)}
        self._count([ranks[name] for name, _ in failures])
        # commands of one call of which the same is assumed
        same: dict[tuple[str, Span, int], list[tuple[Span, _Command]]] = {}
        for (code, command), made in sorted(self._made.items(), key=itemgetter(0)):
            same.setdefault((code, made.span, made.named), []).append((command, made))
        for (code, span, named), commands in same.items():
            said = "makes" if code == "FDC414" else "leaves"
            message = f"this command {said} {_first_listed(names, named)}"
            labels = LaterLabels(partial(_steps, span, commands, failures, places))
            yield Diagnostic(
                span,
                code,
                message + ("" if code == "FDC414" else " alone"),
                labels,
                help=_HELP[code],
            )


def _steps(
    span: Span,
    commands: list[tuple[Span, _Command]],
    failures: list[tuple[str, Span]],
    places: _Places,
) -> tuple[Label, ...]:
    """The steps that fail where what is assumed of these commands is false, and the commands, where they stand elsewhere."""
    steps: dict[int, str] = {}
    for number, (command, made) in enumerate(commands):
        mine = dict.fromkeys([places.number(failures[one][1]) for one in made.failures()], _STEP)
        there = {} if command == span else {places.number(command): "this command"}
        steps = {**there, **(steps if number else mine), **mine}
    return places.labels(steps, span)


def _first_listed(names: list[str], named: int) -> str:
    """The paths of a mask in words, as `_listed` says them."""
    first: list[str] = []
    count = named.bit_count()
    while named and len(first) <= MOST_NAMED:
        low = named & -named
        named ^= low
        first.append(names[low.bit_length() - 1])
    return _listed(first, count)


def _order(item: Found) -> tuple[Span, Span, str, str, str]:
    failure = item.failure
    return failure.outer, failure.step, name_of(item.path), failure.access, failure.kind


def _uncertain(item: Found) -> bool:
    """True where nothing of the path itself says that the step succeeds."""
    path = tuple(part for part in item.path if part != SETTLED)
    if item.failure.access in ("write", "match"):
        return opaque(path)
    # Nothing is in the folder of a run before it begins.
    return not (
        item.failure.access == "create"
        and path[0] == ("run",)
        and all(type(part) is str for part in path[1:])
    )


def _repeats(item: Found) -> bool:
    """True for what is created in the folder of the run, which holds nothing before: so it is free if values differ."""
    path = [part for part in item.path if part != SETTLED]
    return item.failure.access == "create" and bool(path) and path[0] == ("run",)


def _listed(names: list[str], count: int | None = None) -> str:
    """The first of so many paths in words, all of them where they are few."""
    count = len(names) if count is None else count
    shown_names = [f"`{name}`" for name in names[: MOST_NAMED + 1]]
    if count > MOST_NAMED:
        shown_names[MOST_NAMED:] = [f"{count - MOST_NAMED} more"]
    if len(shown_names) == 1:
        return shown_names[0]
    return ", ".join(shown_names[:-1]) + " and " + shown_names[-1]


def name_of(path: Path) -> str:
    """The path as a plan writes it, without our marks."""
    name = shown(tuple(part for part in path if part != SETTLED))
    return name.rstrip("/") or name


def _error(item: Found, name: str, causes: CauseTable) -> Diagnostic:
    failure = item.failure
    labels = [] if failure.outer == failure.step else [Label(failure.step, "this step")]
    why = sorted(cause for cause in causes.each(failure.causes) if _explains(failure, cause))[:2]
    if failure.access == "same":
        code, message = "FDC412", f"Cannot rename `{name}` to `{name}`: it already exists"
        help_ = "name another target"
    elif failure.access == "create":
        code, message = "FDC412", f"Cannot create `{name}`: it already exists"
        help_ = "an earlier step, or an earlier turn of the loop, creates it"
        if item.entry == 1 and not why:
            help_ = "use `overwrite_file_with_block` to replace it"
        labels += [
            Label(cause.step, "this step may create it")
            for cause in why
            if cause.step != failure.step
        ]
    else:
        code, message = "FDC411", f"Cannot access `{name}`: it does not exist at this point"
        help_ = "an earlier step deletes or renames it"
        if item.entry == 0 and not why:
            help_ = "a step that creates it must come before, on every run"
        labels += [
            Label(cause.step, "this step may delete or rename it")
            for cause in why
            if cause.step != failure.step
        ]
    return Diagnostic(failure.outer, code, message, tuple(labels), help=help_)


def _explains(failure: Failure, cause: Cause) -> bool:
    wanted = ("create", "write") if failure.access == "create" else ("delete",)
    return cause.access in wanted


def of_forks(
    conflicts: Mapping[tuple[int, Path], tuple[Instance, Loop]],
    doubts: Mapping[int, Doubt],
) -> Iterator[Diagnostic]:
    """What branches that run at the same time do to one file, or may do."""
    for (_, path), (instance, fork) in conflicts.items():
        name = fork.name or "NAME"
        message = f"every branch of this fork writes `{shown(path)}`, and they run at the same time"
        help_ = f"give each branch a path of its own, such as one with `{{{name}}}` in it"
        yield Diagnostic(instance.unit.span(fork.node), "FDC413", message, help=help_)
    for instance, fork, pairs in doubts.values():
        for (one, other), met in pairs.items():
            if met != CHANCE:
                span = instance.unit.span(fork.node)
                message = f"one branch of this fork may use `{name_of(other)}` while another changes `{name_of(one)}`"
                yield Diagnostic(
                    span,
                    "FDC413",
                    message,
                    help="use files of the branch's own, or `for` in place of `fork`",
                )
