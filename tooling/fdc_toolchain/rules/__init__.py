"""Lint rules, in execution order. The order does not affect results."""

from __future__ import annotations

from . import (
    arguments,
    automaton,
    bounds,
    calls,
    capability,
    closure,
    file_places,
    files,
    flow,
    merges,
    names,
    prompts,
    type_findings,
    verify,
)
from .parallel import shared
from .places import given
from .protocol_rules import stated
from .solver.files import texts
from .solver.rule import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .solver.rule import Rule

RULES: tuple[Rule, ...] = (
    calls.check,
    names.check,
    type_findings.check,
    arguments.check,
    merges.check,
    texts.check,
    closure.check,
    automaton.check,
    files.check,
    shared.check,
    file_places.check,
    given.check,
    bounds.check,
    capability.check,
    verify.check,
    stated.check,
    prompts.check,
    flow.check,
)

__all__ = ["RULES", "Context"]
