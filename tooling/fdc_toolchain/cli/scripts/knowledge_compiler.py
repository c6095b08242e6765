"""The script `knowledge_compiler`: `fdc lessons add` under the name that the seeds give it (FDC-72)."""

from __future__ import annotations

import click

from ...tasks.actions import parse_action_to_command
from ..project.lessons import compile_postmortem, dry, form, root_of, workspace

__all__ = [
    "command",
    "extract_lessons_from_postmortem",
    "extract_metadata_from_postmortem",
    "main",
    "parse_action_to_command",
]


def extract_lessons_from_postmortem(postmortem_content: str) -> list[dict[str, object]]:
    """The lessons of a post-mortem's text: each an `insight` and an `action` (FDC-73 to FDC-77)."""
    from datetime import date

    from ...tasks.postmortem import read

    return [
        {"insight": item.insight, "action": item.action}
        for item in read(postmortem_content, date.today()).lessons
    ]


def extract_metadata_from_postmortem(postmortem_content: str) -> dict[str, str]:
    """The `task_id` and the `date` of a post-mortem's text; `Unknown` and today where it has none (FDC-71)."""
    from datetime import date

    from ...tasks.postmortem import read

    found = read(postmortem_content, date.today())
    return {"task_id": found.task_id, "date": found.date}


@click.command()
@click.argument("postmortem", type=click.Path())
@dry
@form
@workspace
def command(postmortem: str, dry_run: bool, form: str, workspace: str | None) -> int:
    """Read the lessons of POSTMORTEM and add the new ones as pending to knowledge_core/lessons.jsonl."""
    return compile_postmortem(root_of(workspace), postmortem, dry_run=dry_run, form=form)


def main(argv: list[str] | None = None) -> int:
    """The script's command line; returns the exit code."""
    from ..main import run

    return run(argv, command, "knowledge_compiler")
