"""Narrows a value of unknown type, such as a part of JSON, with a check."""

from __future__ import annotations

TYPE_CHECKING = False  # so that a start loads no `typing`
if TYPE_CHECKING:
    from typing import TypeVar

    Kind = TypeVar("Kind")


def narrow(value: object, kind: type[Kind]) -> Kind:
    """The value, which is of this kind. Raises TypeError where it is not."""
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value
