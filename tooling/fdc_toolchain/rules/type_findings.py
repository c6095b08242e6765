"""What is said of types: the errors of each plan, and what its proof assumes of results and of what it is given."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic, Label
from ..diagnostics.span import Span
from .solver.rule import Context
from .solver.types.known import Origin
from .solver.types.uses import Need
from .solver.types.views import Views

_MOST_SHOWN = 4
"""Phrases of one assumption that are shown; of the others the number."""


def check(context: Context) -> Iterator[Diagnostic]:
    """The findings of every plan, in the plan itself; what depends on a call, at the call."""
    views = Views(context)
    for instance in context.order:
        if instance.context or instance.unit.plan is None:
            continue
        view = views.own(instance)
        for span, message, labels, _ in view.wrong.values():
            yield Diagnostic(span, "FDC481", message, labels)
        if views.is_root(instance):
            for span, message, labels, _ in views.by_default(instance):
                yield Diagnostic(span, "FDC481", f"with its default value: {message}", labels)
        for origin, needs in view.needs.items():
            if origin.param is None:
                help_ = "declare the tool's result type in the catalogue, or test the value before its use"
                message = f"{origin.who} has the form that the plan needs: {_all(needs)}"
                yield Diagnostic(origin.span, "FDC706", message, _uses(origin, needs), help=help_)
            elif views.is_root(instance):
                message = f"{origin.who} is given in the form that the plan needs: {_all(needs)}; `fdc run` gives text"
                help_ = "let a step return the value: the catalogue declares the type of its result"
                yield Diagnostic(origin.span, "FDC706", message, _uses(origin, needs), help=help_)


def _uses(origin: Origin, needs: dict[Need, dict[Span, None]]) -> tuple[Label, ...]:
    """Where it is used: a run in which the assumption is false stops in one of these lines."""
    lines = {(span.path, span.line): span for spans in needs.values() for span in spans}
    lines.pop((origin.span.path, origin.span.line), None)
    return tuple(Label(span, "used here") for span in lines.values())


def _all(needs: dict[Need, dict[Span, None]]) -> str:
    phrases = list(dict.fromkeys(need.phrase for need in needs))
    shown = phrases[:_MOST_SHOWN]
    more = len(phrases) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
