"""`fdc analyze`: complexity, modality and worst-case cost of a plan (FDC-13 to FDC-15)."""

from __future__ import annotations

import click

from ...console.options import format_option, root_of, there, workspace_option
from ...console.terminal import say, say_json
from ...exits import CLEAN, FINDINGS, UsageError
from ...report.terminal.terminal_text import visible


@click.command("analyze")
@click.argument("plan")
@format_option
@workspace_option
def command(plan: str, form: str, workspace: str | None) -> int:
    """Show how much PLAN can cost: its complexity class, its modality, its worst case.

    The class has the name that the seeds use. The degree is exact: the number
    of steps of the worst run grows with that power of the number of files.
    """
    from ...linking.project.discover import may_be_of_others
    from ...runs.cost.figures import figures

    there(plan)
    root = root_of(workspace)
    if may_be_of_others(plan):
        code = _of_others(plan, root, form)
        if code is not None:
            return code
    found, errors = figures(plan, root)
    if form == "json":
        say_json(found)
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
    if count := len(errors):
        say(
            f"fdc: the plan has {count} error{'s' * (count > 1)}, so these figures may be too low; see `fdc lint {plan}`",
            err=True,
        )
    return FINDINGS if errors else CLEAN


def _of_others(plan: str, root: str, form: str) -> int | None:
    """The figures of another tool's plan; None if the file is not such a plan."""
    from ...check import key_of
    from ...foreign.read import read
    from ...linking.link import closed
    from ...linking.project.regular_file import read as content
    from ...workspace.confirmed_settings import settings_of
    from ..linting.look_alikes import known_tools, looks_like_a_plan

    settings = settings_of(root)
    if refused := closed(root, key_of(plan, root), settings.secret):
        raise UsageError(f"{refused.message}; {refused.help}")
    found = read(key_of(plan, root), content(plan), root, settings)
    if found is None or found.kind == "Markdown":
        if not looks_like_a_plan(content(plan)[:4096], known_tools()):
            raise UsageError(f"`{visible(plan)}` has no plan that fdc knows")
        return None
    errors = [item for item in found.findings if item.severity == "error"]
    if form == "json":
        rows = {"form": found.kind, "facts": found.facts, "errors": len(errors)}
        say_json(rows)
    else:
        click.echo(f"Form: {found.kind}")
        for line in found.facts:
            click.echo(visible(line))
    if errors:
        many = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        say(f"fdc: the plan has {many}; see `fdc lint {visible(plan)}`", err=True)
    return FINDINGS if errors else CLEAN
