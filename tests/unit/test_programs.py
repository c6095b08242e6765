"""The programs that a command looks for: only words that the shell takes as they stand."""

from __future__ import annotations

import pytest
from fdc_toolchain.rules.solver.flow import programs


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make tea", ["make"]), ("make tea; sort 'a b'", ["make", "sort"]), ("make é | sort", ["make", "sort"]),
        ("'a b' x", []), ("é x", []), ("a^b", []),
    ],
)  # fmt: skip
def test_only_a_plain_word_is_a_program(command: str, expected: list[str]) -> None:
    assert programs.named(command) == expected
