"""What lint says of generated plan sets stays as it was, unless somebody means to change it.

The laws of tests/property judge whether it is true; this notices that it is another. `python -m tests.support.generated
WAY SEED` shows a set that differs.
"""

from __future__ import annotations

import pytest

from tests.support import generated
from tests.support.golden import FOLDER, check, updating

BLOCK, BLOCKS, QUICK = 40, 6, 1
PARTS = [
    pytest.param(way, block, marks=() if block < QUICK else pytest.mark.long)
    for way in generated.WAYS
    for block in range(BLOCKS)
]


@pytest.mark.parametrize(("way", "block"), PARTS)
def test_what_is_said_of_a_generated_set_is_as_it_was(way: str, block: int) -> None:
    seeds = range(block * BLOCK, (block + 1) * BLOCK)
    check(
        f"generated/{way}-{block}.txt",
        "".join(f"{generated.line(way, seed)}\n" for seed in seeds),
    )


def test_there_is_a_line_for_each_set() -> None:
    if not updating():
        kept = {path.name for path in (FOLDER / "generated").iterdir()}
        assert kept == {f"{way}-{block}.txt" for way in generated.WAYS for block in range(BLOCKS)}
