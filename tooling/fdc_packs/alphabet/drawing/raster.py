"""A drawing as a picture of points, where the extra `charts` is installed."""

from __future__ import annotations

MISSING = "PNG needs the extra `charts`: pip install 'fdc-toolchain[charts]'"


def png(drawn: str, zoom: float = 2.0) -> bytes:
    """An SVG drawing as PNG, so many points for each of its units. Raises LookupError with MISSING without the extra, and
    ValueError for a text that is not a drawing."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise LookupError(MISSING) from error
    return bytes(svg_to_bytes(svg_string=drawn, zoom=zoom))
