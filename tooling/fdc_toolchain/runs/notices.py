"""What the run service tells its caller beside its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger

_on_stderr = False


def on_stderr() -> None:
    """From now on notices that no handler takes go to stderr, a line each: for programs whose stderr is fdc's own."""
    global _on_stderr
    _on_stderr = True


def logger() -> Logger:
    """The logger `fdc`. Inside of another program, which may have no handlers, what it is told goes nowhere else."""
    import logging

    found = logging.getLogger("fdc")
    if not _on_stderr and not found.handlers:
        found.addHandler(logging.NullHandler())
    return found


def notice(text: str) -> None:
    """Logs a warning."""
    logger().warning("%s", text)
