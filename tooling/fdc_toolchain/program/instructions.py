"""Every instruction of a body, at any depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .model import Instruction

if TYPE_CHECKING:
    from ..certificate.forms import Block

_BLOCKS: tuple[Block, ...] = ("body", "then", "else")


def nested(body: list[Instruction], depth: int = 0) -> Iterator[tuple[int, Instruction]]:
    """Each instruction with its depth, in the order of the text."""
    for item in body:
        yield depth, item
        for block in _BLOCKS:
            if block in item:
                yield from nested(item[block], depth + 1)


def every(body: list[Instruction]) -> Iterator[Instruction]:
    """Each instruction, in the order of the text."""
    return (item for _, item in nested(body))


def names_bound(body: list[Instruction]) -> set[str]:
    """The names that instructions bind."""
    return {name for item in every(body) if (name := item.get("bind"))}
