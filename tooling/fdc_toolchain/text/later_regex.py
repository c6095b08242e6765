"""Regular expressions that are compiled at their first use: a lint uses few of those that its modules have."""

from __future__ import annotations

import re

_METHODS = ("finditer", "findall", "fullmatch", "match", "pattern", "search", "split", "sub")


class _Later:
    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        made = re.compile(self._source, self._flags)
        self.__dict__.update({method: getattr(made, method) for method in _METHODS})
        return getattr(made, name)


def later(source: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(source, flags)`, at the first use."""
    return _Later(source, flags)  # type: ignore[return-value]
