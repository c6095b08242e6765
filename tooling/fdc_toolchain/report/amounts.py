"""Times and sizes in words."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """`<1 ms`, `23 ms`, `4.2 s`, `3 min 5 s`."""
    if 0 < seconds < 0.0005:
        return "<1 ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def number(value: float) -> str:
    """`5000`, `0.25`, `1,234,567`: whole numbers without decimals, others with four digits."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
