"""Answers hook events within a time limit.

A hook that protects refuses what it cannot decide (fails closed). A hook that helps allows it (fails open):
the reason goes to stderr with exit code 3, which agents' programs show and otherwise ignore.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import click

from ...console.options import number_option
from ...exits import CLEAN, WORLD

if TYPE_CHECKING:
    from ...api.values import JSON

Event: TypeAlias = "dict[str, JSON]"
Answer: TypeAlias = "dict[str, JSON]"

MOST_INPUT = 8 * 1024 * 1024  # maximum bytes of an event; larger ones are not read
MOST_PATH = 4096  # maximum bytes of a path on Linux
MOST_SECONDS = 60.0


class CannotDecide(Exception):
    """The hook cannot decide about the event. The message says why."""


def seconds_option(default: float) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """The option `--seconds` of every hook."""
    return number_option(
        "--seconds",
        0.05,
        MOST_SECONDS,
        "Time limit of the answer in seconds; the time limit in the program's settings must be longer.",
        default=default,
        metavar="N",
    )


def answer(
    decide: Callable[[Event], Answer | None],
    otherwise: Callable[[str], Answer] | None,
    seconds: float,
) -> int:
    """Reads the event, decides, prints the answer; returns the exit code. If `decide` returns None, nothing is printed.

    If the hook cannot decide, `otherwise` makes the answer from the reason; without it, the hook fails open.
    """
    said, why = _in_time(decide, seconds)
    if not why:
        click.echo("" if said is None else json.dumps(said), nl=said is not None)
        return CLEAN
    if otherwise is None:
        print(f"fdc hook: no opinion: {why}", file=sys.stderr)
        return WORLD
    click.echo(json.dumps(otherwise(why)))
    return CLEAN


def _in_time(decide: Callable[[Event], Answer | None], seconds: float) -> tuple[Answer | None, str]:
    """The decision, or the reason why there is none.

    A separate process decides, because a slow regular expression blocks all threads of a process, and a crash ends them.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            with open(writer, "wb") as out:
                out.write(json.dumps(_decided(decide)).encode())
        finally:
            os._exit(CLEAN)
    os.close(writer)
    data, until = b"", time.monotonic() + seconds
    try:
        while select.select([reader], [], [], max(0.0, until - time.monotonic()))[0]:
            part = os.read(reader, 65536)
            if not part:
                said, why = (
                    json.loads(data) if data else (None, "its process ended before it decided")
                )
                return said, why
            data += part
        return None, f"it did not decide within {seconds:g} seconds"
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _decided(decide: Callable[[Event], Answer | None]) -> tuple[Answer | None, str]:
    try:
        return decide(read_event()), ""
    except CannotDecide as wrong:
        return None, str(wrong)
    except BaseException as bug:
        return None, _sentence(bug)


def read_event() -> Event:
    """The event on stdin. Raises CannotDecide."""
    if sys.stdin is None:
        raise CannotDecide("stdin is closed")
    data = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(data) > MOST_INPUT:
        raise CannotDecide(f"the event is larger than {MOST_INPUT} bytes")
    try:
        event = json.loads(data, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise CannotDecide("the event on stdin is not JSON") from None
    if not isinstance(event, dict):
        raise CannotDecide("the event on stdin is not a JSON object")
    return event


def _once(pairs: list[tuple[str, JSON]]) -> Event:
    """An object of JSON. Raises CannotDecide for a key that occurs twice: the program may take the other value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise CannotDecide("the event on stdin has a key twice")
    return found


def text_in(event: Event, name: str) -> str:
    """A text field of the event. Raises CannotDecide if it is missing."""
    if not isinstance(value := event.get(name), str):
        raise CannotDecide(f"the event has no text `{name}`")
    return value


def object_in(event: Event, name: str) -> Event:
    """An object field of the event. Raises CannotDecide if it is missing."""
    if not isinstance(value := event.get(name), dict):
        raise CannotDecide(f"the event has no object `{name}`")
    return value


def before_a_tool(event: Event) -> str:
    """The event's name, which must be PreToolUse or PermissionRequest. Raises CannotDecide for other events."""
    name = text_in(event, "hook_event_name")
    if name not in ("PreToolUse", "PermissionRequest"):
        raise CannotDecide(f"this hook is for PreToolUse and PermissionRequest, not `{name[:60]}`")
    return name


def folder_of(event: Event) -> str:
    """The agent's working folder. Raises CannotDecide."""
    folder = event.get("cwd")
    if not isinstance(folder, str) or not os.path.isabs(folder):
        return os.getcwd()
    return usable(folder, "`cwd`")


def usable(path: str, what: str) -> str:
    """A path that the system can take. Raises CannotDecide."""
    try:
        if b"\0" not in os.fsencode(path):
            return path
    except UnicodeEncodeError:
        pass
    raise CannotDecide(f"{what} has characters that no path has")


def _sentence(bug: BaseException) -> str:
    from ...api.errors import FdcError

    if isinstance(bug, FdcError | OSError):
        return str(bug)
    return f"this is a bug of fdc: {type(bug).__name__}: {bug}"
