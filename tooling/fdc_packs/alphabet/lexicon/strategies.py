"""Six ways to look for primitives in a dictionary (ALPH-09), one function each.

A strategy gives places of words, the best first, each with one sentence of what was seen; the caller takes the first.
The candidates are the words of the dictionary's grounding set: the strategies are orders in which to judge them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from .lexicon import Ground, Lexicon

LEAST_MET = 10
"""A word met less often than this in the tagged corpus is not a candidate: too few would know it."""
MOST_STEPS = 3
"""So far a definition is followed."""
COMMONEST = 240
"""So many common words stand for the concepts to express where no one names any."""
_OF_LEXNAME = {
    "adj.all": "quality", "adj.pert": "relation", "adv.all": "quality", "noun.Tops": "being", "noun.act": "action",
    "noun.animal": "life", "noun.artifact": "matter", "noun.attribute": "quality", "noun.body": "life",
    "noun.cognition": "mind", "noun.communication": "language", "noun.event": "causation", "noun.feeling": "mind",
    "noun.food": "life", "noun.group": "society", "noun.location": "space", "noun.motive": "mind", "noun.object": "matter",
    "noun.person": "society", "noun.phenomenon": "causation", "noun.plant": "life", "noun.possession": "value",
    "noun.process": "causation", "noun.quantity": "quantity", "noun.relation": "relation", "noun.shape": "space",
    "noun.state": "being", "noun.substance": "matter", "noun.time": "time", "verb.body": "life",
    "verb.change": "causation", "verb.cognition": "mind", "verb.communication": "language", "verb.competition": "society",
    "verb.consumption": "life", "verb.contact": "action", "verb.creation": "causation", "verb.emotion": "mind",
    "verb.motion": "space", "verb.perception": "mind", "verb.possession": "value", "verb.social": "society",
    "verb.stative": "being", "verb.weather": "matter", "adj.ppl": "quality",
}  # fmt: skip
_OF_WORD = {
    **dict.fromkeys(("time",), "time"), **dict.fromkeys(("space", "place", "location", "shape", "form"), "space"),
    **dict.fromkeys(("cause", "event", "process", "phenomenon", "effect", "result"), "causation"),
    **dict.fromkeys(("act", "do", "use"), "action"), **dict.fromkeys(("communication",), "language"),
    **dict.fromkeys(("matter", "substance", "object", "artifact", "water"), "matter"),
    **dict.fromkeys(("group", "number", "two", "three", "part", "whole", "measure", "unit", "degree"), "quantity"),
    **dict.fromkeys(("quantity", "amount"), "quantity"),
    **dict.fromkeys(("large", "small", "big", "little", "long", "short", "high", "low", "wide"), "quantity"),
    **dict.fromkeys(("feeling", "motivation", "motive", "cognition", "knowledge"), "mind"),
    **dict.fromkeys(("attribute",), "quality"),
    **dict.fromkeys(("relation", "same", "similar", "different", "equal"), "relation"),
    **dict.fromkeys(("possible", "necessary", "able", "capable", "likely", "need", "must", "probable"), "modality"),
    **dict.fromkeys(("good", "bad", "value", "possession"), "value"), **dict.fromkeys(("person", "people", "human"), "society"),
    **dict.fromkeys(("organism", "plant", "animal", "life", "live", "body", "cell", "food"), "life"),
}  # fmt: skip


class Found(NamedTuple):
    """A word that a strategy came upon, and why."""

    place: int
    why: str


class Quest(NamedTuple):
    """What a strategy looks with: the dictionary, what the alphabet grounds already, and what it was asked for."""

    lexicon: Lexicon
    ground: Ground
    taken: frozenset[str]
    wanted: tuple[str, ...]
    """Domains, the most wanted first."""
    gaps: tuple[str, ...]
    concepts: tuple[str, ...]
    """Concepts that the alphabet should express."""

    def free(self, place: int) -> bool:
        """Whether a word may be a candidate: of the grounding set, known well enough, and neither in the alphabet nor refused
        before."""
        word = self.lexicon.words[place]
        return (
            place in self.lexicon.grounding_set
            and word.label not in self.taken
            and place not in self.ground.members
            and word.met >= LEAST_MET
            and not word.regions
        )


def domain_of(label: str, lexname: str) -> str:
    """The domain of a word: its lexicographers' file, but for the words that those files hold together by form."""
    return _OF_WORD.get(label) or _OF_LEXNAME.get(lexname, "being")


def sweep(quest: Quest) -> Iterator[Found]:
    """DOMAIN_SWEEP: domain after domain, the words of each by how many definitions they stand in."""
    lexicon = quest.lexicon
    fields: dict[str, list[int]] = {}
    for place in _by_use(lexicon):
        if quest.free(place):
            fields.setdefault(
                domain_of(lexicon.words[place].label, lexicon.words[place].lexname), []
            ).append(place)
    turns = [fields.get(domain, [])[:40] for domain in quest.wanted]
    for row in range(40):
        for domain, places in zip(quest.wanted, turns):
            if row < len(places):
                used = lexicon.basic(places[row])
                yield Found(
                    places[row],
                    f"number {row + 1} of the free words of {domain} by definitions that use it ({used})",
                )


