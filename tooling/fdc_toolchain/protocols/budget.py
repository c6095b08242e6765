"""Counts the bytes of the compiled files against the limit that agents read (FDC505).

Codex reads the AGENTS.md of each folder from the top of the repository down to where it works, the top
first, and stops at its limit of bytes for all of them, also in the middle of a line. So the budget is counted
for each folder that has a file of its own, over the whole chain of files above it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from itertools import groupby

from ..named_tuples import NamedTuple
from .regions import take

MAX_BYTES = 32_768
"""Bytes that Codex reads of all AGENTS.md files on the way to its folder; it ignores the rest silently."""

HEAD = "(head)"
TAIL = "(what it was built from)"
_VERSION = "\nProtocol version:"
_RULE = "\n---\n\n"


class Row(NamedTuple):
    """A stretch of a file: which file, what it is (a source, the head, a region, ...), its bytes."""

    file: str
    what: str
    size: int


class Chain(NamedTuple):
    """All instruction files that an agent in `folder` reads, in its order."""

    folder: str
    rows: tuple[Row, ...]
    limit: int

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(row.size for row in self.rows)


def measure(
    file: str, page: str, sections: Iterable[tuple[str, str]], text: str
) -> tuple[Row, ...]:
    """The rows of `text`, which is `page` with regions in it; `sections` are in `page`, as path and text, in order."""
    owners = iter(_owners(page, sections))
    sizes: list[tuple[str, int]] = []
    owner = HEAD
    for line, region in zip(text.split("\n"), take(text).names, strict=True):
        if line.strip() and not region:
            owner = next(owners)
        sizes.append((f"(kept: {region})" if region else owner, len(line.encode("utf-8")) + 1))
    sizes[-1] = (sizes[-1][0], sizes[-1][1] - 1)
    groups = groupby(sizes, lambda row: row[0])
    return tuple(Row(file, section, sum(size for _, size in group)) for section, group in groups)


def chains(files: Mapping[str, tuple[Row, ...]], above: tuple[Row, ...], limit: int) -> list[Chain]:
    """The chain of each folder that has one of `files`, the top first; `above` is read before all of them."""
    by_folder = {posixpath.dirname(path): rows for path, rows in files.items()}
    result = []
    for folder in sorted({"", *by_folder}):
        rows = list(above)
        parts = folder.split("/") if folder else []
        for depth in range(len(parts) + 1):
            rows += by_folder.get("/".join(parts[:depth]), ())
        result.append(Chain(folder, tuple(rows), limit))
    return result


def table(chain: Chain) -> list[str]:
    """The chain as lines of text: bytes, total so far, what it is, and what is cut off."""
    files = list(dict.fromkeys(row.file for row in chain.rows))
    several = len(files) > 1
    lines = [f"{' + '.join(files)}: {chain.size:,} of {chain.limit:,} bytes"]
    lines.append(f"  {'bytes':>7}  {'up to':>7}")
    total = 0
    for row in chain.rows:
        total += row.size
        left = chain.limit - (total - row.size)
        cut = "" if row.size <= left else f"  CUT after {left:,} bytes" if left > 0 else "  CUT"
        label = f"{row.file}: {row.what}" if several else row.what
        lines.append(f"  {row.size:>7,}  {total:>7,}  {label}{cut}")
    return lines


def _owners(page: str, sections: Iterable[tuple[str, str]]) -> list[str]:
    """For each line of `page` that is neither empty nor in a region the section that it belongs to."""
    owners: list[str] = []
    at, owner = max(page.find(_VERSION), 0), HEAD
    for path, text in sections:
        at = page.index(f"{_RULE}{text}\n", at) + 1
        owners += [owner] * (page.count("\n", 0, at) - len(owners))
        owner, at = path, at + len(_RULE) + len(text) - 1
    tail = page.find(f"{_RULE}<!-- built from\n", at)
    if tail >= 0:
        owners += [owner] * (page.count("\n", 0, tail + 1) - len(owners))
        owner = TAIL
    lines = page.split("\n")
    owners += [owner] * (len(lines) - len(owners))
    return [
        owner
        for owner, line, region in zip(owners, lines, take(page).names)
        if line.strip() and not region
    ]
