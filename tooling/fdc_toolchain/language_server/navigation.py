"""From a name to its places: definition, references, rename, in a plan and in those that call it."""

from __future__ import annotations

import re
from typing import NamedTuple

from lsprotocol import types

from .. import api
from .documents import Documents, Plan
from .positions import holds

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = ("run",)


class Refused(Exception):
    """What was asked for cannot be done. The message is one sentence for the user."""


class Target(NamedTuple):
    """What stands at a place: a name of a plan, or a plan (`name` None). `span`: where it stands."""

    key: str
    name: str | None
    span: api.Span


def target(plan: Plan, position: types.Position) -> Target | None:
    """What stands at a place."""
    line, column = plan.lines.place(position)
    view = plan.view()
    for site in view.calls:
        if holds(site.name, line, column) and site.call.target is not None:
            return Target(site.call.target, None, site.name)
        for name, span in site.keys.items():
            if holds(span, line, column) and site.call.target is not None:
                return Target(site.call.target, name, span)
    for symbol in view.symbols:
        for span in (*symbol.bound, *symbol.read):
            if holds(span, line, column):
                return Target(plan.key, symbol.name, span)
    return None


def definition(plan: Plan, position: types.Position) -> list[types.Location]:
    """Where the name is bound, or the first line of the plan that is called."""
    found = target(plan, position)
    if found is None:
        return []
    if found.name is None:
        uri = plan.uri_of(found.key)
        start = types.Position(0, 0)
        return [] if uri is None else [types.Location(uri, types.Range(start, start))]
    view = plan.view() if found.key == plan.key else plan.other(found.key)
    symbol = _symbol(view, found.name)
    return [] if symbol is None else _locations(plan, symbol.bound)


def references(
    documents: Documents, plan: Plan, position: types.Position, *, declared: bool
) -> list[types.Location]:
    """Where the name is read, or the plan is called; `declared`: where it is bound too."""
    found = target(plan, position)
    if found is None:
        return []
    if found.name is None:
        return _locations(plan, [site.name for site in _sites(documents, plan, found.key)])
    bound, read = _places(documents, plan, found.key, found.name)
    return _locations(plan, [*(bound if declared else []), *read])


def prepare_rename(plan: Plan, position: types.Position) -> types.PrepareRenamePlaceholder | None:
    """What would get another name; None where nothing can."""
    found = target(plan, position)
    if found is None or found.name is None:
        return None
    return types.PrepareRenamePlaceholder(plan.lines.range(found.span), found.name)


def rename(
    documents: Documents, plan: Plan, position: types.Position, name: str
) -> types.WorkspaceEdit:
    """The edits that give a name another one, in its plan and, for a parameter, in all plans that give it. Raises Refused."""
    found = target(plan, position)
    if found is None or found.name is None:
        raise Refused("no name of the plan stands here: put the cursor on one that it binds")
    if not _NAME.fullmatch(name):
        form = "a name has letters, digits and `_`, and no digit first"
        raise Refused(f"`{name}` is not a name: {form}")
    view = plan.view() if found.key == plan.key else plan.other(found.key)
    symbol = _symbol(view, found.name)
    if view is None or symbol is None or symbol.kind == "file" or not symbol.bound:
        unbound = f"`{found.name}` is a name that no line of the plan binds"
        raise Refused(f"{unbound}; bind it with `as NAME`")
    if name in RESERVED or any(one.name == name for one in view.symbols):
        raise Refused(f"`{name}` is bound already in `{found.key}`: choose another name")
    bound, read = _places(documents, plan, found.key, found.name)
    own = [span for span in dict.fromkeys([*bound, *read]) if span.path == found.key]
    if not _means_the_same(plan, found.key, view, symbol, name, own):
        other = f"`{name}` would be read as another word in `{found.key}`"
        raise Refused(f"{other}: choose another name")
    changes: dict[str, list[types.TextEdit]] = {}
    for span in dict.fromkeys([*bound, *read]):
        uri = plan.uri_of(span.path)
        if uri is None:
            raise Refused(f"`{span.path}` comes with fdc and cannot be changed")
        edit = types.TextEdit(plan.lines_of(span.path).range(span), name)
        changes.setdefault(uri, []).append(edit)
    return types.WorkspaceEdit(changes=changes)


def _means_the_same(
    plan: Plan, key: str, view: api.PlanView, symbol: api.Symbol, name: str, spans: list[api.Span]
) -> bool:
    """Whether the plan, with the name written at these places, binds and reads it where it bound and read the old one."""
    text = plan.content(key)
    if text is None:
        return False
    edits = tuple(api.Edit(span=span, replacement=name) for span in spans)
    written = api.apply_fixes(text, [api.Fix(title=name, edits=edits, safe=False)]).text
    made = plan.session.view(key, text=written, unsaved=plan.unsaved)
    other = _symbol(made, name)
    return (
        other is not None
        and (len(other.bound), len(other.read)) == (len(symbol.bound), len(symbol.read))
        and len(made.result.errors) == len(view.result.errors)
    )


def _places(
    documents: Documents, plan: Plan, key: str, name: str
) -> tuple[list[api.Span], list[api.Span]]:
    """Where a name of a plan is bound and read; a parameter is read in calls of its plan too."""
    view = plan.view() if key == plan.key else plan.other(key)
    symbol = _symbol(view, name)
    if view is None or symbol is None:
        return [], []
    sites = _sites(documents, plan, key) if name in view.parameters else []
    given = [site.keys[name] for site in sites if name in site.keys]
    return list(symbol.bound), [*symbol.read, *given]


def _sites(documents: Documents, plan: Plan, key: str) -> list[api.CallSite]:
    """Where plans of the workspace call a plan."""
    return [
        site for view in documents.views(plan) for site in view.calls if site.call.target == key
    ]


def _symbol(view: api.PlanView | None, name: str) -> api.Symbol | None:
    symbols = () if view is None else view.symbols
    return next((symbol for symbol in symbols if symbol.name == name), None)


def _locations(plan: Plan, spans: list[api.Span] | tuple[api.Span, ...]) -> list[types.Location]:
    out = []
    for span in spans:
        uri = plan.uri_of(span.path)
        if uri is not None:
            out.append(types.Location(uri, plan.lines_of(span.path).range(span)))
    return out
