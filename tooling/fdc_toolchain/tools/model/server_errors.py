"""What an error of a model's server says: whether it passes, how long to wait, and why, in one short line."""

from __future__ import annotations

from typing import Any


def passes(failed: Any) -> bool:
    """True where another attempt can succeed (`failed`: an `APIStatusError` of the SDK)."""
    return (
        failed.status_code in (408, 409, 425, 429)
        or failed.status_code >= 500
        or failed.status_code < 400
    )


def retry_after(failed: Any) -> float | None:
    """What the server asks for, within reason."""
    try:
        return max(0.0, min(float(failed.response.headers["retry-after"]), 120.0))
    except (KeyError, ValueError, AttributeError):
        return None


def short(failed: BaseException) -> str:
    """The message of an error, in one line of at most 300 characters."""
    return " ".join(str(failed).split())[:300]
