"""`fdc analyze`: complexity, modality and worst-case cost of a plan (FDC-13 to FDC-15)."""

from __future__ import annotations

import os
from typing import Any

import click

from ..analyses.bounds import Bounds, Polynomial, shown
from ..effects.files import Root
from .exits import UsageError

MEASURES = ("steps", "model_calls", "tokens", "money")


def figures(path: str, root: str) -> tuple[dict[str, Any], list[Any]]:
    """What `--format json` prints, and the findings that leave the figures uncertain."""
    from ..check import check_paths

    checked = check_paths([path], root)
    instance = checked.context.graph.instance(checked.keys[0])
    cost = Bounds().plan(instance)
    label = ("Constant (O(1))", "Polynomial (P-Class)")[cost.nesting] if cost.nesting < 2 else "Exponential (EXPTIME-Class)"
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
    files = Root(root)
    found["worst_now"] = {name: _now(getattr(cost, name), files) for name in MEASURES}
    files.close()
    return found, [item for item in checked.diagnostics if item.severity == "error"]


def _now(poly: Polynomial, root: Root) -> float | None:
    """The number, with the files that match today; None where a glob is computed."""
    total = 0.0
    counts: dict[str, int] = {}
    for sizes, coefficient in poly.items():
        for glob in sizes:
            if "{" in glob or (glob == "n" and glob not in counts):
                return None
            if glob not in counts:
                counts[glob] = _count(glob, root)
            coefficient *= counts[glob]
        total += coefficient
    return int(total) if total == int(total) else total


def _count(glob: str, root: Root) -> int:
    """As many files as the runner will find."""
    from ..effects.failure import ToolFailure
    from ..effects.globs import files

    try:
        return len(files(root, glob))
    except ToolFailure:
        return 0  # a glob that leads out of the workspace: the run stops there


@click.command("analyze")
@click.argument("plan")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How the figures are shown.")
@click.option("--workspace", metavar="DIR", help="The workspace; the nearest one above the current folder otherwise.")
def command(plan: str, form: str, workspace: str | None) -> int:
    """Say how much PLAN can cost: its complexity class, its modality, its worst case.

    The class is named as the seeds name it; the degree beside it is the true one: the
    worst run takes a number of steps that grows with that power of the number of files.
    """
    from ..resolve.workspace import find_root

    if not os.path.isfile(plan):
        raise UsageError(f"Could not find file `{plan}`")
    root = os.path.abspath(workspace) if workspace else find_root(os.getcwd())
    found, errors = figures(plan, root)
    if form == "json":
        import json

        click.echo(json.dumps(found, indent=2))
        return 1 if errors else 0
    click.echo(f"Complexity: {found['complexity']}")
    click.echo(f"Modality: {found['modality']}")
    degree = found["degree"]
    click.echo(f"Degree: {degree}" + ("" if degree < 2 else f" (n^{degree} in the number of files; polynomial)"))
    if found["shell"]:
        click.echo("Shell: yes (what its commands touch is unknown)")
    click.echo(f"Stack: {found['stack']}")
    for name, text in found["worst"].items():
        if text != "0" or name == "steps":
            now = found["worst_now"][name]
            number = "" if now is None or str(now) == text else f" = {now} with the files there are now"
            click.echo(f"Worst case, {name.replace('_', ' ')}: {text}{number}")
    if errors:
        click.echo(f"fdc: the plan has {len(errors)} errors, so these figures may be too low; see `fdc lint {plan}`", err=True)
    return 1 if errors else 0
