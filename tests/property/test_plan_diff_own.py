"""`fdc diff --fail-on` in a workspace with tools, predicates, automata and settings of its own.

Each change of a plan in `tests/support/own_mutants.json` is told where the page says so (`must`), and what means nothing passes
(`never`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fdc_toolchain.runs.plan_diff.compare import compare

from tests.property.test_plan_diff import side

OWN = json.loads(Path(__file__).parents[1].joinpath("support", "own_mutants.json").read_text("utf-8"))  # fmt: skip
WHOLE = "\n".join(OWN["whole"]) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("own")
    rows = {"format": 1, "name": "own", "tools": OWN["tools"], "predicates": OWN["predicates"]}
    plans: dict[str, str] = OWN["plans"]
    files = {
        **plans,
        "fdc_tools.json": json.dumps(rows),
        "fdc.toml": OWN["settings"],
        "own/cycle.json": json.dumps(OWN["automaton"]),
        "own/other.json": json.dumps(OWN["other"]),
        "own.py": "def say(**given):\n    return 1\n\n\ndef heavy(*given):\n    return True\n",
        "ask.md": "You answer.\n---\nWhat is {{ what }}?\n",
        "Makefile": "tea:\n\ttrue\ncoffee:\n\ttrue\n",
        "knowledge_core/plan_registry.json": json.dumps({Path(n).stem: n for n in plans}),
        **{f"docs/{name}.md": "tea\n" for name in ("tea", "b", "kept", "hidden")},
        "in/page.md": "tea\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


def texts(row: dict[str, str]) -> tuple[str, str]:
    """The two plans: the bodies that a row gives, or the whole plan and what a row makes of it."""
    one, other = row["old"], row["new"]
    if row["how"] == "plan":
        head = f"{OWN['head']}begin Tea\n"
        return f"{head}{one}finish\n", f"{head}{other}finish\n"
    if row["how"] == "rename":
        return WHOLE, re.sub(rf"\b{one}\b", other, WHOLE)
    assert one in WHOLE, row["what"]
    return WHOLE, WHOLE.replace(one, other, 1)


@pytest.mark.soak
def test_a_change_in_an_own_workspace_is_told_and_what_means_nothing_passes(place: Path) -> None:
    assert len(OWN["mutants"]) > 300
    for row in OWN["mutants"]:
        old, new = (side(place, text) for text in texts(row))
        found = {kind for kind, reasons in compare(old, new).grown.items() if reasons}
        assert found >= {*row["must"]} and not found & {*row["never"]}, (row["what"], found)
