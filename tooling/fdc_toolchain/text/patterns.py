"""Checks regular expressions in plans (Python's syntax)."""

from __future__ import annotations

import re
import threading
import warnings

_MARKS = re.compile(r"[\\*+?{\[()]")
"""Special characters: a pattern without them is always valid."""

_FILTERS = threading.Lock()
"""Held while the filters of warnings are changed, which is not safe in several threads."""


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
