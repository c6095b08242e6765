"""Puts edited code into functions where they are, if nothing but functions differs and none of them ran before."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from .edited_files import CONTROL, UNFIT, edited, given, note_use, text_of


class _Block(NamedTuple):
    """A part of a file that can be compiled alone, behind other lines: where it begins and ends, and its code."""

    begin: int
    end: int
    above: str
    flags: int
    code: CodeType


_ran: set[tuple[str, str, int]] = set()
_known: dict[str, bool] = {}
functions: dict[tuple[str, str, int], list[FunctionType]] = {}
_blocks: dict[str, list[_Block]] = {}
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
        ours = (one[0].__code__ for place, one in functions.items() if place[0] == path)
        flags = next((one.co_flags & _FUTURES for one in ours), 0)
        text = text_of(path)
        starts = [0, *(found.end() for found in re.finditer("\r\n?|\n", text)), len(text)]
        for first, last, head in _parts(ast.parse(text.removeprefix("\ufeff")).body):
            begin, end = starts[first - 1], starts[min(last, len(starts) - 1)]
            above = ""
            for line, behind in (*head, (first, first)):
                above += "\n" * (line - 1 - above.count("\n"))
                above += re.sub("\r\n?", "\n", text[starts[line - 1] : starts[behind - 1]])
            code = _compiled(above + text[begin:end], path, flags)
            _blocks.setdefault(path, []).append(_Block(begin, end, above, flags, code))
    gc.collect()
    gc.freeze()


def swap(number: int) -> None:
    """Puts the edited code into the functions; ends the fork where that cannot be done, or does not say all."""
    if number == CONTROL:
        if all(not any(place[0] == path for place in functions) for path in given["files"]):
            os._exit(UNFIT)
        note_use(number)
        return
    if not at_hand(number):
        os._exit(UNFIT)
    put(number)
    note_use(number)


def put(number: int) -> None:
    """Puts the edited code into the functions that differ, if nothing else does; ends the fork where one needs another variable
    of what is around it, as for `super()`: no function can be given that afterwards."""
    for place, code in changed(number).items():
        for function in functions.get(place, ()):
            if len(function.__code__.co_freevars) != len(code.co_freevars):
                os._exit(UNFIT)
            function.__code__ = code


def at_hand(number: int) -> dict[tuple[str, str, int], CodeType]:
    """The functions that an edit changes, if it changes nothing else, and none of them ran while the tests were imported."""
    found = changed(number)
    return {} if any(place in _ran for place in found) else found


@functools.lru_cache(maxsize=64)
def changed(number: int) -> dict[tuple[str, str, int], CodeType]:
    """The functions that an edit changes, with their code; none where it changes anything else, or nothing."""
    edit = given["edits"][number]
    path, pieces = edit["path"], edit["pieces"]
    first, last = min(one[0] for one in pieces), max(one[1] for one in pieces)
    for one in _blocks.get(path, ()):
        if one.begin <= first and last <= one.end:
            text = one.above + edited(text_of(path)[one.begin : one.end], pieces, one.begin)
            try:
                after = _compiled(text, path, one.flags)
            except (SyntaxError, ValueError):
                return {}
            found: list[tuple[CodeType, CodeType]] = []
            same = _compare(one.code, after, found)
            return {place_of(was): now for was, now in found} if same else {}
    return {}


def _compiled(text: str, path: str, flags: int) -> CodeType:
    return compile(text.removeprefix("\ufeff"), path, "exec", flags, True)


def _parts(body: list[ast.stmt]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """The statements of a module, and before a class its methods: first and last line, and from and to which lines it stands
    that such a method is one of a class."""
    for one in body:
        if isinstance(one, ast.ClassDef):
            head = (_first(one), _first(one.body[0]))
            for inner in one.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and len(set(head)) > 1:
                    yield _first(inner), inner.end_lineno or inner.lineno, [head]
        yield _first(one), one.end_lineno or one.lineno, []


def _first(one: ast.stmt) -> int:
    return min([one.lineno, *(at.lineno for at in getattr(one, "decorator_list", ()))])


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
