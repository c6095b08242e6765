"""`fdc cache`: shows the folder and size of the verdict cache, or clears it."""

from __future__ import annotations

import os
import shutil

import click

from ...cachedir import cache_dir, is_own, mark
from ...diagnostics.plural import plural
from ...exits import CLEAN, WorldError, reason


@click.group("cache")
def command() -> None:
    """Show or clear the cache. fdc makes everything in it again when needed."""


@command.command("show")
def show() -> int:
    """Print the cache folder, the number of its files and their size."""
    count = size = 0
    for here, _, names in os.walk(cache_dir()):
        for name in names:
            try:
                size += os.stat(os.path.join(here, name)).st_size
                count += 1
            except OSError:
                continue
    click.echo(f"{cache_dir()}: {plural(count, 'file')}, {size / 1024:.1f} KiB")
    return CLEAN


@command.command("clear")
def clear() -> int:
    """Delete the cache folder, if fdc made it."""
    shown = cache_dir()
    if os.path.islink(shown):  # it may lead to anything
        raise WorldError(
            f"{shown} is a link to {os.path.realpath(shown)}: delete what is in there yourself"
        )
    if not os.path.lexists(shown):
        click.echo(f"{shown}: there is no cache")
        return CLEAN
    try:
        if not is_own():
            raise WorldError(
                f"{shown} has no mark of a cache of fdc (CACHEDIR.TAG), and may have other files: delete what is there yourself"
            )
        shutil.rmtree(shown, ignore_errors=True)
        try:
            if os.path.lexists(shown) and os.listdir(shown):
                shutil.rmtree(shown)
        except OSError:
            mark()  # what is left is still a cache
            raise
    except OSError as failed:
        raise WorldError(f"{shown}: {reason(failed)}") from failed
    click.echo(f"{shown}: cleared")
    return CLEAN
