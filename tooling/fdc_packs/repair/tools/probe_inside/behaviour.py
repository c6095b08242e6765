"""How much an edit changes: its functions, before and after it, over inputs made of those that the tests gave them."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from opcode import opname
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from . import what_runs
from .edited_files import FOLDER, given
from .function_code import at_hand, functions, place_of, put
from .module_run import rerun
from .time_limit import soon

CALLS, INPUTS, SECONDS, MOST_COPIES = 12, 200, 4.0, 400
TRACED = 4
"""How many times as long a call may take while its lines are taken down."""
ODD: tuple[Any, ...] = (None, 0, "a", [])
"""What stands for each value of another type as well: a question about a type is answered by no other value."""
HELD = 100
"""Rows of a dictionary that get other values at once."""
LETTERS = ("_", " ", "\u00e9")
"""What is put into a text, one at a time: where words part, and a letter that is not of ASCII."""
_calls: dict[Any, list[dict[str, Any]]] = {}
_known: set[Any] = set()
_places: dict[Any, Any] = {}
_wanted: set[Any] = set()
_copied = 0
_PLAIN_TYPES = (int, float, str, bytes, bool, type(None))
_PLAIN: Any = object.__repr__
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def watch(places: set[object]) -> None:
    """From here on what these functions are called with is taken down."""
    _wanted.update(places)


def record(frame: FrameType, event: str, _: object) -> None:
    """A profile function. Arguments are copied, for the call may change them."""
    global _copied
    if event != "call":
        return
    code = frame.f_code
    if code not in _places:
        place = place_of(code)
        _places[code] = place if place in _wanted else None
    place = _places[code]
    if place is None or len(_calls.get(place, ())) >= CALLS or _copied > MOST_COPIES:
        return
    count = (
        code.co_argcount
        + code.co_kwonlyargcount
        + bool(code.co_flags & 4)
        + bool(code.co_flags & 8)
    )
    _copied += 1
    try:
        given = _copy_of({name: frame.f_locals[name] for name in code.co_varnames[:count]})
        state = place, _state(given)
        if state not in _known:
            _known.add(state)
            _calls.setdefault(place, []).append(given)
    except Exception:
        return  # an argument that cannot be copied: the call is not one of the inputs


def _copy_of(call: dict[str, Any]) -> dict[str, Any]:
    """A copy of arguments; of an object that cannot say what it is yet, as in its `__init__`, what lies in it."""
    try:
        return copy.deepcopy(call)
    except Exception:
        return {name: _bare_copy(one) for name, one in call.items()}


def _bare_copy(value: Any) -> Any:
    kind: Any = type(value)
    if kind.__new__ is not object.__new__:
        return copy.deepcopy(value)
    try:
        return copy.deepcopy(value)
    except Exception:
        made = object.__new__(kind)
        slots = [name for one in kind.__mro__ for name in getattr(one, "__slots__", ())]
        for name in [*getattr(value, "__dict__", ()), *slots]:
            if hasattr(value, name):
                object.__setattr__(made, name, copy.deepcopy(getattr(value, name)))
        return made


def _state(call: dict[str, Any]) -> str:
    """What arguments hold, in words; of an object that cannot say it yet, its type."""
    said = []
    for name, one in call.items():
        try:
            said.append(f"{name}={_shown(getattr(one, '__dict__', one))}")
        except BaseException:
            said.append(f"{name}={type(one).__name__}")
    return _ADDRESS.sub("", ", ".join(said))[:4000]


def places_of(number: int) -> list[tuple[str, str, int]]:
    """The functions whose results an edit may change: those that it edits, else, as for a constant, and for a function that made
    one while the tests were imported, all of its file."""
    path = given["edits"][number]["path"]
    return list(at_hand(number)) or [place for place in functions if place[0] == path]


def compare(good: Sequence[int], number: int) -> None:
    """Counts for how many inputs an edit gives another outcome, and names the outcomes; ends the fork.

    The inputs are of all functions that the `good` edits change, so that these are compared by the same ones.
    And whether it crashes where a test calls it, and nothing that crashed goes on, or no test gets to where the function
    crashed before: it hides that; and for each function that it edits, how many of its lines no input gets to, and for each
    argument and member of `self` that was exchanged, 1 if the result never depended on it; and how many tests run them, or, for
    another edit, the functions that give another result.
    """
    longer = any("\n" in piece[2] for piece in given["edits"][number]["pieces"])
    own = [one for one in places_of(number) if one in functions]
    shared = dict.fromkeys(one for other in good for one in at_hand(other))
    places = [one for one in shared if one in functions] if at_hand(number) else own
    most = max(CALLS, INPUTS // max(1, len(places)))
    made = [
        (
            place,
            functions[place][0],
            _defaults(functions[place][0]),
            at < len(_calls.get(place, ())),
            one,
        )
        for place in places
        for at, one in enumerate(islice(_inputs(_calls.get(place, ())), most))
    ]
    lines = {place: len(_code_lines(functions[place][0].__code__)) for place in places}
    old: list[Any] = []
    before = {place: _said(functions[place][0].__code__) for place in places}
    until = time.monotonic() + SECONDS / 2
    for _, function, spared, _, one in made:
        if time.monotonic() > until:
            break
        old.append(_outcome(function, one.make, spared))
    put(number) if at_hand(number) else rerun(number)
    said = {place: before[place] | _said(functions[place][0].__code__) for place in places}
    counts = {place: [0, 0] for place in places}
    crashes = works = False
    failed: set[int] = set()
    reached: set[int] = set()
    run: dict[Any, set[int]] = {}
    moved: set[Any] = set()
    outcomes = hashlib.sha256()
    first: dict[tuple[Any, int], str] = {}
    matters: dict[str, bool] = {}
    codes: dict[Any, list[CodeType]] = {}
    until = time.monotonic() + SECONDS / 2
    for (place, function, spared, tested, one), was in zip(made, old, strict=False):
        if time.monotonic() > until:
            break
        tested = tested and place in own
        seen = reached if tested else run.setdefault(place, set())
        sys.settrace(partial(_lines, seen, codes.setdefault(place, _codes(function.__code__))))
        now = _outcome(function, one.make, spared)
        sys.settrace(None)
        if not one.moved:
            first.setdefault((place, one.call), now[0])
        elif one.moved[:5] != "self." or one.moved[5:] in said[place]:
            name = f"{place[1]}:{place[2]}:{one.moved}"
            matters[name] = matters.get(name, False) or now[0] != first.get((place, one.call))
        failed |= {was[2]} - {0} if tested else set()
        if tested and was[:1] != now[:1]:
            works = works or bool(was[2] and not now[2])
            crashes = crashes or bool(now[2] and now[3])
        counts[place][0] += was != now
        counts[place][1] += 1
        moved |= {place} if was != now else set()
        outcomes.update(repr((place, now[:2])).encode("utf-8", "replace"))
    with open(
        os.path.join(os.environ[FOLDER], f"behaviour.{number}"), "w", encoding="ascii"
    ) as out:
        hides = bool(failed) and not longer and failed.isdisjoint(reached)
        idle = {}
        for place in run if at_hand(number) else ():
            now_lines = _code_lines(functions[place][0].__code__)
            idle[f"{place[1]}:{place[2]}"] = max(lines[place], len(now_lines)) - len(
                now_lines & (run[place] | reached)
            )
        idle |= {name: int(not moves) for name, moves in matters.items()}
        tests = what_runs.running(given.get("ran") or {}, at_hand(number) or moved)
        named = outcomes.hexdigest()[:16]
        differ, every = (sum(one[at] for one in counts.values()) for at in (0, 1))
        shares = [changed / many for changed, many in counts.values() if many]
        share = sum(shares) / len(shares) if shares else 0.0
        row = [differ, every, named, crashes and not works, hides, idle, len(tests), share]
        json.dump(row, out)
    os._exit(0)


def _codes(code: CodeType) -> list[CodeType]:
    """The code of a function, and of the functions in it."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return [code, *(one for part in inner for one in _codes(part))]


