"""The record of a repair, out of its journal: `trace.json`, `events.jsonl` and the page `case.html` in `runs/RUN/`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdc_toolchain.api.records import Program, RunRow, Store, ToolRow

    from ..trace import Step


def write(root: str, run: str, opened: Store | None = None) -> str:
    """Writes them; returns the page's path from the workspace. `opened`: the run's journal (None: that of the workspace).

    Raises WorldError where the journal cannot be read.
    """
    from contextlib import nullcontext

    from fdc_toolchain.api.files import durable
    from fdc_toolchain.api.records import reading, the_run

    from .case_page import render

    with reading(root) if opened is None else nullcontext(opened) as store:
        row = the_run(store, run)
        assert store is not None  # a run was found in it
        found, events = told(store, row)
    stream = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
    folder = durable.inside(root, f"runs/{run}")
    os.makedirs(folder, exist_ok=True)
    written = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    for name, text in (
        ("trace.json", written),
        ("events.jsonl", stream),
        ("case.html", render(found)),
    ):
        durable.replace(os.path.join(folder, name), text.encode("utf-8", "replace"))
    return f"runs/{run}/case.html"


def told(store: Store, row: RunRow) -> tuple[dict[str, object], list[dict[str, object]]]:
    """The trace of a repair and its stream of events."""
    from .. import trace

    steps = _steps(store, row)
    return trace.trace(steps, row.inputs.get("given", {}), row.name), trace.events(
        steps, row.started
    )


def _steps(store: Store, row: RunRow) -> list[Step]:
    """The steps that have come back, in their order."""
    from fdc_toolchain.api.records import Record, fold
    from fdc_toolchain.api.tools import Perform

    program = store.program(row)
    rows: list[tuple[Record, Perform | None]] = []
    fold(
        program,
        row.inputs,
        store.records(row),
        lambda record, effect: rows.append((record, effect)),
    )
    return [
        _step(program, record, effect)
        for record, effect in rows
        if record.kind == "outcome" and effect is not None
    ]


def _step(program: Program, record: Any, effect: Any) -> Step:
    from ..trace import Step

    body = record.body
    failed = body.get("failed")
    took = float(body.get("took") or 0.0)
    why = f"{failed['kind']}: {failed['message']}" if failed else ""
    value = body.get("value")
    if isinstance(value, dict) and set(value) == {"failed", "why"}:
        why = f"{value['failed']}: {value['why']}"
    said = _prompt(program["tools"].get(effect.tool), effect.args) if _asked_a_model(body) else ""
    return Step(
        effect.tool,
        effect.args,
        value,
        why,
        max(0.0, record.at - took),
        record.at,
        said,
        body.get("usage"),
    )


def _asked_a_model(body: dict[str, Any]) -> bool:
    return (body.get("notes") or {}).get("model") not in (None, "embedded")


def _prompt(declared: ToolRow | None, args: dict[str, Any]) -> str:
    """What a model was asked, made again of the step's arguments."""
    from fdc_toolchain.api.models import rendered
    from fdc_toolchain.api.tools import ToolFailure

    if declared is None:
        return ""
    try:
        given = {
            parameter["name"]: args.get(parameter["name"]) for parameter in declared["parameters"]
        }
        system, text = rendered(declared["run"]["texts"]["prompt"], given)
    except (ToolFailure, KeyError):
        return ""
    return f"{system}\n---\n{text}"
