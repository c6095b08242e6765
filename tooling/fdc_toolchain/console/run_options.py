"""What `fdc run` and `fdc resume` share: options, and how their values are read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..engine.decide import MEASURES
from ..exits import UsageError
from ..workspace.operator import APPROVALS
from .options import (
    budget_option,
    choice_option,
    count_option,
    flag_option,
    format_option,
    number_option,
    text_option,
    workspace_option,
)
from .terminal import say

if TYPE_CHECKING:
    from ..workspace.operator import Operator

Command = TypeVar("Command", bound=Callable[..., Any])

database_option = click.option(
    "--database", envvar="FDC_DATABASE", metavar="URL",
    help="The PostgreSQL database whose workers drive runs (else FDC_DATABASE); without it, runs are this machine's.",
)  # fmt: skip

_OPTIONS = (
    budget_option,
    count_option("--jobs", 1, 256, "Maximum number of branches at the same time.", default=8),
    number_option("--shell-timeout", 0.1, None, "Time limit of each command."),
    flag_option("--allow-unsandboxed", "Run commands even if no sandbox is available."),
    flag_option(
        "--allow-weak-sandbox", "Run commands in a weaker sandbox; fdc prints what it lacks."
    ),
    flag_option(
        "--allow-network", "Let commands and web tools reach the network where the plan allows it."
    ),
    text_option(
        "--model",
        "NAME",
        "The model that answers prompts (else FDC_MODEL; none: embedded functions).",
    ),
    choice_option(
        "--approve approved",
        sorted(APPROVALS),
        "Approve in advance every step that asks for approval.",
        many=True,
    ),
    flag_option("--wait", "Wait for the end of runs that may write the same paths."),
    flag_option("-q --quiet", "Show only messages of the plan and the outcome."),
    format_option,
    workspace_option,
)


def shared(command: Command) -> Command:
    """Adds the options that both commands have."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def tell_weakness(operator: Operator, root: str | None = None) -> None:
    """Prints on stderr what the sandbox of commands lacks, in the workspace `root`, too, if they may run in a weak one."""
    if not operator.weak:
        return
    from ..sandbox.sandbox import lacking, offered

    tier = next(candidate for candidate in operator.tiers if offered(candidate))
    for weakness in lacking(tier, root):
        say(f"the sandbox of this machine ({tier}) is weak: {weakness}", err=True)


def budget_of(pairs: Sequence[str]) -> dict[str, float]:
    """Pairs such as `steps=100` as numbers. Raises UsageError."""
    out: dict[str, float] = {}
    for pair in pairs:
        measure, equals, value = pair.partition("=")
        if measure not in MEASURES or not equals:
            raise UsageError(
                f"`--budget {pair}`: expected MEASURE=NUMBER with one of {', '.join(MEASURES)}"
            )
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number < 1e18:
            raise UsageError(f"`--budget {pair}`: `{value}` is not a valid limit")
        if measure == "seconds" and not number:
            raise UsageError(f"`--budget {pair}`: 0 seconds are used up before the first step")
        out[measure] = int(number) if number == int(number) else number
    return out


def pairs_of(words: Sequence[str], expected: str = "key=value") -> dict[str, str]:
    """`name=text` words as a table. Raises UsageError for one without `=`, or a name twice."""
    out: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"expected {expected}, found `{word}`")
        if name in out:
            raise UsageError(f"`{name}` is given twice")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise UsageError(f"the value of `{name}` is not UTF-8 text") from None
        out[name] = value
    return out


def is_terminal() -> bool:
    """Whether the output can be redrawn."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
