"""What a word of a plan means: a tool with its effects, a plan with its bounds, a name, a word of the language, a finding."""

from __future__ import annotations

from lsprotocol import types

from .. import api
from .documents import Plan
from .positions import holds

_EFFECTS = {
    "pure": "computes, and touches nothing",
    "read": "reads",
    "idempotent": "changes something; done twice, it is as if done once",
    "once": "changes something, each time anew",
}


def signature(tool: api.ToolInfo) -> str:
    """The tool with its parameters, as a plan writes them."""
    given = [item for item in tool.parameters if item.kind != "block"]
    names = [item.name.upper() for item in given]
    words = [name if item.required else f"[{name}]" for item, name in zip(given, names)]
    block = " + text block" if len(given) < len(tool.parameters) else ""
    return " ".join([tool.name, *words]) + block


def hover(plan: Plan, position: types.Position) -> types.Hover | None:
    """The card at a place; None where there is nothing to say."""
    line, column = plan.lines.place(position)
    view = plan.view()
    parts = [
        _token(plan, view, token)
        for token in view.tokens
        if token.line == line and token.column <= column <= token.column + token.length
    ]
    found = [item for item in view.result.diagnostics if item.span.path == plan.key]
    parts += [_finding(item) for item in found if holds(item.span, line, column)]
    text = "\n\n---\n\n".join(part for part in parts if part)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None


def _token(plan: Plan, view: api.PlanView, token: api.Token) -> str:
    word = plan.lines.line(token.line)[token.column - 1 : token.column - 1 + token.length]
    if token.kind == "tool":
        return _tool(plan, view, word, token.line)
    if token.kind == "plan":
        return _plan(plan, view, token.line, word)
    if token.kind == "name":
        symbol = next((one for one in view.symbols if one.name == word), None)
        if symbol is None:
            return ""
        where = ", ".join(f"line {span.line}" for span in symbol.bound)
        bound = f", bound in {where}" if where else ""
        return f"`{word}`: {symbol.kind}{bound}; read {len(symbol.read)} times"
    if token.kind == "keyword":
        form = plan.catalogue().words.get(word)
        return f"`{word}`: {form}" if form else ""
    return ""


def _tool(plan: Plan, view: api.PlanView, name: str, line: int) -> str:
    tools = plan.catalogue().tools
    tool = next((one for one in tools if one.name == name), None)
    if tool is None:
        return ""
    action = view.actions.get(line, tool.action or "")
    effect = f"Effect: {_EFFECTS.get(tool.effect, tool.effect)}."
    rows = [f"```\n{signature(tool)}\n```", tool.summary, effect]
    for item in tool.parameters:
        access = f", {item.access}" if item.access else ""
        rows.append(f"- `{item.name}`: {item.kind}{access}{'' if item.required else ', optional'}")
    states = next((step for step in view.states if step.line == line), None)
    if states is not None and view.machine is not None:
        after = " or ".join(states.after) or "no state"
        refused = "; refused in some runs" if states.refused and states.after else ""
        before = f"`{view.machine.name}`: {' or '.join(states.before)}"
        rows.append(f"{before} → {after} by `{action}`{refused}")
    return "\n\n".join(rows[:3]) + "\n\n" + "\n".join(rows[3:])


def _plan(plan: Plan, view: api.PlanView, line: int, name: str) -> str:
    site = next((one for one in view.calls if one.name.line == line), None)
    target = None if site is None else site.call.target
    other = None if target is None else plan.other(target)
    if other is None or target is None:
        return f"`{name}`: the plan does not exist"
    given = other.parameters.items()
    said = [f"`{key}`" if default is None else f"`{key}` = {default}" for key, default in given]
    rows = [f"`{target}`" + (": a fragment" if other.result.verdict == "fragment" else "")]
    rows += [f"Parameters: {', '.join(said)}"] if said else []
    return "\n\n".join([*rows, worst(plan, target)])


def worst(plan: Plan, key: str) -> str:
    """The worst case of a plan in words; empty where nothing bounds it."""
    own = key == plan.key
    unsaved = plan.unsaved if own else {plan.key: plan.text, **plan.unsaved}
    try:
        found = plan.session.bounds(key, text=plan.text if own else None, unsaved=unsaved)
    except api.FdcError:
        return ""
    figures = [("steps", found.steps), ("model calls", found.model_calls), ("tokens", found.tokens)]
    said = [f"{_figure(bound)} {what}" for what, bound in figures if bound.formula != "0"]
    effects = ["runs commands"] * found.shell or ["changes files"] * found.writes or ["reads only"]
    return f"Worst case: {', '.join(said) or 'no step'}; {effects[0]}"


def _figure(bound: api.Bound) -> str:
    known = bound.number is not None and str(bound.number) != bound.formula
    return f"{bound.formula} = {bound.number:g} now" if known else bound.formula


def _finding(item: api.Diagnostic) -> str:
    try:
        summary = api.explain(item.code).summary
    except api.FdcError:
        return ""
    return f"**{item.code}** {item.rule}: {summary}. `fdc explain {item.code}` says more."