def mine(quest: Quest) -> Iterator[Found]:
    """DECOMPOSITION_MINING: a complex concept is taken apart, its most basic word next, until the definitions go round in
    a circle; the most basic word of that circle is where one is stuck. Words that were refused before are gone around."""
    lexicon = quest.lexicon
    for start in _complex(quest):
        way = [start]
        while True:
            below = [
                one for one in lexicon.uses[way[-1]]
                if one not in quest.ground.grounded and lexicon.words[one].label not in quest.taken
            ]  # fmt: skip
            if not below:
                circle = [way.pop()]
                break
            following = max(below, key=lambda one: (lexicon.basic(one), -one))
            if following in way:
                circle = way[way.index(following) :]
                break
            way.append(following)
        free = [one for one in circle if quest.free(one)]
        if free:
            best = max(free, key=lambda one: (lexicon.basic(one), -one))
            steps = " > ".join(lexicon.labels([*way, circle[0]]))
            yield Found(best, f"taking `{lexicon.words[start].label}` apart ends here: {steps}")


def cross(quest: Quest) -> Iterator[Found]:
    """CROSS_REFERENCE: the words that occur in the decompositions of most concepts."""
    lexicon = quest.lexicon
    concepts = lexicon.places(quest.concepts) or _complex(quest)
    seen: dict[int, list[int]] = {}
    for concept in concepts:
        for place in lexicon.trace(concept):
            seen.setdefault(place, []).append(concept)
    for place in sorted(seen, key=lambda one: (-len(seen[one]), -lexicon.basic(one), one)):
        if quest.free(place) and place not in quest.ground.grounded and len(seen[place]) > 1:
            names = ", ".join(lexicon.labels(seen[place][:6]))
            yield Found(
                place,
                f"it occurs in the decompositions of {len(seen[place])} of {len(concepts)} concepts: {names}",
            )


def linguistic(quest: Quest) -> Iterator[Found]:
    """LINGUISTIC_ANALYSIS: words that resist paraphrase: no synonym in their sense, a definition that needs rarer words
    than themselves, and a short circle back."""
    lexicon = quest.lexicon
    scored: list[tuple[float, int, int, int, int]] = []
    for place in lexicon.grounding:
        word, used = lexicon.words[place], lexicon.uses[place]
        if quest.free(place) and not word.synonyms:
            rarer = sum(lexicon.basic(one) < lexicon.basic(place) for one in used)
            share = rarer / len(used) if used else 1.0
            scored.append((-share, -min(lexicon.basic(place), 200), place, rarer, len(used)))
    for _, _, place, rarer, words in sorted(scored):
        back = lexicon.circle(place)
        if words and not back:
            continue
        steps = f", and leads back to it in {len(back) - 1} steps" if back else ""
        yield Found(
            place,
            f"no synonym has its sense; its definition uses {rarer} rarer words of {words}{steps}",
        )


def alien(quest: Quest) -> Iterator[Found]:
    """THOUGHT_EXPERIMENT: someone who knows no word has to be shown some, those first that define the most common words."""
    for rank, place in enumerate(quest.lexicon.grounding, 1):
        if quest.free(place):
            yield Found(
                place,
                f"number {rank} of {len(quest.lexicon.grounding)} words that break every circle of the dictionary; "
                f"it stands in {quest.lexicon.basic(place)} definitions",
            )


def fill(quest: Quest) -> Iterator[Found]:
    """GAP_FILLING: the gaps of the last validation, the most needed first; of one that is definable, the words that its
    definition comes to."""
    lexicon = quest.lexicon
    later = []
    for gap in quest.gaps:
        place = lexicon.place(gap)
        if place is None:
            continue
        if quest.free(place):
            yield Found(place, f"validation names `{gap}` as a gap")
        else:
            later += [(one, gap) for one in lexicon.trace(place, MOST_STEPS) if quest.free(one)]
    for place, gap in later:
        yield Found(place, f"the gap `{gap}` is defined with it")


STRATEGIES: Mapping[str, Callable[[Quest], Iterator[Found]]] = {
    "DOMAIN_SWEEP": sweep, "DECOMPOSITION_MINING": mine, "CROSS_REFERENCE": cross,
    "LINGUISTIC_ANALYSIS": linguistic, "THOUGHT_EXPERIMENT": alien, "GAP_FILLING": fill,
}  # fmt: skip


