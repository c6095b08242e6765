"""Words inside of names: the parts of a name, and where a word ends that begins inside of one."""

from __future__ import annotations

import re

PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def whole(name: str) -> re.Pattern[str]:
    """Where a name, of which the last part counts, stands as a word of its own."""
    return re.compile(rf"(?<![\w$]){re.escape(name.rpartition('.')[2])}(?![\w$])")


def ends(text: str, at: int, length: int) -> int:
    """Where the word ends that has its beginning here; 0 where no word begins here."""
    before = text[at - 1] if at else " "
    first = text[at]
    if before.isalpha():
        following = text[at + 1 : at + 2]
        if not (first.isupper() and (before.islower() or following.islower())):
            return 0
    end = at + length
    size = len(text)
    if text[at:end].isupper() and length > 1:
        while end < size and text[end].isupper():
            end += 1
        return end
    while end < size and text[end].islower():
        end += 1
    return end
