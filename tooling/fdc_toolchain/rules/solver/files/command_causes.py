"""Assumptions about commands, with their places: a long plan has very many pairs of a command and a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from operator import itemgetter

from ....diagnostics.diagnostic import Diagnostic, Label, LaterLabels
from ....diagnostics.span import Span
from .failures import Causes, CauseTable, Failure

MOST_NAMED = 8
"""Maximum number of paths in one sentence."""

HELP = {
    "FDC414": "create the file in a step, from the command's output",
    "FDC702": "restrict `allow write` to what the command writes, or run it after the last use of these files",
}

STEP = "this step"


class Places:
    """The places that assumptions name, by number: many assumptions name the same ones."""

    def __init__(self) -> None:
        self._numbers: dict[Span, int] = {}
        self._labels: list[Label] = []

    def number(self, span: Span) -> int:
        """The number of a place."""
        number = self._numbers.setdefault(span, len(self._numbers))
        if number == len(self._labels):
            self._labels.append(Label(span, STEP))
        return number

    def labels(self, steps: Mapping[int, str], but: Span) -> tuple[Label, ...]:
        """What is said at each place `but` one, where the assumption itself is shown."""
        known, left = self._labels, self._numbers.get(but)
        return tuple(
            [
                known[at] if said is STEP else Label(known[at].span, said)
                for at, said in steps.items()
                if at != left
            ]
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


class Commands:
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

    def findings(self, failures: list[tuple[str, Span]], places: Places) -> Iterator[Diagnostic]:
        """The assumptions; `failures`: the path and the step of each, by number."""
        names = sorted({name for name, _ in failures})
        ranks = {name: rank for rank, name in enumerate(names)}
        self._count([ranks[name] for name, _ in failures])
        # commands of one call of which the same is assumed
        same: dict[tuple[str, Span, int], list[tuple[Span, _Command]]] = {}
        for (code, command), made in sorted(self._made.items(), key=itemgetter(0)):
            same.setdefault((code, made.span, made.named), []).append((command, made))
        shown = {named: _first_listed(names, named) for named in {key[2] for key in same}}
        for (code, span, named), commands in same.items():
            said = "makes" if code == "FDC414" else "leaves"
            message = f"this command {said} {shown[named]}"
            labels = LaterLabels(partial(_steps, span, commands, failures, places))
            yield Diagnostic(
                span,
                code,
                message + ("" if code == "FDC414" else " alone"),
                labels,
                help=HELP[code],
            )


def _steps(
    span: Span,
    commands: list[tuple[Span, _Command]],
    failures: list[tuple[str, Span]],
    places: Places,
) -> tuple[Label, ...]:
    """The steps that fail where what is assumed of these commands is false, and the commands, where they stand elsewhere."""
    steps: dict[int, str] = {}
    for number, (command, made) in enumerate(commands):
        mine = dict.fromkeys(
            [places.number(failures[failure][1]) for failure in made.failures()], STEP
        )
        there = {} if command == span else {places.number(command): "this command"}
        steps = {**there, **(steps if number else mine), **mine}
    return places.labels(steps, span)


def _first_listed(names: list[str], named: int) -> str:
    """The paths of a mask in words, as `listed` says them."""
    first: list[str] = []
    count = named.bit_count()
    while named and len(first) <= MOST_NAMED:
        low = named & -named
        named ^= low
        first.append(names[low.bit_length() - 1])
    return listed(first, count)


def listed(names: list[str], count: int | None = None) -> str:
    """The first of so many paths in words, all of them where they are few."""
    count = len(names) if count is None else count
    shown_names = [f"`{name}`" for name in names[: MOST_NAMED + 1]]
    if count > MOST_NAMED:
        shown_names[MOST_NAMED:] = [f"{count - MOST_NAMED} more"]
    if len(shown_names) == 1:
        return shown_names[0]
    return ", ".join(shown_names[:-1]) + " and " + shown_names[-1]
