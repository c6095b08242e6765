"""The script `self_correction_orchestrator`: `fdc lessons apply` under the name that the seeds give it (FDC-81)."""

from __future__ import annotations

import click

from ..project.lessons import correct, dry, form, root_of, workspace


@click.command()
@dry
@form
@workspace
def command(dry_run: bool, form: str, workspace: str | None) -> int:
    """Apply all pending lessons of knowledge_core/lessons.jsonl, and rebuild AGENTS.md after each."""
    return correct(root_of(workspace), dry_run=dry_run, form=form)


def main(argv: list[str] | None = None) -> int:
    """The script's command line; returns the exit code."""
    from ..main import run

    return run(argv, command, "self_correction_orchestrator")
