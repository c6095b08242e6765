"""Findings with their paths from the top of the repository: code hosts show each at its line in the repository's files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ...diagnostics.diagnostic import Diagnostic, Edit, Label
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
    found: Sequence[Diagnostic], sources: Sources, root: str
) -> tuple[list[Diagnostic], Sources]:
    """The findings of a workspace, and its texts, by paths from the top of the repository."""
    prefix = below_top(root)
    if not prefix:
        return list(found), sources
    keys: dict[str, str] = {}

    def put(span: Span) -> Span:
        known = os.path.lexists(os.path.join(root, span.path)) and not os.path.isabs(span.path)
        path = prefix + span.path.removeprefix("./") if known else span.path
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
