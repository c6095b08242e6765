"""Exit codes, and the exceptions that carry them to the front door."""

from __future__ import annotations

CLEAN = 0
FINDINGS = 1
USAGE = 2
WORLD = 3
BUG = 4
PERSON = 5
PARTIAL = 6
NO_RESULT = 7
INTERRUPTED = 130

TABLE: tuple[tuple[int, str, str], ...] = (
    (CLEAN, "done", "The command did what was asked; a check found nothing wrong."),
    (
        FINDINGS,
        "findings",
        "A check found something wrong, the request was refused, or a run stopped or was cancelled.",
    ),
    (USAGE, "wrong usage", "The command line, a setting or a named input is wrong."),
    (
        WORLD,
        "the environment failed",
        "A file, the disk, the network, a process, a model, a sandbox or a worker is missing or failed.",
    ),
    (BUG, "a bug of fdc", "fdc is wrong; please report it. `FDC_DEBUG=1` shows where."),
    (
        PERSON,
        "a person has to act",
        "Something waits for an answer, an approval or a decision. The output says what to do.",
    ),
    (
        PARTIAL,
        "partial result",
        "A part of the result is there, and the rest could not be reached.",
    ),
    (NO_RESULT, "no result", "The command ran to its end and has no result. The output says why."),
    (
        INTERRUPTED,
        "interrupted",
        "Ctrl-C or a signal ended the command. Runs go on with `fdc resume`.",
    ),
)
"""Every exit code of every command: the number, its name and what it means. docs/exit-codes.md shows it."""


def summary() -> str:
    """The codes and their names on one line, for help texts."""
    return "Exit codes: " + ", ".join(f"{code} {name}" for code, name, _ in TABLE) + "."


def reason(failed: OSError) -> str:
    """Why the system refused, as a part of a sentence."""
    return (failed.strerror or str(failed)).lower()


def short_of(raised: BaseException) -> str | None:
    """What the machine is short of, as a sentence, where Python says it by an exception that is no OSError; else None."""
    if isinstance(raised, MemoryError):
        return "there is not enough memory"
    if isinstance(raised, RuntimeError) and str(raised) == "can't start new thread":
        return "no more threads can be started: a limit of processes (`ulimit -u`) or of memory is reached"
    return None


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
    """The environment failed: a disk, a process, a provider (3)."""

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
