"""The calculus as people use it: expressions in, concepts with numbers, violations and what follows out."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from fdc_packs.alphabet import calculus
from fdc_packs.alphabet.calculus import Basis, CalculusError, Concept
from fdc_packs.alphabet.calculus.inference import clauses, closure
from fdc_packs.alphabet.calculus.operators import (
    ArityError,
    atom,
    conjoin,
    disjoin,
    negate,
    rules_of,
)
from fdc_packs.alphabet.model import Alphabet, Primitive, alphabet_of
from fdc_toolchain import resources

from tests.support.alphabets import first_primes

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


def operators() -> list[dict[str, Any]]:
    return yaml.safe_load(resources.read(f"{FOLDER}/operators.yaml"))["operators"]


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


@pytest.mark.parametrize("operator", operators(), ids=lambda row: row["name"])
def test_every_operator_that_is_promised_is_read(operator: dict[str, Any]) -> None:
    """ALPH-76: each operator of operators.yaml by its example, and by every other way in which it is written."""
    first, *others = operator["written"]
    found = calculus.compose(alphabet(), operator["example"])
    assert found["alternatives"]
    for written in others:
        text = operator["example"].replace(f" {first} ", f" {written} ").replace("not ", "~ ")
        again = calculus.compose(alphabet(), text)
        assert text != operator["example"] and again["alternatives"] == found["alternatives"]


def test_rules_and_subjects_are_stated_in_one_text() -> None:
    """ALPH-76, 79: what a rule says follows from the other statements, whatever their order; subjects are kept."""
    text = "time and space -> cause; (time, space)(here); cause(sun, day); not cause and time"
    found = calculus.compose(alphabet(), text)
    assert ["space + time -> cause"] == found["rules"]
    first, second, third = found["alternatives"]
    assert ["here"] == first["subjects"]
    assert "cause: modus ponens, since space and time" in first["follows"]
    assert (["sun", "day"], ["time: presupposition, since cause"]) == (
        second["subjects"],
        second["follows"],
    )
    assert "not space: contraposition, since not cause and time" in third["follows"]
    both = calculus.compose(alphabet(), "time or space -> cause")
    assert (["time -> cause", "space -> cause"], []) == (
        sorted(both["rules"])[::-1],
        both["alternatives"],
    )


def test_two_concepts_are_compared() -> None:
    """ALPH-73: contains is divisibility of the number, a kind divides on both tracks, common are the common divisors."""
    found = calculus.compare(alphabet(), "time and space and not cause", "time and not cause")
    assert (True, False, True, False) == tuple(
        found[key] for key in ("contains", "is_contained", "is_kind_of", "has_kind")
    )
    assert {"positive": ["time"], "negative": ["cause"], "number": 2, "denied_number": 5} == found[
        "common"
    ]
    other = calculus.compare(alphabet(), "time", "not time")
    assert not any((other["contains"], other["is_contained"], other["together_consistent"]))
    with pytest.raises(CalculusError, match="has 2 alternatives, and one is compared"):
        calculus.compare(alphabet(), "time or space", "time")


def test_a_number_is_taken_apart_and_its_strangers_are_named() -> None:
    """ALPH-73, 74: a prime of no primitive in use, one that is there twice, and 1 are errors."""
    assert ["cause", "time"] == calculus.decompose(alphabet(), 10)["alternatives"][0]["positive"]
    assert ["space"] == calculus.decompose(alphabet(), "10", denied=3)["alternatives"][0][
        "negative"
    ]
    for number, says in (
        (22, "the factor 11, of which"), (4, "holds the prime of `time` more than once"), (1, "composition of nothing"),
        (0, "0 is not a composition"), (-6, "-6 is not a composition"), ("9" * 5000, "5000 digits"),
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
        ("time ^ space", "`^ space` is not a label"),
        ("time -> space -> cause", "a rule has one `->`"), ("-> time", "a label is missing at the end"),
        ("time ->", "a label is missing at the end"),
        ("time -> space(x)", "goes on with `"), ("time; ", "a label is missing at the end"),
        ("time()", "exactly one subject"), ("time(a, b, c)", "exactly one subject"), ("time(a,)", "after the last comma"),
        ("time(a b)", "names with commas"), ("time(a", r"a `\(` is not closed"),
        ("time -> space or cause", "several alternatives"),
        ("not " * 200 + "time", "nested deeper than 100"), ("(" * 5000 + "time", "nested deeper than 100"),
    ],
)  # fmt: skip
def test_an_expression_that_is_none_says_where(text: str, says: str) -> None:
    """ALPH-73, T-56: no unknown label is dropped, no text gives a traceback."""
    with pytest.raises(CalculusError, match=says.replace("^", r"\^")):
        calculus.compose(alphabet(), text)


@pytest.mark.long
def test_too_many_alternatives_are_refused_and_not_computed() -> None:
    labels = [f"w{number}" for number in range(40)]
    basis = Basis(dict(zip(labels, first_primes(40))))
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
        lambda: calculus.statements_of(basis, "time()"),
        lambda: calculus.statements_of(basis, "time(x, y, z)"),
    ]
    for call in (*wrong, lambda: rules_of(time)):
        with pytest.raises(ArityError):
            call()
    (said,), (related,) = (calculus.statements_of(basis, one) for one in ("time(x)", "space(a, b)"))
    assert (time, ("x",)) == said[:2] and (space, ("a", "b")) == related[:2]
    with pytest.raises(CalculusError, match="several alternatives"):
        rules_of(time, disjoin(time, space))


def test_rules_give_modus_ponens_and_contraposition() -> None:
    """ALPH-76, 79: the store keeps one rule for each alternative of a condition, and says how a thing follows."""
    names = alphabet()
    basis = calculus.basis_of(names)
    rules = rules_of(conjoin(atom(basis, "time"), atom(basis, "space")), atom(basis, "cause"))
    table = clauses(names, rules)
    both = closure(Concept(none("time space"), none("")), table)
    assert "cause: modus ponens, since space and time" in both.why(("cause", True))
    found = closure(Concept(none("time"), none("cause")), table)
    assert "not space: contraposition, since not cause and time" == found.why(("space", False))[-1]
    assert ("time",) == closure(Concept(none("cause"), none("time")), table).contradictions


def test_definitions_contain_their_parts_through_other_definitions() -> None:
    """ALPH-79: containment, and transitivity; a circle of definitions ends."""
    defined = {"killing": "cause death", "death": "end life", "x": "y", "y": "x"}
    table = clauses(alphabet(), (), {name: Concept(none(parts)) for name, parts in defined.items()})
    assert (
        none("killing cause death end life time")
        == closure(Concept(none("killing")), table).concept.positive
    )
    assert none("x y") == closure(Concept(none("x")), table).concept.positive


def test_an_alphabet_with_false_primes_has_no_calculus() -> None:
    """ALPH-49, 73: a number that is not prime, and a prime of two primitives."""
    with pytest.raises(CalculusError, match="`a` has the number 4, which is not prime"):
        Basis({"a": 4})
    with pytest.raises(CalculusError, match="`a` and `b` have the same prime, 5"):
        Basis({"a": 5, "b": 5})
