"""Protocols that an AGENTS.md was built from, and that are gone: what was forbidden by them is checked no more."""

from __future__ import annotations

import posixpath

from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.span import Span

COMPILED = "AGENTS.md"
_BUILT_FROM = b"<!-- built from\n"


def lost_sources(folder: str, compiled: bytes) -> list[Diagnostic]:
    """FDC504 where the text of AGENTS.md was built from protocols below a folder that has none."""
    folder = posixpath.normpath(folder)
    start = f" {folder}/".encode()
    inputs = compiled.replace(b"\r\n", b"\n").rpartition(_BUILT_FROM)[2].splitlines()
    if not any(start in line[:80] for line in inputs):
        return []
    message = f"`{COMPILED}` was built from protocols in `{folder}`, and none is there: no plan is checked against their rules"
    help_ = (
        f"put the folder back (`git checkout -- {folder}`; in a sparse checkout `git sparse-checkout add {folder}`), "
        f"or delete `{COMPILED}` if it has no rules any more"
    )
    return [Diagnostic(Span(COMPILED, 1, 1, 1, 2), "FDC504", message, help=help_)]
