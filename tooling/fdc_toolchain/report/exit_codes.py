"""The exit code of a command in the result of a step."""

from __future__ import annotations


def exit_code(value: object) -> int | None:
    """The exit code that a step's result states; None where it is not the result of a command."""
    code = value.get("exit_code") if isinstance(value, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None
