"""The checker of certificates says of a condition of constants what a run finds, or nothing: two implementations."""

from __future__ import annotations

import itertools

from fdc_toolchain.certificate.plans import known
from fdc_toolchain.linking.constants import fold

CONSTANTS = (
    0, 3, 3.0, -3, 0.1, 123456789012345, "3", "3.0", "03", "-3", "3e0", " 3", "+3", "", "0.1", "x", "٣", "inf",
    "123456789012345", True, False, None,
)  # fmt: skip
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in")


def test_what_the_checker_knows_of_a_comparison_is_what_a_run_finds() -> None:
    said = decided = 0
    for operator, left, right in itertools.product(OPERATORS, CONSTANTS, CONSTANTS):
        cond = {"test": operator, "left": {"const": left}, "right": {"const": right}}
        for one in (cond, {"not": cond}):
            mine, theirs = known(one), fold(one)
            assert mine is None or mine is theirs, (one, mine, theirs)
            said += mine is not None
            decided += theirs is not None
    assert said > decided / 3


def test_a_number_beside_a_text_that_spells_one_is_known() -> None:
    cond = {"test": "==", "left": {"const": 3}, "right": {"const": "3.0"}}
    assert known(cond) is True and known({"not": cond}) is False
    assert known({"test": "==", "left": {"const": 3}, "right": {"const": "03"}}) is None
