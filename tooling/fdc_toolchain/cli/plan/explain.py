"""`fdc explain`: what a rule flags, why it matters, an example, and what to write instead."""

from __future__ import annotations

import click

from ...console.options import choice_option
from ...exits import CLEAN
from ...report import explanations


@click.command(
    "explain",
    epilog="Exit codes: 0 explained, 2 unknown rule, 3 the environment failed.",
)
@click.argument("rules", nargs=-1, required=True, metavar="RULE...")
@choice_option("--format -f form", ["text", "json", "markdown"], "How it is shown.", default="text")
def command(rules: tuple[str, ...], form: str) -> int:
    """Explain each RULE, which is a code such as FDC301 or a name such as unknown-tool."""
    found = [explanations.of(rule) for rule in rules]
    if form == "json":
        from ...report.json_ import dumps

        documents = [{"format": 1, **item._asdict()} for item in found]
        click.echo(dumps(documents[0] if len(documents) == 1 else documents, indent=1))
    elif form == "markdown":
        click.echo("\n".join(item.markdown for item in found), nl=False)
    else:
        from ...console.terminal import style
        from ...report.explained import render

        click.echo("\n".join(render(item, style()) for item in found), nl=False, color=True)
    return CLEAN
