"""The formats of images that `view_image` knows, by their first bytes."""

from __future__ import annotations

_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF8", "GIF"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"RIFF", "WebP"),
    (b"<svg", "SVG"),
    (b"<?xml", "SVG"),
)
NO_IMAGE = "not a PNG, GIF, JPEG, WebP or SVG image"


def image_kind(data: bytes) -> str | None:
    """The format of an image; None if the bytes are no image of these formats."""
    return next((name for start, name in _STARTS if data.startswith(start)), None)
