"""Checks a certificate of a program, part `data`: what text from outside can reach. It imports nothing of fdc.

A row claims something of a plan that begins in some way: with labels of its parameters, of the conditions that led to it, of
files. The plan's body is walked once for each row. What holds whenever a round of a loop begins is claimed and compared; a call
takes the row that is claimed for it. Nothing is searched for. The rules are those of `docs/trust.md`.

The checker of this part is this file with `flow.py`, `steps.py`, `touches.py`, `made_of.py`, `file_sets.py` and `labels.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .control import digest
from .flow import Flow
from .labels import KEPT, labels_of, stored, within
from .made_of import check_made_of
from .plans import Wrong

if TYPE_CHECKING:
    from .forms import Data, Program


def check(program: object, certificate: object) -> str | None:
    """The first thing in a certificate that does not hold of a program, with its place; None where everything holds."""
    of, claims = cast("Program", program), cast("Data", certificate)
    try:
        if (claims["format"], claims["part"], claims["program"]) != (1, "data", digest(program)):
            raise Wrong("the certificate is for another program, or is not of the form `data` 1")
        first = claims["rows"][0]
        if first["plan"] != of["root"] or first["kept"] is not False:
            raise Wrong("the first row is not that of the root")
        if not all(within(stored(of, kind), labels_of(first[kind])) for kind in KEPT):
            raise Wrong("the first row does not begin with what earlier runs left in files")
        check_made_of(of)
        for row in claims["rows"]:
            Flow(of, claims, row).check()
    except Wrong as wrong:
        return str(wrong)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as wrong:
        return (
            f"the certificate lacks a claim, or is not of its form: {type(wrong).__name__}: {wrong}"
        )
    return None
