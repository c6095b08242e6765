"""`research_planner.py TOPIC [RESEARCH_ID]`: prints the plan for a piece of deep research."""

from __future__ import annotations

import click

from ..workflows.research_planner import plan_deep_research
from .exits import UsageError

__all__ = ["command", "main", "plan_deep_research"]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("topic")
@click.argument("research_id", required=False)
def command(topic: str, research_id: str | None) -> int:
    """Print the plan that researches TOPIC; its report is research/research_report_RESEARCH_ID.md."""
    from .research import slug

    try:
        text = plan_deep_research(topic, slug(topic) if research_id is None else research_id)
        click.echo(text.encode("utf-8"), nl=False)
    except ValueError as wrong:
        raise UsageError(str(wrong)) from wrong
    return 0


def main(argv: list[str] | None = None) -> int:
    """The script's command line; returns the exit code."""
    import sys

    from .main import run

    return run(sys.argv[1:] if argv is None else argv, command, "research_planner")
