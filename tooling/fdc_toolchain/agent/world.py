"""The environment of the master controller as a protocol; `agent.host.real_world` implements it.

Whatever of it fails raises OSError, or `engine.ports.WorldFailed`; a refusal is a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Protocol

from ..engine.events import Record
from ..named_tuples import NamedTuple
from ..program.model import Program
from .stepping import OpenRun


class Started(NamedTuple):
    """The orientation cascade: what it said, the machine's capabilities, and why it was refused."""

    lines: tuple[str, ...]
    capabilities: str
    refused: str | None = None


class Documents(NamedTuple):
    """What the workspace has to read: the documents' number, and what was skipped and why (FDC-53)."""

    number: int
    lines: int
    skipped: tuple[tuple[str, str], ...]


class Driven(NamedTuple):
    """How far the engine took a run: `status` as in the journal, the kind of its stop, and the questions that are open."""

    status: Literal["finished", "stopped", "waiting", "broken", "interrupted"]
    why: str = ""
    where: str = ""
    questions: tuple[dict[str, Any], ...] = ()
    steps: int = 0
    seconds: float = 0.0
    result: Any = None
    kind: str = ""


class Polled(NamedTuple):
    """A process in the background: `exit_code` is None where it died without one."""

    running: bool
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""


class Policy(NamedTuple):
    """What the workspace's settings say of code and tests, and how long, and how often, research may be made."""

    test_command: str = ""
    debug_attempts: int = 3
    research_seconds: float = 600.0
    research_most: int = 10
    poll_seconds: float = 0.2


class Logger(Protocol):
    """Writes one line of the activity log (FDC-106)."""

    def log(
        self,
        phase: str,
        task_id: str,
        plan_step: int | str | None,
        action_type: str,
        action_details: Mapping[str, object],
        outcome_status: str,
        outcome_message: str = "",
        error_details: str | Mapping[str, object] | None = None,
        evidence: str = "",
        context: Mapping[str, object] | None = None,
    ) -> None:
        """Raises ValidationError for an entry that follows no schema, OSError where it cannot be written."""


class World(Protocol):
    """One workspace, as the controller of one task sees it."""

    root: str

    def policy(self) -> Policy:
        """The settings. Raises ValueError where they are wrong."""

    def start(self, task_id: str) -> Started:
        """The orientation cascade and TASK_START; a task that is open stays as it is."""

    def close(self, task_id: str) -> str | None:
        """TASK_END and POST_MORTEM; returns why it was refused (FDC-69). A task that is closed stays closed."""

    def list_files(self) -> Sequence[str] | None:
        """Lists the workspace's files; None if they are more than fdc lists."""

    def documents(self) -> Documents:
        """Scans the workspace's documents."""

    def latest_postmortem(self, but: str) -> tuple[str, str] | None:
        """(path, text) of the post-mortem that was written last, if it is of another task than `but`."""

    def postmortem(self, task_id: str) -> tuple[str, str]:
        """(path, text) of the task's post-mortem, made from the template where there is none."""

    def write(self, path: str, text: str) -> None:
        """Writes a file of the workspace, whole or not at all."""

    def lessons(self, postmortem: str) -> Sequence[str]:
        """Compiles a post-mortem's lessons; one line each."""

    def correct(self) -> Sequence[str]:
        """Runs self-correction over pending lessons; one line for each thing that it did."""

    def run_id(self) -> str:
        """A name for a new run."""

    def create(
        self,
        run: str,
        program: Program,
        plan: str,
        task_id: str,
        given: Mapping[str, str] = MappingProxyType({}),
    ) -> bool:
        """Puts a run of a task on record. False where the name stands for another program already.

        Raises ValueError for a plan with a budget that cannot be kept to.
        """

    def take(self, run: str) -> OpenRun:
        """Takes a run over, for its steps to be performed elsewhere."""

    def peek(self, run: str) -> tuple[Program, dict[str, object], Sequence[Record]]:
        """A run's program, inputs and records, as they are now."""

    def drive(self, run: str, answers: Mapping[str, str]) -> Driven:
        """Takes a run as far as the engine can."""

    def files(self, glob: str) -> Sequence[tuple[str, str]]:
        """(path, text) of the workspace's text files that a glob names."""

    def web(self) -> bool:
        """Whether research that is launched may search the web."""

    def launch(self, task_id: str, name: str, question: str, web: bool = True) -> None:
        """Starts research in the background, unless that was done. `web` false: whatever is allowed, not on the web."""

    def poll(self, task_id: str, name: str) -> Polled:
        """The state of the research."""

    def kill(self, task_id: str, name: str) -> None:
        """Ends the research."""

    def outside(self, files: Sequence[tuple[str, str]] | None = None) -> Sequence[str]:
        """Which of these files (path, text) hold text from outside; without any, which of the workspace's are said to."""

    def unapproved(self, task_id: str, sha256: str) -> str | None:
        """The other task, if any, in which a text with this sha256 waited for a person and was not approved."""

    def leave(self, task_id: str, name: str, text: str) -> str:
        """Writes a text where a person finds it, outside of the reach of steps; returns its path."""

    def seal(self, *words: str) -> str:
        """What only this user can have written of these words; empty where the user has no key."""

    def load(self, task_id: str) -> dict[str, object] | None:
        """What `save` wrote. Raises ValueError where it is damaged."""

    def save(self, task_id: str, data: Mapping[str, object]) -> None:
        """Writes the controller's own record, whole or not at all."""

    def now(self) -> float:
        """Seconds since 1970."""

    def pause(self, seconds: float) -> None:
        """Waits."""
