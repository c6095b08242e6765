"""Checks the types in the rows of a journal before they are used: a damaged file is not a bug of fdc.
Also writes the bodies of records.

The hash chain shows whether a row is what was written (`fdc verify`); here only the type of every value is checked,
so that code that shows a run need not check it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from ..engine.events import Record
from ..program.codec import canonical

_ROW = {
    "id": (int,), "name": (str,), "engine": (int,), "plan": (str,), "digest": (str,), "started": (int, float), "epoch": (int,),
    "status": (str,), "ended": (int, float, type(None)),
}  # fmt: skip
_STATUSES = frozenset(
    ("new", "running", "waiting", "finished", "stopped", "cancelled", "interrupted", "broken")
)
_ENDING = {
    "stop": (dict, type(None)), "message": (str,), "steps": (int,), "seconds": (int, float), "spent": (dict,),
    "questions": (list,),
}  # fmt: skip
_STOP = {"kind": (str,), "message": (str,), "path": (str,), "line": (int,), "address": (str,)}
_QUESTION = {
    "address": (str,),
    "tool": (str,),
    "text": (str,),
    "how": (str,),
    "path": (str,),
    "line": (int,),
    "args": (dict,),
}
_OBJECT = (dict, type(None))
_BODY: dict[str, tuple[type, ...]] = {
    "took": (int, float, type(None)), "notes": _OBJECT, "usage": _OBJECT, "failed": _OBJECT, "budget": _OBJECT,
}  # fmt: skip
_RECORD: dict[str, tuple[type, ...]] = {
    "kind": (str,), "address": (str,), "turn": (int,), "tool": (str,), "request": (str,), "at": (int, float), "body": (dict,),
}  # fmt: skip
_EARLIEST = -62_135_596_800  # the beginning of the year 1: a clock may be before 1970
_LATEST = 253_402_300_799  # the end of the year 9999
_LARGEST = 1 << 53


def fault_of_run(row: Mapping[str, object], inputs: object, origin: object, ending: object) -> str:
    """Why a run's row cannot be read; empty where it can. The last three are its texts as JSON values."""
    fault = _type_fault(row, _ROW, set())
    if fault:
        return fault
    if row["status"] not in _STATUSES:
        return "`status` is none that a run has"
    times = [time for name in ("started", "ended") if _is_number(time := row[name])]
    if not all(_EARLIEST <= time <= _LATEST for time in times):
        return "a time is none"
    if not isinstance(inputs, dict) or not all(
        isinstance(inputs.get(name, {}), dict) for name in ("given", "budget")
    ):
        return "`inputs` is not an object with `given` and `budget`"
    if origin is not None and _type_fault(origin, {"run": (str,), "address": (str,)}, set()):
        return "`origin` names no step of a run"
    if not isinstance(ending, dict):
        return "" if ending is None else "`ending`: it is not an object"
    fault = _type_fault(ending, _ENDING, set(_ENDING))
    if not fault and ending.get("stop") is not None:
        fault = _type_fault(ending["stop"], _STOP, set())
    if not fault:
        fault = next(
            (
                wrong
                for question in ending.get("questions", ())
                if (wrong := _type_fault(question, _QUESTION, set()))
            ),
            "",
        )
    if not fault and not all(_is_number(amount) for amount in ending.get("spent", {}).values()):
        fault = "`spent` is not in numbers"
    return fault and f"`ending`: {fault}"


def fault_of_record(record: Record) -> str:
    """Why a record cannot be read; empty where it can."""
    fault = _type_fault(record._asdict(), _RECORD, set())
    if not fault:
        fault = _type_fault(record.body, _BODY, set(_BODY))
    if not fault and record.body.get("failed") is not None:
        fault = _type_fault(record.body["failed"], {"kind": (str,), "message": (str,)}, set())
    return fault


def _type_fault(value: object, kinds: Mapping[str, tuple[type, ...]], optional: set[str]) -> str:
    if not isinstance(value, dict):
        return "it is not an object"
    for name, allowed in kinds.items():
        if name not in value:
            if name in optional:
                continue
            return f"`{name}` is absent"
        field = value[name]
        if type(field) not in allowed or isinstance(field, (int, float)) and not _is_number(field):
            return f"`{name}` is not of type {' or '.join(kind.__name__ for kind in allowed if kind is not type(None))}"
        if isinstance(field, str) and not is_text(field):
            return f"`{name}` is not a UTF-8 text"
    return ""


def _is_number(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, (int, float))
        and type(value) is not bool
        and -_LARGEST <= value <= _LARGEST
    )  # NaN is neither


def is_text(value: object) -> bool:
    """True for a text that UTF-8 can write: one with damaged bytes cannot."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def written(body: Mapping[str, object]) -> str:
    """The canonical JSON of a record's body, with a fast path for the most frequent form."""
    if len(body) == 2 and "value" in body:
        took = body.get("took")
        if type(took) is float and 0.0 <= took < 1e12:  # no NaN and no infinity
            return f'{{"took":{took!r},"value":{canonical(body["value"])}}}'
    return canonical(body)
