"""`research_planner.py TOPIC [RESEARCH_ID]`: prints the plan for a piece of deep research."""

from __future__ import annotations

import os

import click
from fdc_toolchain.api.commands import CLEAN, UsageError, find_root, flag_option, text_option
from fdc_toolchain.api.files import durable

from .research_planner import TEMPLATE, plan_deep_research, research_files

__all__ = ["command", "main", "plan_deep_research"]


@click.command()
@click.argument("topic")
@click.argument("research_id", required=False)
@flag_option("--write", "Write research/research_plan_RESEARCH_ID.md and .plan instead.")
@text_option("--template", "FILE", "The page's template, with [Topic] and [RESEARCH_ID] in it.")
def command(topic: str, research_id: str | None, write: bool, template: str | None) -> int:
    """Print the plan that researches TOPIC; its report is research/research_report_RESEARCH_ID.md."""
    from fdc_toolchain.api.text import slug

    name = slug(topic) if research_id is None else research_id
    try:
        if write:
            return _write(research_files(topic, name, template or TEMPLATE))
        click.echo(plan_deep_research(topic, name).encode("utf-8"), nl=False)
    except ValueError as wrong:
        raise UsageError(str(wrong)) from wrong
    return CLEAN


def _write(files: dict[str, str]) -> int:
    """Writes what is not there yet. Raises UsageError, with nothing written, where another text is."""
    root = find_root(os.curdir)
    there = {path: durable.read(os.path.join(root, path)) for path in files}
    for path, text in files.items():
        if there[path] not in (None, text.encode("utf-8")):
            raise UsageError(f"`{path}` exists and says something else; choose another RESEARCH_ID")
    os.makedirs(os.path.join(root, "research"), exist_ok=True)
    for path, text in files.items():
        if there[path] is None:
            durable.replace(os.path.join(root, path), text.encode("utf-8"))
        click.echo(path)
    return CLEAN


def main(argv: list[str] | None = None) -> int:
    """The script's command line; returns the exit code."""
    import sys

    from fdc_toolchain.api.commands import run

    return run(sys.argv[1:] if argv is None else argv, lambda: command, "research_planner")
