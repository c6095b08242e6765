"""A plan that stdin holds (`-`)."""

from __future__ import annotations

import sys

from ...exits import UsageError, WorldError
from ...linking.project.places import MAX_FILE


def read_stdin() -> bytes:
    """The bytes of stdin. Raises UsageError if it is closed, WorldError if it has more bytes than fdc reads of a file."""
    if sys.stdin is None:
        raise UsageError("`-` reads stdin, which is closed")
    data = bytearray()
    while part := sys.stdin.buffer.read(1 << 16):
        data += part
        if len(data) > MAX_FILE:
            raise WorldError(f"stdin has more than {MAX_FILE} bytes")
    return bytes(data)
