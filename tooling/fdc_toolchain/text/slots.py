"""A base class for records without `dataclasses`, whose import takes as long as starting Python."""

from __future__ import annotations


class Record:
    """Equality and a readable form from `__slots__`; the subclass writes its own `__init__`."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    def __hash__(self) -> int:
        raise TypeError(f"a {type(self).__name__} changes, and cannot be a key")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"
