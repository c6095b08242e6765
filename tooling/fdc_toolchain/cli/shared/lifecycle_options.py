"""Options and output that `fdc start` and `fdc close` share."""

from __future__ import annotations

import os

import click

from ...console.options import folder_named, text_option
from ...console.terminal import say
from ...linking.project.root import find_root
from ...tasks.lifecycle import Report

task_id_option = text_option("--task-id", "ID", "The task: one line, such as a ticket's number.")
workspace_option = click.option(
    "--workspace", metavar="DIR", callback=folder_named, help="Work as if started in DIR."
)


def root_of(workspace: str | None) -> str:
    """The workspace's folder."""
    return find_root(workspace or os.curdir)


def tell(report: Report) -> None:
    """Prints the report on stdout; warnings and the reason of a refusal on stderr."""
    for line in report.lines:
        say(line, err=line.startswith("warning: "))
    if report.refused:
        say(f"error: {report.refused}", err=True)
