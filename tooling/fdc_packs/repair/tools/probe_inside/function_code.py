"""Puts edited code into functions where they are, if nothing but functions differs and none of them ran before."""

from __future__ import annotations

import ast
import os
import re
from types import CodeType, FrameType, FunctionType
from typing import Any

from .edited_files import CONTROL, UNFIT, edited, given, note_use, text_of

_ran: set[tuple[str, str, int]] = set()
_known: dict[str, bool] = {}
functions: dict[tuple[str, str, int], list[FunctionType]] = {}
_blocks: dict[str, list[tuple[int, int, int]]] = {}
_FUTURES = 0x1FF0000  # what `from __future__` leaves in the flags of code


def place_of(code: CodeType) -> tuple[str, str, int]:
    """What names a function: its file, name and line."""
    return os.path.realpath(code.co_filename), code.co_name, code.co_firstlineno


def find() -> None:
    """The functions of the files that are edited, as they are now."""
    import gc

    for one in gc.get_objects():
        if isinstance(one, FunctionType):
            place = place_of(one.__code__)
            if place[0] in given["files"]:
                functions.setdefault(place, []).append(one)
    for path in given["files"]:
        text = text_of(path)
        starts = [0, *(found.end() for found in re.finditer("\r\n?|\n", text)), len(text)]
        for one in ast.parse(text.removeprefix("\ufeff")).body:
            first = min([one.lineno, *(at.lineno for at in getattr(one, "decorator_list", ()))])
            _blocks.setdefault(path, []).append(
                (starts[first - 1], starts[min(one.end_lineno or first, len(starts) - 1)], first)
            )
    gc.collect()
    gc.freeze()


def swap(number: int) -> None:
    """Puts the edited code into the functions; ends the fork where that cannot be done, or does not say all."""
    if number == CONTROL:
        if all(not any(place[0] == path for place in functions) for path in given["files"]):
            os._exit(UNFIT)
        note_use(number)
        return
    found = changed(number)
    if not found or any(place in _ran for place in found):
        os._exit(UNFIT)
    put(number)
    note_use(number)


def put(number: int) -> None:
    """Puts the edited code into the functions that differ, if nothing else does."""
    for place, code in changed(number).items():
        for function in functions.get(place, ()):
            function.__code__ = code


def changed(number: int) -> dict[tuple[str, str, int], CodeType]:
    """The functions that an edit changes, with their code; none where it changes anything else, or nothing."""
    edit = given["edits"][number]
    path, pieces = edit["path"], edit["pieces"]
    try:
        block = next(
            one
            for one in _blocks[path]
            if all(one[0] <= start and end <= one[1] for start, end, _ in pieces)
        )
        flags = next(
            one[0].__code__.co_flags & _FUTURES
            for place, one in functions.items()
            if place[0] == path
        )
        old = text_of(path)[block[0] : block[1]]
        lines = "\n" * (block[2] - 1)
        texts = (text.removeprefix("\ufeff") for text in (old, edited(old, pieces, block[0])))
        before, after = (compile(lines + text, path, "exec", flags, True) for text in texts)
        found: list[tuple[CodeType, CodeType]] = []
        return {place_of(was): now for was, now in found} if _compare(before, after, found) else {}
    except (StopIteration, SyntaxError, ValueError, KeyError):
        return {}


def _compare(was: CodeType, now: CodeType, changed: list[tuple[CodeType, CodeType]]) -> bool:
    """Gathers the functions that differ; False where something else does."""
    old, new = _inner(was), _inner(now)
    alike = [one.co_name for one in old] == [one.co_name for one in new]
    if _plain(was) != _plain(now) or not alike:
        if not was.co_flags & 2:  # no function: the body of a class, or of the module
            return False
        changed.append((was, now))
    elif was.co_flags & 2 and not all(_same(one, other) for one, other in zip(old, new)):
        changed.append((was, now))
    return not alike or all(_compare(one, other, changed) for one, other in zip(old, new))


def _inner(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _plain(code: CodeType) -> tuple[Any, ...]:
    consts = [
        (type(one).__name__, repr(one)) for one in code.co_consts if not isinstance(one, CodeType)
    ]
    return code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def _same(was: CodeType, now: CodeType) -> bool:
    old, new = _inner(was), _inner(now)
    return (
        _plain(was) == _plain(now)
        and len(old) == len(new)
        and all(_same(*pair) for pair in zip(old, new))
    )


def watch(frame: FrameType, event: str, _: object) -> None:
    """A profile function that takes down which functions of the edited files ran."""
    if event == "call":
        code = frame.f_code
        ours = _known.get(code.co_filename)
        if ours is None:
            ours = _known[code.co_filename] = os.path.realpath(code.co_filename) in given["files"]
        if ours:
            _ran.add(place_of(code))
