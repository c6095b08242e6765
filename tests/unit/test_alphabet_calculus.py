"""The calculus as people use it: expressions in, concepts with numbers, violations and what follows out."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml
from fdc_packs.alphabet import calculus
from fdc_packs.alphabet.calculus import Basis, CalculusError, Concept, Rules, VectorCalculus
from fdc_packs.alphabet.calculus.inference import clauses, closure, kinds_of
from fdc_packs.alphabet.calculus.operators import (
    ArityError,
    atom,
    conjoin,
    disjoin,
    negate,
    predicate,
    relate,
)
from fdc_packs.alphabet.calculus.semantic import decomposition
from fdc_packs.alphabet.model import Alphabet, Primitive, alphabet_of
from fdc_toolchain import resources

FOLDER = "tooling/fdc_packs/alphabet/data/calculus"


def alphabet() -> Alphabet:
    return alphabet_of([
        Primitive("PRM_0001", "time", 2, "time"), Primitive("PRM_0002", "space", 3, "space", contrasts=("PRM_0004",)),
        Primitive("PRM_0003", "cause", 5, "causation", presupposes=("PRM_0001",)),
        Primitive("PRM_0004", "first mover", 7, "being", presupposes=("PRM_0003",), contrasts=("PRM_0002",)),
        Primitive("PRM_0005", "gone", 11, "being", status="deprecated"),
    ])  # fmt: skip


def none(labels: str) -> frozenset[str]:
    return frozenset(labels.split())


def shipped(name: str) -> list[dict[str, Any]]:
    return yaml.safe_load(resources.read(f"{FOLDER}/examples/{name}.yaml"))["examples"]


@pytest.mark.parametrize(
    "example", shipped("basic_compositions"), ids=lambda example: example["expression"]
)
def test_the_basic_examples_are_true(example: dict[str, Any]) -> None:
    """ALPH-73, 74: the examples that `init` writes beside an alphabet are computed, not told."""
    (found,) = calculus.compose(alphabet(), example["expression"])["alternatives"]
    assert (example["number"], example.get("denied_number", 1)) == (
        found["number"],
        found["denied_number"],
    )
    assert sorted(example.get("contains", found["positive"])) == found["positive"]


@pytest.mark.parametrize(
    "example", shipped("complex_derivations"), ids=lambda example: example["expression"]
)
def test_the_complex_examples_are_true(example: dict[str, Any]) -> None:
    """ALPH-77 to 79, and inconsistent compositions are diagnosed with their reason."""
    found = calculus.compose(alphabet(), example["expression"])["alternatives"]
    if "alternatives" in example:
        said = [
            str(Concept(frozenset(one["positive"]), frozenset(one["negative"]))) for one in found
        ]
        assert sorted(example["alternatives"]) == sorted(said)
    if "violation" in example:
        said = [(one["kind"], one["reason"].replace("`", "")) for one in found[0]["violations"]]
        assert (example["violation"], example["why"]) in said
    assert set(example.get("follows", ())) <= set(found[0]["follows"])


@pytest.mark.parametrize(
    "name",
    ["prime_composition", "set_theoretic", "type_theoretic", "vector_space", "graph_structure"],
)
def test_the_implementations_beside_an_alphabet_are_the_shipped_ones(name: str) -> None:
    """The files of the seed's folder `calculus/implementations`: each gives the calculus of its name."""
    spec = importlib.util.spec_from_file_location(
        name, Path(resources.path(f"{FOLDER}/implementations/{name}.py"))
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (made,) = (getattr(module, one) for one in module.__all__)
    assert made in calculus.IMPLEMENTATIONS


def test_a_number_is_taken_apart_and_its_strangers_are_named() -> None:
    """ALPH-73, 74: a prime of no primitive in use, one that is there twice, and 1 are errors."""
    assert ["cause", "time"] == calculus.decompose(alphabet(), 10)["alternatives"][0]["positive"]
    assert ["space"] == calculus.decompose(alphabet(), "10", denied=3)["alternatives"][0][
        "negative"
    ]
    for number, says in (
        (22, "the factor 11, of which"), (4, "holds the prime of `time` more than once"), (1, "composition of nothing"),
        (0, "0 is no composition"), (-6, "-6 is no composition"), ("9" * 5000, "5000 digits"),
    ):  # fmt: skip
        with pytest.raises(CalculusError, match=says):
            calculus.decompose(alphabet(), number)


def test_labels_may_have_several_words_and_are_compared_as_labels_are() -> None:
    for text in ('"first mover" and Time', "first_mover & time", "time, first_mover"):
        assert 14 == calculus.compose(alphabet(), text)["alternatives"][0]["number"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("zzz and time", "no primitive in use is called `zzz`"), ("gone", "no primitive in use is called `gone`"),
        ("time and", "a label is missing at the end"), ("(time", r"a `\(` is not closed"), ("time space", "goes on with `space`"),
        ("and time", "a label is missing before `and`"), ("", "a label is missing at the end"),
        ("time ^ space", "`^ space` is no label"),
        ("not " * 200 + "time", "nested deeper than 100"), ("(" * 5000 + "time", "nested deeper than 100"),
    ],
)  # fmt: skip
def test_an_expression_that_is_none_says_where(text: str, says: str) -> None:
    """ALPH-73, T-56: no unknown label is dropped, no text gives a traceback."""
    with pytest.raises(CalculusError, match=says.replace("^", r"\^")):
        calculus.compose(alphabet(), text)


