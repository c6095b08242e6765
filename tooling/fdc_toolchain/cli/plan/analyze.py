"""`fdc analyze`: complexity, modality and worst-case cost of a plan (FDC-13 to FDC-15)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ...diagnostics.diagnostic import Diagnostic
from ...exits import CLEAN, FINDINGS, UsageError
from ...report.terminal.terminal_text import visible
from ...rules.bounds import Bounds, Polynomial, shown

if TYPE_CHECKING:
    from ...check import Checked

MEASURES = ("steps", "model_calls", "tokens", "money")


def figures(path: str, root: str) -> tuple[dict[str, Any], list[Any]]:
    """What `--format json` prints, and the findings that leave the figures uncertain."""
    from ...check import check_paths

    checked = check_paths([path], root)
    instance = checked.context.graph.instance(checked.keys[0])
    cost = Bounds().plan(instance)
    label = (
        ("Constant (O(1))", "Polynomial (P-Class)")[cost.nesting]
        if cost.nesting < 2
        else "Exponential (EXPTIME-Class)"
    )
    found: dict[str, Any] = {
        "plan": checked.keys[0],
        "complexity": label,
        "complexity_class": "EXP" if cost.nesting > 1 else "P",
        "degree": cost.degree,
        "modality": "Construction (Read-Write)" if cost.writes else "Analysis (Read-Only)",
        "shell": cost.shell,
        "stack": instance.height,
        "worst": {name: shown(getattr(cost, name)) for name in MEASURES},
    }
    errors = [item for item in checked.diagnostics if item.severity == "error"]
    found |= _now(checked, root, {name: getattr(cost, name) for name in MEASURES}, errors)
    return found, errors


def _now(
    checked: Checked, root: str, formulas: dict[str, Polynomial], errors: list[Diagnostic]
) -> dict[str, Any]:
    """`worst_now`: the numbers with the files that there are now and those that the plan creates, None where nobody can tell.

    `worst_created` says whether such files are counted, `worst_notes` what the numbers assume. A plan whose errors
    leave it without a program has numbers only where no file decides.
    """
    if any(not item.code.startswith("FDC4") for item in errors):
        return {
            "worst_now": {name: _number(poly) for name, poly in formulas.items()},
            "worst_created": False,
            "worst_notes": [],
        }
    from ...check import program_of
    from ...runs.cost.cost_bound import worst
    from ...runs.dry_run import listing, said

    program = program_of(checked)
    given = dict.fromkeys(param["name"] for param in program["plans"][program["root"]]["params"])
    now = worst(program, given, 0.0, lambda glob: listing(root, glob))
    numbers = {name: _number(poly) for name, poly in now.cost.items()}
    return {"worst_now": numbers, "worst_created": now.created, "worst_notes": said(now)}


def _number(poly: Polynomial) -> float | None:
    """The number of a polynomial that is one."""
    if any(poly):
        return None
    total = poly.get((), 0)
    return int(total) if total == int(total) else total


@click.command("analyze")
@click.argument("plan")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How the figures are shown.",
)
@click.option(
    "--workspace",
    metavar="DIR",
    help="The workspace; the nearest one above the current folder otherwise.",
)
def command(plan: str, form: str, workspace: str | None) -> int:
    """Say how much PLAN can cost: its complexity class, its modality, its worst case.

    The class is named as the seeds name it; the degree beside it is the true one: the
    worst run takes a number of steps that grows with that power of the number of files.
    """
    from ...linking.project.root import find_root

    if not os.path.isfile(plan):
        raise UsageError(f"Could not find file `{plan}`")
    root = os.path.abspath(workspace) if workspace else find_root(os.getcwd())
    found, errors = figures(plan, root)
    if form == "json":
        import json

        click.echo(json.dumps(found, indent=2))
        return FINDINGS if errors else CLEAN
    click.echo(f"Complexity: {found['complexity']}")
    click.echo(f"Modality: {found['modality']}")
    degree = found["degree"]
    click.echo(
        f"Degree: {degree}"
        + ("" if degree < 2 else f" (n^{degree} in the number of files; polynomial)")
    )
    if found["shell"]:
        click.echo("Shell: yes (what its commands touch is unknown)")
    click.echo(f"Stack: {found['stack']}")
    for name, text in found["worst"].items():
        if text != "0" or name == "steps":
            now = found["worst_now"][name]
            created = " and those that the plan creates" * found["worst_created"]
            number = (
                ""
                if now is None or str(now) == text
                else f" = {now} with the files there are now{created}"
            )
            click.echo(f"Worst case, {name.replace('_', ' ')}: {text}{number}")
    for note in found["worst_notes"]:
        click.echo(visible(note))
    if errors:
        click.echo(
            f"fdc: the plan has {len(errors)} errors, so these figures may be too low; see `fdc lint {plan}`",
            err=True,
        )
    return FINDINGS if errors else CLEAN
