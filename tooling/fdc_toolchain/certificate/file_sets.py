"""The part of the checker that finds which files an argument may name. It imports nothing of fdc.

Files are known by how their paths begin and end: `(path,)` is one file, `(begin, end)` all that begin and end so.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .forms import Template

Files = tuple[str, ...]

RUN = "runs/\1/"
"""Stands for the folder of this run, with any name. Another path below `runs/` may lie in it."""

HIDDEN = RUN + "outside/"
"""Files below this folder are hidden from commands."""

ANY: Files = ("", "")
SEEN: Files = ("\2", "")
"""All files that a command sees."""

HOLE = "\0"


def text_of(template: Template) -> str:
    """A template as text, with marks for the values in it. Raises ValueError where its own text has such marks."""
    if any(
        mark in part
        for part in template
        if isinstance(part, str)
        for mark in (HOLE, RUN[-2], SEEN[0])
    ):
        raise ValueError("a text with control characters")
    return "".join(
        part if isinstance(part, str) else RUN[:-1] if part["ref"] == ["run"] else HOLE
        for part in template
    )


@cache
def files_of(text: str) -> Files:
    """The files that an argument may name."""
    text = text[:1] + text[1:].replace(RUN[:-1], HOLE)
    if not re.search(r"[\0*?\[]", text):
        path = posixpath.normpath(text)
        if path.startswith("runs/") and not path.startswith(RUN):
            return ("runs/", "/" + path.split("/", 2)[2] if path.count("/") > 1 else "")
        return (path,)
    if ".." in text or "//" in text or "./" in text:
        return ANY
    begin, end = re.split(r"[\0*?\[]", text)[0], re.split(r"[\0*?\]]", text)[-1]
    begin, end = (
        re.sub(r"(^|/)\.$", r"\1", begin),
        re.sub(r"^\.?(/\.?)*$|(/\.?)+$", "", end),
    )  # a `.` alone is not a name
    return ("runs/" if begin.startswith("runs/") and not begin.startswith(RUN[:-1]) else begin, end)


def below(text: str) -> Files:
    """The files that a folder or a glob may name, with those below."""
    begin = files_of(text)[0]
    return ("" if begin == "." else begin, "")


def hidden(files: Files) -> bool:
    """Whether no command sees any of them."""
    return files[0].startswith(HIDDEN)


def lasting(files: Files) -> bool:
    """Whether some of them outlive the run."""
    return not files[0].startswith(RUN)


@cache
def apart(left: Files, right: Files) -> bool:
    """Whether two arguments never name the same file: one of them is hidden, or they begin or end differently."""
    if SEEN in (left, right):
        return hidden(left) or hidden(right)
    if len(left) == len(right) == 1:
        return left != right
    begins = left[0].startswith(right[0]) or right[0].startswith(left[0])
    return not (begins and (left[-1].endswith(right[-1]) or right[-1].endswith(left[-1])))
