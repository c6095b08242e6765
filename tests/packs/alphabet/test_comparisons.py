"""An alphabet beside other inventories: what matches is counted, and what is said of it is true."""

from __future__ import annotations

import pytest
from fdc_packs.alphabet.drawing.comparisons import INVENTORIES, comparison, comparisons
from fdc_packs.alphabet.model import EMPTY
from fdc_packs.alphabet.wordlists import ARISTOTLE, LEIPZIG_JAKARTA, NSM, WORDNET_TOP

from tests.support.alphabets import alphabet


def test_the_inventories_have_their_published_sizes() -> None:
    """ALPH-85: 65 primes, ten categories, 25 unique beginners; no item is there twice."""
    assert (65, 10, 25) == (len(NSM), len(ARISTOTLE), len(WORDNET_TOP))
    for inventory in INVENTORIES:
        assert len(inventory.entries) == len({item for item, _, _ in inventory.entries})
    assert {"fire", "water", "salt"} <= LEIPZIG_JAKARTA


def test_matches_are_exact_partial_or_none() -> None:
    """ALPH-85: `thing` is a prime, `possess` is near one, `unicorn` is nothing there."""
    nsm = INVENTORIES[0]
    found = comparison(alphabet("thing", "possess", "unicorn", "big"), nsm)
    rows = {row["item"]: (row["match"], row["primitives"]) for row in found["matches"]}
    assert ("exact", ["thing"]) == rows["SOMETHING~THING"]
    assert ("partial", ["possess"]) == rows["(IS) MINE"]
    assert ("exact", ["big"]) == rows["BIG"] and ("none", []) == rows["IF"]
    assert (65, 2, 1, 62, ["unicorn"]) == tuple(
        found[key] for key in ("items", "exact", "partial", "none", "unmatched")
    )


@pytest.mark.parametrize("labels", [(), ("time", "quantity", "thing")])
def test_the_files_say_the_numbers_and_their_limits(labels: tuple[str, ...]) -> None:
    """ALPH-85: the seed's four files; a row for each item; an honest word about WordNet and Cyc."""
    some = alphabet(*labels) if labels else EMPTY
    files = comparisons(some)
    assert {"vs_nsm_primes.md", "vs_aristotle.md", "vs_wordnet.md", "vs_cyc.md"} == set(files)
    for inventory in INVENTORIES:
        text = files[inventory.file]
        assert len(inventory.entries) == text.count("\n| ") - 1
        assert (
            f"Of {len(inventory.entries)} items {comparison(some, inventory)['exact']} have an exact match"
            in text
        )
    assert "not independent" in files["vs_wordnet.md"] and "not public" in files["vs_cyc.md"]
