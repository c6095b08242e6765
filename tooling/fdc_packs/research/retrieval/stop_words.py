"""Words that ask nothing, and words that ask for the same thing (English, technical)."""

from __future__ import annotations

import os
import re
from functools import cache

from .stems import stem

STOP = frozenset(
    """a about above after again already even still against all also although am an and any are aren as at be because been before
    being below between both but by can cannot could couldn did didn do does doesn doing don done down during each either else
    ever every exactly few for from further get gets getting give given gives got had hadn has hasn have haven having he
    hence her here hers him his how however i if in instead into is isn it its itself just know let lets like ll made
    make makes making many may me might mine more most much must mustn my need needs neither no nor not now of off on
    once one only or other ought our ours out over own please possible re rather really s same shall she should so some
    something such t tell than that the their theirs them then there these they thing things this those though through
    thus to too under until up upon us use used uses using ve very via want wants was wasn way ways we were weren what
    when where whether which while who whom whose why will with within without won would wouldn yes yet you your yours
    explain describe show work works happen happens mean means say says whenever whatever somebody someone anyone
    anything everything nothing another others come comes go goes going gone take takes taken seem seems""".split()
)
"""Left out of a query unless nothing else is in it."""
EMPTY = frozenset(
    """a about all also am an and any are as at be been but by can could did do does for from had has have how i if in into is it
    its may me must my no not of on or our should so some such than that the their then there these they this to too us was
    we were what when where which who why will with would you your""".split()
)
"""The part of STOP that tells nothing at all. The rest tells a little, where more than one word is looked for."""

ASKING = frozenset(
    """decide decides decided deciding determine determines determined determining choose chooses chose chosen choosing
    pick picks picked picking figure figures figured handle handles handled handling ensure ensures ensured
    find finds found finding notice notices noticed recognise recognised recognize recognized know knows known learn learns
    turn turns turned turning keep keeps kept keeping put puts putting brought bring brings become becomes became
    compute computes computed computing calculated calculate calculates answer answers according nevertheless directly
    stand stands standing stood cause causes caused look looks looking watch matter care tell tells told wants
    avoid avoids avoided avoiding prevent prevents prevented refused refuse refuses guarantee guaranteed""".split()
)
"""Verbs by which a question asks how something is done: code that does it seldom has them."""


def _table() -> dict[str, tuple[str, ...]]:
    """For each word of `synonyms.txt` the others of its lines."""
    out: dict[str, list[str]] = {}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "synonyms.txt")
    with open(path, encoding="utf-8") as file:
        groups = [line.split() for line in file]
    for group in groups:
        for word in group:
            known = out.setdefault(word, [])
            known.extend(other for other in group if other != word and other not in known)
    return {word: tuple(others) for word, others in out.items()}


_ALIKE: dict[str, tuple[str, ...]] = _table()


@cache
def _by_stem() -> dict[str, tuple[str, ...]]:
    out: dict[str, tuple[str, ...]] = {}
    for word, others in _ALIKE.items():
        out[stem(word)] = out.get(stem(word), ()) + others
    return out


def alike(word: str) -> tuple[str, ...]:
    """Words that a text may use in place of a word, in any of its forms.

    >>> alike("deleted")[:3]
    ('remove', 'erase', 'drop')
    """
    found = _ALIKE.get(word) or _by_stem().get(stem(word), ())
    return tuple(dict.fromkeys(one for one in found if stem(one) != stem(word)))


_ODD_FORMS = """
arise arose arisen; bear bore borne; beat beaten; become became; begin began begun; bend bent; bind bound; bite bitten; blow
blew blown; break broke broken; bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen choice;
come came; deal dealt; dig dug; draw drew drawn; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt;
fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten; freeze froze frozen;
give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew
known; lead led; learn learnt; leave left; lend lent; lose lost loss; mean meant; meet met; pay paid; ride rode ridden; ring
rang rung; rise rose risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shoot
shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; speak spoke spoken;
spell spelt; spend spent; spin spun; stand stood; steal stole stolen; stick stuck; strike struck stricken; swear swore sworn;
sweep swept; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw
threw thrown; understand understood; wake woke woken; wear wore worn; win won; wind wound; withdraw withdrew withdrawn; write
wrote written; child children; index indices; vertex vertices; matrix matrices; axis axes; person people; half halves; leaf
leaves; analysis analyses; basis bases; criterion criteria; datum data; add added adding
"""
_FORMS: dict[str, list[str]] = {}
for _row in _ODD_FORMS.replace("\n", " ").split(";"):
    for _word in _row.split():
        _FORMS[_word] = [_other for _other in _row.split() if _other != _word]


def forms(word: str) -> list[str]:
    """The irregular forms of a word, which no stemmer brings together.

    >>> forms("kept"), forms("writing"), forms("splitting"), forms("cat")
    (['keep'], ['write', 'wrote', 'written'], [], [])
    """
    out: list[str] = []
    for ending, instead in (("", ""), ("s", ""), ("ing", ""), ("ing", "e")):
        if word.endswith(ending):
            base = word[: len(word) - len(ending)] + instead
            for known in (base, base[:-1] if len(base) > 3 and base[-1:] == base[-2:-1] else base):
                out += [known, *_FORMS[known]] if known in _FORMS else []
    return [one for one in dict.fromkeys(out) if one != word]


_OUR = frozenset(
    "armour behaviour colour endeavour favour flavour harbour honour humour labour neighbour rumour tumour vapour".split()
)
_OR = frozenset(word.replace("our", "or") for word in _OUR)
_ODD = dict(
    pair.split("/")
    for pair in "centre/center fibre/fiber metre/meter catalogue/catalog dialogue/dialog defence/defense "
    "licence/license grey/gray analyse/analyze modelling/modeling labelled/labeled cancelled/canceled".split()
)
_ODD |= {there: here for here, there in _ODD.items()}


def respelt(word: str) -> str | None:
    """A word as the other side of the ocean writes it, British or American; None where both write the same.

    >>> [respelt(word) for word in ("colours", "serialize", "optimisation", "hour", "rise")]
    ['colors', 'serialise', 'optimization', None, None]
    """
    for ending in ("", "s", "ed", "ing", "ful", "less"):
        stem = word.removesuffix(ending) if ending else word
        if stem in _OUR:
            return stem.replace("our", "or") + ending
        if stem in _OR:
            return stem[:-2] + "our" + ending
        if stem in _ODD and ending in ("", "s"):
            return _ODD[stem] + ending
    found = _ISE.match(word)
    if found is not None:
        return f"{found[1]}i{'z' if found[2] == 's' else 's'}{found[3]}"
    return None


_ISE = re.compile(
    r"(.*(?:al|at|an|ar|er|ic|id|il|im|in|it|iv|om|on|or|og|ut|ym|gn))i([sz])(e|es|ed|ing|er|ers|ation|ations)$"
)
