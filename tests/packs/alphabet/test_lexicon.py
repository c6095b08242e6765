"""Laws of a dictionary's graph, against plain computations and a graph library."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
from fdc_packs.alphabet.lexicon import feedback, measured
from fdc_packs.alphabet.lexicon.grounding import kernel
from fdc_packs.alphabet.lexicon.lexicon import LONGEST, Ground, Lexicon
from hypothesis import given, settings
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
    """Without its words no circle is left; what nothing explains and nothing uses is left out."""
    idle = {place for place, used in enumerate(words.uses) if not used and not words.users[place]}
    assert set(range(len(words.words))) - idle == fixed_point(words, list(words.grounding)) - idle
    graph = nx.DiGraph([(a, b) for a, used in enumerate(words.uses) for b in used])
    graph.remove_nodes_from(words.grounding)
    assert nx.is_directed_acyclic_graph(graph)


nodes = st.integers(0, 7)
graphs = st.builds(
    lambda size, edges: {
        node: {a for a, b in edges if b == node and a < size} for node in range(size)
    },
    st.integers(1, 8),
    st.sets(st.tuples(nodes, nodes), max_size=30),
)
costs = st.lists(st.sampled_from([0.1, 0.5, 1.0, 2.0]), min_size=8, max_size=8)


def cheapest(graph: dict[int, set[int]], prices: list[float]) -> float:
    """The price of a cheapest set of nodes whose removal leaves no cycle, by trying all sets."""
    found = [
        sum(prices[node] for node in some)
        for size in range(len(graph) + 1)
        for some in combinations(graph, size)
        if acyclic(graph, set(some))
    ]
    return min(found)


def acyclic(graph: dict[int, set[int]], without: set[int]) -> bool:
    """Whether all nodes but some can be taken away one after the other, each when nothing leads to it any more."""
    left = set(graph) - without
    while free := {node for node in left if not graph[node] & left}:
        left -= free
    return not left


@settings(max_examples=150)
@given(graphs, costs)
def test_a_cut_breaks_every_circle_and_lies_between_bound_and_greed(
    graph: dict[int, set[int]], prices: list[float]
) -> None:
    """Bound <= optimum <= found, by trying all sets of small graphs, which shares no code with what is tested."""
    priced = dict(enumerate(prices))
    found = feedback.cut(graph, priced, rounds=5)
    assert acyclic(graph, found)
    best = cheapest(graph, prices)
    packed = feedback.packing(graph, priced)  # without reductions, which decide most small graphs
    assert 0 < packed <= best + 1e-9 or best == packed == 0
    assert (
        feedback.bound(graph, priced) - 1e-9 <= best <= sum(prices[node] for node in found) + 1e-9
    )


@given(graphs, costs)
def test_reductions_lose_nothing(graph: dict[int, set[int]], prices: list[float]) -> None:
    """What they take and the cheapest set of what they leave cost as much as the cheapest set of the whole."""
    whole = feedback.Shrinking(graph, dict(enumerate(prices)))
    whole.reduce()
    taken = sum(prices[node] for node in whole.taken)
    assert abs(taken + cheapest(whole.before, prices) - cheapest(graph, prices)) < 1e-9


def test_local_search_makes_a_dear_set_cheaper_and_none_dearer() -> None:
    """Circles of two around a hub: the hub alone breaks them all."""
    graph: dict[int, set[int]] = {0: set(range(1, 9))} | {node: {0} for node in range(1, 9)}
    prices = dict.fromkeys(graph, 1.0)
    assert {0} == feedback.improved(graph, prices, set(range(1, 9)), 60)
    assert {0} == feedback.improved(graph, prices, {0}, 20)


@given(lexicons)
def test_a_kernel_is_what_somebody_always_uses(words: Lexicon) -> None:
    """Against networkx: what is left has a user in it each, and holds every circle."""
    every = {place: set(words.uses[place]) for place in range(len(words.words))}
    left = kernel(every)
    assert set(left) <= {one for said in left.values() for one in said}
    graph = nx.DiGraph([(a, b) for a, said in every.items() for b in said])
    knots = [one for one in nx.strongly_connected_components(graph) if len(one) > 1]
    assert set().union(*knots) <= set(left)


def test_the_figures_of_a_grounding_set_are_what_they_say() -> None:
    """A circle of three and one of two, each broken by one word; what is outside of the roots' closure is held out."""
    circles = {
        "a": "b",
        "b": "c",
        "c": "a",
        "many": "some",
        "some": "many",
        "far": "a some",
        "odd": "odd2",
        "odd2": "odd",
    }
    common = {label: {"met": 500} for label in ("a", "b", "c", "many", "some")}
    found = measured.report(
        lexicon(circles, far={"met": 3}, odd={"met": 2}, odd2={"met": 1}, **common), roots=5
    )
    assert (5, 5, 2) == (found["words"], found["kernel"], found["members"])
    assert 0 == found["above_bound"] and found["cost"] == found["bound"]
    assert {"words": 3, "expressible": 1} == found[
        "held_out"
    ]  # `far` can be said; `odd` and `odd2` define one another
    (prime,) = found["primes"]["shared"]
    assert prime in ("SOME", "MUCH~MANY") and 65 == found["primes"]["items"]
    whole = measured.report(lexicon(circles, **common), roots=100)
    assert whole["held_out"]["words"] == 0 and 3 == whole["members"] == len(whole["ranked"])


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
