"""The checks that all plans of other tools share: ids, dependencies, order, paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import count, islice

from ..diagnostics.diagnostic import Diagnostic, Label
from ..text.suggest import did_you_mean
from .model import Item

MOST_OF_A_KIND = 100
"""Findings of one rule in one file."""
MOST_COMPARED, MOST_LETTERS, MOST_HELPS = 500, 40, 10
"""Ids, their letters and the unknown ones of a file for which a similar id is looked for; it takes long."""


def check(items: Sequence[Item], *, noun: str = "task") -> list[Diagnostic]:
    """What is wrong with the items as a graph."""
    first: dict[str, Item] = {}
    out: list[Diagnostic] = []
    for item in items:
        if item.id in first:
            labels = (Label(first[item.id].span, "first used here"),)
            message = f"two {noun}s have the id `{item.id}`"
            help_ = "give one of them another id"
            out.append(Diagnostic(item.span, "FDC813", message, labels, help=help_))
        else:
            first[item.id] = item
    similar = suggesting(first)
    for item in items:
        out += _dependencies(item, first, similar, noun)
    out += islice(_cycles(first, noun), MOST_OF_A_KIND)
    return [*capped(out)]


def _dependencies(
    item: Item, known: dict[str, Item], similar: Callable[[str], str | None], noun: str
) -> Iterator[Diagnostic]:
    for name in item.depends:
        other = known.get(name.text)
        if other is None:
            message = f"`{item.id}` depends on `{name.text}`, and this {noun} does not exist"
            help_ = similar(name.text) or "name one that is there, or take the dependency out"
            yield Diagnostic(name.span, "FDC811", message, help=help_)
        elif item.done and other.done is False and other.id != item.id:
            message = f"`{item.id}` is done, and `{other.id}`, which it depends on, is not"
            help_ = f"finish `{other.id}` first, or take the dependency out if it is not one"
            labels = (Label(other.span, "not done"),)
            yield Diagnostic(item.span, "FDC814", message, labels, help=help_)


def _cycles(known: dict[str, Item], noun: str) -> Iterator[Diagnostic]:
    """One finding for each cycle that a walk comes upon, with the way round it."""
    left: set[str] = set()
    for start in known:
        path = {} if start in left else {start: _next(known, start)}  # with what is still to see
        while path:
            name, rest = next(reversed(path.items()))
            other = next(rest, None)
            if other is None:
                del path[name]
                left.add(name)
            elif other in path:
                round_ = [*list(path)[list(path).index(other) :], other]
                item = known[name]
                span = next((one.span for one in item.depends if one.text == other), item.span)
                message = f"the {noun}s wait for each other: {' -> '.join(round_[:12])}"
                labels = tuple(Label(known[one].span, f"`{one}`") for one in round_[:-1][:8])
                help_ = f"none of these {noun}s can begin: take one of the dependencies out"
                yield Diagnostic(span, "FDC812", message, labels, help=help_)
            elif other not in left:
                path[other] = _next(known, other)


def _next(known: dict[str, Item], name: str) -> Iterator[str]:
    return iter([one.text for one in known[name].depends if one.text in known])


def finished(items: Sequence[Item], what: str, help_: str) -> list[Diagnostic]:
    """That everything is done."""
    if not items or not all(item.done for item in items):
        return []
    message = f"all {len(items)} tasks of {what} are done, and it still lies with the open ones"
    return [Diagnostic(items[-1].span, "FDC815", message, help=help_)]


def missing_paths(items: Sequence[Item], root: str) -> list[Diagnostic]:
    """Paths of tasks that are done, or that say that they change a file, and that are not there."""
    out = []
    for item in items:
        for name in item.paths:
            if not _inside(name.text) or os.path.lexists(os.path.join(root, name.text)):
                continue
            message = f"`{item.id}` is done, and `{name.text}`, which it names, is not there"
            help_ = "name the file that it made, or open the task again"
            out.append(Diagnostic(name.span, "FDC816", message, help=help_))
    return [*capped(out)]


def _inside(path: str) -> bool:
    """Whether a path is one of the workspace. Others are not looked at."""
    if os.path.isabs(path) or "\0" in path or len(path) > 1000:
        return False
    return not os.path.normpath(path).startswith("..")


def suggesting(known: Collection[str]) -> Callable[[str], str | None]:
    """What gives the help for an unknown id, as often as there is time for in one file."""
    asked = count()

    def suggest(word: str) -> str | None:
        fits = len(known) <= MOST_COMPARED and len(word) <= MOST_LETTERS
        return did_you_mean(word, known) if fits and next(asked) < MOST_HELPS else None

    return suggest


def capped(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings of a file, of each rule the first ones."""
    seen: dict[str, int] = {}
    for item in found:
        seen[item.code] = seen.get(item.code, 0) + 1
        if seen[item.code] <= MOST_OF_A_KIND:
            yield item
