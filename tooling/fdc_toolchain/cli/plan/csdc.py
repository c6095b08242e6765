"""`fdc csdc`: a plan against CSDC model A or B and a stated complexity class (FDC-93b to FDC-93d)."""

from __future__ import annotations

import click

from ...console.options import choice_option, workspace_option
from ..linting.csdc_findings import findings
from ..linting.options import defaults

MODELS = ("A", "B")


@click.command("csdc")
@click.argument("plan")
@click.option(
    "--model", type=click.Choice(MODELS), required=True, help="The model to check against."
)
@choice_option("--complexity", ["P", "EXP"], "The class that the plan must have.")
@workspace_option
def command(plan: str, model: str, complexity: str | None, workspace: str | None) -> int:
    """Check PLAN against CSDC model A or B.

    A permits `define_set_of_names` and forbids `define_diagonalization_function`; B does the
    reverse. Both refuse a plan that has both. The plan is linted under the model's own automaton.
    """
    from ..linting.fast_lint import execute

    fsm = f"tooling/csdc_{model.lower()}_fsm.json"
    return execute(
        {
            **defaults(), "paths": [plan], "model": model, "complexity": complexity, "fsm": fsm,
            **({"workspace": workspace} if workspace else {}),
        }
    )  # fmt: skip


def validate_plan_for_model(plan: str, model: str, workspace: str = ".") -> tuple[bool, str]:
    """(True, "") if the model's automaton and the model accept a plan text, else (False, reason) (FDC-93b).

    `plan` is the text; files and sub-plans are those of `workspace`.
    """
    import os

    from ...check import check
    from ...linking.link import Linker
    from ...linking.project.settings import read_settings

    if model not in MODELS:
        return False, f"Unknown model '{model}'."
    root = os.path.abspath(workspace)
    settings = read_settings(root)._replace(fsm=f"tooling/csdc_{model.lower()}_fsm.json")
    checked = check(
        Linker(root, settings),
        ["<plan>"],
        {"<plan>": plan.encode("utf-8", "surrogatepass")},
        whole=True,
    )
    found = [item for item in checked.diagnostics if item.severity == "error"] + findings(
        checked, model, None
    )
    return not found, "; ".join(f"line {item.span.line}: {item.message}" for item in found)


def main(argv: list[str] | None = None) -> int:
    """`csdc_cli PLAN --model A|B [--complexity P|EXP]`. Returns the exit code (FDC-93c)."""
    from ..main import run

    return run(argv, command, "csdc_cli")
