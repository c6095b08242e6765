"""`fdc completion`: completion scripts for bash, zsh and fish, made by click."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ..exits import CLEAN


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script for SHELL.

    For bash: `fdc completion bash > ~/.local/share/bash-completion/completions/fdc`.
    """
    from .main import group

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(group(), {}, "fdc", "_FDC_COMPLETE").source())
    return CLEAN
