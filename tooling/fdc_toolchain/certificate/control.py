"""Checks a certificate of a program, part `control`. It imports nothing of fdc, searches for nothing and iterates nothing.

A certificate makes claims at the joints of a program: a plan, the body of a loop, a loop (`docs/certificates.md` has the form).
Each body is walked once for each claim about it; for calls and loops in it, the walk uses their claims. No claim depends on
itself: the claimed heights fall along every call, and a loop lies inside the body that meets it.

The checker of this part is this file with `words.py` (bodies and loops), `plans.py` (calls, names, steps), `constants.py`
(conditions of constants) and `readers.py` (automata, rules). What a program and a certificate look like stands in `forms.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from .plans import Plans, Wrong
from .readers import Machine, Rule, automaton
from .words import Word

if TYPE_CHECKING:
    from .forms import Control, Program, WordRows


def check(program: object, certificate: object) -> str | None:
    """The first thing in a certificate that does not hold of a program, with its place; None where everything holds."""
    of, claims = cast("Program", program), cast("Control", certificate)
    try:
        if (claims["format"], claims["part"], claims["program"]) != (1, "control", digest(program)):
            raise Wrong("the certificate is for another program, or is not of the form `control` 1")
        Plans(of, claims).check()
        for machine, roots, rows in machines(of, claims):
            Word(of, machine, rows).check(roots)
    except Wrong as wrong:
        return str(wrong)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as wrong:
        return (
            f"the certificate lacks a claim, or is not of its form: {type(wrong).__name__}: {wrong}"
        )
    return None


def digest(program: object) -> str:
    """The digest of a program, by which a certificate names it."""
    return blake2b(
        json.dumps(program, sort_keys=True, separators=(",", ":")).encode("ascii"), digest_size=32
    ).hexdigest()


def machines(
    program: Program, certificate: Control
) -> Iterator[tuple[Machine, list[str], WordRows]]:
    """Every machine, the plans that it reads from its start to where it must accept, and what is claimed of it."""
    plans = program["plans"]
    for name in sorted(
        {name for plan in plans.values() if (name := plan["automaton"]) is not None}
    ):
        yield (
            automaton(program, name),
            [key for key in plans if plans[key]["automaton"] == name],
            certificate["automata"][name],
        )
    for number, rule in enumerate(program.get("rules", ())):
        claims = certificate["rules"][number]
        if claims is None:  # the runner watches it, no more
            continue
        for value in Rule(program, rule, None).values():
            yield (
                Rule(program, rule, value).machine(),
                [program["root"]],
                claims["others" if value is None else f"={value}"],
            )
