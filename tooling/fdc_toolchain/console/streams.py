"""The standard streams of a command: each is open, takes every character, and may lose its reader."""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

ERRORS = "backslashreplace"
"""How a character is written that UTF-8 does not have: a half of a pair."""


class _Stream(io.FileIO):
    """stdout or stderr. When its reader has gone (`| head`), it takes what is written and drops it, so the command goes on
    to its end, and its exit code says what it found. Any other error names the stream."""

    label = ""

    def write(self, data: bytes | memoryview, /) -> int:  # type: ignore[override]
        """As `FileIO.write`."""
        try:
            return super().write(data)
        except BrokenPipeError:
            drop(self.fileno())
            return memoryview(data).nbytes
        except OSError as failed:
            failed.filename = self.label
            raise


def drop(descriptor: int) -> None:
    """From now on what is written to this descriptor goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def open_streams() -> None:
    """Puts /dev/null where stdin, stdout or stderr is closed: else the next file that is opened takes its number.

    stdout and stderr take UTF-8, whatever the terminal claims to speak, and go on without a reader.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(handle, True)
        os.close(handle)
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8", errors=ERRORS))  # noqa: SIM115
        else:
            _keep(name)


def _keep(name: str) -> None:
    """Replaces what Python made for a stream. What a test or an embedding program put there stays."""
    given = getattr(sys, name)
    if given is not getattr(sys, f"__{name}__") or not isinstance(given, io.TextIOWrapper):
        return
    given.flush()
    stream = _Stream(given.fileno(), "w", closefd=False)
    stream.label = name
    raw: io.FileIO = stream
    made: TextIO
    if isinstance(given.buffer, io.RawIOBase):  # `python -u`
        made = io.TextIOWrapper(raw, "utf-8", ERRORS, write_through=True)
    else:
        made = io.TextIOWrapper(
            io.BufferedWriter(raw), "utf-8", ERRORS, line_buffering=given.line_buffering
        )
    setattr(sys, name, made)
