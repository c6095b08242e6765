"""`fdc diff --fail-on`: pairs of plans of which the second one is weaker, each in a way of its own, and harmless pairs."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.runs.plan_diff.compare import compare

from tests.property.test_plan_diff import SUB, holding, side
from tests.support.weaker_pairs import CALLED, HARMLESS, WEAKER


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pairs")
    (root / "docs" / "inner").mkdir(parents=True)
    files = {
        "docs/inner/green.md": "tea\n",
        "docs/tea.md": "tea\n",
        "Makefile": "tea:\n\ttrue\n",
        "fdc.toml": "",
    }
    for name, text in files.items():
        (root / name).write_text(text, "utf-8")
    subs = {"sub": SUB, "other": SUB.replace('require ok == "yes" else "no"\n', "")}
    for name, text in {**CALLED, **subs}.items():
        (root / f"{name}.plan").write_text(text, "utf-8")
    return root


def test_each_weaker_plan_is_told_and_none_is_weaker_than_itself(place: Path) -> None:
    assert len({what for _, what, _, _ in WEAKER}) == len(WEAKER) > 50
    for kind, what, old, new in WEAKER:
        one, other = side(place, old), holding(place, new)
        assert other is not None, what
        assert compare(one, other).grown[kind], what
        assert not any(compare(one, one).grown.values()), what


def test_harmless_changes_weaken_no_gate(place: Path) -> None:
    for what, old, new in HARMLESS:
        found = compare(side(place, old), side(place, new))
        assert found.differences and not found.grown["weaker-gate"], (what, found.grown)
