"""A plan that stdin holds (`-`)."""

from __future__ import annotations

import os
import sys

from ...exits import UsageError, WorldError
from ...linking.project.places import MAX_FILE


def read_stdin() -> bytes:
    """The bytes of stdin. Raises UsageError if it is closed, WorldError if it has more bytes than fdc reads of a file.

    `console.streams` puts the null device where stdin is closed.
    """
    if sys.stdin is None or sys.__stdin__ is None and getattr(sys.stdin, "name", "") == os.devnull:
        raise UsageError("`-` reads stdin, which is closed")
    data = bytearray()
    while part := sys.stdin.buffer.read(1 << 16):
        data += part
        if len(data) > MAX_FILE:
            raise WorldError(f"stdin has more than {MAX_FILE} bytes")
    return bytes(data)
