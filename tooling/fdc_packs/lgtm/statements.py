"""Words and names of statements. Pure."""

from __future__ import annotations

import re

from fdc_packs.research.retrieval.stems import stem
from fdc_packs.research.retrieval.stop_words import STOP, forms

_WORD = re.compile(r"[A-Za-z][A-Za-z]{2,}")
NEGATION = re.compile(
    r"\b(?:not?|never|cannot|can't|doesn't|don't|isn't|won't|without|nothing|neither|nor|fails? to|refuses?)\b",
    re.IGNORECASE,
)
OBSOLETE = re.compile(
    r"\b(?:deprecated|obsolete|removed in|superseded|no longer|unsupported|not implemented|unmaintained)\b",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\.(?:py|pyi|md|rst|txt|js|ts|tsx|go|rs|java|c|h|toml|json|ya?ml|cfg|ini|plan|html|css|sh)$"
)

_NAME = re.compile(
    r"(?<![\w/.`])((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*(?=[\s,;:()`'\"]|\.?$|\.\s)|_?[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+|"
    r"[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
)


def content(text: str) -> frozenset[str]:
    """The stems of the words that tell something; irregular forms of one verb have one."""
    parts = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    return frozenset(stem_of(word) for word in _WORD.findall(parts) if word not in STOP)


def stem_of(word: str) -> str:
    """The stem of a word, or of the verb that it is an irregular form of."""
    return stem(min([word, *forms(word)]))


def plain_words(text: str) -> list[str]:
    """The words of a text as it has them, without marks."""
    return [word.strip(".,;:!?()\"'") for word in text.replace("`", " ").split()]


def words_missing(question: str, told: str) -> list[str]:
    """The words of a question, as it has them, that a text does not have."""
    wanted = content(question) - content(told)
    return [
        word for word in dict.fromkeys(plain_words(question)) if stem_of(word.lower()) in wanted
    ]


def names(text: str) -> list[str]:
    """The names in backticks that code could define, in order, each once."""
    found = re.findall(r"`([A-Za-z_][\w.]*)(?:\(\))?`", text)
    return list(dict.fromkeys(one for one in found if not _FILE.search(one)))


def identifiers(text: str) -> list[str]:
    """The names in a text that code could define, in backticks or by their form (`a_b`, `aB`, `a.b`, `a()`), each once."""
    plain = [
        one for one in _NAME.findall(re.sub(r"[\w./-]+:\d+", " ", text)) if not _FILE.search(one)
    ]
    return list(dict.fromkeys([*names(text), *plain]))
