"""What is shown in and over the text: inlay hints, semantic tokens, the canonical form."""

from __future__ import annotations

from lsprotocol import types

from .. import api
from .documents import Plan
from .hover import worst

LEGEND = types.SemanticTokensLegend(
    token_types=["keyword", "function", "variable", "comment", "namespace"], token_modifiers=[]
)
_NUMBERS = {"keyword": 0, "tool": 1, "name": 2, "comment": 3, "plan": 4}


def hints(plan: Plan, at: types.Range) -> list[types.InlayHint]:
    """The worst case behind the first line, and behind each step that changes the automaton's state, the states after it."""
    view = plan.view()
    out = []
    if at.start.line == 0 and not view.result.errors:
        said = worst(plan, plan.key)
        if said:
            out.append(_hint(plan, 1, said))
    for step in view.states:
        changed = step.before != step.after or step.refused
        if changed and at.start.line <= step.line - 1 <= at.end.line:
            after = " | ".join((*step.after, *(["refused"] if step.refused else [])))
            out.append(_hint(plan, step.line, f"→ {after}"))
    return out


def _hint(plan: Plan, line: int, said: str) -> types.InlayHint:
    end = len(plan.lines.line(line)) + 1
    return types.InlayHint(position=plan.lines.position(line, end), label=said, padding_left=True)


def tokens(plan: Plan) -> types.SemanticTokens:
    """The stretches of the text, each by its distance from the one before."""
    data: list[int] = []
    line = start = 0
    for token in plan.view().tokens:
        begin = plan.lines.position(token.line, token.column)
        end = plan.lines.position(token.line, token.column + token.length)
        behind = begin.character - (start if begin.line == line else 0)
        length = end.character - begin.character
        data += [begin.line - line, behind, length, _NUMBERS[token.kind], 0]
        line, start = begin.line, begin.character
    return types.SemanticTokens(data)


def formatted(plan: Plan) -> list[types.TextEdit] | None:
    """The edit that brings the text into its canonical form; None where it cannot be read as a plan."""
    written = api.format_plan(plan.text)
    if written is None or written == plan.text:
        return None if written is None else []
    whole = types.Range(types.Position(0, 0), plan.lines.end())
    return [types.TextEdit(whole, written)]
