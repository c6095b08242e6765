"""How much an edit changes: its functions, before and after it, over inputs made of those that the tests gave them."""

from __future__ import annotations

import json
import os
import pickle
import re
import time
from collections.abc import Iterator
from itertools import islice
from types import FunctionType
from typing import Any

from .edited_files import FOLDER, given
from .function_code import functions, swap

CALLS, INPUTS, LONGEST, SECONDS = 12, 200, 20_000, 4.0
_calls: dict[Any, list[bytes]] = {}
_PLAIN: Any = object.__repr__
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def record(frame: Any, event: str, _: Any) -> None:
    """A profile function: takes down what functions of the edited files are called with."""
    code = frame.f_code
    if event != "call" or code.co_filename not in given["files"] or not code.co_flags & 2:
        return
    kept = _calls.setdefault((code.co_filename, code.co_name, code.co_firstlineno), [])
    if len(kept) < CALLS:
        count = (
            code.co_argcount
            + code.co_kwonlyargcount
            + bool(code.co_flags & 4)
            + bool(code.co_flags & 8)
        )
        try:
            packed = pickle.dumps({name: frame.f_locals[name] for name in code.co_varnames[:count]})
        except Exception:
            return
        if len(packed) <= LONGEST and packed not in kept:
            kept.append(packed)


def keep() -> None:
    """Leaves what was taken down for the forks that compare."""
    with open(os.path.join(os.environ[FOLDER], "calls"), "wb") as out:
        pickle.dump(_calls, out)


def compare(number: int) -> None:
    """Counts for how many inputs an edit gives another outcome; ends the fork."""
    with open(os.path.join(os.environ[FOLDER], "calls"), "rb") as data:
        calls = pickle.load(data)
    known = [(place, one, one.__code__) for place, found in functions.items() for one in found[:1]]
    swap(number)
    differ = every = 0
    until = time.monotonic() + SECONDS
    for place, function, old in known:
        new = function.__code__
        if new is old:
            continue
        for packed in islice(_inputs(calls.get(place, ())), INPUTS):
            if time.monotonic() > until:
                break
            said = []
            for code in (old, new):
                function.__code__ = code
                said.append(_outcome(function, packed))
            every += 1
            differ += said[0] != said[1]
    with open(
        os.path.join(os.environ[FOLDER], f"behaviour.{number}"), "w", encoding="ascii"
    ) as out:
        json.dump([differ, every], out)
    os._exit(0)


def _inputs(calls: Any) -> Iterator[bytes]:
    """The calls of the tests, and each with one argument exchanged for one of its kind."""
    yield from calls
    for packed in calls:
        whole = pickle.loads(packed)
        for name, value in whole.items():
            for other in _others(value):
                try:
                    yield pickle.dumps({**whole, name: other})
                except Exception:
                    continue


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool) or value is None:
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, -value]
    if isinstance(value, float):
        return [value + 0.5, -value, 0.0]
    if isinstance(value, (str, bytes, list, tuple)):
        whole: Any = value
        return [whole[:0], whole[::-1], whole[: len(whole) // 2], whole + whole]
    return [{}] if isinstance(value, dict) and value else []


def _outcome(function: FunctionType, packed: bytes) -> tuple[str, str]:
    arguments: dict[str, Any] = {}
    try:
        arguments = pickle.loads(packed)
        code, left = function.__code__, dict(arguments)
        placed = [left.pop(name) for name in code.co_varnames[: code.co_argcount]]
        last = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
        if code.co_flags & 4:
            placed += left.pop(last[0])
        extra = left.pop(last[bool(code.co_flags & 4)]) if code.co_flags & 8 else {}
        value = function(*placed, **left, **extra)
        if hasattr(value, "__next__"):
            value = list(islice(value, 50))
        said = (
            repr(getattr(value, "__dict__", value))
            if getattr(type(value), "__repr__", None) is _PLAIN
            else repr(value)
        )
    except BaseException as raised:
        said = type(raised).__name__
    try:
        after = repr({name: getattr(one, "__dict__", one) for name, one in arguments.items()})
    except BaseException:
        after = ""
    return _ADDRESS.sub("", said)[:4000], _ADDRESS.sub("", after)[:4000]
