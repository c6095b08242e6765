"""The interface between the model port and a protocol's adapter: requests, answers and errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ...named_tuples import NamedTuple
from ...workspace.failure import ToolFailure
from .question import Choice

MAX_REPLY = 8 * 1024 * 1024
"""Maximum characters of a reply; a longer one is cut off."""

MOST_SAID = 300
"""Characters of what a server says that a message shows, after secrets are out of it."""

OPENAI = "openai:"
"""Prefix of model names that use the API of OpenAI."""

Hear = Callable[[str], None]


class Request(NamedTuple):
    """One request. `kept`: what stands before the question and comes again in the next one of its kind, in pieces.
    `turns`: the question, then by turns a reply and what was wrong with it. `most`: tokens that the reply may have."""

    system: str
    kept: tuple[str, ...]
    turns: tuple[str, ...]
    schema: Mapping[str, Any] | None = None
    temperature: float | None = None
    most: int = 0

    def size(self) -> int:
        """The size in bytes, an upper bound of the number of tokens."""
        text = "".join((self.system, *self.kept, *self.turns))
        schema = "" if self.schema is None else json.dumps(self.schema, ensure_ascii=False)
        blocks = 16 * (2 + len(self.kept) + len(self.turns))
        return len((text + schema).encode("utf-8", "replace")) + blocks

    def reckoned(self, answer: str) -> dict[str, int]:
        """The most that it and its answer can have cost, where the server does not say it."""
        return {"input": self.size(), "output": len(answer.encode("utf-8", "replace"))}


class Said(NamedTuple):
    """An answer. `end`: `length` where it was cut off, `refusal`, or empty. `used`: tokens by kind, `reckoned` by us."""

    text: str
    end: str
    used: dict[str, int]
    request: str = ""
    reckoned: bool = False


class Passing(Exception):
    """A temporary failure, which a retry may not have; `wait`: seconds that the server requests."""

    def __init__(self, why: object, wait: float | None = None) -> None:
        super().__init__(" ".join(str(why).split())[:MAX_REPLY])
        self.wait = wait


class Refused(Exception):
    """The server does not accept the request."""

    def __init__(self, why: object, status: int) -> None:
        super().__init__(" ".join(str(why).split())[:MAX_REPLY])
        self.status = status


class Server(Protocol):
    """The adapter of a protocol. Making one raises WorldFailed where its SDK or a key is missing."""

    def __init__(self) -> None: ...

    def ask(
        self, choice: Choice, request: Request, hear: Hear | None, broken: dict[str, int]
    ) -> Said:
        """One request. Raises Passing, Refused, ToolFailure (`reply`) and WorldFailed. Where the answer breaks off, `broken`
        says what it had cost by then, as far as that was heard."""

    def count(self, choice: Choice, request: Request) -> int | None:
        """The tokens of the input, where the server counts them."""

    def close(self) -> None:
        """Closes the connection; no requests follow."""


def heard(text: object, size: int, hear: Hear | None) -> int:
    """A piece of an answer has come; the characters of all so far. Raises ToolFailure for too many, and TypeError for what is
    no text."""
    if not isinstance(text, str):
        raise TypeError("a piece of an answer that is no text")
    size += len(text)
    if size > MAX_REPLY:
        raise ToolFailure("reply", f"the model's reply has more than {MAX_REPLY} characters")
    if hear is not None:
        hear(text)
    return size


def of_status(failed: Exception, status: int) -> Passing | Refused:
    """The exception for an SDK's error, by its status."""
    if status not in (408, 409, 425, 429) and 300 <= status < 500:
        return Refused(failed, status)
    try:
        response: Any = getattr(failed, "response", None)
        wait = max(0.0, min(float(response.headers["retry-after"]), 120.0))
    except (KeyError, ValueError, AttributeError):
        wait = None
    return Passing(failed, wait)
