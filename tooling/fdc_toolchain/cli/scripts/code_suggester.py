"""The script `code_suggester`: writes a code change as a plan of one step (FDC-84)."""

from __future__ import annotations

import os
from typing import TextIO

import click

from ...agent.lessons.code_suggester import suggest
from ...console.options import text_option
from ...exits import CLEAN, UsageError
from ..project.lessons import root_of, workspace


@click.command()
@text_option("--filepath", "FILE", "The file to change, from the workspace's root.", required=True)
@text_option("--diff", "TEXT", "SEARCH and REPLACE sections.")
@click.option(
    "--diff-file",
    metavar="FILE",
    type=click.File("r", encoding="utf-8"),
    help="A file with SEARCH and REPLACE sections; `-` is stdin.",
)
@workspace
def command(
    filepath: str, diff: str | None, diff_file: TextIO | None, workspace: str | None
) -> int:
    """Write the plan that makes a code change, and print its path; `fdc lint` proves it, `fdc run` executes it."""
    if (diff is None) == (diff_file is None):
        raise UsageError("use either --diff TEXT or --diff-file FILE")
    try:
        text = diff if diff_file is None else diff_file.read()
    except UnicodeDecodeError as wrong:
        raise UsageError("the diff is not UTF-8 text") from wrong
    root = root_of(workspace)
    try:
        plan = suggest(root, filepath, text or "")
    except ValueError as wrong:
        raise UsageError(str(wrong)) from wrong
    click.echo(os.path.relpath(os.path.join(root, plan)))
    return CLEAN


def main(argv: list[str] | None = None) -> int:
    """The script's command line; returns the exit code."""
    from ..main import run

    return run(argv, command, "code_suggester")
