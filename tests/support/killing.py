"""A real process that dies of SIGKILL right before or after the n-th journal append or effect of its run."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

from .process import run
from .repository import ROOT

HARNESS = textwrap.dedent(
    """
    import os, signal, sys
    sys.path.insert(0, sys.argv[1])
    from fdc_toolchain import testing
    from fdc_toolchain.engine import drive as engine
    from fdc_toolchain.cli import main

    class Point(testing.CrashPoint):
        def reach(self, moment):
            try:
                super().reach(moment)
            except testing.Crash:
                os.kill(os.getpid(), signal.SIGKILL)

    point, drive = Point(int(sys.argv[2]) or None), engine.drive

    def killing(program, state, ports, **options):
        ports.journal, ports.tools = point.journal(ports.journal), point.tools(ports.tools)
        return drive(program, state, ports, **options)

    engine.drive = killing
    code = main.main(sys.argv[3:])
    print("moments", len(point.moments), file=sys.stderr)
    sys.exit(code)
    """
)


def killed_at(
    number: int, workspace: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`fdc ARGUMENTS` in a process of its own that dies of SIGKILL at a moment of its run (0: never)."""
    return run(
        [sys.executable, "-c", HARNESS, str(ROOT / "tooling"), str(number), *arguments],
        cwd=workspace,
        env=env,
    )
