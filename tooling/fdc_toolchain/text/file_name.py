"""File names made from text."""

from __future__ import annotations

import hashlib
import re
import unicodedata


def slug(question: str) -> str:
    """A file name for a question: its words in ASCII, or a digest where it has none."""
    plain = (
        unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode("ascii").lower()
    )
    words = "-".join(re.findall(r"[a-z0-9]+", plain))[:60].strip("-")
    if words:
        return words
    return "question-" + hashlib.blake2b(question.encode(), digest_size=4).hexdigest()
