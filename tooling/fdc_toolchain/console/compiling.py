"""Compiles the plans that commands run, or refuses them with their findings on stderr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ..program.model import Program

if TYPE_CHECKING:
    from ..check import Checked
    from ..diagnostics.diagnostic import Diagnostic


def told_errors(checked: Checked) -> list[Diagnostic]:
    """The errors of a check, after printing them on stderr."""
    from ..report.hosts.placed import seen_from_here
    from ..report.render import render
    from .terminal import style

    errors = [item for item in checked.diagnostics if item.severity == "error"]
    if errors:
        shown, sources = seen_from_here(errors, checked.sources, checked.context.linker.root)
        text = render("text", shown, sources, style=style(), files_checked=1)
        click.echo(text, nl=False, err=True)
    return errors


def compile_or_refuse(
    plan: str,
    root: str,
    *,
    trust_settings: bool = False,
    advice: Mapping[str, str] | None = None,
) -> Program | None:
    """The program of a plan (a path, or a registered name) that was proved; findings go to stderr.

    `trust_settings`: errors that the settings allow count as confirmed.
    `advice`: what a person can do, by the code of the finding, for a plan that is not theirs to change.
    Returns None where the plan has errors. Raises UsageError where the plan does not exist, or
    where the settings are wrong.
    """
    from ..check import program_of
    from ..runs.create_run import checked_plan

    checked = checked_plan(plan, root, trust_settings=trust_settings)
    errors = told_errors(checked)
    if errors:
        for code in sorted({item.code for item in errors} & set(advice or {})):
            click.echo(f"\n{(advice or {})[code]}", err=True)
        return None
    return program_of(checked)
