"""Which tests run which functions of the edited files: where one of these is edited, the other tests need not run again.

It is taken down where the tests run without an edit. A function that runs outside of the calls of tests (in a fixture, in
another process) may matter to each of them, and so may one that no test was seen to run.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Collection, Iterable
from types import CodeType, FrameType

from .edited_files import CONTROL, FOLDER, given
from .function_code import place_of

MOST = 400_000
"""Pairs of a test and a function, beyond which nothing is said: what is taken down is read by each fork."""
EVENTS = 1_000_000
"""Calls and returns of one test after which nothing more of it is taken down: that takes longer than the test. It may run all."""
_now = ""
_events = 0
_may_run_all: set[str] = set()
_places: dict[CodeType, str] = {}
_tests: dict[str, set[str]] = {}
_anywhere: set[str] = set()
_on = _lost = False


def begin() -> None:
    """From here on what runs is taken down."""
    global _on
    _on = True
    threading.setprofile(_record)
    sys.setprofile(_record)


def enter(test: str) -> None:
    """What runs now is run by the call of a test; outside of all calls where `test` is empty."""
    global _now, _lost, _events
    if _on and not test and _now in _may_run_all:
        sys.setprofile(_record)
    elif _on and not test and sys.getprofile() is not _record:
        _lost = True  # a test has taken the place of the recorder
        sys.setprofile(None)
    _now, _events = test, 0


def _record(frame: FrameType, event: str, _: object) -> None:
    global _events
    _events += 1
    if _events > EVENTS and _now:
        _may_run_all.add(_now)
        sys.setprofile(None)
    if event != "call":
        return
    code = frame.f_code
    name = _places.get(code)
    if name is None:
        place = place_of(code)
        name = _places[code] = _name(place) if place[0] in given["files"] else ""
    if name and _now:
        _tests.setdefault(name, set()).add(_now)
    elif name:
        _anywhere.add(name)


def result() -> dict[str, list[str]]:
    """The tests by what they run; nothing where it is not known of all, or was not taken down."""
    if not _on:
        return {}
    outside = os.path.exists(os.path.join(os.environ[FOLDER], f"outside.{CONTROL}"))
    if _lost or outside or sum(map(len, _tests.values())) > MOST:
        return {}
    known = [(name, found) for name, found in _tests.items() if name not in _anywhere]
    return {name: sorted(found | _may_run_all) for name, found in known}


def note_outside() -> None:
    """Takes down that another process of the tests begins: what it runs of the edited files is not seen."""
    number = os.environ.get("FDC_PROBE_EDIT", "")
    with open(os.path.join(os.environ[FOLDER], f"outside.{number}"), "w", encoding="ascii"):
        pass


def needed(
    known: dict[str, list[str]], places: Iterable[tuple[str, str, int]], first: Collection[str]
) -> set[str] | None:
    """The tests that an edit of functions can change, with those that are asked first; None where that is not known."""
    names = [_name(one) for one in places]
    if not names or any(one not in known for one in names):
        return None
    return {*first, *(test for one in names for test in known[one])}


def running(known: dict[str, list[str]], places: Iterable[tuple[str, str, int]]) -> set[str]:
    """The tests that were seen to run one of some functions."""
    return {test for one in places for test in known.get(_name(one), ())}


def _name(place: tuple[str, str, int]) -> str:
    return "\0".join(map(str, place))
