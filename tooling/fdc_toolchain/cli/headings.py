"""The headings of `fdc --help`: the commands of the first page, and those that only `fdc help --all` shows."""

from __future__ import annotations

from collections.abc import Iterable

HEADINGS: tuple[tuple[str, str, str], ...] = (
    (
        "Plans",
        "lint explain tools",
        "fmt graph analyze validate expand certify grammar draft migrate import rules csdc",
    ),
    ("Runs", "run resume answer show", "runs report ui mcp cancel fork replay verify diff worker"),
    ("Systems", "agent", ""),
    (
        "Project",
        "init protocols doctor",
        "start close knowledge lessons registry audit trust lsp probe pack hook cache schema completion help",
    ),
)
"""Each heading with the commands of the first page, and the others."""

EVERYTHING = "fdc_toolchain.cli.headings.everything"
"""Key in click's `Context.meta`: show every command."""

OF_PACKS = "Systems"
"""The heading of commands without a row above: those of packs. The first page shows them."""


def arranged(names: Iterable[str], everything: bool) -> list[tuple[str, list[str]]]:
    """The headings with their commands: those of the first page, or `everything`. Omits commands that do not exist."""
    there = list(names)
    placed = {name for _, first, more in HEADINGS for name in (*first.split(), *more.split())}
    packs = [name for name in there if name not in placed]
    out = []
    for heading, first, more in HEADINGS:
        shown = first.split() + (more.split() if everything else [])
        rows = [name for name in shown if name in there] + (packs if heading == OF_PACKS else [])
        if rows:
            out.append((heading, rows))
    return out
