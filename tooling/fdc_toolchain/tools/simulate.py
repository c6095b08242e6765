"""Tools that do nothing: what a step brings comes from a script, or from the record of another run.

    {"format": 1,
     "tools": {"judge": {"value": {"grade": 7}, "usage": {"tokens": 800}}},
     "addresses": {"main/4": {"failed": {"kind": "net", "message": "no line"}}}}

What is said of an address comes before what is said of a tool. A step of which nothing is said brings
nothing where the plan does not look at it, and fails where it does. Files are listed as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..engine.events import Failure, Outcome, Perform
from ..engine.ports import Verdict
from ..narrow import narrow
from ..workspace import globs
from ..workspace.failure import ToolFailure
from ..workspace.files import Root

FORMAT = 1
MARK = "simulated"
"""The key in the notes of every outcome of such a run."""

_SCHEMA: dict[str, Any] = {
    "type": "object", "required": ["format"], "additionalProperties": False,
    "properties": {
        "format": {"const": FORMAT},
        "tools": {"type": "object", "additionalProperties": {"$ref": "#/$defs/outcome"}},
        "addresses": {"type": "object", "additionalProperties": {"$ref": "#/$defs/outcome"}},
    },
    "$defs": {
        "outcome": {
            "type": "object", "additionalProperties": False, "minProperties": 1,
            "properties": {
                "value": {},
                "failed": {
                    "type": "object", "required": ["kind", "message"], "additionalProperties": False,
                    "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
                },
                "usage": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
                "request": {"type": "string"},
            },
        }
    },
}  # fmt: skip


def script(text: str) -> dict[str, object]:
    """A script as JSON. Raises ValueError, saying where it is wrong."""
    from jsonschema import Draft202012Validator

    try:
        found = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    wrong = next(iter(Draft202012Validator(_SCHEMA).iter_errors(found)), None)
    if wrong is not None:
        raise ValueError(f"{wrong.json_path}: {wrong.message[:200]}")
    return dict(found)


def recorded(outcomes: Mapping[str, tuple[str, Mapping[str, object]]]) -> dict[str, object]:
    """The script that a run's record makes: by address, the request and the body of its last outcome."""
    rows = {}
    for address, (request, body) in outcomes.items():
        rows[address] = {key: body[key] for key in ("value", "failed", "usage") if key in body} | {
            "request": request
        }
    return {"format": FORMAT, "addresses": rows}


class SimulatedTools:
    """The port `engine.ports.Tools` by a script; `root` is looked at for lists of files only."""

    def __init__(self, said: Mapping[str, object], root: Root) -> None:
        self._tools = narrow(said.get("tools", {}), dict)
        self._addresses = narrow(said.get("addresses", {}), dict)
        self._root = root

    def perform(self, effect: Perform) -> Outcome:
        """What the script says that the effect brings."""
        notes = {MARK: True}
        row = self._addresses.get(effect.address)
        if row is not None and row.get("request", effect.request) != effect.request:
            message = f"`{effect.tool}` at {effect.address} differs from the recorded run"
            return Outcome(None, Failure("simulation", message), {}, notes)
        row = row or self._tools.get(effect.tool)
        if row is None:
            return self._unsaid(effect)._replace(notes=notes)
        failed = row.get("failed")
        if failed is not None:
            return Outcome(
                None, Failure(failed["kind"], failed["message"]), row.get("usage"), notes
            )
        return Outcome(row.get("value"), None, row.get("usage"), notes)

    def probe(self, effect: Perform) -> Verdict:
        """Nothing of a simulation ever happened."""
        return "not-done"

    def cancel(self) -> None:
        """There is nothing to break off."""

    def _unsaid(self, effect: Perform) -> Outcome:
        if effect.kind == "files":
            try:
                return Outcome(globs.files(self._root, str(effect.args["glob"])))
            except (ToolFailure, OSError) as failed:
                return Outcome(failure=Failure("file", str(failed)))
        if effect.kind == "tool" and not effect.bound:
            return Outcome()
        said = f"the simulation has no result of `{effect.tool}` at {effect.address}, which the plan uses"
        return Outcome(None, Failure("simulation", said), {})


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON")
