"""Laws of ALPHABETUM's calculus: checked against five other implementations of one algebra and against brute force."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from itertools import product
from types import ModuleType

import pytest
from fdc_packs.alphabet import calculus
from fdc_packs.alphabet.calculus import Basis, Concept, primes
from fdc_packs.alphabet.calculus.concepts import tracks_of
from fdc_packs.alphabet.calculus.inference import Clause, Literal, closure
from fdc_packs.alphabet.calculus.operators import Meaning, conjoin, disjoin, negate
from fdc_packs.alphabet.model import Alphabet, Primitive, alphabet_of
from fdc_toolchain import resources
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.alphabets import first_primes

MANY = max(200, settings().max_examples)
LABELS = [f"w{number}" for number in range(40)]
BASIS = Basis(dict(zip(LABELS, first_primes(1040)[1000:])))
labels = st.frozensets(st.sampled_from(LABELS), max_size=8)
concepts = st.builds(Concept, labels, labels).filter(lambda concept: concept.labels)
few = st.frozensets(st.sampled_from("abc"), max_size=2)
meanings: st.SearchStrategy[Meaning] = st.frozensets(
    st.builds(Concept, few, few), min_size=1, max_size=3
)


def loaded(name: str) -> ModuleType:
    """A calculus that is laid down beside every alphabet: a program of its own, which shares no code with the product's."""
    path = resources.path(f"tooling/fdc_packs/alphabet/data/calculus/implementations/{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLES = [
    loaded(name)
    for name in (
        "prime_composition",
        "set_theoretic",
        "type_theoretic",
        "vector_space",
        "graph_structure",
    )
]


@settings(max_examples=MANY)
@given(concepts, concepts | st.none())
def test_five_other_calculi_say_the_same(one: Concept, other: Concept | None) -> None:
    """ALPH-80, 73 to 75: on composing, decomposing, containing, what is common, kinds and consistency."""
    two = other or Concept(frozenset(sorted(one.positive)[:2]), frozenset(sorted(one.negative)[:1]))
    both = one.composed(two)
    assert both == two.composed(one, two, two) and one == one.composed(one)
    for oracle in ORACLES:
        a, b = (oracle.concept(*some, BASIS.primes) for some in (one, two))
        whole = oracle.compose(a, b)
        tracks = [oracle.tracks(value, BASIS.primes) for value in (a, whole, oracle.common(a, b))]
        assert [one, both, one.common(two)] == tracks, oracle.__name__
        assert [
            one.contains(two), both.contains(one), one.is_kind_of(two), both.is_kind_of(one), one.consistent, both.consistent,
        ] == [
            oracle.contains(a, b), oracle.contains(whole, a), oracle.subtype(a, b), oracle.subtype(whole, a),
            oracle.consistent(a), oracle.consistent(whole),
        ], oracle.__name__  # fmt: skip


def test_similar_concepts_have_a_small_angle() -> None:
    space = ORACLES[3]
    one, *others = (
        space.concept(some, [], BASIS.primes)
        for some in (["w1", "w2"], ["w1", "w2"], ["w3"], ["w1", "w3"])
    )
    assert [1.0, 0.0, 0.5] == [round(space.similarity(one, other), 9) for other in others]


@given(labels.filter(bool))
def test_a_number_holds_exactly_its_primes(positive: frozenset[str]) -> None:
    """ALPH-73: decomposition is factorisation."""
    number = BASIS.number(positive)
    assert positive == BASIS.factors(number)
    assert positive == {label for label in LABELS if number % BASIS.primes[label] == 0}


def worlds() -> list[dict[str, bool]]:
    return [dict(zip("abc", values)) for values in product((False, True), repeat=3)]


def holds(meaning: Meaning, world: dict[str, bool]) -> bool:
    return any(
        all(world[one] for one in has) and not any(world[one] for one in denies)
        for has, denies in meaning
    )


@settings(max_examples=MANY)
@given(meanings, meanings)
def test_the_operators_are_those_of_logic(one: Meaning, two: Meaning) -> None:
    """ALPH-76, 77 and T-56: in every world `not` is true where its operand is not, however compound that is."""
    for world in worlds():
        a, b = holds(one, world), holds(two, world)
        assert (a and b, a or b) == (
            holds(conjoin(one, two), world),
            holds(disjoin(one, two), world),
        )
        assert (not a) == (
            holds(negate(one), world) if frozenset() not in {c.labels for c in one} else False
        )


literals: st.SearchStrategy[Literal] = st.tuples(st.sampled_from("abcd"), st.booleans())
rules = st.lists(
    st.builds(
        Clause,
        st.lists(literals, min_size=1, max_size=3, unique=True).map(tuple),
        literals,
        st.just("rule"),
    ),
    max_size=8,
)


