"""What an alphabet is measured by: every figure here was computed by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from fdc_packs.alphabet.calculus import consistency_report, metrics
from fdc_packs.alphabet.calculus.metrics import BenchmarkError
from fdc_packs.alphabet.model import Alphabet, Primitive, alphabet_of
from fdc_packs.alphabet.texts import text as markdown
from fdc_toolchain.resources import read

from tests.support.alphabets import first_primes


def alphabet(*labels: str, domain: str = "time") -> Alphabet:
    return alphabet_of(
        Primitive(f"PRM_{number:04d}", label, prime, domain)
        for number, (label, prime) in enumerate(zip(labels, first_primes(len(labels))), 1)
    )


def concept(name: str, *features: str, **more: Any) -> dict[str, Any]:
    return {"concept": name, "features": list(features), **more}


CONCEPTS = [
    concept("ab", "a", "b", domain="time", complexity="low", importance=2),
    concept("abc", "ab", "not c", domain="time", complexity="medium"),
    concept("a alone", "a", domain="space", complexity="low"),
    concept("az", "a", "z", domain="mind", complexity="high"),
    concept("zy", "z", "y", domain="mind", complexity="high"),
]


def test_coverage_counts_all_benchmarks() -> None:
    """ALPH-82 and T-53: 3 of 5; a feature that is a concept is looked up; gaps by how many concepts need them."""
    found = metrics.coverage(alphabet("a", "b", "c"), CONCEPTS)
    assert (0.6, 5, ["ab", "abc", "a alone"], ["az"], ["zy"]) == tuple(
        found[key] for key in ("coverage", "total", "expressible", "partial", "inexpressible")
    )
    assert [{"gap": "z", "needed_by": 2}, {"gap": "y", "needed_by": 1}] == found["gaps"]
    assert {"total": 2, "expressible": 0, "coverage": 0.0} == found["by_domain"]["mind"]
    assert {"total": 2, "expressible": 2, "coverage": 1.0} == found["by_complexity"]["low"]
    assert ["low", "medium", "high"] == list(found["by_complexity"])


def test_each_concept_comes_apart_as_far_as_it_does() -> None:
    """ALPH-81: its own features as they were given, the primitives at the bottom, what is missing there."""
    found = metrics.decompositions(alphabet("a", "b", "c"), CONCEPTS)
    assert [row["concept"] for row in found] == [row["concept"] for row in CONCEPTS]
    assert {
        "concept": "abc", "result": "expressible", "features": ["ab", "not c"], "primitives": ["a", "b", "c"], "missing": [],
    } == found[1]  # fmt: skip
    assert ("partial", ["a"], ["z"]) == tuple(
        found[3][key] for key in ("result", "primitives", "missing")
    )


def test_a_circle_of_concepts_expresses_nothing() -> None:
    """ALPH-82: `p` is `q` and `q` is `p`; what is built on them is missing them, at any depth and in linear time."""
    circle = [concept("p", "q"), concept("q", "p", "a"), concept("r", "p", "a")]
    found = metrics.coverage(alphabet("a"), circle)
    assert ([], ["q", "r"], ["p"]) == (
        found["expressible"],
        found["partial"],
        found["inexpressible"],
    )
    tower = [concept("t0", "a")] + [
        concept(f"t{n}", f"t{n - 1}", f"not t{n - 1}", f"t{max(0, n - 2)}") for n in range(1, 300)
    ]
    assert 1.0 == metrics.coverage(alphabet("a"), tower)["coverage"]


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"concepts": []}, "the benchmark has no list `test_concepts`"),
        ([{"features": ["a"]}], "test concept 1 has no name in `concept`"),
        ([concept("a", "b"), concept("A", "c")], "test concept 2: `a` is there twice"),
        (
            [{"concept": "a", "features": [True]}],
            "test concept 1, `a`: `features` is not a list of labels, each a text",
        ),
        (
            [concept("a", "b", importance=0)],
            "test concept 1, `a`: `importance` is not a number above 0",
        ),
    ],
)
def test_an_invalid_benchmark_is_an_error(broken: Any, says: str) -> None:
    """ALPH-82 and T-51: said with the entry, and not read as an empty benchmark."""
    with pytest.raises(BenchmarkError, match=says):
        metrics.coverage(alphabet("a"), broken)


def test_nothing_is_covered_by_nothing() -> None:
    assert 0.0 == metrics.coverage(alphabet("a"), [])["coverage"]
    assert 0.0 == metrics.expressiveness(alphabet(), CONCEPTS)["entropy"]


def test_expressiveness_is_what_the_formulas_say() -> None:
    """ALPH-86, by hand: uses are a 4 (ab, abc, a alone, az), b 2, c 1: p = 4/7, 2/7, 1/7."""
    found = metrics.expressiveness(alphabet("a", "b", "c", "d"), CONCEPTS)
    h = 4 / 7 * math.log2(7 / 4) + 2 / 7 * math.log2(7 / 2) + 1 / 7 * math.log2(7)
    data = 4 * math.log2(7 / 4) + 2 * math.log2(7 / 2) + math.log2(7)
    assert (round(h, 4), round(h / math.log2(3), 4)) == (
        found["entropy"],
        found["normalised_entropy"],
    )
    assert (1.3788, 0.8699) == (found["entropy"], found["normalised_entropy"])
    assert round(data / 5, 4) == found["bits_per_concept"]
    assert {
        "model_bits": 8.0,
        "data_bits": round(data, 2),
        "total_bits": round(8 + data, 2),
    } == found["mdl"]
    assert (0.6, 4, 3, ["d"]) == tuple(
        found[key] for key in ("coverage", "primitives", "primitives_used", "primitives_unused")
    )
    # weights 2, 1, 1, 1, 1; parts 1, 1, 1, 1/2, 0
    assert 0.75 == found["weighted_coverage"]
    assert [("a", 1.0), ("b", 0.6667), ("c", 0.3333)] == [
        (one["label"], one["importance"]) for one in found["importance"]
    ]


def test_a_uniform_use_has_the_entropy_of_its_logarithm() -> None:
    assert 3.0 == metrics.entropy([5] * 8)
    assert 0.0 == metrics.entropy([9]) == metrics.entropy([])


def test_domains_are_adequate_sparse_or_neglected() -> None:
    """ALPH-84: three, one, none."""
    three = alphabet("a", "b", "c")
    both = three.replaced(Primitive("PRM_0009", "d", 23, "mind"))
    found = {domain: row["coverage"] for domain, row in metrics.domain_coverage(both).items()}
    assert ("adequate", "sparse", "neglected", 9) == (
        found["time"],
        found["mind"],
        found["space"],
        len(found),
    )


def test_the_consistency_report_passes_warns_and_fails() -> None:
    """ALPH-83: each of the four checks has a result, findings and advice."""
    sound = consistency_report.consistency(alphabet("a", "b"))
    assert {"pass"} == {check["result"] for check in sound["checks"].values()}
    assert (1.0, ["nothing needs to be done"]) == (sound["overall_score"], sound["recommendations"])
    a, b = alphabet("a", "b")
    bad = alphabet("a", "b").replaced(
        a._replace(presupposes=("PRM_0002",), definition="an a that is an a"),
        b._replace(presupposes=("PRM_0001", "PRM_0099")),
    )
    found = consistency_report.consistency(bad)
    assert ("fail", "pass", "pass", "fail") == tuple(
        check["result"] for check in found["checks"].values()
    )
    assert found["overall_score"] < 1
    text = markdown("consistency", found)
    assert "| circularity | fail | 2 |" in text and "PRM_0099" in text
    warned = consistency_report.consistency(alphabet("a").replaced(a._replace(definition="an a")))
    assert "warning" == warned["checks"]["circularity"]["result"]


def test_the_shipped_concepts_are_a_sound_benchmark() -> None:
    """ALPH-82: 80 concepts of our own, 40 that measure and 40 to practise with; none refers to one of the other file.

    T-57: a corpus said 73 of itself and had 77, and was taken for evidence though its authors had the alphabet in view.
    """
    names: set[str] = set()
    for file in ("test_concepts", "practice_concepts"):
        shipped = yaml.safe_load(read(f"tooling/fdc_packs/alphabet/data/{file}.yaml"))
        tests = metrics.tests_of(shipped)
        assert 40 == len(tests) and names.isdisjoint(test.name for test in tests)
        empty = metrics.coverage(alphabet(), shipped)
        bottom = [row["gap"] for row in empty["gaps"]]
        assert 0.0 == empty["coverage"]
        names |= {test.name for test in tests}
        assert names.isdisjoint(bottom)
        assert 1.0 == metrics.coverage(alphabet(*bottom), shipped)["coverage"]


def rejected(label: str, **attacks: Any) -> dict[str, Any]:
    return {"label": label, "critic_output": {"attacks": attacks}}


def test_what_was_rejected_as_composite_is_expressed_by_its_parts() -> None:
    """ALPH-82: `z` was expressed by primitives, `y` was taken apart into `a` and `b`; broken rows are passed over."""
    rows = [
        rejected("z", redundancy={"using_primitives": ["PRM_0001", "PRM_0003"]}),
        rejected("y", decomposition={"attempts": [{"succeeded": True, "into": ["a", "b"]}]}),
        rejected("q", decomposition={"attempts": ["a text of a model"]}), {"label": "r", "critic_output": None}, {},
    ]  # fmt: skip
    assert {"z": ("a", "c"), "y": ("a", "b")} == metrics.derived(alphabet("a", "b", "c"), rows)
    assert 1.0 == metrics.coverage(alphabet("a", "b", "c"), CONCEPTS, rows)["coverage"]
    lacking = metrics.coverage(alphabet("a", "c"), CONCEPTS, rows)
    assert [{"gap": "b", "needed_by": 3}] == lacking["gaps"]
    (first,) = alphabet("a")
    gone = alphabet("a", "b", "c").replaced(first._replace(status="deprecated"))
    assert ("c",) == metrics.derived(gone, rows)["z"]
