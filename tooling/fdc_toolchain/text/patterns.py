"""Regular expressions that plans write: Python's."""

from __future__ import annotations

import re
import threading
import warnings

_MARKS = re.compile(r"[\\*+?{\[()]")
"""The characters without which nothing can be wrong with a pattern."""

_FILTERS = threading.Lock()
"""Two threads that change the filters of warnings at once may leave them changed."""


def no_pattern(text: str) -> str | None:
    """Why a text is not a regular expression; None where it is one."""
    if _MARKS.search(text) is None:
        return None
    try:
        with _FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as wrong:
        return str(wrong)
    return None
