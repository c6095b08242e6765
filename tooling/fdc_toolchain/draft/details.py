"""Details of single steps in a task: a message, a question to a person, lines of a file, what a command tells about files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ..named_tuples import NamedTuple

MESSAGE = re.compile(
    r"\b(?:message:?|commit(?:\s+(?:all|everything|it|that|the\s+changes?|them|this|with))*:?)\s+"
    r"(?![\"“]\S+\.\w+[\"”])(?:\"([^\"\n]+)\"|“([^”\n]+)”)",
    re.IGNORECASE,
)
"""The message of a commit; a quotation that names a file is none."""
APPROVED = re.compile(
    r"\b(?:ask|wait|get)\b(?=[^.,;]*\b(?:approval|permission|confirmation)\b)|\bask(?=\s+(?:me|us|them|the\s+user)\s+(?:first|before)\b)"
    r"|\b(?:approval|permission|confirmation)\b"
)
"""A person has to agree."""
FIRST = re.compile(r"ask\s+(?:me|us|them|the\s+user)\s+first\b")
"""Before anything else."""
_QUESTION = re.compile(
    r"\bask (?:me|us|them|the user) (?:for|about) ((?:(?!\band\b|\bthen\b)[^.,;?!])+)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\blines? (\d+)(?:\s*(?:-|–|to|until|through)\s*(\d+))?\b|\bfirst (\d+) lines\b"
)
_MEASURED = re.compile(
    r"\b(?:count|how many|(?:the )?number of)(?: the| of| number| all)* (lines|words|characters|bytes)\b"
)
_MEASURES = {"lines": "wc -l", "words": "wc -w", "characters": "wc -m", "bytes": "wc -c"}
_DIFFER = re.compile(r"\b(?:diff|differences?|differs?)\b")


class Answering(NamedTuple):
    """A question about files, and the command that answers it."""

    start: int
    end: int
    command: str


def message(text: str) -> tuple[str, tuple[int, int]] | None:
    """The message that a task gives between quotes, and its place."""
    found = MESSAGE.search(text)
    return found and (found[1] or found[2], found.span(1 if found[1] else 2))


def question(bare: str, text: str) -> str:
    """What a person is to be asked for, as a question; empty where the task has none. `bare`: the text without names."""
    found = _QUESTION.search(bare)
    what = text[found.start(1) : found.end(1)].strip() if found else ""
    return f"{what[:1].upper()}{what[1:]}?" if what else ""


def span(plain: str) -> tuple[str, str] | None:
    """The first and the last line that a task wants to see."""
    found = _SPAN.search(plain)
    if found is None:
        return None
    return ("1", found[3]) if found[3] else (found[1], found[2] or found[1])


def answering(plain: str, files: Sequence[str]) -> Answering | None:
    """The command for how much files have of something, or for how two files differ; None where none is asked for."""
    measured, differ = _MEASURED.search(plain), _DIFFER.search(plain)
    if measured is not None and files:
        found, command = measured, _MEASURES[measured[1]]
    elif differ is not None and len(files) == 2:
        found, command = differ, "diff -u"
    else:
        return None
    return Answering(found.start(), found.end(), f"{command} {shlex.join(files)}")
