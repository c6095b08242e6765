"""What is shipped for repairs: the checklist, the prompts, the plans and what the linter proves of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fdc_packs.repair import embedded, gates, hypotheses, loop
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.tools.model.prompt_tools import rendered, variables

from tests.support.linting import findings, lint
from tests.support.repair_states import (
    BEFORE,
    PATCH,
    PROPOSAL,
    SURVIVES,
    after,
    diagnosed,
    made,
    row_of,
)
from tests.support.repaired import RIGHT, WHY, WRONG
from tests.support.repository import ROOT, shipped

PACK = ROOT / "tooling/fdc_packs/repair"
CATALOGUE = json.loads((PACK / "repair_tools.json").read_text("utf-8"))["tools"]
CHECKLIST = json.loads((PACK / "prompts/checklist.json").read_text("utf-8"))


def test_the_checklist_says_what_the_code_checks() -> None:
    """HYP-44."""
    said = {
        phase["step"]: {rule["name"]: rule["rule"] for rule in phase["rules"]}
        for phase in CHECKLIST["phases"]
    }
    assert said == gates.RULES
    assert (
        list(gates.RELATIONS) == CHECKLIST["relations"]
        and list(hypotheses.BUCKETS) == CHECKLIST["buckets"]
    )
    assert (
        list(gates.REASONS) == CHECKLIST["failure_reasons"]
        and hypotheses.ATTEMPTS == CHECKLIST["attempts"]
    )
    order = [phase["step"] for phase in CHECKLIST["phases"]]
    assert [
        "GATHER",
        "INTERPRET",
        "DIAGNOSE",
        "FALSIFY",
        "PROPOSE",
        "GENERATE_PATCH",
        "CRITIQUE",
        "CONVERGE",
    ] == order
    assert CHECKLIST["hypothesis"] and CHECKLIST["validation"]


@pytest.mark.parametrize(
    "tool", [name for name, row in CATALOGUE.items() if "prompt" in row.get("run", {})]
)
def test_every_prompt_uses_what_its_tool_has(tool: str) -> None:
    declared = CATALOGUE[tool]
    text = shipped(declared["run"]["prompt"]).read_text("utf-8")
    assert variables(text) <= {parameter["name"] for parameter in declared["parameters"]}
    assert "data-" in rendered(text, EXAMPLE)[1] and hasattr(
        embedded, declared["run"]["embedded"].partition(":")[2]
    )


EXAMPLE: dict[str, Any] = {
    "failure": BEFORE, "hypothesis": row_of({**RIGHT, "edit": "SECRET-EDIT"}),
    "proposal": {"intent": "x", "structural_change": {}},
    "attempt": loop.attempted(loop.weigh(diagnosed(), SURVIVES), PROPOSAL, PATCH, after()),
    "context": {"excerpts": "e", "files": ["f"], "gathered": [], "suspects": [], "sources": {"shop/price.py": "s"}},
    "history": ["h"], "known": hypotheses.carried(made(RIGHT, WRONG)), "refused": ["r"], "tried": ["t"], "interpretation": "i",
    "gathered": ["g"], "probed": {"verdicts": {"t": "helps"}},
}  # fmt: skip


def test_no_prompt_shows_an_explanation_or_an_edit() -> None:
    """HYP-07, 22."""
    for declared in CATALOGUE.values():
        if "prompt" in declared.get("run", {}):
            whole = "".join(
                rendered(shipped(declared["run"]["prompt"]).read_text("utf-8"), EXAMPLE)
            )
            assert WHY not in whole and "SECRET-EDIT" not in whole


EARLY = (
    "  early <- write_patch hypothesis={state.hypothesis} proposal={state} context={context}\n  message_user {early}\n"
    "  proposed <- propose_change"
)
TESTED = '      after <- run_tests case={case} test={test} seconds={state.patience} confirm="yes"\n'
APPLIED = "      apply_repair case={case} patch={patch}\n"
PLANS = ("fix", "fix_interpret", "fix_iteration", "fix_attempt")
USING = Settings(fsm="any.json", packs=("repair",))


@pytest.mark.parametrize(
    ("where", "old", "new", "code"),
    [
        ("fix", "", "", ""),
        ("fix_iteration", "  iterate max 24 until state.settled\n", "  if state.viable\n", "FDC401"),
        ("fix_attempt", "  proposed <- propose_change", EARLY, "FDC401"),
        ("fix_attempt", TESTED, "      after <- open_repair measured={patch}\n", "FDC401"),
        ("fix_attempt", APPLIED, "      overwrite_file_with_block shop/price.py\n        x\n", "FDC451"),
        ("fix", "  iterate max 200 until ", "  iterate until ", "FDC"),
        ("fix", "allow run *\n", "", "FDC451"),
    ],
)  # fmt: skip
def test_the_linter_proves_the_order_the_bound_and_what_is_written(
    where: str, old: str, new: str, code: str
) -> None:
    """HYP-08, 32: no patch without falsification and proposal; each is measured; every loop has a bound; nothing is written."""
    world = {
        f"plans/{name}.plan": (PACK / "plans" / f"{name}.plan").read_text("utf-8") for name in PLANS
    }
    for name in PLANS[1:]:
        for plan in PLANS:
            key = f"plans/{plan}.plan"
            world[key] = world[key].replace(
                f"call_plan {name.replace('_', '-')} ", f"call_plan plans/{name}.plan "
            )
    changed = f"plans/{where}.plan"
    assert old in world[changed]
    world[changed] = world[changed].replace(old, new, 1) if old else world[changed]
    errors = [
        item.code
        for item in findings(lint(world, "plans/fix.plan", settings=USING))
        if item.severity == "error"
    ]
    assert any(one.startswith(code) for one in errors) if code else not errors, errors
