"""What a text is for: licences and change logs have the words of every question, and the answer to few."""

from __future__ import annotations

import re

from fdc_toolchain.api.files import Document

WEIGHT = {"licence": 0.25, "changelog": 0.6, "text": 1.0}
"""What a sentence of each kind is worth to a question that is about something else."""

_ABOUT = {
    "licence": frozenset(
        "license licence licensed licensing copyright warranty redistribute redistribution liability rights permission legal"
        " commercial trademark".split()
    ),
    "changelog": frozenset(
        "changelog changed change changes version release released news new added removed".split()
    ),
}

_LICENCE_NAME = re.compile(
    r"(?:^|/)(?:licen[cs]e|copying|copyright|notice)s?(?:[-._][^/]*)?$|(?:^|/)licen[cs]es/",
    re.IGNORECASE,
)
_LICENCE_TEXT = ("permission is hereby granted", "general public license", "redistribution and use in source",
                 "apache license", "without warranty of any kind", "warranties of merchantability")  # fmt: skip
_CHANGES_NAME = re.compile(
    r"(?:^|/)(?:change(?:s|log)?|news|history|release[-_]?notes?|relnotes|upgrading|whats[-_]?new|releases?(?=/)|release[-_]v?\d)"
    r"(?:[-._/\d][^/]*)?(?:/|$)",
    re.IGNORECASE,
)
_CHANGES_HEAD = re.compile(
    r"^(?:change ?log|changes\b|changed in\b|history$|release (?:notes|history)|what[’']?s (?:new|changed))"
    r"|^(?:[\w-]+\s+)?\[?v?\d+\.\d+[\w.]*\]?\s*(?:$|[-–—(,].*\d.*$)",
    re.IGNORECASE,
)
_LICENCE_HEAD = re.compile(r"^(?:the )?(?:[\w-]+ )?(?:licen[cs]es?|copyright)\b", re.IGNORECASE)


def kind_of(document: Document) -> str:
    """`licence`, `changelog` or `text`: the first two answer questions about themselves only."""
    if _LICENCE_NAME.search(document.path):
        return "licence"
    if _CHANGES_NAME.search(document.path):
        return "changelog"
    head = " ".join(" ".join(document.lines[:60]).split()).lower()
    return "licence" if sum(phrase in head for phrase in _LICENCE_TEXT) >= 2 else "text"


def section_kind(document_kind: str, path: tuple[str, ...]) -> str:
    """The kind of one section: a change log or licence inside of a document counts as one too."""
    if document_kind == "text":
        if any(_CHANGES_HEAD.match(heading) for heading in path):
            return "changelog"
        if path and _LICENCE_HEAD.match(path[-1]):
            return "licence"
    return document_kind


def asks_about(kind: str, asked: set[str]) -> bool:
    """True where the question's own words are about licences (or changes) themselves."""
    return bool(asked & _ABOUT.get(kind, frozenset()))
