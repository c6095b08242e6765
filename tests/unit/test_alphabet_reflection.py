"""ALPHABETUM's embedded meta-reasoner: what it makes of a period's numbers."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_toolchain.packs.alphabet.model import CORE_DOMAINS
from fdc_toolchain.packs.alphabet.reflection import mismatches, reflect
from fdc_toolchain.packs.alphabet.replies import read_reply


def period(**more: Any) -> dict[str, Any]:
    """Five good iterations; keywords make them otherwise."""
    return {
        "iteration_range": [1, 5], "primitives_added": 10, "primitives_rejected": 4, "candidates": 20, "acceptance_rate": 0.5,
        "coverage_before": 0.1, "coverage_after": 0.4, "failed_attacks": {"decomposition": 4}, "gaps": [], "total": 10,
        "by_domain": dict.fromkeys(CORE_DOMAINS, 3), "strategy": {"critic_strictness": 0.5}, "tested": 80, **more,
    }  # fmt: skip


IDLE = {"coverage_after": 0.1}


@pytest.mark.parametrize(("more", "calibration", "decision"), [
    ({}, "balanced", "CONTINUE"),
    ({"acceptance_rate": 0.1}, "too_strict", "PIVOT"),
    ({"acceptance_rate": 0.9}, "too_lenient", "CONTINUE"),
    (IDLE, "too_lenient", "CONTINUE"),
    ({**IDLE, "acceptance_rate": 0.1}, "too_lenient", "CONTINUE"),
    ({**IDLE, "strategy": {"critic_strictness": 1.0}}, "too_lenient", "CONCLUDE"),
    ({"strategy": {"critic_strictness": 1.0}}, "balanced", "CONTINUE"),
    ({**IDLE, "primitives_added": 0}, "balanced", "CONTINUE"),  # the condition of stability sees to that
    ({**IDLE, "coverage_after": 0.0, "coverage_before": 0.0, "tested": 0}, "balanced", "CONTINUE"),  # nothing is measured
])  # fmt: skip
def test_the_embedded_meta_reasoner_decides_by_the_numbers(more: dict[str, Any], calibration: str, decision: str) -> None:
    """ALPH-29 to 31: what is added and expresses nothing more speaks for a stricter critic, and in the end for stopping."""
    found = period(**more)
    said = reflect({"period": found})
    heard = read_reply("meta_reasoner", said)
    assert "" == heard.wrong
    output = said["meta_reflection"]
    assert (calibration, decision) == (output["strategy_assessment"]["critic_calibration"], output["decision"])
    assert [] == mismatches(output, found)
    assert ("express no more" in output["course_corrections"]["criterion_calibration"]) == (decision == "CONCLUDE" or (
        found["tested"] > 0 and found["primitives_added"] > 0 and found["coverage_after"] <= found["coverage_before"]
    ))
