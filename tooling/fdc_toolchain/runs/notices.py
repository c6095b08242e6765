"""What the run service tells whoever uses it beside its results."""

from __future__ import annotations


def notice(text: str) -> None:
    """Logs a warning of the logger `fdc`. Without a handler of the program's own, Python writes it to stderr, a line each."""
    import logging

    logging.getLogger("fdc").warning("%s", text)
