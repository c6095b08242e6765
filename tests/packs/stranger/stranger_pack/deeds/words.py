"""Small tools for text."""

import re


def slug(title: str) -> str:
    """A file name made of a title."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60] or "untitled"
