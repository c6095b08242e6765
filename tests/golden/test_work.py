"""How much lint does for the small plan sets of `situations/`: calls of functions of the analyses, which are not to become more.

What is said of a plan is the same with a memory that forgets and with a short way that nobody takes: no other test sees that.
Work is counted once the memories of the process are filled, so that it is the same whatever ran before. `work.txt` holds the
numbers; fewer calls are welcome, and a change that needs more of them says so by writing it anew (UPDATE_GOLDEN=1).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from tests.golden.test_situations import NAMES, checked, read
from tests.support.golden import FOLDER, check, updating

COUNTED = ("/rules/", "/linking/graph.py", "/linking/types.py", "/linking/constants.py")
NUMBERS = FOLDER / "work.txt"
SLACK = 1000
"""One call of so many may be more: the order in which some sets are gone through is another in each process
(24 seeds of the hash: up to 17 of 19,850)."""

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="other versions of Python count in another way"
)


@contextmanager
def counting(calls: list[int]) -> Iterator[None]:
    """Adds the calls of functions of the analyses, and each time that a generator goes on."""
    known: dict[object, bool] = {}

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code
            counts = known.get(code)
            if counts is None:
                named = not code.co_name.startswith("<")
                counts = known[code] = named and any(one in code.co_filename for one in COUNTED)
            calls[0] += counts

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


def work(name: str) -> int:
    """The calls that lint makes for the sets of a file."""
    calls = [0]
    for one in read(name):
        checked(one)
        with counting(calls):
            checked(one)
    return calls[0]


@pytest.mark.parametrize("name", NAMES)
def test_lint_makes_no_more_calls_than_it_did(name: str) -> None:
    if not updating():
        lines = NUMBERS.read_text("utf-8").splitlines()
        known = {row.split()[0]: int(row.split()[1]) for row in lines}
        assert work(name) <= known[name] + known[name] // SLACK


def test_the_numbers_are_kept() -> None:
    if updating():
        check(NUMBERS.name, "".join(f"{name} {work(name)}\n" for name in NAMES))
    kept = [line.split()[0] for line in NUMBERS.read_text("utf-8").splitlines()]
    assert kept == NAMES
