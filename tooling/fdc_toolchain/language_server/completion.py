"""What can be written at a place: tools that the state allows first, words, plans, arguments and names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from .. import api
from .documents import Plan
from .hover import signature

TRIGGERS = [" ", "{", "="]
_FIRST = re.compile(r"\s*(?:[A-Za-z_]\w*\s*<-\s*)?([\w.-]*)$")
_CALL = re.compile(r"\s*(?:[A-Za-z_]\w*\s*<-\s*)?call_plan\s+(\S*)$")
_IN_CALL = re.compile(r"\s*(?:[A-Za-z_]\w*\s*<-\s*)?call_plan\s+(\S+)\s+(?:.*\s)?(\w*)$")
_STEP = re.compile(r"\s*(?:[A-Za-z_]\w*\s*<-\s*)?([a-z_]\w*)\s+(?:.*\s)?(\w*)$")
_BRACE = re.compile(r"\{(\w*)$")
_ITEMS = types.CompletionItemKind


def complete(plan: Plan, position: types.Position) -> list[types.CompletionItem]:
    """The items at a place."""
    line, column = plan.lines.place(position)
    before = plan.lines.line(line)[: column - 1]
    view = plan.view()
    if _BRACE.search(before):
        return list(_names(view, line))
    if _FIRST.fullmatch(before):
        return [*_tools(plan, view, line), *_words(plan, before)]
    if _CALL.fullmatch(before):
        return list(_plans(plan))
    in_call = _IN_CALL.fullmatch(before)
    if in_call:
        return list(_arguments(plan, view, in_call[1], line))
    step = _STEP.fullmatch(before)
    return list(_keys(plan, step[1])) if step else []


def _names(view: api.PlanView, line: int) -> Iterator[types.CompletionItem]:
    for symbol in view.symbols:
        if symbol.kind == "parameter" or any(span.line < line for span in symbol.bound):
            yield types.CompletionItem(symbol.name, kind=_ITEMS.Variable, detail=symbol.kind)
        elif symbol.kind == "file":
            yield types.CompletionItem(symbol.name, kind=_ITEMS.File, detail="the file of the loop")
    yield types.CompletionItem("run", kind=_ITEMS.Folder, detail="the folder of the run")


def _tools(plan: Plan, view: api.PlanView, line: int) -> Iterator[types.CompletionItem]:
    """Every tool; those that the automaton refuses in every possible state come last, and say so."""
    states = view.before(line)
    for tool in plan.catalogue().tools:
        ways = {} if view.machine is None else view.machine.steps.get(tool.action or "", {})
        governed = view.machine is not None and tool.action is not None and bool(states)
        possible = not governed or any(state in ways for state in states)
        sure = not governed or all(state in ways for state in states)
        where = f"{'some of ' if possible else ''}{', '.join(states)}"
        note = "" if sure else f"  (refused in {where})"
        yield types.CompletionItem(
            tool.name,
            kind=_ITEMS.Function,
            detail=signature(tool) + note,
            documentation=tool.summary,
            sort_text=f"{0 if sure else 1 if possible else 3}{tool.name}",
            tags=None if possible else [types.CompletionItemTag.Deprecated],
        )


def _words(plan: Plan, before: str) -> Iterator[types.CompletionItem]:
    for word, form in plan.catalogue().words.items():
        if "<-" not in before or word in ("call_plan", "for", "fork"):
            yield types.CompletionItem(word, kind=_ITEMS.Keyword, detail=form, sort_text=f"2{word}")


def _plans(plan: Plan) -> Iterator[types.CompletionItem]:
    names = plan.catalogue().plans
    for name in names:
        yield types.CompletionItem(name, kind=_ITEMS.Module, detail="a registered plan")
    for key in plan.session.plans():
        if key != plan.key:
            yield types.CompletionItem(key, kind=_ITEMS.File, detail="a plan of the workspace")


def _arguments(
    plan: Plan, view: api.PlanView, name: str, line: int
) -> Iterator[types.CompletionItem]:
    """The parameters of the plan that is called."""
    target = next((site.call.target for site in view.calls if site.call.name == name), None)
    other = plan.other(target or name)
    given = [key for site in view.calls if site.call.span.line == line for key in site.keys]
    for parameter, default in (other.parameters if other is not None else {}).items():
        if parameter not in given:
            detail = "must be given" if default is None else f"default: {default}"
            yield types.CompletionItem(
                f"{parameter}=", kind=_ITEMS.Property, detail=detail, sort_text=f"0{parameter}"
            )
    yield types.CompletionItem("depth", kind=_ITEMS.Keyword, detail="depth N", sort_text="1")


def _keys(plan: Plan, name: str) -> Iterator[types.CompletionItem]:
    """The parameters of a tool."""
    for tool in plan.catalogue().tools:
        if tool.name == name:
            for item in tool.parameters:
                if item.kind not in ("block", "rest"):
                    detail = f"{item.kind}, {'required' if item.required else 'optional'}"
                    yield types.CompletionItem(f"{item.name}=", kind=_ITEMS.Property, detail=detail)
