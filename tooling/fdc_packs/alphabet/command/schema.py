"""`fdc alphabet schema`: whether files have the form that fdc writes them in (ALPH-91)."""

from __future__ import annotations

import os

import click
from fdc_toolchain.api.commands import CLEAN, FINDINGS, UsageError, say_json
from fdc_toolchain.api.text import visible

from .folder import store_of, world_failure


def held(root: str, files: tuple[str, ...], form: str) -> int:
    """Tells what is wrong with the files, with all that have a form where none is named; the exit code."""
    from .. import schemas
    from ..store import walk

    store = store_of(root)
    names = [_inside(root, file) for file in files] or [
        path for path in walk(root) if schemas.kind_of(path) is not None
    ]
    found: list[dict[str, str]] = []
    for name in names:
        try:
            texts = store.text(name)
        except ValueError as wrong:
            found.append({"file": name, "message": str(wrong)})
            continue
        except OSError as failed:
            raise world_failure(failed, name) from failed
        if not texts:
            raise UsageError(f"`{name}` is not a file")
        found += [
            {"file": name, "message": sentence} for sentence in schemas.unfit(name, texts[name])
        ]
    if form == "json":
        say_json({"ok": not found, "files": len(names), "findings": found})
    for row in found if form == "text" else ():
        click.echo(visible(f"error: {row['message']}"))
    if form == "text" and not found:
        click.echo(
            f"{len(names)} file{'s' * (len(names) != 1)}: keys, ids, times and enumerations are as they must be"
        )
    return FINDINGS if found else CLEAN


def _inside(root: str, file: str) -> str:
    """A file's path below the alphabet's folder. Raises UsageError for one that is elsewhere or has no form."""
    from .. import schemas

    name = os.path.relpath(os.path.abspath(file), root).replace(os.sep, "/")
    if schemas.kind_of(name) is None:
        raise UsageError(
            f"`{file}` is not a file that fdc writes in an alphabet, so it has no schema"
        )
    return name
