"""The tool that ALPHABETUM's embedded proposer and critic consult: WordNet's words, with what its graph says of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from fdc_toolchain.api.text import narrow
from fdc_toolchain.api.tools import Context

from ..budgets import BUDGETS, CHARACTERS, tokens
from ..yamltext import dump
from . import wordnet
from .lexicon import Ground, Lexicon
from .strategies import STRATEGIES, Quest, domain_of, evidence, shortlist

MOST_ROWS = 80
NOTHING: dict[str, Any] = {"source": "", "rows": [], "shown": "", "tokens": 0}
_MORE = 4
"""So many words are handed on for each candidate that is asked for."""


def consult_lexicon(args: dict[str, object], context: Context) -> dict[str, object]:
    """Rows of the dictionary for a proposer (the shortlist of its strategy) or a critic (its candidates).

    `task`: role, strategy, count, primitives, taken, gaps, domains, priorities, candidates, words; each may be missing.
    Gives source, rows (each with `evidence`), `shown`: what a model is told of them, in its budget, with its `tokens`, and
    missing: one sentence where no dictionary exists, or none that can be read, and then no rows.
    Raises ValueError for a strategy that does not exist (ALPH-06, 09, 11).
    """
    task = narrow(args.get("task") or {}, dict)
    try:
        return consult(lexicon_of(str(context.root.path)), task)
    except LookupError as missing:
        return {**NOTHING, "missing": str(missing.args[0])}


def lexicon_of(root: str) -> Lexicon:
    """The dictionary that a folder is worked on with. Raises LookupError with one sentence where none can be read."""
    folder = wordnet.find(root)
    if folder is None:
        raise LookupError(wordnet.MISSING)
    try:
        return _lexicon(folder)
    except (OSError, ValueError) as broken:
        why = f"the dictionary cannot be read: {broken}; {wordnet.COMMAND} brings one"
        raise LookupError(why) from broken


@lru_cache(maxsize=2)
def _lexicon(folder: str) -> Lexicon:
    return Lexicon(wordnet.table(folder))


def consult(lexicon: Lexicon, task: dict[str, object]) -> dict[str, object]:
    """The same with the dictionary at hand; pure."""
    members = lexicon.places(_labels(task.get("primitives")))
    ground = Ground(lexicon, members)
    rows = []
    if task.get("role") == "proposer":
        name = str(task.get("strategy") or "DOMAIN_SWEEP")
        if name not in STRATEGIES:
            raise ValueError(
                f"the strategy `{name}` does not exist; there are {', '.join(STRATEGIES)}"
            )
        quest = Quest(
            lexicon, ground, frozenset(label.lower() for label in _labels(task.get("taken"))), _wanted(task),
            tuple(_labels(task.get("gaps"))), tuple(_labels(task.get("words"))),
        )  # fmt: skip
        count = max(1, narrow(task.get("count") or 3, int)) * _MORE
        for found in shortlist(name, quest, min(count, MOST_ROWS)):
            rows.append({**_row(lexicon, ground, found.place), "why": found.why})
        again = lexicon.places(_labels(task.get("revise")))
        rows += [
            {**_row(lexicon, ground, place), "why": "asked for again"}
            for place in again
            if place not in members
        ]
    else:
        asked = lexicon.places([*_labels(task.get("candidates")), *_labels(task.get("words"))])
        rows = [_row(lexicon, ground, place) for place in asked]
    shown = _shown(rows[:MOST_ROWS])
    return {
        "source": lexicon.source, "rows": rows[:MOST_ROWS], "shown": shown, "tokens": tokens(shown), "missing": "",
    }  # fmt: skip


def _shown(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as a model is told of them: whole rows, as many as fit."""
    room = BUDGETS["dictionary"] * CHARACTERS - 200
    told: list[dict[str, Any]] = []
    for row in rows:
        seen = row["evidence"]
        one = {
            "word": row["label"], "pos": row["pos"], "definition": row["gloss"], "defined_with": row["words"],
            "in_definitions": row["uses"], "synonyms": row["synonyms"][:6], "antonyms": row["antonyms"][:4],
            "kinds_of": row["hypernyms"][:3], "leads_back": seen["knot"], "why": row.get("why", ""),
        }  # fmt: skip
        one = {key: value for key, value in one.items() if value}
        room -= len(dump([one]))
        if room < 0:
            break
        told.append(one)
    return dump({"words": told, "left_out": len(rows) - len(told)}) if told else ""


