"""What follows (ALPH-79): containment, transitivity, presupposition, contrast, modus ponens and contraposition.

Every relation is a clause over signed labels ("if these, then that"), and one pass of unit propagation computes
everything that follows by any of the rules: a clause all of whose conditions hold gives its conclusion (modus ponens);
one whose conclusion is denied, and all but one of whose conditions hold, denies the last one (contraposition). Each
literal is settled at most once, so that cycles of rules, of presuppositions and of definitions end by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..model import Alphabet, normal
from .concepts import Concept
from .operators import Rule

Literal = tuple[str, bool]
"""A label, and whether it holds (True) or is denied."""


class Clause(NamedTuple):
    """If all of `conditions`, then `conclusion`; `kind` is why."""

    conditions: tuple[Literal, ...]
    conclusion: Literal
    kind: str


class Step(NamedTuple):
    """How a literal came to hold: the kind of inference, and the literals that it followed from."""

    kind: str
    premises: tuple[Literal, ...] = ()


class Closure(NamedTuple):
    """Everything that follows, with the step that gave it, and the labels that both hold and are denied."""

    steps: Mapping[Literal, Step]
    contradictions: tuple[str, ...]

    @property
    def concept(self) -> Concept:
        """All that holds and all that is denied."""
        return Concept(
            frozenset(label for label, holds in self.steps if holds),
            frozenset(label for label, holds in self.steps if not holds),
        )

    def why(self, literal: Literal) -> list[str]:
        """The derivation of a literal, a sentence each, premises first; empty where it does not follow."""
        if literal not in self.steps:
            return []
        lines: dict[Literal, str] = {}
        waiting: list[tuple[Literal, bool]] = [(literal, False)]
        while waiting:
            one, ready = waiting.pop()
            step = self.steps[one]
            if ready:
                since = " and ".join(said(premise) for premise in step.premises)
                lines.setdefault(
                    one, f"{said(one)}: {step.kind}" + (f", since {since}" if since else "")
                )
            elif one not in lines:
                waiting.append((one, True))
                waiting += [(premise, False) for premise in reversed(step.premises)]
        return list(lines.values())


def said(literal: Literal) -> str:
    """A literal in words."""
    return literal[0] if literal[1] else f"not {literal[0]}"


def literals(concept: Concept) -> list[Literal]:
    """A concept's tracks as literals, in a fixed order."""
    return [
        *((label, True) for label in sorted(concept.positive)),
        *((label, False) for label in sorted(concept.negative)),
    ]


def clauses(
    alphabet: Alphabet, rules: Iterable[Rule] = (), definitions: Mapping[str, Concept] | None = None
) -> list[Clause]:
    """The clauses of an alphabet's relations, of rules, and of named concepts (each contains its parts)."""
    found = []
    for one in alphabet:
        label = normal(one.label)
        for kind, ids, holds in (
            ("presupposition", one.presupposes, True),
            ("contrast", one.contrasts, False),
        ):
            for name in ids:
                other = alphabet.get(name)
                if other is not None and other.in_use:
                    found.append(Clause(((label, True),), (normal(other.label), holds), kind))
    for rule in rules:
        found += [
            Clause(tuple(literals(rule.condition)), literal, "modus ponens")
            for literal in literals(rule.conclusion)
        ]
    for name, concept in (definitions or {}).items():
        found += [
            Clause(((normal(name), True),), literal, "containment") for literal in literals(concept)
        ]
    return found


class Table(NamedTuple):
    """Clauses with their index: by literal, the clauses that it can set off; of each clause, how many conditions it has."""

    clauses: tuple[Clause, ...]
    watching: Mapping[Literal, Sequence[int]]
    conditions: tuple[int, ...]


def table_of(rules: Iterable[Clause]) -> Table:
    """The clauses, indexed once for any number of closures."""
    found = tuple(rules)
    watching: dict[Literal, list[int]] = {}
    for number, clause in enumerate(found):
        for literal in {*clause.conditions, _denied(clause.conclusion)}:
            watching.setdefault(literal, []).append(number)
    return Table(found, watching, tuple(len(set(clause.conditions)) for clause in found))


def table_for(alphabet: Alphabet, rules: Sequence[Rule] = ()) -> Table:
    """The clauses of an alphabet's relations, indexed; computed once for each alphabet. `rules` are further ones."""
    if rules:
        return table_of(clauses(alphabet, rules))
    if "clauses" not in alphabet.memo:
        alphabet.memo["clauses"] = table_of(clauses(alphabet))
    found: Table = alphabet.memo["clauses"]
    return found


def closure(given: Concept, rules: Iterable[Clause] | Table) -> Closure:
    """Everything that follows from a concept. Linear in what follows, once the clauses are indexed."""
    indexed = rules if isinstance(rules, Table) else table_of(rules)
    table, watching, left = indexed.clauses, indexed.watching, dict[int, int]()
    steps: dict[Literal, Step] = {literal: Step("given") for literal in literals(given)}
    waiting = list(steps)
    for literal in waiting:  # grows while it is walked
        for number in watching.get(literal, ()):
            clause = table[number]
            open_conditions = left.get(number, indexed.conditions[number])
            if literal in clause.conditions:
                open_conditions = left[number] = open_conditions - 1
            derived, step = _unit(clause, open_conditions, steps)
            if derived is not None and derived not in steps:
                steps[derived] = step
                waiting.append(derived)
    return Closure(
        steps, tuple(sorted(label for label, holds in steps if holds and (label, False) in steps))
    )


def _unit(
    clause: Clause, missing: int, steps: Mapping[Literal, Step]
) -> tuple[Literal | None, Step]:
    """What one clause gives now, if anything."""
    if missing == 0:
        return clause.conclusion, Step(clause.kind, clause.conditions)
    denied = _denied(clause.conclusion)
    if missing == 1 and denied in steps:
        last = next((one for one in clause.conditions if one not in steps), None)
        if last is not None:
            others = tuple(one for one in clause.conditions if one != last)
            return _denied(last), Step("contraposition", (denied, *others))
    return None, Step("")


def _denied(literal: Literal) -> Literal:
    return literal[0], not literal[1]
