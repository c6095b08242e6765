"""What is used of pytest's objects; only types are taken from here."""

from __future__ import annotations

from typing import Any, Protocol


class Collected(Protocol):
    """What is used of pytest's report of a file of tests."""

    nodeid: str
    failed: bool


class Part(Collected, Protocol):
    """What is used of its report of a part of a test; `duration` in seconds."""

    when: str
    duration: float


class Session(Protocol):
    """What is used of its session."""

    testsfailed: int
    config: Any
    items: list[Any]
    _setupstate: Any
