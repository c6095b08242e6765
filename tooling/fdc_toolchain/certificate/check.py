"""Checks a whole certificate of a program: all parts of it. It imports nothing of fdc."""

from __future__ import annotations

from . import control, data
from .files import paths

PARTS = {"control": control.check, "data": data.check, "files": paths.check}

NOT_CLAIMED = ("files",)
"""Parts that may be null: nothing is claimed then."""


def check(program: object, certificate: object) -> str | None:
    """The first thing in a certificate that does not hold of a program, with its part and place; None where everything holds."""
    if not isinstance(certificate, dict) or certificate.get("format") != 3:
        return "it is not of the form 3 of certificates; `fdc certify PLAN` writes one"
    for name, checks in PARTS.items():
        if name not in certificate:
            return f"it has no part `{name}`"
        if certificate[name] is None and name in NOT_CLAIMED:
            continue
        if (wrong := checks(program, certificate[name])) is not None:
            return f"part `{name}`: {wrong}"
    return None
