"""Checks regular expressions in plans (Python's syntax)."""

from __future__ import annotations

import _thread
import re

_MARKS = re.compile(r"[\\*+?{\[()]")
"""Special characters: a pattern without them is always valid."""

_FILTERS = _thread.allocate_lock()
"""Held while the filters of warnings are changed, which is not safe in several threads."""


def no_pattern(text: str) -> str | None:
    """Why a text is not a regular expression; None where it is one."""
    if _MARKS.search(text) is None:
        return None
    import warnings

    try:
        with _FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as wrong:
        return str(wrong)
    return None
