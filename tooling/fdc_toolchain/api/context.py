"""What the function of a tool gets besides its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from .values import JSON


class Context(Protocol):
    """The context of one step. A tool of a workspace's pack has the same, over a connection from its sandbox."""

    @property
    def key(self) -> str:
        """A key that is the same for every attempt of this step, and different for every other step."""

    @property
    def run(self) -> str:
        """The name of the run."""

    @property
    def run_folder(self) -> str:
        """The absolute path of a folder for files that later steps of the same run can use."""

    def read(self, path: str, /) -> bytes:
        """The bytes of a file of the workspace."""

    def say(self, text: str, /) -> None:
        """Shows the user a text."""

    def ask(self, question: str, unfit: Callable[[str], str] | None = None, /) -> str:
        """A person's answer to a question. Raises Waiting if there is none yet: the step runs again when it is answered.

        `unfit` returns why a text is not a valid answer (empty: it is); then the question is asked again.
        """


Tool: TypeAlias = Callable[[dict[str, JSON], Context], JSON]
"""A tool of a pack. It raises ToolFailure where it failed."""
