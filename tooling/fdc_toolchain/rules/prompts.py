"""The files of a tool that is a prompt exist: the text that is put to a model, and the schema of its reply."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic
from .solver.rule import Context


def check(context: Context) -> Iterator[Diagnostic]:
    """FDC309 at every step whose tool's prompt or schema is not there."""
    seen: set[str] = set()
    for instance in context.order:
        unit = instance.unit
        if unit.key in seen:
            continue
        seen.add(unit.key)
        for act in unit.acts:
            run = act.bound.tool.row.get("run")
            if not run or "prompt" not in run:
                continue
            for kind in ("prompt", "schema"):
                path = run.get(kind)
                if path is not None and context.linker.files.find(path) is None:
                    message = f"the {kind} `{path}` of the tool `{act.step.tool}` does not exist"
                    yield Diagnostic(unit.span(act.step), "FDC309", message)
