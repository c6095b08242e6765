"""`fdc alphabet report`: how the work went, as drawings, tables and one page."""

from __future__ import annotations

import os

import click
from fdc_toolchain.api.commands import CLEAN, Refused, UsageError, say

from .folder import base_here, store_of, world_failure


def draw(root: str, output: str) -> int:
    """Writes the pages below `output`; the exit code."""
    for path in written(root, output):
        click.echo(path)
    return CLEAN


def written(root: str, output: str = "") -> list[str]:
    """Writes the pages below `output`, and the comparisons; their paths. Raises Refused, UsageError, WorldError."""
    from fdc_toolchain.api.files import durable

    from .. import layout
    from ..calculus.metrics import BenchmarkError
    from ..drawing import drawn
    from ..drawing.comparisons import comparisons, swadesh
    from ..lexicon.tools import said_with
    from ..store import Refused as Outside
    from ..wordlists import SWADESH

    output = output or drawn.FOLDER
    store = store_of(root)
    base = base_here(store)
    ended = base.state["history"]["stopped"]
    said = said_with(root, [one.label for one in base.alphabet], SWADESH)
    title, known = os.path.basename(root), None if said["missing"] else said
    try:
        made = drawn.pages(
            base.alphabet, base.summaries, base.concepts, base.rejected, title, ended, known
        )
    except BenchmarkError as wrong:
        raise Refused(f"{layout.CONCEPTS}: {wrong}") from wrong
    pages: dict[str, str | bytes] = {**made, **_pngs({name: made[name] for name in drawn.DRAWINGS})}
    files = {f"{output.rstrip('/')}/{name}": text for name, text in pages.items()}
    compared = comparisons(base.alphabet) | (
        {} if known is None else {"vs_swadesh.md": swadesh(known, len(base.alphabet))}
    )
    files |= {f"validation/comparisons/{name}": text for name, text in compared.items()}
    try:
        data = {
            path: text.encode("utf-8") if isinstance(text, str) else text
            for path, text in files.items()
        }
        durable.replace_all({store.safe(path): text for path, text in data.items()})
    except Outside as wrong:
        raise UsageError(str(wrong)) from wrong
    except OSError as failed:
        raise world_failure(failed, root) from failed
    return list(files)


def _pngs(drawings: dict[str, str]) -> dict[str, bytes]:
    """The drawings as PNG, where the extra that does this is installed; else none, and a sentence."""
    from ..drawing import raster
    from ..drawing.charts import printed

    try:
        return {
            name.replace(".svg", ".png"): raster.png(printed(text))
            for name, text in drawings.items()
        }
    except LookupError as missing:
        say(str(missing.args[0]), err=True)
        return {}