def _said(code: CodeType) -> set[str]:
    """The members, and other names, that the code of a function asks for itself: of no other member an effect is expected."""
    return {name for one in _codes(code) for name in one.co_names}


def _code_lines(code: CodeType) -> set[int]:
    return {
        line
        for one in _codes(code)
        for _, _, line in one.co_lines()
        if line and line != one.co_firstlineno
    }


def _defaults(function: FunctionType) -> dict[str, Any]:
    """The plain values that its parameters have by default: who calls it need not give them."""
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    pairs = [*zip(names, values), *(function.__kwdefaults__ or {}).items()]
    plain = not code.co_posonlyargcount and not code.co_flags & 4
    return {name: one for name, one in pairs if plain and type(one) in _PLAIN_TYPES}


def _lines(
    reached: set[int], codes: list[CodeType], frame: FrameType, _event: str, _: object
) -> Any:
    """A trace function: takes down which lines of a function, and of those in it, are run."""
    if frame.f_code not in codes:
        return None

    def line(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            reached.add(frame.f_lineno)
        return line

    return line


class Input(NamedTuple):
    """`call`: the number of the call of a test that it is made of; `moved`: what was exchanged for another value of its kind,
    an argument or a member of `self` ("" for none, for a member of another one, and for a value of another type); `make`: makes
    the arguments."""

    call: int
    moved: str
    make: Callable[[], dict[str, Any]]


def _inputs(calls: Any) -> Iterator[Input]:
    """The calls of the tests, and each with one argument, or one member of one, exchanged for one of its kind, and
    then for one of another type."""
    for at, call in enumerate(calls):
        yield Input(at, "", partial(_copy_of, call))
    for at, call in enumerate(calls):
        for name, value in call.items():
            for other in [*_others(value), *_other_texts(value)]:
                yield Input(at, name, partial(_with, call, name, other))
            for member, inner in _members(value)[: 8 if name == "self" else 4]:
                moved = f"self.{member}" if name == "self" else ""
                for other in _others(inner):
                    yield Input(at, moved, partial(_with_member, call, name, member, other))
    for at, call in enumerate(calls):
        for name, value in call.items():
            for other in ODD if name not in ("self", "cls") else ():
                if type(other) is not type(value):
                    yield Input(at, "", partial(_with, call, name, other))


def _with(call: dict[str, Any], name: str, other: Any) -> dict[str, Any]:
    return {**_copy_of(call), name: copy.deepcopy(other)}


def _with_member(call: dict[str, Any], name: str, member: str, other: Any) -> dict[str, Any]:
    made = _copy_of(call)
    made[name].__dict__[member] = copy.deepcopy(other)
    return made


def _members(value: Any) -> list[tuple[str, Any]]:
    """What an object holds, where it is one and says so: a class, a function and a module are the same in every copy."""
    try:
        shared = isinstance(value, type | FunctionType | ModuleType)
        return [] if shared else list(getattr(value, "__dict__", {}).items())
    except Exception:
        return []  # one that stands for something that is not there now


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
    if isinstance(value, dict) and value:
        rows = [(key, {} if isinstance(one, dict) else one) for key, one in value.items()]
        return [{}, {key: (_others(one) or [one])[0] for key, one in rows[:HELD]}]
    return []


def _other_texts(value: Any) -> list[str]:
    """A text in other case, and with one of the letters in it for which functions of texts differ."""
    if not isinstance(value, str):
        return []
    middle = len(value) // 2
    parts = [value[:middle] + one + value[middle:] for one in LETTERS]
    return [one for one in [value.swapcase(), *parts] if one != value]


def _outcome(
    function: FunctionType, made: Callable[[], dict[str, Any]], defaults: dict[str, Any]
) -> tuple[str, str, int, bool]:
    """What comes of a call, its arguments after it, in which line the function itself could not go on (0: in none), and
    whether that can only be a mistake: many functions let a `KeyError` or an `IndexError` be what they answer."""
    arguments: dict[str, Any] = {}
    crashed, mistake = 0, False
    try:
        arguments = made()
        code, left = function.__code__, dict(arguments)
        for name, value in defaults.items():
            if type(left[name]) is type(value) and left[name] == value:
                del left[name]
        placed: list[Any] = []
        names = code.co_varnames[: code.co_argcount]
        if arguments.keys() >= set(names):
            names = tuple(name for name in arguments if name in names)  # where a caller puts them
        for name in names:
            if name not in left:
                break  # what comes after it is given by its name
            placed.append(left.pop(name))
        last = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
        if code.co_flags & 4:
            placed += left.pop(last[0])
        extra = left.pop(last[bool(code.co_flags & 4)]) if code.co_flags & 8 else {}
        with soon(TRACED if sys.gettrace() is not None else 1):
            value = function(*placed, **left, **extra)
            if hasattr(value, "__next__"):
                value = list(islice(value, 50))
        said = _shown(value)
    except BaseException as raised:
        said = type(raised).__name__
        own, told = _raised(raised, function.__code__)
        mistake = isinstance(raised, TypeError | AttributeError | NameError)
        odd = mistake or isinstance(raised, LookupError | ArithmeticError | ValueError)
        crashed = own if odd and not told else 0
        if own and told:
            said += f": {raised}"
    return _ADDRESS.sub("", said)[:4000], _state(arguments), crashed, mistake


def _shown(value: Any, depth: int = 4) -> str:
    """What a value is, with what lies in objects and containers that do not show it themselves."""
    slots = [name for name in getattr(type(value), "__slots__", ()) if isinstance(name, str)]
    inside: Any = getattr(value, "__dict__", None) or {
        name: getattr(value, name, None) for name in slots
    }
    if depth and getattr(type(value), "__repr__", None) is _PLAIN and inside:
        return f"{type(value).__name__}({_shown(inside, depth - 1)})"
    if depth and isinstance(value, (dict, list, tuple)) and len(value) <= 20:
        rows = value.items() if isinstance(value, dict) else value
        return f"{type(value).__name__}[{', '.join(_shown(one, depth - 1) for one in rows)}]"
    return repr(value)


def _raised(raised: BaseException, code: CodeType) -> tuple[int, bool]:
    """In which line the function's own code raised it (0: in none), and whether a `raise` did: then its words are meant, too."""
    at = raised.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None or at.tb_frame.f_code is not code:
        return 0, False
    return at.tb_lineno or 0, opname[code.co_code[at.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")
