"""`fdc alphabet ground`: the grounding set of the dictionary, with the figures that say what it is worth."""

from __future__ import annotations

import os
import textwrap
from typing import Any

import click
from fdc_toolchain.api.commands import CLEAN, say_json

from .folder import dictionary


def ground(roots: int, rounds: int, form: str) -> int:
    """Prints the set; the exit code. Raises WorldError where no dictionary exists."""
    from ..lexicon.measured import report

    found: dict[str, Any] = report(dictionary(os.getcwd()), roots, rounds)
    if form == "json":
        say_json(found)
        return CLEAN
    held, listed, primes = found["held_out"], found["swadesh"], found["primes"]
    click.echo(f"{found['source']}: {found['dictionary']} entries, {found['read']} of them read")
    click.echo(
        f"the {found['roots']} most used and all that defines them: {found['words']} words, kernel {found['kernel']}"
    )
    click.echo(
        f"grounding set: {found['members']} words, {_part(found['members'], found['words'])} of them; "
        f"it costs {found['cost']:g}, and none costs less than {found['bound']:g} ({found['above_bound']:.1%} above)"
    )
    click.echo("(a word costs 1 / log2(2 + its uses in the tagged corpus): common words are cheap)")
    click.echo(
        f"held out: {held['expressible']} of {held['words']} other words can be said "
        f"({_part(held['expressible'], held['words'])})"
    )
    click.echo(
        f"Swadesh's meanings as no roots: {listed['expressible']} of {listed['words']} can be said "
        f"({_part(listed['expressible'], listed['words'])})"
    )
    click.echo(
        f"semantic primes (NSM): {len(primes['shared'])} of {primes['items']} are in it, {primes['without_an_entry']} "
        "are not entries of the dictionary"
    )
    click.echo()
    click.echo(textwrap.fill(", ".join(found["ranked"]), width=78, break_on_hyphens=False))
    return CLEAN


def _part(some: int, whole: int) -> str:
    return f"{some / whole:.1%}" if whole else "0 %"
