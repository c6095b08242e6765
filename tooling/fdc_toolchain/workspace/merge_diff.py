"""SEARCH and REPLACE sections (`text.merge_diff`) as a tool applies them: what does not fit fails the step."""

from __future__ import annotations

from ..text import merge_diff
from ..text.merge_diff import CLOSE as CLOSE
from ..text.merge_diff import MIDDLE as MIDDLE
from ..text.merge_diff import OPEN as OPEN
from ..text.merge_diff import NoMerge, Section
from .failure import ToolFailure


def sections(diff: str) -> list[Section]:
    """The sections of a diff. Raises ToolFailure for anything that is not one."""
    try:
        return merge_diff.sections(diff)
    except NoMerge as wrong:
        raise ToolFailure("diff", str(wrong)) from None


def apply(text: str, diff: str) -> tuple[str, int]:
    """The text with every section replaced, and how many there were. Raises ToolFailure; nothing is half done."""
    try:
        return merge_diff.apply(text, diff)
    except NoMerge as wrong:
        raise ToolFailure("diff", str(wrong)) from None
