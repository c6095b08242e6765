"""What tests of certificates share: a program and its claims are damaged by chance; whatever the checker accepts is run."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any, Protocol

from fdc_toolchain.certificate.control import digest
from fdc_toolchain.certificate.plans import Wrong

Made = dict[str, Any]


class Part(Protocol):
    """A part of certificates for one program: how its claims are made, damaged, checked, and judged by runs."""

    PROGRAM_WAYS: tuple[str, ...]
    CERTIFICATE_WAYS: tuple[str, ...]
    of: Made
    """The program."""
    honest: Made | None
    """The claims about it; None where the part cannot be claimed."""

    def careless(self, of: Made) -> Made:
        """Claims about any program, true or not. Raises Wrong, LookupError, TypeError, ValueError where there are none."""

    def damaged_program(self, of: Made, chance: random.Random, way: str) -> Made: ...

    def damaged_certificate(self, claims: Made, chance: random.Random, way: str) -> Made: ...

    def check(self, of: Made, claims: Made) -> str | None:
        """The checker's reason to refuse; None for a yes."""

    def wrong(self, of: Made, claims: Made, number: int) -> Any:
        """What a run shows that the claims deny; a false value where nothing is seen."""


def judged(part: Part, seed: int, each: int, count: Counter[str]) -> None:
    """One program, and so many ways to damage it and its claims. Counts; raises AssertionError for a wrong yes."""
    chance = random.Random(seed)
    for number in range(each):
        other, claims, kind = part.of, part.honest, chance.random()
        ways = []
        for _ in range(chance.choice((1, 1, 2)) if kind < 0.65 else 0):
            ways.append(chance.choice(part.PROGRAM_WAYS))
            other = part.damaged_program(other, chance, ways[-1])
        if claims is None or kind < 0.65 and chance.random() < 0.75:
            try:
                claims = part.careless(other)
            except (Wrong, LookupError, TypeError, ValueError):
                count["no claims at all"] += 1
                continue
        if kind > 0.4:
            ways.append(chance.choice(part.CERTIFICATE_WAYS))
            claims = part.damaged_certificate(claims, chance, ways[-1])
        if other == part.of and claims == part.honest:
            count["unchanged"] += 1
            continue
        claims = {**claims, "program": digest(other)}
        count["mutants"] += 1
        if part.check(other, claims) is None:
            count["yes"] += 1
            count["yes to another program"] += other != part.of
            try:
                found = part.wrong(other, claims, number)
            except (LookupError, TypeError, AttributeError):
                count["no run"] += (
                    1  # the world has no answer for a program that no plan compiles to
                )
                continue
            assert not found, (
                f"seed {seed}: the checker says yes after {ways}, and a run shows: {found}"
            )


def inserted(
    holder: list[Made], node: Made, bodies: list[list[Made]], chance: random.Random, *, moved: bool
) -> None:
    """Puts a copy of an instruction into a body; where it is moved, takes it away from where it was."""
    holder.insert(chance.randint(0, len(holder)), copy.deepcopy(node))
    if moved:
        for body in bodies:
            body[:] = [one for one in body if one is not node or len(body) == 1]


def dropped(lists: list[Any], objects: list[Any], chance: random.Random) -> None:
    """Takes something out of one of the lists or objects."""
    holder = chance.choice(lists if chance.random() < 0.5 or not objects else objects)
    if isinstance(holder, list) and holder:
        holder.pop(chance.randrange(len(holder)))
    elif isinstance(holder, dict) and holder:
        holder.pop(chance.choice(list(holder)))


def swapped(objects: list[Made], chance: random.Random) -> None:
    """Exchanges two values of one of the objects."""
    holder = chance.choice(objects)
    if holder:
        one, other = chance.choice(list(holder)), chance.choice(list(holder))
        holder[one], holder[other] = holder[other], holder[one]
