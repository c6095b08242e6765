"""No test changes the machine: what installs packages, or takes another user's rights, is replaced on PATH and tells."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

CHANGES = (
    "apt", "apt-get", "aptitude", "dpkg", "dnf", "yum", "rpm", "apk", "pacman", "zypper", "brew", "snap",
    "sudo", "su", "doas", "pkexec",
)  # fmt: skip
"""Programs that change a machine for good, and those that would give the right to."""

_PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*" >> "{calls}"
echo "$(basename "$0"): a test may not change this machine" >&2
exit 1
"""


class Guarded(NamedTuple):
    """The folder of the programs that stand in, and the file in which they say that they were called."""

    programs: Path
    calls: Path

    def told(self) -> str:
        """What was called since the last time; forgets it."""
        text = self.calls.read_text() if self.calls.exists() else ""
        if text:
            self.calls.unlink()
        return text


@contextmanager
def guarded() -> Iterator[Guarded]:
    """Puts the programs that stand in first on PATH of this process and of its children, while it lasts."""
    before = os.environ.get("PATH", os.defpath)
    with tempfile.TemporaryDirectory(
        prefix="fdc-guard-"
    ) as folder:  # alone: a sandbox shows what lies beside a PATH's folder
        found = Guarded(Path(folder, "bin"), Path(folder, "calls"))
        found.programs.mkdir()
        for name in CHANGES:
            program = found.programs / name
            program.write_text(_PROGRAM.format(calls=found.calls))
            program.chmod(0o755)
        os.environ["PATH"] = f"{found.programs}{os.pathsep}{before}"
        try:
            yield found
        finally:
            os.environ["PATH"] = before
