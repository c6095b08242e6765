"""Regular expressions that plans write: Python's."""

from __future__ import annotations

import re
import warnings


def no_pattern(text: str) -> str | None:
    """Why a text is no regular expression; None where it is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as wrong:
        return str(wrong)
    return None
