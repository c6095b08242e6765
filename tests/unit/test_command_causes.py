"""The groups of what commands are assumed to leave alone, put together row by row, are those of the definition."""

from __future__ import annotations

from fdc_toolchain.rules.solver.files.command_causes import _Rows
from hypothesis import given
from hypothesis import strategies as st

SETS = st.integers(0, 127)
ROWS = st.lists(st.tuples(SETS, st.sets(st.integers(0, 2))), min_size=1, max_size=5)


@given(rows=ROWS, wanted=SETS)
def test_what_rows_have_is_told_for_each_wanted_number(
    rows: list[tuple[int, set[int]]], wanted: int
) -> None:
    table = _Rows([(causes, [at]) for at, (causes, _) in enumerate(rows)])
    expected = []
    for number in range(7):
        having = set().union(*(names for causes, names in rows if causes >> number & 1))
        if wanted >> number & 1 and having:
            expected.append((number, sum(1 << name for name in having)))
    assert list(table.joined(wanted, [names for _, names in rows])) == expected


def test_a_wanted_number_between_others_is_not_filled_in() -> None:
    assert list(_Rows([(0b1001, [0])]).joined(0b101, [{2}])) == [(0, 4)]
