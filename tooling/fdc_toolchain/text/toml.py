"""Reads a text of TOML that somebody else may have written."""

from __future__ import annotations

from typing import Any


def parsed(text: str) -> dict[str, Any]:
    """The table in a text. Raises ValueError with what is wrong; of a fault of form it is `tomllib.TOMLDecodeError`."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:  # of Python's limit for the digits of a number
        raise ValueError("a number has too many digits") from None
