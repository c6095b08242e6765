"""`fdc lint`: prove plans, show what is wrong, repair what can be repaired."""

from __future__ import annotations

from typing import Any

import click

from ...console.options import Ranged, Renamed
from ..linting.fast_lint import execute
from ..linting.options import OLD, OPTIONS


def _command() -> click.Command:
    """The command, from the same table that the quick reader uses."""

    def callback(paths: tuple[str, ...], **values: Any) -> int:
        return execute({**values, "paths": list(paths)})

    parameters: list[click.Parameter] = [click.Argument(["paths"], nargs=-1, metavar="[PATHS]...")]
    for option, short, takes, text in OPTIONS:
        names = [f"--{option}"] + ([f"-{short}"] if short else [])
        if takes is None:
            parameters.append(click.Option(names, is_flag=True, help=text))
        elif isinstance(takes, tuple):
            parameters.append(click.Option(names, type=click.Choice(takes), help=text))
        elif isinstance(takes, range):
            numbers = click.IntRange(takes[0], takes[-1])
            parameters.append(Ranged(names, type=numbers, metavar="N", help=text))
        elif takes == "[REF]":
            parameters.append(
                click.Option(names, is_flag=False, flag_value="HEAD", metavar=str(takes), help=text)
            )
        else:
            old = tuple(one for one, name in OLD.items() if name in names)
            parameters.append(Renamed(names, metavar=str(takes), help=text, old=old))
    return click.Command(
        "lint",
        params=parameters,
        callback=callback,
        help="Prove plans: every run ends, obeys its automaton, and uses only what exists.\n\n"
        "PATHS are files, folders (their *.plan and plan.txt files), or `-` for stdin; "
        "otherwise the current folder, or the workspace if that is elsewhere.",
        epilog="Exit codes: 0 clean, 1 findings, 2 wrong usage, 3 the environment failed, 4 a bug of fdc.",
    )


command = _command()
