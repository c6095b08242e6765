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


class Refused(Exit):
    """What was asked for is possible, and fdc will not do it as it stands (1)."""

    code = FINDINGS


class UsageError(Exit):
    """The command line is wrong (2)."""

    code = USAGE


class WorldError(Exit):
    """The world failed: a disk, a process, a provider (3)."""

    code = WORLD
