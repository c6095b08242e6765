"""`fdc explain`: what a rule flags, why it matters, an example, and what to write instead."""

from __future__ import annotations

import click

from ...exits import CLEAN, UsageError, WorldError
from ...report import explanations


@click.command(
    "explain",
    epilog="Exit codes: 0 explained, 2 there is no such rule, 3 the world failed.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("rules", nargs=-1, required=True, metavar="RULE...")
@click.option(
    "--format", "-f", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True,
    help="How it is shown.",
)  # fmt: skip
def command(rules: tuple[str, ...], form: str) -> int:
    """Explain each RULE, which is a code such as FDC301 or a name such as unknown-tool."""
    found = [_load(rule) for rule in rules]
    if form == "json":
        from ...report.json_ import dumps

        documents = [{"format": 1, **item._asdict()} for item in found]
        click.echo(dumps(documents[0] if len(documents) == 1 else documents, indent=1))
    elif form == "markdown":
        click.echo("\n".join(item.markdown for item in found), nl=False)
    else:
        from ...report.explained import render
        from ..shared.terminal import style

        click.echo("\n".join(render(item, style()) for item in found), nl=False, color=True)
    return CLEAN


def _load(rule: str) -> explanations.Explanation:
    code = explanations.find(rule)
    if code is None:
        from ...diagnostics.codes import BY_NAME, CODES
        from ...report.terminal.terminal_text import visible
        from ...text.suggest import did_you_mean

        hint = did_you_mean(rule, [*CODES, *BY_NAME]) or "`fdc rules` lists all of them"
        raise UsageError(f"there is no rule `{visible(rule)}`; {hint}")
    try:
        return explanations.load(code)
    except OSError as failed:
        raise WorldError(
            f"the explanation of {code} is missing from this installation: {failed}"
        ) from failed
