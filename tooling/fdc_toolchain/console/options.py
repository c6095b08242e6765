"""Options that many commands have: one name everywhere, and older spellings that go on working."""

from __future__ import annotations

from typing import Any

import click


class Renamed(click.Option):
    """An option that had another name: `old` spellings are taken as before, and no help and no completion shows them."""

    def __init__(self, *arguments: Any, old: tuple[str, ...] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.old = old

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """As `click.Option`, with the old spellings too."""
        shown = self.opts
        self.opts = [*shown, *self.old]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


workspace_option = click.option(
    "--workspace",
    metavar="DIR",
    help="The workspace; the nearest one above the current folder otherwise.",
)

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Lines, or JSON.",
)

quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print only the result and how the run ended."
)

budget_option = click.option(
    "--budget",
    "budgets",
    multiple=True,
    metavar="MEASURE=N",
    help="A ceiling: steps, model_calls, tokens, money, seconds.",
)
