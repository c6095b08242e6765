"""ALPHABETUM's embedded meta-reasoner, the taxonomies, and the prompts of all roles."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.alphabet import layout
from fdc_packs.alphabet.iteration.reflection import mismatches, reflect
from fdc_packs.alphabet.iteration.replies import read_reply
from fdc_packs.alphabet.model import CORE_DOMAINS
from fdc_packs.alphabet.state_files import depths_of, files_of
from fdc_packs.alphabet.yamltext import parse
from fdc_toolchain import resources
from fdc_toolchain.tools.model.prompt_tools import rendered, variables
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.alphabets import AT, alphabet


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
def test_the_embedded_meta_reasoner_decides_by_the_numbers(
    more: dict[str, Any], calibration: str, decision: str
) -> None:
    """ALPH-29 to 31: what is added and expresses nothing more speaks for a stricter critic, and in the end for stopping."""
    found = period(**more)
    said = reflect({"period": found})
    heard = read_reply("meta_reasoner", said)
    assert "" == heard.wrong
    output = said["meta_reflection"]
    assert (calibration, decision) == (
        output["strategy_assessment"]["critic_calibration"],
        output["decision"],
    )
    assert [] == mismatches(output, found)
    assert ("express no more" in output["course_corrections"]["criterion_calibration"]) == (
        decision == "CONCLUDE"
        or (
            found["tested"] > 0
            and found["primitives_added"] > 0
            and found["coverage_after"] <= found["coverage_before"]
        )
    )


def test_the_taxonomies_are_by_domain_by_level_by_depth_and_by_use() -> None:
    """ALPH-25; what is on a circle, or above one, has no depth."""
    some = alphabet(
        "being", "time", "change", "age", "a", "b", time={"domain": "time", "used": 2}, being={"used": 5},
        change={"presupposes": ("PRM_0001", "PRM_0002")}, age={"presupposes": ("PRM_0003", "PRM_0001"), "level": "derived"},
        a={"presupposes": ("PRM_0006", "PRM_0001")}, b={"presupposes": ("PRM_0005",)},
    )  # fmt: skip
    found = parse(files_of(some, "0.1.0", 1, AT, {}, pretty=False)[layout.DOMAIN_INDEX])[
        "domain_index"
    ]
    assert ["PRM_0002"] == found["by_domain"]["time"] and ["PRM_0004"] == found["by_level"][
        "derived"
    ]
    assert {"0": ["PRM_0001", "PRM_0002"], "1": ["PRM_0003"], "2": ["PRM_0004"]} == found[
        "by_depth"
    ]
    assert ["PRM_0001", "PRM_0002"] == [row["id"] for row in found["by_use"]]
    assert {"PRM_0001": 0} == depths_of(alphabet("being"))


@pytest.mark.parametrize("role", ["proposer", "critic", "refiner", "meta_reasoner"])
def test_a_prompt_is_a_file_and_every_gap_in_it_is_filled(role: str) -> None:
    """ALPH-58: a value that is missing is an error that names it, never an empty place in a question."""
    prompt = resources.read(f"tooling/fdc_packs/alphabet/data/{role}.jinja").decode()
    assert variables(prompt) <= {"context", "lexicon", "wrong"}
    with pytest.raises(ToolFailure, match=r"cannot be filled in.*(context|iteration|undefined)"):
        rendered(prompt, {"context": {}, "lexicon": {"rows": []}, "wrong": ""})
