"""WordNet is read once for all workers, whose first tests would each read it for themselves: ten seconds of a processor."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
from fdc_packs.alphabet.lexicon import wordnet
from fdc_packs.alphabet.lexicon.lexicon import CACHE, Lexicon


@pytest.fixture(scope="session", autouse=True)
def dictionary(session_cache: Path) -> None:
    """The first worker puts the words and their grounding set into the cache of this run; the others wait for it."""
    folder = wordnet.find(str(session_cache))
    with open(session_cache / "dictionary.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder is not None and not (session_cache / CACHE).exists():
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("FDC_CACHE_DIR", str(session_cache))
                assert Lexicon(wordnet.table(folder)).beginners.members
