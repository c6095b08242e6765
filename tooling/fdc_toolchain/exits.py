"""Exit codes, and the exceptions that carry them to the front door."""

from __future__ import annotations

CLEAN = 0
FINDINGS = 1
USAGE = 2
WORLD = 3
BUG = 4
INTERRUPTED = 130


class Exit(Exception):
    """Ends the command: one clear sentence for stderr and an exit code."""

    code = BUG

    @property
    def lines(self) -> list[str]:
        """What is printed: the sentence, with one line below it for each thing that it counts up."""
        return [str(self)]


class Refused(Exit):
    """What was asked for is possible, and fdc will not do it as it stands (1)."""

    code = FINDINGS


class UsageError(Exit):
    """The command line is wrong (2)."""

    code = USAGE


class Missing(UsageError):
    """What was named does not exist: a plan, a run, a rule (2)."""


class WorldError(Exit):
    """The world failed: a disk, a process, a provider (3)."""

    code = WORLD


class Busy(WorldError):
    """Another process or thread drives this run, or one that may write the same paths (3)."""


class NotGranted(WorldError):
    """This machine or its operator does not give what a run needs, so it does not begin or go on (3)."""

    def __init__(self, head: str, absent: list[str]) -> None:
        super().__init__(f"{head}: {'; '.join(absent)}")
        self._shown = [f"{head}:", *(f"  {one}" for one in absent)]

    @property
    def lines(self) -> list[str]:
        """As `Exit.lines`."""
        return self._shown