def test_too_many_alternatives_are_refused_and_not_computed() -> None:
    labels = [f"w{number}" for number in range(40)]
    basis = Basis(dict(zip(labels, calculus.primes.first(40))))
    pairs = " and ".join(f"({a} or {b})" for a, b in zip(labels[::2], labels[1::2]))
    with pytest.raises(CalculusError, match="at most 4096 are composed"):
        calculus.meaning_of(basis, pairs)


def test_operators_count_their_operands() -> None:
    """ALPH-76: arity errors of and, or, not, ->, predication and relation."""
    basis = calculus.basis_of(alphabet())
    time, space = atom(basis, "time"), atom(basis, "space")
    wrong = [
        conjoin,
        disjoin,
        negate,
        lambda: negate(time, space),
        lambda: predicate(time),
        lambda: predicate(time, "x", "y"),
    ]
    for call in (*wrong, lambda: relate(time, "x"), lambda: Rules().implying(time)):
        with pytest.raises(ArityError):
            call()
    assert (time, "x") == predicate(time, "x") and (space, "a", "b") == relate(space, "a", "b")
    with pytest.raises(CalculusError, match="several alternatives"):
        Rules().implying(time, disjoin(time, space))


def test_rules_give_modus_ponens_and_contraposition() -> None:
    """ALPH-76, 79: the store keeps one rule for each alternative of a condition, and says how a thing follows."""
    names = alphabet()
    basis = calculus.basis_of(names)
    rules = Rules().implying(
        conjoin(atom(basis, "time"), atom(basis, "space")), atom(basis, "cause")
    )
    table = clauses(names, rules.rules)
    both = closure(Concept(none("time space"), none("")), table)
    assert "cause: modus ponens, since space and time" in both.why(("cause", True))
    found = closure(Concept(none("time"), none("cause")), table)
    assert "not space: contraposition, since not cause and time" == found.why(("space", False))[-1]
    assert ("time",) == closure(Concept(none("cause"), none("time")), table).contradictions


def test_definitions_contain_their_parts_through_other_definitions() -> None:
    """ALPH-79: transitivity; a circle of definitions ends, and shows."""
    defined = {"killing": "cause death", "death": "end life", "x": "y", "y": "x"}
    found = kinds_of({name: Concept(none(parts)) for name, parts in defined.items()})
    assert none("cause death end life") == found["killing"]
    assert none("x y") == found["x"]


def test_features_become_primitives_and_gaps() -> None:
    """ALPH-81: with an alias, a denied feature, a gap, and what is wrong with the result."""
    found = decomposition(
        alphabet(), "clockwork", ["causation", "not space", "spring"], {"causation": "cause"}
    )
    assert (Concept(none("cause"), none("space")), ("spring",), "partial") == (
        found.concept,
        found.gaps,
        found.kind,
    )
    assert ["incomplete"] == [one.kind for one in found.violations]
    assert "inexpressible" == decomposition(alphabet(), "x", ["spring"]).kind
    assert "expressible" == decomposition(alphabet(), "x", ["time"]).kind


def test_similar_concepts_have_a_small_angle() -> None:
    calc = VectorCalculus(calculus.basis_of(alphabet()))
    one = calc.concept(["time", "space"])
    others = (["time", "space"], ["cause"], ["time", "cause"])
    assert [1.0, 0.0, 0.5] == [
        round(calc.similarity(one, calc.concept(other)), 9) for other in others
    ]


def test_an_alphabet_with_false_primes_has_no_calculus() -> None:
    """ALPH-49, 73: a number that is not prime, and a prime of two primitives."""
    with pytest.raises(CalculusError, match="`a` has the number 4, which is not prime"):
        Basis({"a": 4})
    with pytest.raises(CalculusError, match="`a` and `b` have the same prime, 5"):
        Basis({"a": 5, "b": 5})
