"""Laws of ALPHABETUM's calculus: five implementations of one algebra, checked against each other and against brute force."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest
from fdc_packs.alphabet import calculus
from fdc_packs.alphabet.calculus import IMPLEMENTATIONS, Basis, Concept, primes
from fdc_packs.alphabet.calculus.inference import Clause, Literal, closure
from fdc_packs.alphabet.calculus.operators import Meaning, conjoin, disjoin, negate
from fdc_packs.alphabet.model import Alphabet, Primitive, alphabet_of
from hypothesis import given, settings
from hypothesis import strategies as st

MANY = max(200, settings().max_examples)
LABELS = [f"w{number}" for number in range(40)]
BASIS = Basis(dict(zip(LABELS, primes.first(1040)[1000:])))
labels = st.frozensets(st.sampled_from(LABELS), max_size=8)
concepts = st.builds(Concept, labels, labels).filter(lambda concept: concept.labels)
few = st.frozensets(st.sampled_from("abc"), max_size=2)
meanings: st.SearchStrategy[Meaning] = st.frozensets(
    st.builds(Concept, few, few), min_size=1, max_size=3
)


def answers(one: Concept, two: Concept) -> list[list[object]]:
    """What each implementation says of two concepts, in labels."""
    found = []
    for implementation in IMPLEMENTATIONS:
        calc = implementation(BASIS)
        a, b = calc.concept(*one), calc.concept(*two)
        both = calc.compose(a, b)
        shared = calc.common(a, b)
        found.append([
            calc.tracks(a), calc.tracks(both), calc.tracks(calc.compose(b, a)), calc.tracks(calc.compose(both, a)),
            calc.contains(a, b), calc.contains(both, a), None if shared is None else calc.tracks(shared),
            calc.subtype(a, b), calc.subtype(both, a), calc.consistent(a), calc.consistent(both),
        ])  # fmt: skip
    return found


@settings(max_examples=MANY)
@given(concepts, st.one_of(concepts, st.none()))
def test_the_five_implementations_agree(one: Concept, other: Concept | None) -> None:
    """ALPH-80, 73, 75: on composing, decomposing, containing, what is common, subtypes and consistency."""
    two = other or Concept(frozenset(sorted(one.positive)[:2]), frozenset(sorted(one.negative)[:1]))
    if not two.labels:
        two = one
    first, *rest = answers(one, two)
    assert all(answer == first for answer in rest)


@settings(max_examples=MANY)
@given(concepts, concepts, concepts)
def test_composing_is_idempotent_and_takes_any_order(
    one: Concept, two: Concept, three: Concept
) -> None:
    """ALPH-74 and T-56: compose(a, a) is a, and what is decomposed is the set that was composed."""
    for implementation in IMPLEMENTATIONS:
        calc = implementation(BASIS)
        a, b, c = (calc.concept(*concept) for concept in (one, two, three))
        assert one == calc.tracks(calc.compose(a, a)) == calc.tracks(a)
        whole = Concept(
            one.positive | two.positive | three.positive,
            one.negative | two.negative | three.negative,
        )
        assert (
            whole
            == calc.tracks(calc.compose(a, b, c))
            == calc.tracks(calc.compose(calc.compose(c, a), b))
        )


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
            f"PRM_{number:04d}", f"w{number}", primes.first(6)[number], "time",
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
    complete = calculus.completed(names, concept)
    assert not [one for one in calculus.violations(names, complete) if one.kind == "incomplete"]


@given(st.integers(0, 3000))
def test_primes_are_known_by_trial(number: int) -> None:
    assert primes.is_prime(number) == (
        number > 1 and all(number % small for small in range(2, number))
    )


def test_the_ten_thousandth_prime_and_those_after_it() -> None:
    """Figures that anybody can look up: primes far beyond 10,000 primitives."""
    assert (104_729, 1_299_709) == (primes.first(10_000)[-1], primes.first(100_000)[-1])
    assert 104_743 == primes.next_unused([2, 104_729])
    assert 2 == primes.next_unused([])
    assert primes.is_prime(2**61 - 1) and not primes.is_prime((2**31 - 1) * (2**19 - 1))
    assert [3_215_031_751, 9] == primes.strangers([2, 3_215_031_751, 5, 9, 2**61 - 1])


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_nothing_is_no_concept_and_unknown_labels_are_named(implementation: type) -> None:
    """ALPH-73 and T-56: an unknown label is never dropped, and nothing is never composed."""
    calc = implementation(BASIS)
    with pytest.raises(calculus.UnknownPrimitive, match="no primitive in use is called `zzz`"):
        calc.concept(["w1", "zzz"])
    with pytest.raises(calculus.EmptyComposition):
        calc.concept([])
    with pytest.raises(calculus.EmptyComposition):
        calc.compose()
    assert not calc.contains(calc.concept(["w1"]), calc.concept([], ["w1"]))
