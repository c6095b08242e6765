"""Checks a certificate of a program, part `data`: what text from outside can reach. It imports nothing of fdc.

A row claims something of a plan that begins in some way: with labels of its parameters, of the conditions that led to it, of
files. The plan's body is walked once for each row. What holds whenever a round of a loop begins is claimed and compared; a call
takes the row that is claimed for it. Nothing is searched for. The rules are those of `docs/trust.md`.

The checker of this part is this file with `flow.py`, `steps.py`, `touches.py`, `file_sets.py` and `labels.py`.
"""

from __future__ import annotations

from typing import Any

from .control import digest
from .flow import Flow
from .labels import labels_of, stored, within
from .plans import Wrong


def check(program: Any, certificate: Any) -> str | None:
    """The first thing in a certificate that does not hold of a program, with its place; None where everything holds."""
    try:
        if (certificate["format"], certificate["part"], certificate["program"]) != (
            1,
            "data",
            digest(program),
        ):
            raise Wrong("the certificate is for another program, or is not of the form `data` 1")
        first = certificate["rows"][0]
        if first["plan"] != program["root"] or first["kept"] is not False:
            raise Wrong("the first row is not that of the root")
        if not within(stored(program), labels_of(first["texts"])):
            raise Wrong("the first row does not begin with what earlier runs left in files")
        for row in certificate["rows"]:
            Flow(program, certificate, row).check()
    except Wrong as wrong:
        return str(wrong)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as wrong:
        return (
            f"the certificate lacks a claim, or is not of its form: {type(wrong).__name__}: {wrong}"
        )
    return None
