"""Which steps read fdc's own records (`.fdc` in any folder): text from outside may stand there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..engine.events import Perform
from ..linking.project.protected import RECORDS
from ..program.model import Program, ToolRow

if TYPE_CHECKING:
    from ..certificate.forms import Block

_BLOCKS: tuple[Block, ...] = ("body", "then", "else")


def read_by(declared: ToolRow, args: Mapping[str, object]) -> bool:
    """Whether a step with these arguments is given the path of a record."""
    rows = (row for row in declared.get("parameters", ()) if row.get("kind") in ("path", "glob"))
    return any(
        isinstance(path := args.get(row["name"]), str) and RECORDS.search(path) is not None
        for row in rows
    )


def named(program: Program, effect: Perform) -> bool:
    """Whether the text of the step names records, as lint and the checker read it: a value may not lead there."""
    work = [
        node
        for plan in program["plans"].values()
        if plan["path"] == effect.path
        for node in plan["body"]
    ]
    while work:
        node = work.pop()
        work += [inner for part in _BLOCKS if part in node for inner in node[part]]
        if node["op"] == "step" and node["line"] == effect.line:
            texts = (
                "".join(part if isinstance(part, str) else "\0" for part in value)
                for value in node["args"].values()
            )
            if any(RECORDS.search(text) for text in texts):
                return True
    return False
