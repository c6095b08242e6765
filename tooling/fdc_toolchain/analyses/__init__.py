"""The rules, in the order in which they look; the order changes no verdict."""

from . import automaton, bounds, calls, capability, closure, files, names, obligations, prompts, verify
from .rule import Context, Rule

RULES: tuple[Rule, ...] = (
    calls.check,
    names.check,
    closure.check,
    automaton.check,
    files.check,
    bounds.check,
    capability.check,
    verify.check,
    obligations.check,
    prompts.check,
)

__all__ = ["RULES", "Context", "Rule"]
