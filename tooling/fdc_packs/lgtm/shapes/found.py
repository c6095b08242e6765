"""What searches find, and how it becomes knowledge. A confidence is a number from 0 to 1."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from .artifacts import KnowledgeEntry


class Find(TypedDict):
    """A row of what a search found.

    `source` is where it stands (`PATH:LINE`, or an address), `line` counts from 1, `snippet` are the lines around it with their
    numbers, `home` is the definition that it is part of (`PATH:LINE`), `score` orders the rows of one search.
    """

    source: str
    path: str
    line: int
    quote: str
    note: str
    title: str
    kind: str
    subject: str
    home: str
    score: float
    confidence: float
    snippet: str
    test: NotRequired[bool]


class Found(TypedDict):
    """What a search gave: the rows that are shown, how many there are, and which tool found them.

    `of`: how many it chose from. `warn`: what a reader must know of it. `words`: those of the queries that files have.
    """

    rows: list[Find]
    count: int
    tool: str
    of: NotRequired[int]
    warn: NotRequired[str]
    words: NotRequired[list[str]]


class Stub(TypedDict):
    """A find that becomes knowledge: it has a source and a quotation. `entryPath` is the file that it gets."""

    entryID: str
    entryPath: str
    source: str
    quote: str
    note: NotRequired[str]
    title: NotRequired[str]
    kind: NotRequired[str]
    subject: NotRequired[str]
    confidence: NotRequired[float]
    snippet: NotRequired[str]


class Stubs(TypedDict):
    """What of a search becomes knowledge. `dropped`: rows without a source; `told`: what the search warned of."""

    stubs: list[Stub]
    dropped: int
    warn: str
    count: int
    told: str


class WrittenEntry(TypedDict):
    """A find as knowledge: the text of its file, and how the worldview has it."""

    ok: bool
    path: str
    text: str
    entry: KnowledgeEntry
    stub: Stub


class Shown(TypedDict):
    """The evidence that a judge is shown, and the ids in it. `left`: how many entries are shown without their lines."""

    text: str
    ids: list[str]
    count: int
    left: int


class Looked(TypedDict):
    """What all turns of an agent brought together, rows as they came, and what they warned of. `tool` is empty."""

    rows: list[dict[str, object]]
    count: int
    tool: str
    warns: list[str]


class TargetQueries(TypedDict):
    """The queries of a challenge, by target and all together, and the call that they recommend."""

    by_target: dict[str, list[str]]
    queries: list[str]
    count: int
    warn: str
    tool: str
    args: dict[str, list[str]]
