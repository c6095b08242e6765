"""Keeps the secrets of fdc's own environment out of what a run writes down (design 6: never journaled).

Commands do not get them, but a file may hold the same key, or a server may say it back. What a
step brings home is searched for the values of variables that are named like secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

_NAMED = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH", re.IGNORECASE)
LEAST = 8
"""Characters of a value that is searched for: a shorter one would be found in innocent text."""


class Scrubber:
    """Replaces secret values by `[secret NAME]` in texts, wherever they stand in a JSON value."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        found = os.environ if environment is None else environment
        values = {
            value: name
            for name, value in found.items()
            if _NAMED.search(name) and len(value) >= LEAST and not os.path.isabs(value)
        }
        database = found.get("FDC_DATABASE", "")
        if database:
            from urllib.parse import unquote, urlsplit

            written = urlsplit(database).password or ""
            values.update(dict.fromkeys((one for one in (written, unquote(written)) if len(one) >= LEAST), "FDC_DATABASE"))
        self._names = values
        longest_first = sorted(values, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if values else None

    def value(self, value: Any) -> Any:
        """The value, itself where there is nothing to replace."""
        return value if self._pattern is None else self._walk(value)

    def text(self, text: str) -> str:
        """The text without secrets."""
        return text if self._pattern is None else self._pattern.sub(self._mark, text)

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._walk(one) for one in value]
        if isinstance(value, dict):
            return {self.text(key): self._walk(one) for key, one in value.items()}
        return value

    def _mark(self, match: re.Match[str]) -> str:
        return f"[secret {self._names[match.group()]}]"
