"""A question in natural language as concepts: what to look for, under which names, and what no one wrote.

No part of the question can become query syntax: only letters and digits are kept, and every
term is looked up in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..outline.sentences import WIDE
from .stems import spread, stem
from .stop_words import ASKING, EMPTY, STOP, alike, forms, respelt

MAX_QUESTION = 20_000
"""Characters of a question that are read; the rest is material, not a question."""
MAX_CONCEPTS = 32
ALIKE_WEIGHT = 0.45
PART_WEIGHT = 0.5
FORM_WEIGHT = 0.9
FADED = 0.5
"""What a verb by which a question asks (`decided`, `kept`) is worth, of what its rarity says."""
FAINT = 0.25
"""What a word that hardly tells anything (`same`, `another`) is worth, of what its rarity says."""

_PARTICLES = frozenset("again back down in off on out over up".split())
"""Words that make one verb with the word before them, which code writes as one: `times out`, `set up`, `tried again`."""
_TOKEN = re.compile(r"\w+(?:[-_./:]\w+)*")
_PART = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"[\"“`]([^\"”`\n]{1,80})[\"”`]")
_NAMED = re.compile(
    r"\b(\w+)\s+(statements?|keywords?|clauses?|operators?|loops?|commands?)\b", re.IGNORECASE
)
_WRITTEN = re.compile(
    r"`([A-Za-z_$][\w$.]*)`|\b([A-Za-z_$]\w*(?:\.\w+)+|\w*[a-z0-9]_[a-z]\w*|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b"
)
_POINTS = frozenset(
    "a an the this that these those which what each any no some my your his her its our their same such other another every one "
    "more most many few own all both either neither these only is are of in do does can".split()
)


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing the question asks about. `variants` are (words to look for, weight), its own name first."""

    word: str
    variants: tuple[tuple[str, float], ...]
    phrase: bool = False
    weight: float = 1.0


def written_names(text: str) -> list[str]:
    """The names that a question writes as code writes them.

    >>> written_names('Does `pour` of TeaPot call brew_tea or os.path.join?')
    ['pour', 'TeaPot', 'brew_tea', 'os.path.join']
    """
    return list(dict.fromkeys(first or second for first, second in _WRITTEN.findall(text)))


def is_written_large(word: str, question: str) -> bool:
    """Whether a word is written in capitals, and the question is not: then it is a name, although English has the word.

    >>> [is_written_large(word, "What is ANY for?") for word in ("What", "ANY", "for")]
    [False, True, False]
    """
    return word.isupper() and len(word) > 1 and not question.isupper()


def terms(text: str) -> list[str]:
    """The words of a text as the index cuts them (before stemming), lower case."""
    return [found.group().lower() for found in _PART.finditer(spread(text))]


def concepts_of(question: str) -> list[Concept]:
    """Quoted phrases, identifiers, then single words; never stop words, unless there is nothing else.

    >>> [concept.word for concept in concepts_of('What does `call_plan` do when the registry is damaged?')]
    ['call plan', 'registry', 'damaged']
    """
    question = question[:MAX_QUESTION]
    out: dict[str, Concept] = {}
    for phrase in _QUOTED.findall(question):
        _add(out, terms(phrase), True)
    for word, noun in _NAMED.findall(question):
        if (
            word.lower() in STOP and word.lower() not in _POINTS
        ):  # the `with` statement, the `for` loop
            _add(out, terms(f"{word} {noun}"), True)
    quoted = set(out)
    words = _TOKEN.findall(re.sub("[" + WIDE + "]", " ", question))
    asking = [
        word
        for word in words
        if is_written_large(word, question)
        or (len(word) == 1 and word.isalpha() and word.lower() not in STOP)
        or not all(part.lower() in STOP or len(part) < 2 for part in _PART.findall(word))
    ]
    if not asking and not quoted:  # `what is x`, `how does it work`
        asking = [word for word in words if word.lower() not in EMPTY]
    joined = {one: _joined(one, after.lower()) for one, after in zip(words, words[1:])}
    for word in asking or ([] if quoted else words):
        parts = terms(word)
        if not any(" ".join(parts) in f"{phrase} " for phrase in quoted):
            _add(out, parts, False, joined.get(word, ()))
    for run in re.findall("[" + WIDE + "]+", question):
        for at in range(max(1, len(run) - 1)):
            _add(out, list(run[at : at + 2]), True)
    return list(out.values())[: 8 * MAX_CONCEPTS]


def faint(question: str, known: Sequence[Concept]) -> list[Concept]:
    """The words of a question that tell a little, where those that tell more are `known` already.

    >>> [concept.word for concept in faint('How do I get the same numbers in every run?', concepts_of('numbers run'))]
    ['get', 'same', 'every']
    """
    have = {part for concept in known for part in concept.word.split()}
    words = [
        word
        for word in terms(question[:MAX_QUESTION])
        if word in STOP and word not in EMPTY and len(word) > 2
    ]
    return [
        Concept(word, ((word, 1.0),), weight=FAINT)
        for word in dict.fromkeys(words)
        if word not in have
    ][:MAX_CONCEPTS]


def _joined(word: str, after: str) -> tuple[str, ...]:
    """The names in code of a verb of two words.

    >>> _joined("times", "out"), _joined("shutting", "down"), _joined("tried", "again"), _joined("times", "the")
    (('timesout', 'timeout'), ('shuttingdown', 'shutdown'), ('retried', 'retry'), ())
    """
    if after not in _PARTICLES:
        return ()
    bases = [word.lower(), re.sub("i$", "y", stem(word.lower())), *forms(word.lower())]
    made = [f"re{one}" if after == "again" else f"{one}{after}" for one in bases]
    return tuple(dict.fromkeys(made))


def _add(
    out: dict[str, Concept], parts: list[str], phrase: bool, joined: tuple[str, ...] = ()
) -> None:
    if not parts:
        return
    name = " ".join(parts)
    variants = [(name, 1.0)]
    if len(parts) == 1:
        if name.endswith("ly") and len(name) > 5:  # the stemmer keeps adverbs apart
            variants.append((name[:-2], 0.9))
        variants += [(other, FORM_WEIGHT) for other in (*forms(name), *joined)]
        other_side = respelt(name)
        if other_side is not None:
            variants.append((other_side, 0.95))
        variants += [(other, ALIKE_WEIGHT) for other in alike(name)]
    else:
        variants += [(part, PART_WEIGHT) for part in parts if part not in STOP and len(part) > 1]
    weight = FADED if name in ASKING else 1.0
    out.setdefault(name, Concept(name, tuple(variants), phrase or len(parts) > 1, weight))
