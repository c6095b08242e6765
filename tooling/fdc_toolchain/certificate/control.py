"""Checks a certificate of a program, part `control`. It imports nothing of fdc, searches for nothing and iterates nothing.

A certificate makes claims at the joints of a program: a plan, the body of a loop, a loop (`docs/certificates.md` has the form).
Each body is walked once for each claim about it; for calls and loops in it, the walk uses their claims. No claim depends on
itself: the claimed heights fall along every call, and a loop lies inside the body that meets it.

The checker of this part is this file with `words.py` (bodies and loops), `plans.py` (calls, names, steps) and
`readers.py` (automata, rules).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from .plans import Plans, Wrong
from .readers import Machine, Rule, automaton
from .words import Word


def check(program: Any, certificate: Any) -> str | None:
    """The first thing in a certificate that does not hold of a program, with its place; None where everything holds."""
    try:
        if (certificate["format"], certificate["part"], certificate["program"]) != (
            1,
            "control",
            digest(program),
        ):
            raise Wrong("the certificate is for another program, or is not of the form `control` 1")
        Plans(program, certificate).check()
        for machine, roots, rows in machines(program, certificate):
            Word(program, machine, rows).check(roots)
    except Wrong as wrong:
        return str(wrong)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as wrong:
        return (
            f"the certificate lacks a claim, or is not of its form: {type(wrong).__name__}: {wrong}"
        )
    return None


def digest(program: Any) -> str:
    """The digest of a program, by which a certificate names it."""
    return blake2b(
        json.dumps(program, sort_keys=True, separators=(",", ":")).encode("ascii"), digest_size=32
    ).hexdigest()


def machines(program: Any, certificate: Any) -> Iterator[tuple[Machine, list[str], Any]]:
    """Every machine, the plans that it reads from its start to where it must accept, and what is claimed of it."""
    plans = program["plans"]
    for name in sorted({plan["automaton"] for plan in plans.values()} - {None}):
        yield (
            automaton(program, name),
            [key for key in plans if plans[key]["automaton"] == name],
            certificate["automata"][name],
        )
    for number, rule in enumerate(program.get("rules", ())):
        claims = certificate["rules"][number]
        for value in (
            Rule(program, rule, None).values() if claims is not None else ()
        ):  # null: the runner watches it, no more
            yield (
                Rule(program, rule, value).machine(),
                [program["root"]],
                claims["others" if value is None else f"={value}"],
            )
