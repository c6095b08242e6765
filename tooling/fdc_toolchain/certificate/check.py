"""Checks a whole certificate of a program: both parts of it. It imports nothing of fdc."""

from __future__ import annotations

from typing import Any

from . import control, data

PARTS = {"control": control.check, "data": data.check}


def check(program: Any, certificate: Any) -> str | None:
    """The first thing in a certificate that does not hold of a program, with its part and place; None where everything holds."""
    if not isinstance(certificate, dict) or certificate.get("format") != 2:
        return "it is not of the form 2 of certificates; `fdc certify PLAN` writes one"
    for name, checks in PARTS.items():
        if name not in certificate:
            return f"it has no part `{name}`"
        if (wrong := checks(program, certificate[name])) is not None:
            return f"part `{name}`: {wrong}"
    return None
