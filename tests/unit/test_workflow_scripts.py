"""Workflow scripts as people write them: the bound that is expected of each, or where it is refused and why."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from fdc_toolchain.foreign.model import Unreadable
from fdc_toolchain.foreign.workflow.bound import Bound, bound_of
from fdc_toolchain.foreign.workflow.check import read

from tests.support.workflow_scripts import runtime

PAGE = Path(runtime.__file__).with_name("written.md").read_text("utf-8")
HEAD = "export const meta = { name: 'x', description: 'x' }\n"


class Script(NamedTuple):
    """A script of the page with what it says of itself."""

    name: str
    bound: str
    codes: list[str]
    text: str


def scripts() -> list[Script]:
    """All scripts of the page. Line 1 of each is replaced by the head, so that lines stay as they are."""
    out = []
    for block in re.findall(r"^```js\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        first, _, rest = block.partition("\n")
        name, bound, codes = re.fullmatch(
            r"// ([\w-]+): ([^|]*(?:\|[^|]+\|[^|]*)*?)(?: \|((?: FDC\d+)+))?", first
        ).groups()  # type: ignore[union-attr]
        out.append(Script(name, bound.strip(), (codes or "").split(), HEAD + rest))
    return out


SCRIPTS = scripts()


def test_there_are_forty() -> None:
    assert len(SCRIPTS) >= 40 and len({script.name for script in SCRIPTS}) == len(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_has_the_bound_and_the_findings_that_it_says(script: Script) -> None:
    try:
        found = read("x.js", script.text).findings
    except Unreadable as wrong:
        found = [wrong.finding]
    assert script.codes == [item.code for item in found]
    if script.codes and script.codes[0] in ("FDC801", "FDC802", "FDC803"):
        assert script.bound == str(found[0].span.line)
        return
    bound = bound_of(script.text, "x.js")
    assert isinstance(bound, Bound) and bound.cost is not None
    assert script.bound == str(bound.cost.agents)


@pytest.mark.skipif(runtime.NODE is None, reason="Node is not on the PATH")
def test_no_script_of_the_page_starts_more_than_its_bound() -> None:
    cases, bounds = [], []
    for script in SCRIPTS:
        bound = bound_of(script.text, "x.js") if script.codes != ["FDC801"] else None
        if not isinstance(bound, Bound) or bound.cost is None:
            continue
        text = runtime.measured(script.text, bound)
        for seed in range(6):
            many = ["a", "b", "c", "d", "e", "f", "g"][: seed + 1]
            given = {
                "files": many,
                "pages": many,
                "steps": many,
                "rounds": seed * 2,
                "deep": seed % 2,
                "start": "x",
            }
            cases.append(runtime.Case(text, given, seed, 300))
            bounds.append(bound)
    reached = 0
    for case, bound, happened in zip(cases, bounds, runtime.run(cases)):
        assert bound.cost is not None and "SyntaxError" not in happened.failed, (
            happened,
            case.text,
        )
        sizes = {name: happened.sizes.get(name, 0) for name in bound.sizes}
        assert happened.agents <= bound.cost.agents.value(sizes), (happened, case.text)
        reached += happened.agents == bound.cost.agents.value(sizes)
    assert reached > len(cases) / 3