def shortlist(name: str, quest: Quest, most: int) -> list[Found]:
    """The first words that a strategy finds, each once, and none beside another that would make it redundant.

    Raises KeyError for a strategy that does not exist.
    """
    lexicon = quest.lexicon
    found: dict[int, Found] = {}
    for one in STRATEGIES[name](quest):
        word = lexicon.words[one.place]
        beside = [
            other
            for other in found
            if lexicon.close(one.place, other) or lexicon.words[other].label in word.synonyms
        ]
        if one.place not in found and not beside and not lexicon.kin(one.place, found):
            found[one.place] = one
        if len(found) == most:
            break
    return list(found.values())


def _by_use(lexicon: Lexicon) -> list[int]:
    return sorted(range(len(lexicon.words)), key=lambda place: (-lexicon.basic(place), place))


def _complex(quest: Quest) -> list[int]:
    """The concepts to take apart: those asked for, then the commonest words that the alphabet does not ground."""
    lexicon = quest.lexicon
    asked = [
        place
        for place in lexicon.places([*quest.gaps, *quest.concepts])
        if place not in quest.ground.grounded
    ]
    common = sorted(range(len(lexicon.words)), key=lambda place: (-lexicon.words[place].met, place))
    more = [place for place in common[:1000] if place not in quest.ground.grounded][:COMMONEST]
    return list(dict.fromkeys([*asked, *more]))


def evidence(lexicon: Lexicon, ground: Ground, place: int) -> dict[str, object]:
    """What the graph says of one word against an alphabet: plain values, for the attacks of a critic to quote."""
    word, used = lexicon.words[place], lexicon.uses[place]
    same = [other for other in lexicon.places(word.synonyms) if other in ground.members]
    expression = ground.expression(place)
    gained = ground.gain(place)
    members = ground.members - {place}
    antonyms = [other for other in lexicon.places(word.antonyms) if other in members]
    antonyms += [
        other
        for other in sorted(members)
        if word.label in lexicon.words[other].antonyms and other not in antonyms
    ]
    above = [other for other in lexicon.places(word.hypernyms) if other in members]
    beside = _company(lexicon, place, members)
    return {
        "source": lexicon.source,
        "lexname": word.lexname, "sense": word.sense, "met": word.met, "share": word.share,
        "contexts": [[name, count] for name, count in word.contexts[:8]], "regions": list(word.regions),
        "used": word.used, "weight": round(lexicon.weight(place), 1), "definition": lexicon.labels(used),
        "rarer": lexicon.labels(one for one in used if lexicon.basic(one) < lexicon.basic(place)),
        "own": place in word.uses, "parts": list(word.parts), "hyponyms": _common(lexicon, word.hyponyms),
        "simpler_parts": lexicon.labels(one for one in lexicon.places(word.parts) if lexicon.basic(one) >= lexicon.basic(place)),
        "trace": lexicon.labels(lexicon.trace(place)[:40]),
        "circle": lexicon.labels(lexicon.circle(place)), "knot": lexicon.labels(lexicon.knot(place)),
        "circle_of_members": lexicon.labels(lexicon.circle(place, members)),
        "mutual": lexicon.labels(one for one in used if one in members and lexicon.close(place, one)),
        "paraphrased": lexicon.labels(
            one for one in sorted(members) if lexicon.uses[one] == (place,) and not lexicon.close(place, one)
        ),
        "reveals": lexicon.labels(
            one for one in lexicon.users[place] if one in members and members.issuperset(set(lexicon.uses[one]) - {place})
        ),
        "same_sense": lexicon.labels(same), "kin": lexicon.labels(lexicon.kin(place, members)),
        "expression": None if expression is None else lexicon.labels(expression),
        "grounded": lexicon.labels(one for one in used if one in ground.grounded),
        "members": lexicon.labels(one for one in used if one in members),
        "missing": lexicon.labels(one for one in used if one not in ground.grounded),
        "gain": len(gained), "gained": lexicon.labels(gained[:8]), "grounding": place in lexicon.grounding_set,
        "contrasts": lexicon.labels(antonyms), "presupposes": lexicon.labels(above[:2]),
        "composes": [[lexicon.words[other].label, count] for other, count in beside],
    }  # fmt: skip


def _common(lexicon: Lexicon, labels: Iterable[str]) -> list[str]:
    """Words, those first that were met most."""
    met = {
        label: lexicon.words[place].met
        for label in labels
        if (place := lexicon.place(label)) is not None
    }
    return sorted(labels, key=lambda label: -met.get(label, 0))


def _company(lexicon: Lexicon, place: int, members: Iterable[int]) -> list[tuple[int, int]]:
    """The members that stand in one definition with a word at least three times, the most frequent two."""
    together: dict[int, int] = {}
    asked = set(members)
    for user in lexicon.users[place]:
        for other in lexicon.uses[user]:
            if other in asked:
                together[other] = together.get(other, 0) + 1
    often = [(other, count) for other, count in together.items() if count > 2]
    return sorted(often, key=lambda one: (-one[1], one[0]))[:2]
