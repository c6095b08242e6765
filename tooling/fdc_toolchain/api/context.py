"""What the function of a tool has besides its arguments, wherever its pack lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from .values import JSON


class Context(Protocol):
    """The surroundings of one step. A tool of a workspace's pack has the same, over a line from its sandbox."""

    @property
    def key(self) -> str:
        """The same for every attempt of this step, and for no other step."""

    @property
    def run(self) -> str:
        """The name of the run."""

    @property
    def run_folder(self) -> str:
        """The absolute path of a folder for files that later steps of the same run find again."""

    def read(self, path: str, /) -> bytes:
        """The bytes of a file of the workspace."""

    def say(self, text: str, /) -> None:
        """Shows the user a text."""

    def ask(self, question: str, unfit: Callable[[str], str] | None = None, /) -> str:
        """What a person answers. Raises Waiting without a person: the step is done again once there is an answer.

        `unfit` says why a text is not an answer (empty: it is one); then the question is put again.
        """


Tool: TypeAlias = Callable[[dict[str, JSON], Context], JSON]
"""A tool of a pack. It raises ToolFailure where it did not do what it was asked."""
