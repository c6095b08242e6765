"""The checker of certificates says of a condition of constants what a run finds, or nothing: two implementations."""

from __future__ import annotations

import itertools

from fdc_toolchain.certificate.plans import known
from fdc_toolchain.linking.constants import fold

CONSTANTS = (
    0, 3, 3.0, -3, 0.1, 123456789012345, 9007199254740992.0, "3", "3.0", "03", "-3", "3e0", "3.", ".3", "3 ", "3_0", " 3", "+3",
    "", "0.1", "x", "٣", "inf", "123456789012345", "9007199254740993", "1e999", "3" * 301, True, False, None,
)  # fmt: skip
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in")


def test_what_the_checker_knows_of_a_comparison_is_what_lint_knows() -> None:
    """All of it: `fdc run` refused what lint proved by a comparison that the checker left open."""
    for operator, left, right in itertools.product(OPERATORS, CONSTANTS, CONSTANTS):
        cond = {"test": operator, "left": {"const": left}, "right": {"const": right}}
        for one in (
            cond,
            {"not": cond},
            {"value": {"const": left}},
            {"value": {"len": {"const": left}}},
        ):
            assert known(one) is fold(one), one
