"""Fingerprints that stay the same for a finding when lines above it change."""

from __future__ import annotations

from hashlib import blake2b

from ...diagnostics.diagnostic import Diagnostic
from ..terminal.texts import Texts


def fingerprints(items: list[Diagnostic], texts: Texts) -> list[str]:
    """A fingerprint of each finding: its rule, the words of its line, and a number among equal ones."""
    seen: dict[tuple[str, str], int] = {}
    out = []
    for item in items:
        lines = texts(item.span.path)
        known = lines is not None and 0 < item.span.line <= len(lines)
        text = lines[item.span.line - 1] if lines is not None and known else item.message
        words = f"{item.code}\0{' '.join(text.split())}"
        digest = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        number = seen[item.span.path, digest] = seen.get((item.span.path, digest), 0) + 1
        out.append(f"{digest}:{number}")
    return out
