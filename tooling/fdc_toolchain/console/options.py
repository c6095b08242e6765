"""Options that many commands have: with one name everywhere, and older names that still work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from ..exits import UsageError

if TYPE_CHECKING:
    from click.parser import _OptionParser

    class Attributes(TypedDict, total=False):
        type: click.ParamType
        required: bool
        metavar: str
        help: str


class Renamed(click.Option):
    """An option that had another name: the `old` names still work, but help and completion do not show them."""

    def __init__(
        self, names: Sequence[str], *, old: tuple[str, ...] = (), **attributes: Unpack[Attributes]
    ) -> None:
        super().__init__(names, **attributes)
        self.old = old

    def add_to_parser(self, parser: _OptionParser, ctx: click.Context) -> None:
        """Like `click.Option`, with the old names too."""
        shown = self.opts
        self.opts = [*shown, *self.old]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


def folder_named(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> str | None:
    """The DIR of a `--workspace`, as it is given. Raises UsageError where it is not a folder."""
    if given is not None and not os.path.isdir(given):
        raise UsageError(f"the workspace `{given}` is not a folder")
    return given


workspace_option = click.option(
    "--workspace",
    metavar="DIR",
    callback=folder_named,
    help="The workspace. [default: the nearest above the current folder]",
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
