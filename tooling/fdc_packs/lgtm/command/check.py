"""`fdc lgtm --check RUN`: opens the artifacts of a run folder and says what is wrong with them."""

from __future__ import annotations

import os

import click
from fdc_toolchain.api.commands import CLEAN, FINDINGS, UsageError, say_json
from fdc_toolchain.api.text import visible

_LARGE = 16 * 2**20


def check(run: str, root: str, form: str) -> int:
    """`run`: the folder, or the run as other commands name it. Exit code 1 for findings. Raises UsageError for no run folder."""
    from fdc_toolchain.api.records import reading, the_run

    from ..folder import faults

    folder = next((path for path in (run, f"{root}/runs/{run}") if os.path.isdir(path)), None)
    if folder is None:
        with reading(root) as store:
            folder = f"{root}/runs/{the_run(store, run).name}"
        if not os.path.isdir(folder):
            raise UsageError(f"the run folder `{visible(folder)}` does not exist")
    texts, found = _texts(folder)
    found += faults(texts)
    if form == "json":
        say_json({"run": run, "artifacts": len(texts), "findings": found})
        return FINDINGS if found else CLEAN
    for one in found:
        click.echo(visible(one))
    click.echo(
        f"{len(texts)} artifacts, {len(found) or 'no'} finding{'' if len(found) == 1 else 's'}"
    )
    return FINDINGS if found else CLEAN


def _texts(folder: str) -> tuple[dict[str, str], list[str]]:
    """The files of a folder by their paths in it; and those that are none of ours: links, binaries, what is too large."""
    texts: dict[str, str] = {}
    wrong: list[str] = []
    for where, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(where, name)
            shown = os.path.relpath(path, folder).replace(os.sep, "/")
            if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > _LARGE:
                wrong.append(f"{shown}: is not a file, or is too large")
                continue
            try:
                with open(path, "rb") as opened:
                    texts[shown] = opened.read().decode("utf-8")
            except (OSError, UnicodeDecodeError) as failed:
                wrong.append(f"{shown}: cannot be read ({type(failed).__name__})")
    return texts, wrong
