"""Text in packs: what a terminal may show, names, suggestions, comparisons."""

from __future__ import annotations

from ..narrow import narrow
from ..report.diff import unified
from ..report.terminal.terminal_text import cut, visible
from ..syntax.values import escape
from ..text.file_name import slug
from ..text.glob_match import matches
from ..text.suggest import did_you_mean, distance

__all__ = ["cut", "did_you_mean", "distance", "escape", "matches", "narrow", "slug", "unified", "visible"]  # fmt: skip
