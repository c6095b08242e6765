"""A small dictionary to test with: words, each with the words of its definition."""

from __future__ import annotations

from typing import Any

from fdc_packs.alphabet.lexicon.lexicon import Lexicon
from fdc_packs.alphabet.lexicon.wordnet import Table, Word


def lexicon(definitions: dict[str, str], **more: dict[str, Any]) -> Lexicon:
    """Words with definitions of one another (words that are not defined are left out), all of them well known; keywords by
    label say more of each. A word stands in as many definitions as it does here, times ten."""
    labels = list(definitions)
    used = {
        label: 10 * sum(label in text.split() for text in definitions.values()) for label in labels
    }
    words = []
    for label, text in definitions.items():
        fields: dict[str, Any] = {
            "pos": "noun", "sense": 1, "lexname": "noun.state", "gloss": text, "examples": (), "met": 50, "used": used[label],
            "senses": 1, "share": 1.0, "contexts": (("noun.state", 50),), "synonyms": (), "antonyms": (), "hypernyms": (),
            "hyponyms": (), "parts": (), "regions": (), "family": (),
            "uses": tuple(dict.fromkeys(labels.index(one) for one in text.split() if one in definitions)),
        }  # fmt: skip
        words.append(Word(**{"label": label, **fields, **more.get(label, {})}))
    return Lexicon(Table("a dictionary of the tests", len(words), tuple(words)))