def so(world: dict[str, bool], said: Iterable[Literal]) -> bool:
    return all(world[name] == yes for name, yes in said)


@settings(max_examples=MANY)
@given(st.frozensets(literals, min_size=1, max_size=3), rules)
def test_whatever_follows_is_true_in_every_world_of_the_premises(
    given_: frozenset[Literal], clauses: list[Clause]
) -> None:
    """ALPH-79: nothing follows that is not so; cycles end; what follows is closed under modus ponens."""
    concept = Concept(
        frozenset(name for name, yes in given_ if yes),
        frozenset(name for name, yes in given_ if not yes),
    )
    found = closure(concept, clauses)
    for values in product((False, True), repeat=4):
        world = dict(zip("abcd", values))
        true = all(
            so(world, clause.conditions) <= so(world, [clause.conclusion]) for clause in clauses
        )
        if true and so(world, given_):
            assert so(world, found.steps)
    for clause in clauses:
        if all(condition in found.steps for condition in clause.conditions):
            assert clause.conclusion in found.steps
    for literal, step in found.steps.items():
        assert found.why(literal)[-1].startswith(literal[0] if literal[1] else f"not {literal[0]}")
        assert all(premise in found.steps for premise in step.premises)


ends = st.integers(0, 5)
edges = st.frozensets(st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1]), max_size=10)


def alphabet(
    presupposes: frozenset[tuple[int, int]], contrasts: frozenset[tuple[int, int]] = frozenset()
) -> Alphabet:
    both = contrasts | {(b, a) for a, b in contrasts}
    return alphabet_of(
        Primitive(
            f"PRM_{number:04d}", f"w{number}", first_primes(6)[number], "time",
            presupposes=tuple(f"PRM_{b:04d}" for a, b in sorted(presupposes) if a == number),
            contrasts=tuple(f"PRM_{b:04d}" for a, b in sorted(both) if a == number),
        )
        for number in range(6)
    )  # fmt: skip


@settings(max_examples=MANY)
@given(edges, edges, st.frozensets(ends, min_size=1), st.frozensets(ends, max_size=2))
def test_every_violation_is_found_and_no_other(
    presupposes: frozenset[tuple[int, int]],
    contrasts: frozenset[tuple[int, int]],
    had: frozenset[int],
    denied: frozenset[int],
) -> None:
    """ALPH-78, against a plain computation, on graphs with cycles."""
    reach = {start: {start} for start in range(6)}
    for _ in range(6):
        for a, b in presupposes:
            for seen in reach.values():
                if a in seen:
                    seen.add(b)
    wanted = {("contradiction", (one,)) for one in had & denied}
    for one in had:
        for other in reach[one] - {one}:
            if other in denied:
                wanted.add(("contradiction", (one, other)))
            elif other not in had:
                wanted.add(("incomplete", (one, other)))
    wanted |= {("incompatible", tuple(sorted(pair))) for pair in contrasts if set(pair) <= had}
    names = alphabet(presupposes, contrasts)
    concept = Concept(frozenset(f"w{one}" for one in had), frozenset(f"w{one}" for one in denied))
    found = {
        (one.kind, tuple(int(label[1:]) for label in one.labels))
        for one in calculus.violations(names, concept)
    }
    assert wanted == found


@given(st.integers(0, 3000))
def test_primes_are_known_by_trial(number: int) -> None:
    assert primes.is_prime(number) == (
        number > 1 and all(number % small for small in range(2, number))
    )


def test_the_ten_thousandth_prime_and_those_after_it() -> None:
    """Figures that anybody can look up: primes far beyond 10,000 primitives."""
    assert (104_729, 1_299_709) == (first_primes(10_000)[-1], first_primes(100_000)[-1])
    assert 104_743 == primes.next_unused([2, 104_729])
    assert 2 == primes.next_unused([])
    assert primes.is_prime(2**61 - 1) and not primes.is_prime((2**31 - 1) * (2**19 - 1))
    assert [3_215_031_751, 9] == primes.strangers([2, 3_215_031_751, 5, 9, 2**61 - 1])


def test_nothing_is_no_concept_and_unknown_labels_are_named() -> None:
    """ALPH-73 and T-56: an unknown label is never dropped, and what has nothing is a part of nothing."""
    with pytest.raises(calculus.UnknownPrimitive, match="no primitive in use is called `zzz`"):
        BASIS.number(["w1", "zzz"])
    with pytest.raises(calculus.EmptyComposition):
        tracks_of(BASIS, [], [])
    assert not Concept(frozenset(["w1"])).contains(Concept(frozenset(), frozenset(["w1"])))
