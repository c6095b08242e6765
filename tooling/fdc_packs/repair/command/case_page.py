"""The page of a repair: the failure, the diff, its iterations by phase, its hypotheses. One file that needs no other (HYP-47).

It is made of a trace (`fdc_packs.repair.trace`); one that is missing or of another make is shown as far as it goes.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.records import TEMPLATES, environment, source_hash

from ..trace import PHASES

STATUSES = ("planned", "running", "completed", "failed")


def render(trace: Mapping[str, object]) -> str:
    """The page."""
    iterations, held = trace.get("iterations"), trace.get("hypotheses")
    iterations = iterations if isinstance(iterations, list) else []
    rows = [_row(one) for one in iterations if isinstance(one, dict)]
    held = held if isinstance(held, dict) else {}
    hypotheses = sorted(
        ({**row, "bucket": name} for name, inside in held.items() for row in inside),
        key=lambda row: str(row.get("id")),
    )
    diff = [(_kind(line), line) for line in str(trace.get("diff") or "").split("\n")[:2000] if line]
    failure = trace.get("failure") if isinstance(trace.get("failure"), dict) else {}
    style = _style()
    said = {
        "trace": trace,
        "rows": rows,
        "hypotheses": hypotheses,
        "diff": diff,
        "failure": failure,
        "phases": PHASES,
    }
    return str(_page().render(**said, style=style, style_hash=source_hash(style)))


def _row(one: dict[str, Any]) -> dict[str, Any]:
    by_name = {
        phase.get("phase"): phase for phase in one.get("phases") or () if isinstance(phase, dict)
    }
    cells = []
    for name in PHASES:
        phase = by_name.get(name) or {}
        status = phase.get("status") if phase.get("status") in STATUSES else "planned"
        checks = [check for check in phase.get("machineChecks") or () if isinstance(check, dict)]
        failing = "; ".join(
            f"{check.get('rule')}: {check.get('detail')}"
            for check in checks
            if not check.get("passed")
        )
        cells.append({"name": name, "status": status, "why": failing, "phase": phase})
    return {**one, "cells": cells, "telemetry": one.get("telemetry") or {}}


def _kind(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "file"
    return {"+": "added", "-": "removed", "@": "place"}.get(line[:1], "same")


@functools.cache
def _style() -> str:
    with open(os.path.join(TEMPLATES, "case_page.css"), encoding="utf-8") as file:
        return "\n" + file.read()


def style_hash() -> str:
    """The name under which a policy allows the page's style."""
    return source_hash(_style())


@functools.cache
def _page() -> Any:
    return environment().get_template("case_page.html.j2")
