"""Laws of a dictionary's graph, against plain computations and a graph library."""

from __future__ import annotations

import networkx as nx
from fdc_packs.alphabet.lexicon.lexicon import LONGEST, Ground, Lexicon
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionary import lexicon

NAMES = "abcdefghij"
texts = st.lists(st.sampled_from(NAMES), max_size=4, unique=True).map(" ".join)
lexicons = st.fixed_dictionaries(dict.fromkeys(NAMES, texts)).map(lexicon)
members = st.lists(st.integers(0, len(NAMES) - 1), max_size=5, unique=True)


def fixed_point(words: Lexicon, start: list[int]) -> set[int]:
    """Everything that can be said with some words, computed by trying until nothing changes."""
    found = set(start)
    while True:
        more = {
            place for place, used in enumerate(words.uses) if used and set(used) <= found
        } - found
        if not more:
            return found
        found |= more


@given(lexicons, members)
def test_what_is_grounded_is_the_least_fixed_point(words: Lexicon, start: list[int]) -> None:
    assert fixed_point(words, start) == Ground(words, start).grounded


@given(lexicons, members, st.integers(0, len(NAMES) - 1))
def test_a_gain_is_what_one_more_member_grounds(words: Lexicon, start: list[int], one: int) -> None:
    ground = Ground(words, start)
    before = set(ground.grounded)
    gained = ground.gain(one)
    assert fixed_point(words, [*start, one]) - before - {one} == set(gained)
    assert before == ground.grounded
    assert len(gained) == ground.add(one)


@given(lexicons, members)
def test_an_expression_is_made_of_members_and_grounds_its_word(
    words: Lexicon, start: list[int]
) -> None:
    """ALPH-18: what a word is expressed with is in the alphabet, and enough."""
    ground = Ground(words, start)
    for place in range(len(words.words)):
        expression = ground.expression(place)
        assert (expression is not None) == (place in ground.grounded and place not in start)
        if expression is not None:
            assert set(expression) <= set(start) and place not in expression
            assert place in fixed_point(words, expression)


@given(lexicons)
def test_the_grounding_set_grounds_everything(words: Lexicon) -> None:
    """Without its words no circle is left; what nothing explains and nobody uses is left out."""
    idle = {place for place, used in enumerate(words.uses) if not used and not words.users[place]}
    assert set(range(len(words.words))) - idle == fixed_point(words, list(words.grounding)) - idle
    graph = nx.DiGraph([(a, b) for a, used in enumerate(words.uses) for b in used])
    graph.remove_nodes_from(words.grounding)
    assert nx.is_directed_acyclic_graph(graph)


@given(lexicons, st.integers(0, len(NAMES) - 1), st.none() | members)
def test_a_circle_is_the_shortest(words: Lexicon, place: int, within: list[int] | None) -> None:
    """ALPH-19: against shortest paths of networkx; a word whose definition names it is a circle of one."""
    found = words.circle(place, within)
    if within is None and place in words.words[place].uses:
        assert [place, place] == found
        return
    graph = nx.DiGraph([(a, b) for a, used in enumerate(words.uses) for b in used])
    if within is not None:
        graph = graph.subgraph({place, *within})
    below = [one for one in words.uses[place] if one in graph and nx.has_path(graph, one, place)]
    lengths = [1 + nx.shortest_path_length(graph, one, place) for one in below]
    best = min(lengths, default=0)
    if not lengths or best > LONGEST:
        assert [] == found
    else:
        assert (best + 1, place, place) == (len(found), found[0], found[-1])
        assert all(b in words.uses[a] for a, b in zip(found, found[1:]))
