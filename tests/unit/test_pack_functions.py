"""Functions of fdc's packs run inside of fdc, also under the names that programs of 0.1.0 have; no other one's do."""

from __future__ import annotations

import pytest
from fdc_toolchain.tools import own_code, python_tools

OLD = [
    "fdc_toolchain.packs.repair.loop:outcome",
    "fdc_toolchain.packs.research.claims:quoted",
    "fdc_toolchain.packs.explore.tracks:split",
    "fdc_toolchain.packs.lgtm.worldview:begin",
    "fdc_toolchain.packs.lgtm.worldview:settle",
    "fdc_toolchain.packs.alphabet.layout:wanted",
    "fdc_toolchain.packs.alphabet.steps:answer",
]


@pytest.mark.parametrize("target", OLD)
def test_a_name_of_before_is_the_same_function(target: str) -> None:
    now = own_code.renamed(target)
    assert now != target and own_code.is_own(target) and own_code.is_own(now)
    assert callable(python_tools._find(now))


def test_every_function_of_a_catalogue_is_there() -> None:
    ours = {target for target in own_code.shipped() if target.startswith("fdc_packs.")}
    assert len(ours) > 100
    assert all(own_code.is_own(one) and callable(python_tools._find(one)) for one in ours)


@pytest.mark.parametrize(
    "target",
    [
        "fdc_toolchain.packs.repair.loop:read",
        "fdc_packs.repair.loop:read",
        "os:system",
        "packs.x:y",
    ],
)
def test_what_no_catalogue_names_is_somebody_else_s(target: str) -> None:
    assert not own_code.is_own(target)
