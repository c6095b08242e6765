"""The embedded PROPOSER (ALPH-06 to 11): candidates from what a dictionary's graph shows. Lexical work, and no model. Pure.

The words come from `consult_lexicon`, which looks for them with the strategy of the cycle; here they become candidates.
"""

from __future__ import annotations

import re
from typing import Any

from fdc_toolchain.api.text import narrow

from ..model import normal
from ..schemas import Context, Entries

NOTE = "This was computed from a dictionary's definitions; no model was used."
_TRADITIONS = {
    "DOMAIN_SWEEP": "lexicography: words of a field by the definitions that use them",
    "DECOMPOSITION_MINING": "lexicography: definitions followed until they go in a circle",
    "CROSS_REFERENCE": "lexicography: words that many decompositions share",
    "LINGUISTIC_ANALYSIS": "lexicography: words that resist paraphrase",
    "THOUGHT_EXPERIMENT": "lexicography: the smallest vocabulary that opens a dictionary",
    "GAP_FILLING": "lexicography: words that a validation lacked",
}


def propose(
    context: Context, lexicon: Entries, temperature: float = 0.0, wrong: object = ""
) -> dict[str, object]:
    """`context["count"]` candidates, the strategy's best first; candidates to revise come before new ones (ALPH-16).

    There may be fewer, where the strategy finds no more. Gives `proposer_output` with the keys of ALPH-07 and nothing else.
    Raises ValueError with one sentence where no dictionary exists. The temperature, and what was wrong with an earlier
    answer, change nothing: the same dictionary and alphabet give the same candidates.
    """
    if lexicon.get("missing"):
        raise ValueError(str(lexicon["missing"]))
    strategy = str(context.get("strategy") or "DOMAIN_SWEEP")
    count = int(context.get("count") or 3)
    rows = {normal(str(row["label"])): row for row in lexicon.get("rows") or ()}
    out = {normal(str(label)) for label in context.get("taken") or ()}
    out |= {normal(str(one["label"])) for one in context.get("primitives") or ()}
    found: dict[str, dict[str, Any]] = {}
    for earlier in context.get("revise") or ():
        label = normal(str(earlier.get("label", "")))
        if label in rows and len(found) < count:
            found[label] = _candidate(rows[label], strategy, revised=True)
            out.add(label)
    for label, row in rows.items():
        if label not in out and len(found) < count:
            found[label] = _candidate(row, strategy, revised=False)
    return {"proposer_output": {"candidates": list(found.values())}}


def _candidate(row: dict[str, Any], strategy: str, *, revised: bool) -> dict[str, Any]:
    seen = row.get("evidence") or {}
    label = str(row["label"])
    definition = restated(row) if revised else str(row["gloss"])
    why = (
        "Proposed again, with a definition that does without the word"
        if revised
        else str(row.get("why", ""))
    )
    place = f"{seen.get('lexname', '')}, `{label}` ({row['pos']}), sense {seen.get('sense', 1)}"
    return {
        "label": label,
        "informal_definition": definition,
        "domain": row["domain"],
        "proposed_symbol": "".join(part[:1].upper() + part[1:3] for part in label.split()),
        "ostensive_examples": [*(f"“{example}”" for example in row["examples"]), *seen.get("hyponyms", ())][:4] or [definition],
        "negative_examples": [*row["antonyms"], *(f"{name}, which is wider" for name in row["hypernyms"][:2])][:3],
        "primitiveness_argument": f"{_sentence(why)} {label.capitalize()} stands in {row['uses']} definitions. {NOTE}",
        "decomposition_resistance": _resistance(label, seen),
        "sources": [{
            "philosophical_tradition": _TRADITIONS.get(strategy, "lexicography"),
            "specific_reference": f"{seen.get('source', 'a dictionary')}, {place}",
        }],
    }  # fmt: skip


def _resistance(label: str, seen: dict[str, Any]) -> str:
    definition, rarer, circle = (
        seen.get("definition") or [],
        seen.get("rarer") or [],
        seen.get("circle") or [],
    )
    if not definition:
        return f"The definition of {label} uses no word that could be looked up."
    said = f"Of the {len(definition)} words that define {label}, {len(rarer)} stand in fewer definitions than it does"
    said += f" ({', '.join(rarer[:5])})." if rarer else "."
    if len(circle) > 2:
        said += f" Its definition leads back to it: {' > '.join(circle)}."
    elif circle:
        said += " Its definition names it."
    return said


_TAIL = re.compile(
    r"(?:either|or|and|in|by|of|as|with|for|to|from|also|e\.g|etc|especially|usually|primarily|temporal)\b",
    re.I,
)
"""A clause that begins so belongs to one before it, and says nothing by itself; nor does a single word."""


def restated(row: dict[str, object]) -> str:
    """What a revision proposes: the definition without the clauses that name the word itself, or, where each does, the word
    above it and some below: that it cannot be said without itself is what one expects of a primitive."""
    label = str(row["label"])
    named = re.compile(rf"\b{re.escape(label)}\w*\b", re.IGNORECASE)
    definition = re.sub(
        rf"(?:, )?\b(?:or|and) {re.escape(label)}\w*\b", "", str(row["gloss"]), flags=re.IGNORECASE
    )
    clauses = [clause.strip() for clause in re.split(r"[;,]", definition)]
    kept = [
        clause
        for clause in clauses
        if " " in clause and not named.search(clause) and not _TAIL.match(clause)
    ]
    if kept:
        return "; ".join(kept)
    below = [
        one
        for one in narrow(row.get("evidence") or {}, dict).get("hyponyms", ())
        if not named.search(one)
    ][:3]
    hypernyms, synonyms, antonyms = (
        narrow(row[key], list) for key in ("hypernyms", "synonyms", "antonyms")
    )
    near = [one for one in [*hypernyms, *synonyms] if not named.search(one)][:1]
    said = [f"a kind of “{one}”" for one in near]
    said += [f"with {', '.join(f'“{one}”' for one in below)} below it"] if below else []
    said += [f"the opposite of “{one}”" for one in antonyms[:1] if not named.search(one)]
    return f"{', '.join(said) or 'a sense of its own'}; the dictionary does not define it without the word itself"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""
