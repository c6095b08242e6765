"""Stems of words, as the index makes them: SQLite's own porter tokenizer, read back from its vocabulary."""

from __future__ import annotations

import re
import sqlite3
import threading
import weakref
from collections.abc import Sequence
from functools import lru_cache

from ..outline.sentences import WIDE

TOKENIZER = "porter unicode61 remove_diacritics 2"
_SPREAD = re.compile("([" + WIDE + "])")


def spread(text: str) -> str:
    """The text with spaces around the letters of scripts that write none, so that each is a token."""
    return _SPREAD.sub(r" \1 ", text) if not text.isascii() else text


class Stemmer:
    """Cuts texts into stems. Keeps one in-memory table; not for use from several threads at once."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._database.close)
        self._database.execute(
            f"CREATE VIRTUAL TABLE t USING fts5(body, content='', tokenize=\"{TOKENIZER}\")"
        )
        self._database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        """The stems of each text, in order."""
        out: list[list[str]] = [[] for _ in texts]
        self._database.execute("INSERT INTO t(t) VALUES ('delete-all')")
        rows = ((number, spread(text)) for number, text in enumerate(texts, 1))
        self._database.executemany("INSERT INTO t(rowid, body) VALUES (?, ?)", rows)
        found = self._database.execute("SELECT doc, offset, term FROM v").fetchall()
        found.sort()
        for number, _, stem in found:
            out[number - 1].append(stem)
        return out


_asking = threading.Lock()


@lru_cache(maxsize=1)
def _shared() -> Stemmer:
    return Stemmer()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of one word.

    >>> stem("reserves"), stem("Reserved")
    ('reserv', 'reserv')
    """
    with _asking:
        return next(iter(_shared()([word])[0]), word.lower())
