"""Regular expressions that plans write: Python's."""

from __future__ import annotations

import re
import warnings

_MARKS = re.compile(r"[\\*+?{\[()]")
"""The characters without which nothing can be wrong with a pattern."""


def no_pattern(text: str) -> str | None:
    """Why a text is no regular expression; None where it is one."""
    if _MARKS.search(text) is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as wrong:
        return str(wrong)
    return None
