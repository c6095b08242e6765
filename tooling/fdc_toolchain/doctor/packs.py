"""What fdc found of packs: each that can be used, and of each that cannot, why."""

from __future__ import annotations

from ..packs.index import index
from .machine import Found


def examine() -> list[Found]:
    """One row for each pack, and one for each problem. A pack with a problem was asked for, and will not work."""
    found = index()
    good = [
        Found(f"pack: {pack.name}", "ok", pack.summary if pack.beside else pack.folder)
        for pack in found.packs.values()
    ]
    return good + [Found("pack", "bad", sentence) for sentence in found.problems]
