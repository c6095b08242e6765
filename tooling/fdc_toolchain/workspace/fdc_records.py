"""Which steps read fdc's own records (`.fdc` in any folder): text from outside may stand there."""

from __future__ import annotations

from collections.abc import Mapping

from ..engine.events import Perform
from ..linking.project.protected import RECORDS
from ..program.instructions import every
from ..program.model import Program, ToolRow


def read_by(declared: ToolRow, args: Mapping[str, object]) -> bool:
    """Whether a step with these arguments is given the path of a record."""
    rows = (row for row in declared.get("parameters", ()) if row.get("kind") in ("path", "glob"))
    return any(
        isinstance(path := args.get(row["name"]), str) and RECORDS.search(path) is not None
        for row in rows
    )


def named(program: Program, effect: Perform) -> bool:
    """Whether the text of the step names records, as lint and the checker read it: a value may not lead there."""
    values = (
        value
        for plan in program["plans"].values()
        if plan["path"] == effect.path
        for node in every(plan["body"])
        if node["op"] == "step" and node["line"] == effect.line
        for value in node["args"].values()
    )
    texts = ("".join(p if isinstance(p, str) else "\0" for p in value) for value in values)
    return any(RECORDS.search(text) for text in texts)
