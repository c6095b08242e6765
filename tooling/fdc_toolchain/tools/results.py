"""What a tool brought back: JSON of a bounded size, and of the type that the catalogue declares."""

from __future__ import annotations

import json
from typing import Any

from ..engine.events import Failure, Outcome
from ..linking import types
from ..program.codec import canonical
from ..program.model import ToolRow
from ..workspace.failure import ToolFailure

MAX_RESULT = 32 * 1024 * 1024
MAX_DEPTH = 64


def outcome_of(found: object) -> Outcome:
    """A handler's result, as it will be after the journal: JSON and nothing else."""
    outcome = found if isinstance(found, Outcome) else Outcome(found)
    value = outcome.value
    if value is None or isinstance(value, (bool, int, str)):
        if isinstance(value, str):
            if len(value) > MAX_RESULT:
                raise ToolFailure("size", f"a result of more than {MAX_RESULT} characters")
            _whole(value)
        return outcome
    try:
        written = canonical(value)
    except (TypeError, ValueError, RecursionError) as wrong:
        raise ToolFailure(
            "tool", f"the tool returned a value that JSON cannot represent: {wrong}"
        ) from None
    if len(written) > MAX_RESULT:
        raise ToolFailure("size", f"a result of more than {MAX_RESULT} characters")
    plain = json.loads(written)
    if "\\ud" in written:
        _whole(json.dumps(plain, ensure_ascii=False))
    if _deeper(plain, MAX_DEPTH):
        raise ToolFailure("size", f"the tool returned values nested deeper than {MAX_DEPTH} levels")
    return outcome._replace(value=plain)


def _whole(text: str) -> None:
    """Raises ToolFailure for a text that UTF-8 cannot write: no record, file or command could hold it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as wrong:
        half = f"half a character (U+{ord(text[wrong.start]):04X})"
        raise ToolFailure("tool", f"the tool returned {half}, which UTF-8 cannot write") from None


def as_declared(tool: str, declared: ToolRow, outcome: Outcome) -> Outcome:
    """The outcome, or a failure where it is not of the type that the catalogue declares and the proof rests on."""
    result = declared.get("result")
    if result is None:
        return outcome
    try:
        wrong = types.misfit(outcome.value, types.of_result(result))
    except (
        types.NoType,
        TypeError,
    ):  # a program of 0.1.0, whose catalogue could say anything of results
        return outcome
    if wrong is None:
        return outcome
    said = f"the result of `{tool}` does not have the type in its catalogue: {wrong}"
    return outcome._replace(value=None, failure=Failure("result", said))


def _deeper(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            inner
            for one in layer
            if isinstance(one, (list, dict))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not layer:
            return False
    return True
