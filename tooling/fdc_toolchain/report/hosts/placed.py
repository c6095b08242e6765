"""Findings with the paths that their readers need: code hosts show each at its line in the files of a repository, and people and
agents open the files from the folder in which they started the command. Programs that read JSON get paths from the workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ...diagnostics.diagnostic import Diagnostic, Edit, Label
from ...diagnostics.formats import COUNTING
from ...diagnostics.span import Span

FORMATS = ("github", "gitlab", "sarif", "junit")
"""The formats that such hosts read."""

Sources = Callable[[str], str | None]


def below_top(root: str) -> str:
    """The path of a folder from the top of its repository, with a `/` at its end; empty at the top, and outside of any."""
    folder = os.path.realpath(root)
    top = folder
    while not os.path.lexists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            return ""
        top = above
    return "" if top == folder else os.path.relpath(folder, top) + "/"


def placed(
    form: str, found: list[Diagnostic], sources: Sources, root: str
) -> tuple[list[Diagnostic], Sources]:
    """The findings of a workspace, and its texts, by the paths that readers of a format need."""
    if form in FORMATS:
        prefix = below_top(root)
        return (
            _moved(found, sources, root, lambda path: prefix + path) if prefix else (found, sources)
        )
    return seen_from_here(found, sources, root) if form in COUNTING else (found, sources)


def seen_from_here(
    found: list[Diagnostic], sources: Sources, root: str
) -> tuple[list[Diagnostic], Sources]:
    """The findings of a workspace, and its texts, by paths from the current folder."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        return found, sources
    if os.path.realpath(root) == os.path.realpath(here):
        return found, sources
    below = os.path.relpath(root, here)
    return _moved(found, sources, root, lambda path: os.path.normpath(os.path.join(below, path)))


def _moved(
    found: list[Diagnostic], sources: Sources, root: str, name: Callable[[str], str]
) -> tuple[list[Diagnostic], Sources]:
    """The findings, and the texts, with another name for each file that is there."""
    keys: dict[str, str] = {}

    def put(span: Span) -> Span:
        known = os.path.lexists(os.path.join(root, span.path)) and not os.path.isabs(span.path)
        path = name(span.path.removeprefix("./")) if known else span.path
        keys[path] = span.path
        return span._replace(path=path)

    def labels(some: Sequence[Label]) -> tuple[Label, ...]:
        return tuple(one._replace(span=put(one.span)) for one in some)

    def edits(some: Sequence[Edit]) -> tuple[Edit, ...]:
        return tuple(one._replace(span=put(one.span)) for one in some)

    moved = [
        item._replace(
            span=put(item.span),
            labels=labels(item.labels),
            trace=labels(item.trace),
            fix=item.fix and item.fix._replace(edits=edits(item.fix.edits)),
        )
        for item in found
    ]
    return moved, lambda path: sources(keys.get(path, path))
