"""What a function of a workspace's pack and fdc say to each other while it runs: lines of JSON over a pair of sockets.

fdc writes the call. The process writes requests, and is answered one by one:

    {"ask": "question"}                                  ->  {"value": "answer"}
    {"ask": "question", "refused": ["answer", "reason"]} ->  {"value": "another answer"}
    {"say": "text"}                                      ->  {"value": null}

It gets no object of fdc's, and nothing that its sandbox does not let it have: what it reads, it reads itself.
"""

from __future__ import annotations

import json
import socket
import time

from ...workspace.failure import ToolFailure
from ..context import Context

MOST = 64 * 1024
"""Bytes of a request."""
OFTEN = 1000
"""Requests of one call."""
TOGETHER = 1024 * 1024
"""Bytes of all requests of one call."""


class Conversation:
    """fdc's end. `theirs` is the descriptor that the process gets as its input; `pack`, whose function it is."""

    def __init__(self, call: bytes, context: Context, pack: str) -> None:
        self.pack = pack
        self._mine, self.theirs = socket.socketpair()
        self._mine.setblocking(False)
        self._out = bytearray(call + b"\n")
        self._in = b""
        self._count = 0
        self._came = 0
        self._context = context

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._mine.fileno()

    def close(self) -> None:
        """Closes both ends."""
        self._mine.close()
        self.theirs.close()

    @property
    def writes(self) -> bool:
        """Whether there is something left to write."""
        return bool(self._out)

    def write(self) -> bool:
        """Writes what the socket takes; False where the other end does not read any more."""
        try:
            del self._out[: self._mine.send(bytes(self._out[:65536]))]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def read(self) -> float | None:
        """Answers the requests that have come; the seconds that a person took for it, None where the other end is closed.

        Raises ToolFailure for what is not a request, and what asking raises (`Waiting` without a person to answer).
        """
        try:
            data = self._mine.recv(65536)
        except BlockingIOError:
            return 0.0
        except OSError:
            return None
        if not data:
            return None
        began = time.monotonic()
        self._in += data
        self._came += len(data)
        if self._came > TOGETHER:
            raise ToolFailure("error", f"it sent more than {TOGETHER:,} bytes to fdc")
        while b"\n" in self._in:
            line, _, self._in = self._in.partition(b"\n")
            self._count += 1
            if self._count > OFTEN:
                raise ToolFailure("error", f"it sent more than {OFTEN:,} requests to fdc")
            self._out += json.dumps({"value": self._answer(line)}).encode() + b"\n"
        if len(self._in) > MOST:
            raise ToolFailure("error", f"it sent a request of more than {MOST:,} bytes to fdc")
        return time.monotonic() - began

    def _answer(self, line: bytes) -> str | None:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        match request:
            case {"ask": str(question), **more} if not more:
                return self._context.ask(question)
            case {"ask": str(question), "refused": [str(answer), str(why)], **more} if not more:
                return self._again(question, answer, why)
            case {"say": str(text), **more} if not more:
                self._context.say(text)
                return None
        raise ToolFailure("error", "it sent an unknown request to fdc")

    def _again(self, question: str, refused: str, why: str) -> str:
        """Another answer than the one that the function refused, which counts for nothing: it may lie ready for the step."""
        if self._context.given() != refused:
            self._context.say(why)
        return self._context.ask(question, lambda answer: why if answer == refused else "")
