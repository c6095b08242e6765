"""Most patterns that plans write are words: those are not compiled to see that they are patterns."""

from __future__ import annotations

import re
import warnings
from random import Random

from fdc_toolchain.text.patterns import _MARKS, no_pattern

ALPHABET = "ab1 .^$|]}-,:!=<>P#&~\n\\*+?{[()"


def test_a_text_is_a_pattern_where_it_compiles() -> None:
    rng = Random(5)
    seen = set()
    for _ in range(20_000):
        text = "".join(rng.choices(ALPHABET, k=rng.randrange(6)))
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # `[[` and its like may mean something else one day
            try:
                re.compile(text)
                wrong = None
            except re.error as failed:
                wrong = str(failed)
            assert no_pattern(text) == wrong, text
        seen.add((_MARKS.search(text) is None, wrong is None))
    assert seen == {(True, True), (False, True), (False, False)}
