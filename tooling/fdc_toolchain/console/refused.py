"""What a command that was asked for JSON prints where it ends without a result: one object, the same for every command."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

MOST = 8_000
"""Characters of a message: of a longer one the end counts."""


def asks_json(argv: list[str]) -> bool:
    """Whether a command line asks for JSON. It may be wrong otherwise, so it is read without its command."""
    words = list(map(str, argv[: argv.index("--")] if "--" in argv else argv))
    asked = ""
    for at, word in enumerate(words):
        if word in ("--format", "-f") and at + 1 < len(words):
            asked = words[at + 1]
        elif word.startswith(("--format=", "-f")):
            asked = word.partition("=")[2] if word.startswith("--") else word[2:]
    return asked == "json"


class _Heard:
    """A stream, and what was written to it."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.text = ""
        self.used = False

    def write(self, text: str) -> int:
        self.used = self.used or bool(text)
        self.text = (self.text + text)[-MOST:]
        return len(text) if self._stream is None else self._stream.write(text)

    @property
    def buffer(self) -> Any:
        self.used = True
        return getattr(self._stream, "buffer", None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def told(code: int, message: str) -> None:
    """Prints the object on stdout."""
    import json

    from ..exits import TABLE

    name, means = next((row[1:] for row in TABLE if row[0] == code), ("", ""))
    said = {"code": code, "name": name, "message": message.strip()[-MOST:] or means}
    print(json.dumps({"format": 1, "error": said}, indent=2))


def _written(code: int, message: str) -> int:
    """The exit code, after the object was printed; 3 where it cannot be written."""
    try:
        told(code, message)
        sys.stdout.flush()
    except OSError as failed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(failed, BrokenPipeError):
            print(f"fdc: stdout: {failed.strerror or failed}", file=sys.stderr)
            return 3
    return code


def in_json(argv: list[str], run: Callable[[], int]) -> int:
    """Runs a command. Asked for JSON, where it fails and prints nothing on stdout, what stderr says becomes the object."""
    if sys.stdout is None or not asks_json(argv):
        return run()
    out, err = _Heard(sys.stdout), _Heard(sys.stderr)
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        code = run()
        if code and err.used and not out.used:  # a report in a file (`--output`) says nothing here
            code = _written(code, err.text)
        return code
    finally:
        sys.stdout, sys.stderr = streams
