"""What tokens cost: a table that is data (`grammar/model_prices.json`)."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from ... import resources

PRICES = "grammar/model_prices.json"


def price(model: str, used: Mapping[str, int]) -> float | None:
    """US dollars for tokens by kind (`input`, `output`, `cache_read`, `cache_write`); None for a model that is not listed."""
    table = _table()
    row = table["models"].get(model)
    if row is None:
        return None
    rates = {
        "input": row["input"], "output": row["output"],
        "cache_read": row["input"] * table["cache_read"], "cache_write": row["input"] * table["cache_write"],
    }  # fmt: skip
    return round(sum(rates[kind] * number for kind, number in used.items()) / 1e6, 9)


def most(model: str, tokens: float) -> float | None:
    """The maximum cost of a number of tokens of any kind; None for an unlisted model."""
    row = _table()["models"].get(model)
    return (
        None
        if row is None
        else max(row["output"], row["input"] * _table()["cache_write"]) * tokens / 1e6
    )


@functools.cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resources.read(PRICES))
    return found
