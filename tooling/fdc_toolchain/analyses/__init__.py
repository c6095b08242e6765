"""The rules, in the order in which they look; the order changes no verdict."""

from . import (
    arguments,
    automaton,
    bounds,
    calls,
    capability,
    closure,
    file_places,
    file_texts,
    files,
    flow,
    merges,
    names,
    obligations,
    prompts,
    type_findings,
    verify,
)
from .rule import Context, Rule

RULES: tuple[Rule, ...] = (
    calls.check,
    names.check,
    type_findings.check,
    arguments.check,
    merges.check,
    file_texts.check,
    closure.check,
    automaton.check,
    files.check,
    file_places.check,
    bounds.check,
    capability.check,
    verify.check,
    obligations.check,
    prompts.check,
    flow.check,
)

__all__ = ["RULES", "Context", "Rule"]
