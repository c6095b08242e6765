"""`fdc audit`: counts enforced rules, and compares protocols with the activity log (FDC-101)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ...console.options import choice_option, flag_option, text_option
from ...console.terminal import say_json
from ...exits import CLEAN, FINDINGS
from ..shared.lifecycle_options import root_of, workspace_option

if TYPE_CHECKING:
    from ...diagnostics.diagnostic import Diagnostic


@click.command()
@workspace_option
@choice_option("--format form", ["text", "json", "markdown"], default="text")
@text_option(
    "--output", "FILE", "Write the report there as Markdown, such as reports/audit_report.md."
)
@flag_option("--strict", "Warnings also fail the audit; list rules that apply to no plan.")
def command(workspace: str | None, form: str, output: str | None, strict: bool) -> int:
    """Count the rules that are enforced, and compare the protocols with the activity log.

    Exit 1 if a rule claims to be enforced but has no check, if AGENTS.md
    differs from its compiled sources, or if the registry has a dead link. Other observations (tools
    without a protocol, unused tools, invalid lines in the log, open tasks) are warnings.
    """
    from ... import durable, resources
    from ...agent.audit.audit import audit
    from ...agent.audit.report import as_json, as_markdown, as_text
    from ...linking.project.settings import read_settings
    from ...protocols.build import source_files
    from ..shared.findings import show

    root = root_of(workspace)
    settings = read_settings(root)
    sources = source_files(os.path.join(root, settings.protocols or "protocols"), root)
    found = audit(root, settings, sources, _built(root, sources))
    version = resources.read("VERSION").decode("ascii").strip()
    if output is not None:
        target = os.path.abspath(output)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        durable.output(target, as_markdown(found, version).encode("utf-8"))
    if form == "json":
        say_json(as_json(found))
    elif form == "markdown":
        click.echo(as_markdown(found, version), nl=False)
    else:
        # of rules that apply to no plan yet, as most do after `fdc init`, the summary gives the number
        show((item for item in found.findings if strict or item.code != "FDC539"), err=False)
        click.echo(as_text(found), nl=False)
        if output is not None:
            click.echo(f"report: {output}")
    warned = strict and any(item.severity == "warning" for item in found.findings)
    return FINDINGS if found.failed or warned else CLEAN


def _built(root: str, sources: dict[str, bytes]) -> list[Diagnostic]:
    """Errors in the sources and in an existing AGENTS.md. (`fdc protocols check` also requires that it exists.)"""
    from ...protocols.build import check
    from ...protocols.options import how_of

    if not sources:
        return []
    how = how_of(root)[1]
    made, wrong = check(root, how)
    return [*made.findings, *(wrong if os.path.exists(os.path.join(root, how.output)) else [])]