def said_with(root: str, members: Sequence[str], words: Sequence[str]) -> dict[str, object]:
    """How far a dictionary's definitions take words apart into members, each word by its first meaning there, with nothing else
    known: `words`, a row each with its `result` (`primitive`, `expressible`, `partial`, `inexpressible`, `unknown` to the
    dictionary), the `share` of its definition's words that members express, and those that are `missing`.

    Also `source`; `frequent`: how many of the words as many of the dictionary's most used words would express; `missing`: one
    sentence where no dictionary can be read, and then no words.
    """
    try:
        lexicon = lexicon_of(root)
    except LookupError as missing:
        return {"source": "", "words": [], "frequent": 0, "missing": str(missing.args[0])}
    ground = Ground(lexicon, lexicon.places(members))
    most_used = sorted(range(len(lexicon.words)), key=lambda place: (-lexicon.basic(place), place))[
        : len(members)
    ]
    frequent = Ground(lexicon, most_used)
    places = [lexicon.place(word) for word in words]
    return {
        "source": lexicon.source, "words": [_said(lexicon, ground, word) for word in words],
        "frequent": sum(place in frequent.grounded for place in places), "missing": "",
    }  # fmt: skip


def _said(lexicon: Lexicon, ground: Ground, word: str) -> dict[str, Any]:
    place = lexicon.place(word)
    if place is None:
        return {"word": word, "result": "unknown", "share": 0.0, "missing": []}
    if place in ground.grounded:
        kind = "primitive" if place in ground.members else "expressible"
        return {"word": word, "result": kind, "share": 1.0, "missing": []}
    share = ground.share(place)
    missing = lexicon.labels(one for one in lexicon.uses[place] if one not in ground.grounded)
    return {
        "word": word,
        "result": "partial" if share else "inexpressible",
        "share": round(share, 4),
        "missing": missing,
    }


def _labels(value: Any) -> list[str]:
    """Labels, whether they are given as texts or as rows that have one."""
    given = value if isinstance(value, list) else []
    return [str(one.get("label") if isinstance(one, dict) else one) for one in given]


def _wanted(task: dict[str, Any]) -> tuple[str, ...]:
    """The domains to look in: those of priority first, then those with the fewest primitives."""
    covered = task.get("domains")
    known = (
        {str(name): int(number) for name, number in covered.items()}
        if isinstance(covered, dict)
        else {}
    )
    for name in (
        "being",
        "space",
        "time",
        "causation",
        "mind",
        "matter",
        "quantity",
        "quality",
        "relation",
    ):
        known.setdefault(name, 0)
    few = sorted(known, key=lambda name: (known[name], list(known).index(name)))
    return tuple(dict.fromkeys([*_labels(task.get("priorities")), *few]))


def _row(lexicon: Lexicon, ground: Ground, place: int) -> dict[str, Any]:
    word = lexicon.words[place]
    return {
        "label": word.label, "pos": word.pos, "gloss": word.gloss, "domain": domain_of(word.label, word.lexname),
        "words": lexicon.labels(lexicon.uses[place]), "synonyms": list(word.synonyms), "antonyms": list(word.antonyms),
        "hypernyms": list(word.hypernyms), "uses": word.used, "senses": word.senses, "examples": list(word.examples),
        "evidence": evidence(lexicon, ground, place),
    }  # fmt: skip
