"""The context of a tool's handler, in addition to its arguments."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol

from ..engine.events import Outcome
from ..named_tuples import NamedTuple
from ..program.model import Grant, Program
from ..workspace.failure import ToolFailure
from ..workspace.files import Root
from ..workspace.operator import OPERATOR, Operator
from ..workspace.secrets.scrubber import Scrubber


class Leaving:
    """Whether the controller is ending, and the process groups that must end with it."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._groups: set[int] = set()

    def is_set(self) -> bool:
        """True once the controller is ending."""
        return self._event.is_set()

    def set(self) -> None:
        """The controller is ending: running commands must end."""
        self._event.set()

    def add(self, group: int) -> None:
        """A process group has begun."""
        with self._lock:
            self._groups.add(group)

    def discard(self, group: int) -> None:
        """A process group has ended."""
        with self._lock:
            self._groups.discard(group)

    def kill(self) -> None:
        """Kills all remaining processes at once."""
        with self._lock:
            for group in self._groups:
                try:
                    os.killpg(group, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    continue  # it has just ended, or is not ours


class Ask(Protocol):
    """Asks a person. Raises Waiting if no person can answer now.

    `unfit` returns why a text is not a valid answer (empty: it is); then the question is repeated.
    """

    def __call__(self, question: str, unfit: Callable[[str], str] | None = None, /) -> str: ...


class NestedPlan(NamedTuple):
    """A plan to be run within a step: its `program`, made once, when the run is put on record; what it is `given`.

    `path`: what it is called. `inside`: it must not yield text from outside. `budget`: its ceilings; None: what is `left` of
    the outer run's. `folder`: what `{run}` is; empty: its own folder.
    """

    program: Callable[[], Program]
    given: Mapping[str, Any]
    path: str
    budget: Mapping[str, float] | None = None
    folder: str = ""
    inside: bool = False


class Nested(Protocol):
    """Drives a plan as a nested run within a step; a repeated step continues the same run.

    The outcome has what the plan yields, what it used, and in its notes the `run`'s name. What the outer run's plans allow
    holds for it, too. Raises ToolFailure where it stopped, Waiting where it waits for a person, WorldFailed, Cancelled.
    """

    def __call__(self, plan: NestedPlan, context: Context, /) -> Outcome: ...


def _nothing() -> dict[str, float]:
    return {}


def until(left: Mapping[str, float]) -> float:
    """When the `seconds` that are left of a budget are used up, by `time.monotonic`."""
    return time.monotonic() + left["seconds"] if "seconds" in left else inf


@dataclass(frozen=True, slots=True)
class Context:
    """One step's surroundings.

    `root`: the opened workspace. `key`: the idempotency key, `RUN:ADDRESS`, the same for every
    attempt of this step and for no other. `run`: the run's name. `run_folder`: an absolute path
    below `.fdc/`, the run's own, for marks. `say` shows the user a text, `ask` puts a question
    to a person and returns the answer. `bound` is true where the plan keeps the result. `cancelled` is set when the
    controller leaves. `shell_seconds` limits a command. `tool` is the tool's declaration. `grants` are what the plans
    on the stack allow, `operator` what the operator does. `plan`: the path of the plan that the step is in.
    `secrets` takes secrets out of texts (None: those of the environment alone are known).
    `nested` drives a plan within the step (None: not here). `left` is what such a plan may use, by measure, where the run has
    a budget. `until`: when the `seconds` of a budget are used up, by `time.monotonic`. `given` takes the answer that a person
    has left for this step, if any, without asking for one.
    """

    root: Root
    key: str
    run: str
    run_folder: str
    say: Callable[[str], None]
    ask: Ask
    bound: bool
    cancelled: Leaving
    shell_seconds: float
    tool: Mapping[str, object]
    grants: Sequence[Grant] = ()
    operator: Operator = OPERATOR
    plan: str = ""
    secrets: Scrubber | None = None
    nested: Nested | None = None
    left: Callable[[], Mapping[str, float]] = field(default=_nothing)
    until: float = inf
    given: Callable[[], str | None] = field(default=lambda: None)

    def in_time(self, now: float, deadline: float) -> None:
        """Raises ToolFailure where a command that is still running has no time left: of a budget, or until its `deadline`."""
        if now > self.until:
            raise ToolFailure(
                "spent", "the budget of seconds is used up; the command was killed before its end"
            )
        if now > deadline:
            raise ToolFailure(
                "timeout", f"the command took longer than {self.shell_seconds:g} s and was killed"
            )

    def read(self, path: str) -> bytes:
        """The bytes of a file of the workspace. Raises ToolFailure."""
        return self.root.read(path)


Handler = Callable[[Mapping[str, object], Context], object]


def text(args: Mapping[str, object], name: str, default: str | None = None) -> str:
    """An argument as text: other JSON values as compact JSON. Raises ToolFailure where it is missing."""
    from ..engine.values import text as written

    value = args.get(name)
    if value is None:
        if default is None:
            raise ToolFailure("argument", f"`{name}` is missing")
        return default
    return written(value)


def word(args: Mapping[str, object], name: str, default: str | None = None) -> str:
    """An argument that must be text, such as a path. Raises ToolFailure."""
    value = args.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise ToolFailure(
            "argument", f"`{name}` must be text" if value is not None else f"`{name}` is missing"
        )
    return value


def object_of(args: Mapping[str, object], name: str) -> dict[str, object]:
    """An argument that must be an object, which an earlier step returned. Raises ToolFailure."""
    value = args.get(name)
    if not isinstance(value, dict):
        raise ToolFailure("argument", f"`{name}` is not what the step before it returns")
    return value


def whole(args: Mapping[str, object], name: str, default: int) -> int:
    """An argument as a whole number; missing or 0: the default. Raises ToolFailure where it is not a number."""
    value = args.get(name) or default
    if not isinstance(value, int | float | str):
        raise ToolFailure("argument", f"`{name}` must be a number")
    return int(value)
