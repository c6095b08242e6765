"""`fdc probe`, which is also `tooling/environmental_probe.py`: what this machine lets an agent do (FDC-65)."""

from __future__ import annotations

import click

from ...console.options import text_option
from ...exits import CLEAN
from ...tasks.capabilities import render
from ...tasks.probe import (
    NETWORK,
    probe,
    probe_environment_variables,
    probe_filesystem,
    probe_network,
)

__all__ = ["command", "main", "probe_environment_variables", "probe_filesystem", "probe_network"]


@click.command()
@click.option(
    "--folder",
    default=".",
    show_default=True,
    type=click.Path(),
    help="The folder in which to write, read and delete a file.",
)
@text_option(
    "--network", "HOST:PORT", "The address to connect to; `off` skips the probe.", default=NETWORK
)
def command(folder: str, network: str) -> int:
    """Report what this machine lets an agent do: files, network, environment.

    Each line says PASS, WARN or FAIL. The exit code is always 0.
    """
    click.echo(render(probe(folder, network=network)), nl=False)
    return CLEAN


def main(argv: list[str] | None = None) -> int:
    """Runs all probes and prints the report. Returns the exit code."""
    from ..main import run

    return run(argv, command, name="environmental_probe")
