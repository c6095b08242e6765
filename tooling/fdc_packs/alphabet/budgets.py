"""How much a role is told: the budgets of the parts of its context, in tokens (ALPH-57)."""

from __future__ import annotations

import os
from functools import lru_cache

from .schemas import DATA

BUDGETS = {"fixed": 10_000, "alphabet": 20_000, "reasoning": 30_000, "dictionary": 10_000}
TASK_BUDGET = 40_000
CHARACTERS = 4
"""Of a token, on the average."""
_MARKS = 30
"""Tokens around a text that is marked as data."""


def tokens(text: str) -> int:
    """How many tokens a text is taken for."""
    return -(-len(text) // CHARACTERS)


@lru_cache(maxsize=8)
def instructions(role: str) -> int:
    """The tokens of a role's prompt itself, before anything is filled in, and of the marks around what is."""
    with open(os.path.join(DATA, f"{role}.jinja"), encoding="utf-8") as file:
        text = file.read()
    return tokens(text) + _MARKS * text.count("| data")
