"""From a plan's text to a program that was proved, or to findings; and the request for research that a plan can be."""

from __future__ import annotations

import re

from ..named_tuples import NamedTuple
from ..program.model import Program
from ..report.render import render
from ..tools.plans.plan_text import proved

PLAN = "plan.txt"
"""Where the agent leaves its plan (FDC-03)."""


class Compiled(NamedTuple):
    """A checked plan: its program, or None with the errors. `warnings` are not errors."""

    program: Program | None
    findings: str
    warnings: str = ""


def compile_text(root: str, path: str, text: str) -> Compiled:
    """Lints the whole of a plan (FDC-04) as if it lay at `path`; what it calls is read from the workspace."""
    if not text.strip():
        return Compiled(None, "the plan is empty\n")
    proof = proved(root, path, text)
    if proof.program is None and not proof.errors:
        return Compiled(None, f"{proof.fault}\n")
    if proof.program is None:
        return Compiled(None, render("text", list(proof.errors), proof.sources, files_checked=1))
    program = proof.program
    others = list(proof.others)
    warnings = render("text", others, proof.sources, files_checked=1) if others else ""
    needed = [
        param["name"]
        for param in program["plans"][program["root"]]["params"]
        if param["default"] is None
    ]
    if needed:
        named = ", ".join(f"`{name}`" for name in needed)
        return Compiled(
            None,
            f"{path}: the task's plan gets no inputs but needs {named}; give them default values\n",
        )
    return Compiled(program, "", warnings)


_REQUEST = re.compile(r"research[ \t]+(\S.*)")


def research_request(text: str) -> str | None:
    """The topic, where a text is not a plan but one `research TOPIC` line, comments and blank lines aside (FDC-54)."""
    lines = [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    found = _REQUEST.fullmatch(lines[0]) if len(lines) == 1 else None
    return found[1] if found else None
