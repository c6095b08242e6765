"""Warnings of the run service to its caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger

_on_stderr = False


def on_stderr() -> None:
    """Prints notices without a handler on stderr, one per line: for programs whose stderr belongs to fdc."""
    global _on_stderr
    _on_stderr = True


def logger() -> Logger:
    """The logger `fdc`. Inside another program without handlers, its messages are dropped."""
    import logging

    found = logging.getLogger("fdc")
    if not _on_stderr and not found.handlers:
        found.addHandler(logging.NullHandler())
    return found


def notice(text: str) -> None:
    """Logs a warning."""
    logger().warning("%s", text)
